"""The exception of the package, and its subclasses for errors that callers may want to catch."""


class TrainingError(RuntimeError):
    """Training cannot continue. The message says what is wrong and what to do.

    It is a ``RuntimeError``, because ``sentencepiece`` raises that for its internal checks.
    """


class BadValueError(SyntaxError, TrainingError, ValueError):
    """A flag or keyword has an invalid value (``INVALID_ARGUMENT``).

    ``sentencepiece`` raises ``SyntaxError`` before 0.2.2, and ``ValueError`` since then.
    """


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and similar codes)."""


class UnknownOptionError(TrainingError, OSError):
    """No option has this name. ``sentencepiece`` raises ``OSError`` before 0.2.2."""


class EmptyCorpusError(TrainingError):
    """The text has no characters to train on."""
