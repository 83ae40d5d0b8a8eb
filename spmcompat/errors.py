"""The exception of the package, and its subclasses for errors that callers may want to catch."""

from __future__ import annotations

import errno
from os import PathLike, fsencode, fspath, strerror

TYPE_CHECKING = False  # importing `typing` takes longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Taken = TypeVar("Taken")


def printable(text: str) -> str:
    r"""Return the text with an escape such as ``\x1b`` for each character that is not printable.

    Messages and reports quote names and texts from files through this function, so that a file
    cannot send control sequences to a terminal or begin a new line.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


class TrainingError(RuntimeError):
    """Training cannot continue. The message says what is wrong and what to do.

    It is a ``RuntimeError``, because ``sentencepiece`` raises a ``RuntimeError`` if one of its
    internal checks fails.

    Attributes
    ----------
    names_sizes : bool
        Whether the message begins with the sizes of the vocabularies that the error concerns.
    """

    names_sizes = False


class BadValueError(SyntaxError, TrainingError, ValueError):
    """A flag or keyword has an invalid value (``INVALID_ARGUMENT``).

    ``sentencepiece`` raises ``SyntaxError`` before 0.2.2, and ``ValueError`` since then.
    """


class UsageError(BadValueError):
    """Raised if a command line is wrong; the message is one line.

    Functions for Python raise a `BadValueError` instead; see `naming_keywords` in
    ``options/arguments.py``.
    """


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and similar codes)."""


_LONGEST_PATH = 4096  # bytes, with the NUL at its end: the limit of Linux; that of macOS is smaller
_SHOWN_PATH = 300


def refuse_impossible(path: str | PathLike[str], remedy: str) -> None:
    """Raise if no file can have this path. For such a path, Python would raise a `ValueError`.

    Raises
    ------
    MissingFileError
        If the path contains a NUL character or a lone surrogate that does not represent a byte, or
        is longer than any path can be, for example because it is a text or a model.
    """
    text = fspath(path)
    try:
        is_possible = b"\0" not in fsencode(text)
    except UnicodeEncodeError:
        is_possible = False
    if is_possible and len(text) < _LONGEST_PATH:
        return
    reason = "the path contains a NUL character or a lone surrogate"
    if is_possible:
        reason = strerror(errno.ENAMETOOLONG)
    more = "..." if len(text) > _SHOWN_PATH else ""
    raise MissingFileError(f"{text[:_SHOWN_PATH]!r}{more}: {reason}. {remedy}.")


class UnknownOptionError(TrainingError, OSError):
    """No option has this name. ``sentencepiece`` raises ``OSError`` before 0.2.2."""


class EmptyCorpusError(TrainingError):
    """The normalized text has no characters to train on."""


_LESS_MEMORY = (
    "Train on a sample of the text (--input_sentence_size) or on a text with fewer distinct words, "
    "lower --seed_sentencepiece_size, or use fewer --workers."
)


class OutOfMemoryError(TrainingError, MemoryError):
    """Memory ran out. Every worker has stopped, and nothing was written.

    Parameters
    ----------
    stage : str
        The stage of the run.
    reason : str
        The message of Python or the system, if any.
    remedy : str
        What to do.
    """

    def __init__(self, stage: str, reason: str = "", remedy: str = _LESS_MEMORY) -> None:
        details = f" ({reason})" if reason not in ("", "std::bad_alloc") else ""
        super().__init__(f'Memory ran out in the stage "{stage}"{details}. {remedy}')


# If memory runs out while Python or a library loads a module, starts a thread or allocates a lock,
# it raises one of these errors instead of a MemoryError.
_SIGNS_OF_NO_MEMORY = (
    (ImportError, "failed to map segment"),
    (RuntimeError, "can't start new thread"),
    (RuntimeError, "can't allocate lock"),
    (Exception, "Failed to launch worker thread"),  # pyarrow
)


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error means that memory ran out."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(isinstance(error, kind) and sign in str(error) for kind, sign in _SIGNS_OF_NO_MEMORY)


def naming_stage(do: Callable[[], Taken], stage: Callable[[], str]) -> Taken:
    """Call a function. If memory runs out in it, raise an error that names the current stage.

    Raises
    ------
    OutOfMemoryError
        If memory ran out.
    """
    try:
        return do()
    except OutOfMemoryError:
        raise  # it already says where and why
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        reason = str(error)
    # This error is raised after the handler. Inside the handler, the caught error would become the
    # context of this error, and would keep the objects of the failed run in memory.
    raise OutOfMemoryError(stage(), reason)


NOT_COMPILED = (
    "These are the sources of spmcompat, which are not compiled. Leave this folder, so that Python "
    "imports the installed package."
)
"""The message if Python imports the sources instead of the installed package."""


def is_not_compiled(error: ImportError) -> bool:
    """Return whether an error means that a compiled module of this package is missing."""
    return isinstance(error, ModuleNotFoundError) and str(error.name).startswith("spmcompat.")


def naming_iterator_errors(take: Callable[[], Taken]) -> Taken:
    """Call a function of the user's iterator, and convert its exceptions to a `TrainingError`.

    Raises
    ------
    TrainingError
        With a message that names the original exception, which is also the cause.
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
