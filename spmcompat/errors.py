"""The exception of the package, and its subclasses for errors that callers may want to catch."""

from __future__ import annotations

import errno
from os import PathLike, fsencode, fspath

TYPE_CHECKING = False  # not that of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Taken = TypeVar("Taken")


class TrainingError(RuntimeError):
    """Training cannot continue. The message says what is wrong and what to do.

    It is a ``RuntimeError``, because ``sentencepiece`` raises that for its internal checks.

    Attributes
    ----------
    names_sizes : bool
        Whether the message begins with the sizes of the vocabularies that it is about.
    """

    names_sizes = False


class BadValueError(SyntaxError, TrainingError, ValueError):
    """A flag or keyword has an invalid value (``INVALID_ARGUMENT``).

    ``sentencepiece`` raises ``SyntaxError`` before 0.2.2, and ``ValueError`` since then.
    """


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and similar codes)."""


def refuse_impossible(path: str | PathLike[str], remedy: str) -> None:
    """Raise for a path that no file can have; Python's own errors for it are no `OSError`.

    Raises
    ------
    MissingFileError
        If the path holds a NUL character, or a lone surrogate that stands for no byte.
    """
    text = fspath(path)
    try:
        is_possible = b"\0" not in fsencode(text)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise MissingFileError(
            f"{text!r}: the path holds a NUL character or a lone surrogate: {remedy}."
        )


def printable(text: str) -> str:
    """Return a text with unprintable characters, other than spaces, as backslash escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UnknownOptionError(TrainingError, OSError):
    """No option has this name. ``sentencepiece`` raises ``OSError`` before 0.2.2."""


class EmptyCorpusError(TrainingError):
    """No character of the text is left to train on."""


class OutOfMemoryError(TrainingError, MemoryError):
    """Memory ran out; every worker has stopped, and nothing was written.

    Parameters
    ----------
    stage : str
        What the run was doing.
    reason : str
        What Python or the system says, if anything.
    """

    def __init__(self, stage: str, reason: str = "") -> None:
        said = f" ({reason})" if reason not in ("", "std::bad_alloc") else ""
        super().__init__(
            f'Memory ran out in the stage "{stage}"{said}. Train on a sample of the text '
            "(--input_sentence_size) or on a text with fewer distinct words, lower "
            "--seed_sentencepiece_size, or use fewer --workers."
        )


# Errors other than MemoryError that Python raises when memory runs out: for a module, a thread and
# a lock.
_SIGNS_OF_NO_MEMORY = (
    (ImportError, "failed to map segment"),
    (RuntimeError, "can't start new thread"),
    (RuntimeError, "can't allocate lock"),
)


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether an error says that memory ran out."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(isinstance(error, kind) and sign in str(error) for kind, sign in _SIGNS_OF_NO_MEMORY)


def naming_iterator_errors(take: Callable[[], Taken]) -> Taken:
    """Take something from an iterator of the caller; an exception of it becomes a `TrainingError`.

    Raises
    ------
    TrainingError
        It names the exception, which is its cause.
    """
    try:
        return take()
    except (TrainingError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise TrainingError(
            f"INTERNAL: the sentence iterator raised {type(error).__name__}: {reason}"
        ) from error
