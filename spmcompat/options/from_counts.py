"""Options for texts that are counted first and trained on later."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError
from spmcompat.options.option import EXTENSION, NORMALIZER, TRAINER
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS
from spmcompat.options.values import to_text
from spmcompat.text.forms import OWN_FORMATS

if TYPE_CHECKING:
    from spmcompat.stored_counts.table import CountTable

COUNTING_OPTIONS = (
    "input",
    "input_format",
    "input_column",
    "split_lines",
    "skip_bad_records",
    "max_sentence_length",
    "input_sentence_size",
    "shuffle_input_sentence",
    "sampling_seed",
    "normalization_rule_name",
    "normalization_rule_tsv",
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "treat_whitespace_as_suffix",
    "split_by_whitespace",
    "allow_whitespace_only_pieces",
    "pretokenization_delimiter",
    "pretokenizer",
    "allow_inconsistent_pretokenization",
    "space_pieces",
    "compat",
)
"""The options that decide which rows a table of counts has. Training takes them from the table."""

SYMBOL_OPTIONS = (
    "control_symbols",
    "control_symbols_file",
    "user_defined_symbols",
    "user_defined_symbols_file",
    "byte_fallback",
    "unk_id",
    "bos_id",
    "eos_id",
    "pad_id",
    "unk_piece",
    "bos_piece",
    "eos_piece",
    "pad_piece",
)
"""The options that decide at which symbols the text is cut. Training may have other symbols if the
text does not contain them."""


def with_counts(
    options: Mapping[str, object], read: Callable[[Mapping[str, object]], Settings]
) -> Settings:
    """Return the settings of options that may contain ``counts``, a table of counts or its path.

    The options with which the text was counted are added to those of training.

    Parameters
    ----------
    options : mapping
        Options by name.
    read : callable
        Builds settings from options without ``counts``.

    Raises
    ------
    BadValueError
        If an option contradicts the counts.
    TrainingError
        If the counts do not exist or cannot be read.
    """
    given = dict(options)
    counts = given.pop("counts", None)
    if counts is None or counts == "":
        return read(given)
    if "input" in given:
        raise BadValueError("Give either input or counts: the counts know what they were made of.")
    table = _open(counts)
    settings = read({**table.origin.options, **given})
    _refuse_contradictions(given, read(table.origin.options), settings, table.name)
    settings.counts = table
    return settings


def counting_options(options: Mapping[str, object], settings: Settings) -> dict[str, str]:
    """Return the options that a table of counts stores, as text."""
    spec = settings.trainer
    stored = {
        name: to_text(value)
        for name, value in options.items()
        if name in (*COUNTING_OPTIONS, *SYMBOL_OPTIONS) and not callable(value)
    }
    # Neither models nor tables depend on formats that only this package knows.
    if stored.get("input_format") in OWN_FORMATS:
        del stored["input_format"]
    for name in ("control_symbols", "user_defined_symbols"):
        if stored.pop(f"{name}_file", None):
            stored[name] = to_text([*getattr(spec, name)])
    return stored


def _open(counts: object) -> CountTable:
    from spmcompat.stored_counts.table import CountTable, load_counts  # noqa: PLC0415

    if isinstance(counts, CountTable):
        return counts
    if not isinstance(counts, str | os.PathLike):
        raise BadValueError(
            f"counts must be a CountTable or the path of one, not {type(counts).__name__}."
        )
    return load_counts(counts)


def _refuse_contradictions(
    given: Mapping[str, object], counted: Settings, training: Settings, name: str
) -> None:
    for option in COUNTING_OPTIONS:
        if option not in given or callable(given[option]):
            continue
        first, second = _value(counted, option), _value(training, option)
        if first != second:
            raise BadValueError(
                f"{name}: the text was counted with {option}={first}, and training was told "
                f"{option}={second}. Leave {option} out, or count again."
            )


def _value(settings: Settings, name: str) -> object:
    if name == "compat":
        return settings.release.version
    option = OPTIONS[name]
    holders = {
        TRAINER: settings.trainer,
        NORMALIZER: settings.normalizer,
        EXTENSION: settings.extensions,
    }
    return getattr(holders.get(option.target, settings), option.stored_as)
