"""Trains SentencePiece models whose files equal those of ``spm_train``, byte for byte.

`train` is the typed interface; `SentencePieceTrainer` has the interface of the ``sentencepiece``
package. Every error caused by the values of arguments or by the input is a `TrainingError`; an
unknown keyword of `train` is a `TypeError`.
"""

from spmcompat.version import __version__

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
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

# Commands import this package before they can handle Ctrl-C, so names are imported on first use.
_MODULES = {
    **dict.fromkeys(("arrow_counter", "count", "load_counts"), "api.counting"),
    **dict.fromkeys(
        ("edit", "export", "extend", "import_tokenizer", "merge", "trim"), "api.models"
    ),
    **dict.fromkeys(("SentencePieceTrainer", "train"), "api.training"),
    **dict.fromkeys((name for name in __all__ if name.endswith("Error")), "errors"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name."""
        from importlib import import_module  # noqa: PLC0415

        if name in ("api", "errors"):
            return import_module(f"spmcompat.{name}")
        if name not in _MODULES:
            raise AttributeError(f"module 'spmcompat' has no attribute {name!r}")
        value = getattr(import_module(f"spmcompat.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
