"""The one door to the trainer: for the tools, and for experiments with steps of one's own.

Nothing else of the trainer is meant for them, except ``model/``, ``errors``, and the parts of
``runtime/`` that are not about training. docs/engine.md explains how to use these names:

- **Texts**: `text_of`, `GivenText`, `read`, `read_like` and `Text` read and count a text as
  training does. `LineCutter` reads single lines as a model does, and returns their `LineSegments`.
  `open_text` and `rows_of` open texts that are not for training.
- **Normalization**: `Normalizer`, `compile_charsmap`, `decompile` and `precompiled`.
- **Counts**: `open_counts`, `Merging` and `write_counts` work on a `CountTable`.
- **Words**: `count_words` counts the words into which a `Template` cuts a text, in a `WordTable`;
  `load_words` and `merge_word_tables` work on such tables.
- **Unigram**: `make_seeds`, then `Unigram` for EM, losses and pruning, then `finalize`.
- **BPE**: `make_merges` and `count_in_encoded`.
- **Options**: `OPTIONS` is the table of options, and `RELEASES` has the releases of
  ``sentencepiece``. `possible_writers`, `command_of` and `stored_defaults` explain the options that
  a model stores.

Each name is imported only when it is first used, because most commands need few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spmcompat.bpe.merges import count_in_encoded
    from spmcompat.bpe.token_trainer import byte_texts
    from spmcompat.bpe.trainer import make_merges
    from spmcompat.counting.reading import not_utf8
    from spmcompat.engine.lines import (
        LineCutter,
        LineSegments,
        check_pretokenizer,
    )
    from spmcompat.engine.reading import Text, counted, read, read_like
    from spmcompat.engine.stored_options import command_of, possible_writers, stored_defaults
    from spmcompat.engine.unigram import Unigram
    from spmcompat.huggingface.template import Template, plain_patterns, steps
    from spmcompat.huggingface.training import count_words
    from spmcompat.normalization.charsmaps import (
        NAMES,
        OWN_NAMES,
        Normalizer,
        compile_charsmap,
        decompile,
        precompiled,
    )
    from spmcompat.normalization.rules import MARK_CASE
    from spmcompat.options.arguments import as_list, naming_keywords
    from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
    from spmcompat.options.given_text import (
        TEXT_OPTIONS,
        WORD_OPTIONS,
        GivenText,
        text_of,
        text_of_flags,
    )
    from spmcompat.options.keywords import Progress, SentencePieceOptions, StrPath
    from spmcompat.options.languages import open_counts
    from spmcompat.options.named_rules import case_restorer
    from spmcompat.options.near_names import did_you_mean
    from spmcompat.options.option import BOOL, CHOICE, FLOAT, INT32, UINT64, Option
    from spmcompat.options.reading import unknown_option
    from spmcompat.options.table import FILE_OPTIONS, GROUPS, OPTIONS
    from spmcompat.options.values import parse_float, split_csv, to_text
    from spmcompat.releases import DEFAULT, RELEASES, Release, find_release
    from spmcompat.runtime.context import Context
    from spmcompat.runtime.cores import MOST_WORKERS, available_cores
    from spmcompat.runtime.rounding import LARGEST_FLOAT32, shortest, to_float32
    from spmcompat.runtime.terminal import columns, fitted, has_colour
    from spmcompat.runtime.threads import prepare_thread
    from spmcompat.segments.corpus import Corpus
    from spmcompat.stored_counts.arrow import add_up
    from spmcompat.stored_counts.loading import SymbolCheck
    from spmcompat.stored_counts.merging_tables import Merging, tempered
    from spmcompat.stored_counts.origin import Origin, digest
    from spmcompat.stored_counts.table import CountTable, load_counts, write_counts
    from spmcompat.text.arrow_producers import Sentences, is_arrow_data
    from spmcompat.text.formats import OWN_FORMATS
    from spmcompat.text.plain_texts import REMEDY, check_text, open_text, other_data, unreadable
    from spmcompat.text.tables import rows_of
    from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK
    from spmcompat.unigram.em.probabilities import log_sum
    from spmcompat.unigram.options import UnigramOptions
    from spmcompat.unigram.pieces import Pieces, finalize
    from spmcompat.unigram.pruning.pruning import drop_unreachable
    from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
    from spmcompat.unigram.trainer import make_seeds
    from spmcompat.version import __version__
    from spmcompat.words.table import WordTable, load_words, merge_word_tables, open_words

_NAMES = {
    "bpe.merges": ("count_in_encoded",),
    "bpe.token_trainer": ("byte_texts",),
    "bpe.trainer": ("make_merges",),
    "counting.reading": ("not_utf8",),
    "engine.lines": ("LineCutter", "LineSegments", "check_pretokenizer"),
    "engine.reading": ("Text", "counted", "read", "read_like"),
    "engine.stored_options": ("command_of", "possible_writers", "stored_defaults"),
    "engine.unigram": ("Unigram",),
    "huggingface.template": ("Template", "plain_patterns", "steps"),
    "huggingface.training": ("count_words",),
    "normalization.charsmaps": (
        "NAMES",
        "OWN_NAMES",
        "Normalizer",
        "compile_charsmap",
        "decompile",
        "precompiled",
    ),
    "normalization.rules": ("MARK_CASE",),
    "options.arguments": ("as_list", "naming_keywords"),
    "options.from_counts": ("OPTIONS_OF_COUNTING",),
    "options.given_text": (
        "TEXT_OPTIONS",
        "WORD_OPTIONS",
        "GivenText",
        "text_of",
        "text_of_flags",
    ),
    "options.keywords": ("Progress", "SentencePieceOptions", "StrPath"),
    "options.languages": ("open_counts",),
    "options.named_rules": ("case_restorer",),
    "options.near_names": ("did_you_mean",),
    "options.option": ("BOOL", "CHOICE", "FLOAT", "INT32", "UINT64", "Option"),
    "options.reading": ("unknown_option",),
    "options.table": ("FILE_OPTIONS", "GROUPS", "OPTIONS"),
    "options.values": ("parse_float", "split_csv", "to_text"),
    "releases": ("DEFAULT", "RELEASES", "Release", "find_release"),
    "runtime.context": ("Context",),
    "runtime.cores": ("MOST_WORKERS", "available_cores"),
    "runtime.rounding": ("LARGEST_FLOAT32", "shortest", "to_float32"),
    "runtime.terminal": ("columns", "fitted", "has_colour"),
    "runtime.threads": ("prepare_thread",),
    "segments.corpus": ("Corpus",),
    "stored_counts.arrow": ("add_up",),
    "stored_counts.loading": ("SymbolCheck",),
    "stored_counts.merging_tables": ("Merging", "tempered"),
    "stored_counts.origin": ("Origin", "digest"),
    "stored_counts.table": ("CountTable", "load_counts", "write_counts"),
    "text.arrow_producers": ("Sentences", "is_arrow_data"),
    "text.formats": ("OWN_FORMATS",),
    "text.plain_texts": ("REMEDY", "check_text", "open_text", "other_data", "unreadable"),
    "text.tables": ("rows_of",),
    "unicode.marks": ("SPACE_MARK", "UNKNOWN_MARK"),
    "unigram.em.probabilities": ("log_sum",),
    "unigram.options": ("UnigramOptions",),
    "unigram.pieces": ("Pieces", "finalize"),
    "unigram.pruning.pruning": ("drop_unreachable",),
    "unigram.pruning.sizes": ("rounds_left", "shrunk"),
    "unigram.trainer": ("make_seeds",),
    "version": ("__version__",),
    "words.table": ("WordTable", "load_words", "merge_word_tables", "open_words"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a name."""
        if name not in _MODULES:
            raise AttributeError(f"module 'spmcompat.engine' has no attribute {name!r}")
        value = getattr(import_module(f"spmcompat.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
