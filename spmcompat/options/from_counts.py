"""The options of counting a text, and of training from stored counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from spmcompat.errors import ConflictError, CountsMismatchError, TrainingError, printable
from spmcompat.options.checks import check_ranges
from spmcompat.options.languages import merge_languages, open_counts, pop_languages
from spmcompat.options.settings import Settings, value_of
from spmcompat.options.table import OPTIONS
from spmcompat.options.values import to_text
from spmcompat.stored_counts.metadata import COUNTING_OPTIONS, STORED_OPTIONS, SYMBOL_OPTIONS
from spmcompat.stored_counts.origin import invalid_metadata
from spmcompat.text.formats import OWN_FORMATS

if TYPE_CHECKING:
    from spmcompat.stored_counts.table import CountTable

_SYMBOL_LISTS = ("control_symbols", "user_defined_symbols")
OPTIONS_OF_COUNTING = (
    *COUNTING_OPTIONS,
    *SYMBOL_OPTIONS,
    *(f"{name}_file" for name in _SYMBOL_LISTS),
)
"""The options that counting accepts. The counts store only some of them."""


def with_counts(
    options: Mapping[str, object], read: Callable[[Mapping[str, object]], Settings]
) -> Settings:
    """Build settings from options. If counts are given, add the options that they store.

    ``counts`` is a table of counts or its path. It stores the options with which the text was
    counted. ``language_counts`` lists several tables; the stored options of the first one are used.

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
    languages = pop_languages(given)
    if languages is None and (counts is None or counts == ""):
        return read(given)
    if "input" in given:
        raise ConflictError("Give either input or counts: counts replace the text.")
    if languages is None:
        table = open_counts(counts)
    elif counts:
        raise ConflictError("Give either counts or language_counts.")
    else:
        table = merge_languages(languages)
    counted = counted_settings(table, read)
    stored = {
        name: value for name, value in table.origin.options.items() if f"{name}_file" not in given
    }
    settings = read({**stored, **given})
    _refuse_contradictions(given, counted, settings, table.name)
    settings.counts = table
    settings.languages = languages
    if "normalization_rule_tsv" not in given:
        settings.rules = counted.rules
    return settings


def counting_options(options: Mapping[str, object], settings: Settings) -> dict[str, str]:
    """Return the options that a table of counts stores, as text."""
    stored = {
        name: to_text(value)
        for name, value in options.items()
        if name in STORED_OPTIONS and not callable(value)
    }
    # Models and tables do not store formats that only this package knows.
    if stored.get("input_format") in OWN_FORMATS:
        del stored["input_format"]
    for name in _SYMBOL_LISTS:
        if options.get(f"{name}_file"):
            stored[name] = to_text([*getattr(settings.trainer, name)])
    return stored


def counted_settings(
    table: CountTable, read: Callable[[Mapping[str, object]], Settings]
) -> Settings:
    """Return the settings that a text was counted with.

    Raises
    ------
    TrainingError
        If the metadata contain a value that is not valid for its option.
    """
    origin = table.origin
    try:
        settings = read(origin.options)
        check_ranges(settings)
        if origin.normalization_rules:
            from spmcompat.normalization.charsmaps import parse_rules

            settings.rules = parse_rules(origin.normalization_rules.encode(), "normalization_rules")
    except TrainingError as error:
        raise invalid_metadata(table.name, str(error).removesuffix(".")) from None
    return settings


def _refuse_contradictions(
    given: Mapping[str, object], counted: Settings, training: Settings, name: str
) -> None:
    for option in COUNTING_OPTIONS:
        if option not in given or callable(given[option]):
            continue
        first, second = value_of(counted, option), value_of(training, option)
        if first != second:
            shown = OPTIONS[option].default if first == "" else first
            raise CountsMismatchError(
                f"{name}: the text was counted with {option}={printable(str(shown))}, and the "
                f"option for training is {option}={second}. Leave {option} out, or count again."
            )
