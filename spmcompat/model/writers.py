"""Writes trained models to files or to the caller's writers."""

from collections.abc import Callable, Iterable, Sequence
from io import RawIOBase, TextIOBase
from typing import NamedTuple, Protocol, TypeAlias

from spmcompat.errors import ConflictError, UnwritableError, WrongTypeError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.vocabulary import vocabulary_lines
from spmcompat.runtime.outputs import Outputs


class Writer(Protocol):
    """Any object with a ``write`` method."""

    def write(self, data: bytes, /) -> object:
        """Write the bytes."""


Writers: TypeAlias = Writer | Sequence[Writer] | Callable[[int], Writer]
"""One writer. For several sizes, one writer per size, or a function from a size to its writer."""


class Trained(NamedTuple):
    """A serialized model, its pieces in the order of their ids, and its trainer spec."""

    model: bytes
    vocabulary: list[tuple[bytes, float]]
    trainer: TrainerSpec


def check_writers(writers: object, sizes: Sequence[int]) -> None:
    """Raise, before training, unless there is one writer of bytes for each model.

    Parameters
    ----------
    writers : object
        The writers, or None if the models are written to files.
    sizes : sequence of int
        The sizes of the models; empty for a single model.
    """
    if not sizes and isinstance(writers, list | tuple):
        raise ConflictError(
            "model_writer is a list of writers, but vocab_size is a single size. Give one writer, "
            "or a list as vocab_size too."
        )
    if writers is None:
        return
    if not sizes:
        _check_writer(writers)
        return
    if callable(writers) and not hasattr(writers, "write"):
        return
    if not isinstance(writers, list | tuple):
        raise WrongTypeError(
            "with a list as vocab_size, model_writer must be a list with a writer for each size, "
            f"or a function from a size to its writer, not {type(writers).__name__}."
        )
    if len(writers) != len(sizes):
        raise ConflictError(
            f"model_writer has {len(writers)} writers for the {len(sizes)} sizes of vocab_size. "
            "Give one for each size."
        )
    for writer in writers:
        _check_writer(writer)


def writers_of(writers: Writers, sizes: Sequence[int]) -> Sequence[Writer]:
    """Return the writer of each size, or a single writer if `sizes` is empty.

    Raises
    ------
    BadValueError
        If a function returns an object that cannot write.
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
        raise WrongTypeError(
            f"a writer in model_writer does not have a write method: {type(writer).__name__}. Give "
            "objects such as io.BytesIO(), or give model_prefix."
        )
    if isinstance(writer, TextIOBase):
        raise WrongTypeError(
            f"a writer in model_writer takes text, not bytes: {type(writer).__name__}. Open the "
            "file in binary mode, or give model_prefix."
        )


def write_all(writer: Writer, data: bytes) -> None:
    """Write all bytes, also to a writer that takes only a part of them at a time.

    An unbuffered file does so if the disk is full or a pipe has no room. Its method ``write``
    returns how many bytes it wrote, or None if it wrote nothing. Writers of other kinds may return
    anything: only a smaller number means that bytes are left.

    Raises
    ------
    MissingFileError
        If bytes are left and the writer does not write any of them.
    """
    rest = data
    while rest:
        written = writer.write(rest)
        if written is None and isinstance(writer, RawIOBase):
            written = 0
        if not isinstance(written, int) or isinstance(written, bool):
            return
        if written <= 0:
            done = len(data) - len(rest)
            raise UnwritableError(
                f"a writer in model_writer wrote only {done:,} of the {len(data):,} bytes of the "
                f"model: {type(writer).__name__}. Give a writer that waits until it can write, or "
                "give model_prefix."
            )
        rest = rest[written:]


def save(models: Iterable[Trained], files: Outputs) -> None:
    """Write ``<model_prefix>.model`` and ``<model_prefix>.vocab`` of each model.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    """
    contents: dict[str, Sequence[bytes]] = {}
    for model, vocabulary, spec in models:
        contents[f"{spec.model_prefix}.model"] = [model]
        lines = vocabulary_lines(vocabulary, spec.vocabulary_output_piece_score)
        contents[f"{spec.model_prefix}.vocab"] = [lines]
    files.write(contents)
