"""Trains SentencePiece models with the bytes of ``spm_train``, and tokenizer.json files.

`train` is the typed interface; `SentencePieceTrainer` has the interface of the ``sentencepiece``
package. `train_tokenizer` finds the vocabulary and merges of the trainers of Hugging Face's
``tokenizers``; `train_from_iterator`, `train_from_files` and `train_new_from_iterator` do the same
for a tokenizer in memory. The other functions work on trained models and counts; each has a
command. Every error
caused by the values of arguments or by the input is a `TrainingError`; an argument of a wrong type
may raise a `TypeError`.
"""

import os
import sys

from spmcompat.version import __version__

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from spmcompat.api.counting import arrow_counter, count, load_counts, load_words
    from spmcompat.api.models import edit, export, extend, import_model, merge, trim
    from spmcompat.api.tokenizers import (
        count_words,
        train_from_files,
        train_from_iterator,
        train_new_from_iterator,
        train_parity_from_iterators,
        train_tokenizer,
    )
    from spmcompat.api.training import SentencePieceTrainer, train
    from spmcompat.errors import (
        BadValueError,
        MissingFileError,
        OutOfMemoryError,
        TrainingError,
        UnknownOptionError,
    )
    from spmcompat.huggingface.files import TrainedTokenizer
    from spmcompat.runtime.libraries import MissingLibraryError
    from spmcompat.runtime.rounds import Step
    from spmcompat.stored_counts.arrow_counter import ArrowCounter
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.tools.compare.command import compare
    from spmcompat.tools.compare.comparison import Comparison
    from spmcompat.tools.counts.command import merge_counts, merge_words
    from spmcompat.tools.diff.difference import diff
    from spmcompat.tools.diff.report import Difference
    from spmcompat.tools.edit.edits import EditResult
    from spmcompat.tools.edit.growing import SizeResult
    from spmcompat.tools.edit.merging_models import MergeResult
    from spmcompat.tools.evaluate.command import evaluate
    from spmcompat.tools.evaluate.report import EvaluationReport
    from spmcompat.tools.export.verifying import Verification
    from spmcompat.tools.parity.check import Parity, parity
    from spmcompat.tools.show.check import Check, check
    from spmcompat.tools.show.contents import Contents, show
    from spmcompat.tools.show.tokenizers import TokenizerOverview
    from spmcompat.tools.view.command import view
    from spmcompat.tools.view.result import View
    from spmcompat.words.table import WordTable

# Each name is imported only when it is first used, so importing the package is fast. Most programs
# need only a few names, and a command cannot handle Ctrl-C before the package has been imported.
_NAMES = {
    "api.counting": ("arrow_counter", "count", "load_counts", "load_words"),
    "api.models": ("edit", "export", "extend", "import_model", "merge", "trim"),
    "api.tokenizers": (
        "count_words",
        "train_from_files",
        "train_from_iterator",
        "train_new_from_iterator",
        "train_parity_from_iterators",
        "train_tokenizer",
    ),
    "api.training": ("SentencePieceTrainer", "train"),
    "errors": (
        "BadValueError",
        "MissingFileError",
        "OutOfMemoryError",
        "TrainingError",
        "UnknownOptionError",
    ),
    "huggingface.files": ("TrainedTokenizer",),
    "runtime.libraries": ("MissingLibraryError",),
    "runtime.rounds": ("Step",),
    "stored_counts.arrow_counter": ("ArrowCounter",),
    "stored_counts.table": ("CountTable",),
    "tools.compare.command": ("compare",),
    "tools.compare.comparison": ("Comparison",),
    "tools.counts.command": ("merge_counts", "merge_words"),
    "tools.diff.difference": ("diff",),
    "tools.diff.report": ("Difference",),
    "tools.edit.edits": ("EditResult",),
    "tools.edit.growing": ("SizeResult",),
    "tools.edit.merging_models": ("MergeResult",),
    "tools.evaluate.command": ("evaluate",),
    "tools.evaluate.report": ("EvaluationReport",),
    "tools.export.verifying": ("Verification",),
    "tools.parity.check": ("Parity", "parity"),
    "tools.show.check": ("Check", "check"),
    "tools.show.contents": ("Contents", "show"),
    "tools.show.tokenizers": ("TokenizerOverview",),
    "tools.view.command": ("view",),
    "tools.view.result": ("View",),
    "words.table": ("WordTable",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
_ONLY_IN_SENTENCEPIECE = (
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SetRandomGeneratorSeed",
    "set_random_generator_seed",
)

__all__ = [
    "ArrowCounter",
    "BadValueError",
    "Check",
    "Comparison",
    "Contents",
    "CountTable",
    "Difference",
    "EditResult",
    "EvaluationReport",
    "MergeResult",
    "MissingFileError",
    "MissingLibraryError",
    "OutOfMemoryError",
    "Parity",
    "SentencePieceTrainer",
    "SizeResult",
    "Step",
    "TokenizerOverview",
    "TrainedTokenizer",
    "TrainingError",
    "UnknownOptionError",
    "Verification",
    "View",
    "WordTable",
    "__version__",
    "arrow_counter",
    "check",
    "compare",
    "count",
    "count_words",
    "diff",
    "edit",
    "evaluate",
    "export",
    "extend",
    "import_model",
    "load_counts",
    "load_words",
    "merge",
    "merge_counts",
    "merge_words",
    "parity",
    "show",
    "train",
    "train_from_files",
    "train_from_iterator",
    "train_new_from_iterator",
    "train_parity_from_iterators",
    "train_tokenizer",
    "trim",
    "view",
]

if not TYPE_CHECKING:
    _used: list[str] = []  # the public names that were used, in order
    # Libraries that are imported when they are needed: a package before its modules, because an
    # import of a module does not wait for an import of its package. pyarrow imports pandas.
    _LIBRARIES = (
        "fsspec",
        "numpy",
        "pyarrow",
        "pyarrow.compute",
        "pyarrow.parquet",
        "pandas",
        "tokenizers",
    )

    def _import_trainer() -> None:
        """Import all modules of the trainer before a fork, if another thread may be importing them.

        Otherwise, the lock of a module that the other thread is importing would never be released
        in the child, which would wait for it forever. A library is imported only if its import has
        begun, because libraries are large.
        """
        if not _used or len(sys._current_frames()) == 1:
            return
        from contextlib import suppress
        from importlib import import_module
        from pkgutil import walk_packages

        others = tuple(f"spmcompat.{name}" for name in ("tools", "cli", "spark", "__main__"))
        for module in walk_packages(__path__, "spmcompat."):
            if not module.name.startswith(others):
                with suppress(ImportError):  # of an optional library
                    import_module(module.name)
        for name in _LIBRARIES:
            if name.partition(".")[0] in sys.modules:
                with suppress(ImportError):
                    import_module(name)

    if hasattr(os, "register_at_fork"):  # Windows has no forks
        os.register_at_fork(before=_import_trainer)

    def __getattr__(name: str) -> object:
        """Import a public name."""
        from importlib import import_module

        if name in ("api", "errors"):
            return import_module(f"spmcompat.{name}")
        if name not in _MODULES:
            is_theirs = name in _ONLY_IN_SENTENCEPIECE
            hint = f". Encode with the sentencepiece package: sentencepiece.{name}"
            raise AttributeError(
                f"module 'spmcompat' has no attribute {name!r}{hint if is_theirs else ''}"
            )

        _used.append(name)
        from spmcompat.runtime.libraries import is_installed

        if not is_installed("spmcompat.runtime.threads"):
            from spmcompat.errors import NOT_COMPILED

            raise ImportError(NOT_COMPILED)
        value = getattr(import_module(f"spmcompat.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return __all__
