"""The one exception of the package, with a subclass for each kind that callers may catch."""


class TrainingError(RuntimeError):
    """Training cannot go on; the message says what is wrong and what to do.

    ``sentencepiece`` raises ``RuntimeError`` for its internal checks, so does this package.
    """


class BadValueError(TrainingError, ValueError):
    """A flag or keyword has a value that cannot be used (``INVALID_ARGUMENT``)."""


class MissingFileError(TrainingError, OSError):
    """A file cannot be read or written (``NOT_FOUND`` and its kind)."""


class EmptyCorpusError(TrainingError):
    """No character of the text is left to train on."""
