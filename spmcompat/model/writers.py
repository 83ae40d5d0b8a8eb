"""Write the files of a training: either all of them or none."""

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

from spmcompat.errors import BadValueError, MissingFileError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.vocabulary import vocabulary_lines

_CHOOSE_A_PREFIX = "Choose a model_prefix in a folder that is writable and has free space."


class Writer(Protocol):
    """Any object with a ``write`` method."""

    def write(self, data: bytes, /) -> object:
        """Write the bytes."""


Writers: TypeAlias = Writer | Sequence[Writer] | Callable[[int], Writer]
"""What takes the models: one writer; or for several sizes one for each, or a function of a size."""


class Trained(NamedTuple):
    """A serialized model, its pieces in the order of their ids, and its spec."""

    model: bytes
    vocabulary: list[tuple[bytes, float]]
    trainer: TrainerSpec


def check_writers(writers: object, sizes: Sequence[int]) -> None:
    """Raise if the writers are not one for each model, before these are trained.

    Parameters
    ----------
    writers : object
        The writers, or None if the models are written to files.
    sizes : sequence of int
        The sizes of several models; empty for one model.
    """
    if not sizes and isinstance(writers, list | tuple):
        raise BadValueError(
            "model_writer is a list of writers, and vocab_size is a single size. Give one writer, "
            "or a list as vocab_size too."
        )
    if writers is None or not sizes or (callable(writers) and not hasattr(writers, "write")):
        return
    if not isinstance(writers, list | tuple):
        raise BadValueError(
            "with a list as vocab_size, model_writer must be a list with a writer for each size, "
            f"or a function from a size to its writer, not {type(writers).__name__}."
        )
    if len(writers) != len(sizes):
        raise BadValueError(
            f"model_writer has {len(writers)} writers for the {len(sizes)} sizes of vocab_size. "
            "Give one for each size."
        )
    for writer in writers:
        _check_writer(writer)


def writers_of(writers: Writers, sizes: Sequence[int]) -> Sequence[Writer]:
    """Return the writer of each size; one writer if there are no sizes.

    Raises
    ------
    BadValueError
        If a function returns what cannot write.
    """
    if not sizes:
        return [writers]  # type: ignore[list-item]
    if isinstance(writers, list | tuple):
        return writers
    found = [writers(size) for size in sizes]  # type: ignore[operator]
    for writer in found:
        _check_writer(writer)
    return found


def _check_writer(writer: object) -> None:
    if not callable(getattr(writer, "write", None)):
        raise BadValueError(
            f"a writer of model_writer has no method write: {type(writer).__name__}. Give objects "
            "such as io.BytesIO()."
        )


def save(models: Iterable[Trained]) -> None:
    """Write ``<model_prefix>.model`` and ``<model_prefix>.vocab`` of each model.

    Raises
    ------
    MissingFileError
        If one of them cannot be written. Then none is.
    """
    files: dict[str, Sequence[bytes]] = {}
    for model, vocabulary, spec in models:
        files[f"{spec.model_prefix}.model"] = [model]
        lines = vocabulary_lines(vocabulary, spec.vocabulary_output_piece_score)
        files[f"{spec.model_prefix}.vocab"] = [lines]
    _write_parts(files)


def write_together(
    files: Mapping[str, bytes],
    remedy: str = _CHOOSE_A_PREFIX,
) -> None:
    """Write all of the files, or none.

    Each file is written under a temporary name in the folder of its target. When all are complete,
    they are renamed.

    Parameters
    ----------
    files : mapping of str to bytes
        The content of each path.
    remedy : str
        What to do if a file cannot be written: a sentence.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    """
    _write_parts({path: [content] for path, content in files.items()}, remedy)


def _write_parts(files: Mapping[str, Sequence[bytes]], remedy: str = _CHOOSE_A_PREFIX) -> None:
    """Do the same with contents that are not joined: joining them would copy them."""
    waiting: dict[str, str] = {}
    finished: list[str] = []
    path = ""
    try:
        for path, parts in files.items():
            target = os.path.realpath(path)
            if is_replaceable(target):
                waiting[path] = temporary_name(target)
                _write_new(waiting[path], parts)
        for path, parts in files.items():
            target = os.path.realpath(path)
            if path in waiting:
                os.replace(waiting[path], target)
                finished.append(target)
            else:
                with open(target, "wb") as file:
                    file.writelines(parts)
    except BaseException as error:
        for name in [*waiting.values(), *finished]:
            with suppress(OSError):
                os.unlink(name)
        if isinstance(error, OSError):
            raise MissingFileError(f'"{path}": {error.strerror}. {remedy}') from error
        raise


def is_replaceable(target: str) -> bool:
    """Tell whether a file can be replaced by renaming another one.

    A device or a pipe must be opened and written. So must a writable file in a folder in which no
    file can be created.
    """
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return True
    if not stat.S_ISREG(mode):
        return False
    return os.access(os.path.dirname(target), os.W_OK) or not os.access(target, os.W_OK)


def temporary_name(target: str) -> str:
    """Return a name in the folder of the target that no other run uses."""
    folder, name = os.path.split(target)
    start = os.fsdecode(os.fsencode(name)[:200])  # file systems take 255 bytes
    return os.path.join(folder, f".{start}.{os.getpid()}.{os.urandom(4).hex()}.tmp")


def _write_new(path: str, parts: Sequence[bytes]) -> None:
    """Create a file. It must not exist yet."""
    with open(path, "xb") as file:
        file.writelines(parts)
