"""The exception of the package, and its subclasses: one for each kind of error.

A kind that only one tool raises has its class in that tool.
"""

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
    kind : str
        The kind of the error. It stays the same when the message is reworded; docs/errors.md lists
        all kinds.
    names_sizes : bool
        Whether the message begins with the sizes of the vocabularies that the error concerns.
    """

    kind = "internal"
    names_sizes = False


class BadValueError(SyntaxError, TrainingError, ValueError):
    """A flag or keyword has an invalid value (``INVALID_ARGUMENT``).

    ``sentencepiece`` raises ``SyntaxError`` before 0.2.2, and ``ValueError`` since then.
    """

    kind = "bad-value"


class BadSettingError(TrainingError):
    """An option has an invalid value, which ``sentencepiece`` reports as a ``RuntimeError``."""

    kind = "bad-value"


class WrongTypeError(BadValueError):
    """An argument has the wrong type."""

    kind = "wrong-type"


class UsageError(BadValueError):
    """Raised if a command line is wrong; the message is one line.

    Functions for Python raise a `BadValueError` instead; see `naming_keywords` in
    ``options/arguments.py``.
    """

    kind = "usage"

    @classmethod
    def of(cls, error: TrainingError) -> UsageError:
        """Return an error with the message and the kind of an error in the values of flags."""
        usage = cls(str(error))
        usage.kind = error.kind
        return usage


class ConflictError(BadValueError):
    """Two options contradict each other, or an option has no effect here."""

    kind = "conflicting-options"


class ExclusiveError(TrainingError):
    """A `ConflictError` that ``sentencepiece`` reports as a ``RuntimeError``."""

    kind = "conflicting-options"


class BadSymbolError(TrainingError):
    """A meta piece or a symbol is empty, defined twice, or has an id that it cannot have."""

    kind = "bad-symbol"


class LargeVocabularyError(TrainingError):
    """The text does not yield as many pieces as ``vocab_size`` requires."""

    kind = "vocabulary-too-large"


class SmallVocabularyError(TrainingError):
    """The pieces that are always in the vocabulary do not fit into ``vocab_size``."""

    kind = "vocabulary-too-small"


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and similar codes)."""

    kind = "cannot-read"


class UnwritableError(MissingFileError):
    """A file cannot be written."""

    kind = "cannot-write"


class OverwriteError(BadValueError):
    """An output would replace a file that must not be lost."""

    kind = "would-overwrite"


class ImpossiblePathError(MissingFileError):
    """No file can have this path."""

    kind = "impossible-path"


class FileChangedError(TrainingError):
    """A file changed while it was used."""

    kind = "file-changed"


class NotUtf8Error(BadValueError):
    """A text is not valid UTF-8."""

    kind = "not-utf8"


class NotUtf8TextError(TrainingError):
    """A sentence of an iterator cannot be encoded in UTF-8."""

    kind = "not-utf8"


class WrongFormatError(TrainingError):
    """A file has another format than is read here."""

    kind = "wrong-format"


class BrokenFileError(TrainingError):
    """A file is damaged or ends early."""

    kind = "broken-file"


class BrokenArrowError(TrainingError):
    """Arrow data in memory are damaged, or their producer failed."""

    kind = "broken-arrow-data"


class BrokenRecordError(TrainingError):
    """A line or a record of a file is not valid."""

    kind = "broken-record"


class WrongColumnError(BadValueError):
    """No single column of strings was named or found."""

    kind = "wrong-column"


class ReadOnceError(TrainingError):
    """The text must be read again, but can be read only once."""

    kind = "cannot-read-twice"


_LONGEST_PATH = 4096  # bytes, with the NUL at its end: the limit of Linux; that of macOS is smaller
_SHOWN_PATH = 300


def refuse_impossible(path: str | PathLike[str], remedy: str) -> None:
    """Raise if no file can have this path. For such a path, Python would raise a `ValueError`.

    Raises
    ------
    ImpossiblePathError
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
    raise ImpossiblePathError(f"{text[:_SHOWN_PATH]!r}{more}: {reason}. {remedy}.")


class UnknownOptionError(TrainingError, OSError):
    """No option has this name. ``sentencepiece`` raises ``OSError`` before 0.2.2."""

    kind = "unknown-option"


class EmptyCorpusError(TrainingError):
    """The normalized text has no characters to train on."""

    kind = "empty-corpus"


class TextTooSmallError(TrainingError):
    """The text has too few characters or words to train on."""

    kind = "text-too-small"


class TooLargeError(TrainingError):
    """A text, or a sum of counts, exceeds a limit of the file formats or the algorithms."""

    kind = "too-large"


class NotFiniteError(TrainingError):
    """A score is not finite, or cannot be stored as a 32-bit float."""

    kind = "not-finite"


class BadCountsError(TrainingError):
    """A file or a table of counts was changed, or has another format."""

    kind = "bad-counts"


class CountsMismatchError(BadValueError):
    """Counts were made with other options than they are used with."""

    kind = "counts-mismatch"


class NeedsSentencesError(BadValueError):
    """Training needs whole sentences, which counts do not contain."""

    kind = "needs-sentences"


class BadModelError(BadValueError):
    """A file is not a SentencePiece model, or one that cannot be loaded."""

    kind = "bad-model"


class BadRulesError(TrainingError):
    """Normalization rules, or the compiled form of such rules, are not valid."""

    kind = "bad-rules"


class UnknownRulesError(MissingFileError):
    """No normalization rules have this name."""

    kind = "bad-value"


class UnsupportedError(TrainingError):
    """The platform, or the interpreter, cannot do this."""

    kind = "unsupported-platform"


_LESS_MEMORY = (
    "Train on a sample of the text (--input_sentence_size) or on a text with fewer distinct words, "
    "lower --seed_sentencepiece_size, or use fewer --workers."
)


class OutOfMemoryError(TrainingError, MemoryError):
    """Memory ran out. Every worker has stopped, and nothing was written."""

    kind = "out-of-memory"


def out_of_memory(stage: str, reason: str = "", remedy: str = _LESS_MEMORY) -> OutOfMemoryError:
    """Return the error for a stage in which memory ran out.

    Parameters
    ----------
    stage : str
        The stage of the run.
    reason : str
        The message of Python or the system, if any.
    remedy : str
        What to do.
    """
    details = f" ({reason})" if reason not in ("", "std::bad_alloc") else ""
    return OutOfMemoryError(f'Memory ran out in the stage "{stage}"{details}. {remedy}')


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
    raise out_of_memory(stage(), reason)


NOT_COMPILED = (
    "These are the sources of spmcompat, which are not compiled. Leave this folder, so that Python "
    "imports the installed package."
)
"""The message if Python imports the sources instead of the installed package."""


def is_not_compiled(error: ImportError) -> bool:
    """Return whether an error means that a compiled module of this package is missing."""
    return isinstance(error, ModuleNotFoundError) and str(error.name).startswith("spmcompat.")


class IteratorError(TrainingError):
    """The user's iterator raised an exception, which is the cause of this error."""

    kind = "iterator-failed"


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
        raise IteratorError(
            f"INTERNAL: the sentence iterator raised {type(error).__name__}: {reason}"
        ) from error
