"""Trains SentencePiece models: the files of ``spm_train``, byte for byte.

`train` is the typed form, `SentencePieceTrainer` the form of the ``sentencepiece`` package.
Everything that can go wrong with what was given is a `TrainingError`.
"""

from spmcompat.api.counting import arrow_counter, count, load_counts
from spmcompat.api.models import edit, export, extend, import_tokenizer, merge, trim
from spmcompat.api.training import SentencePieceTrainer, train
from spmcompat.errors import (
    BadValueError,
    MissingFileError,
    OutOfMemoryError,
    TrainingError,
    UnknownOptionError,
)

__version__ = "0.1.0"

__all__ = [
    "BadValueError",
    "MissingFileError",
    "OutOfMemoryError",
    "SentencePieceTrainer",
    "TrainingError",
    "UnknownOptionError",
    "__version__",
    "arrow_counter",
    "count",
    "edit",
    "export",
    "extend",
    "import_tokenizer",
    "load_counts",
    "merge",
    "train",
    "trim",
]
