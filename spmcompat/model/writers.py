"""Write the files of a model: either both of them or none."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from spmcompat.errors import MissingFileError
from spmcompat.model.entries import vocabulary_lines
from spmcompat.model.vocabulary import Model


class Writer(Protocol):
    """Any object with a ``write`` method."""

    def write(self, data: bytes, /) -> object:
        """Write the bytes."""


def save(model: Model, vocabulary: list[tuple[bytes, float]], prefix: str) -> None:
    """Write ``<prefix>.model`` and ``<prefix>.vocab``.

    Raises
    ------
    MissingFileError
        If one of them cannot be written. Then neither is.
    """
    with_scores = model.rest.trainer_spec.vocabulary_output_piece_score
    write_together(
        {
            f"{prefix}.model": model.serialize(),
            f"{prefix}.vocab": vocabulary_lines(vocabulary, with_scores),
        }
    )


def write_together(files: Mapping[str, bytes]) -> None:
    """Write all of the files, or none.

    Each file is written under a temporary name in the folder of its target. When all are complete,
    they are renamed.

    Parameters
    ----------
    files : mapping of str to bytes
        The content of each path.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    """
    waiting: dict[str, str] = {}
    finished: list[str] = []
    path = ""
    try:
        for path, content in files.items():
            target = os.path.realpath(path)
            if is_replaceable(target):
                waiting[path] = temporary_name(target)
                _write_new(waiting[path], content)
        for path, content in files.items():
            target = os.path.realpath(path)
            if path in waiting:
                os.replace(waiting[path], target)
                finished.append(target)
            else:
                with open(target, "wb") as file:
                    file.write(content)
    except BaseException as error:
        for name in [*waiting.values(), *finished]:
            with suppress(OSError):
                os.unlink(name)
        if isinstance(error, OSError):
            raise MissingFileError(
                f'"{path}": {error.strerror}. Choose a model_prefix in a folder that is writable '
                "and has free space."
            ) from error
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


def _write_new(path: str, content: bytes) -> None:
    """Create a file. It must not exist yet."""
    with open(path, "xb") as file:
        file.write(content)
