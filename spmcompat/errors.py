"""The one exception of the package, with a subclass for each kind that callers may catch."""

from os import PathLike, fspath


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what is wrong and what to do.

    ``sentencepiece`` raises ``RuntimeError`` for its internal checks, so does this package.
    """


class BadValueError(SyntaxError, TrainingError, ValueError):
    """A flag or keyword has a value that cannot be used (``INVALID_ARGUMENT``).

    ``sentencepiece`` raises ``SyntaxError`` before 0.2.2, ``ValueError`` since.
    """


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and its kind)."""


def refuse_nul(path: str | PathLike[str], remedy: str) -> None:
    """Raise for a path that no file can have; Python's own error for it is no `OSError`.

    Raises
    ------
    MissingFileError
        If the path holds a NUL character.
    """
    if "\0" in fspath(path):
        raise MissingFileError(f"{fspath(path)!r}: the path holds a NUL character: {remedy}.")


class UnknownOptionError(TrainingError, OSError):
    """There is no option of this name; ``sentencepiece`` raises ``OSError`` before 0.2.2."""


class EmptyCorpusError(TrainingError):
    """No character of the text is left to train on."""
