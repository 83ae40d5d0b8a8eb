"""The allowed content of the metadata of a counts file.

Such a file may come from anyone, so each field is checked before use. This module lists the options
that the metadata may set. No option in the metadata makes training open a file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from spmcompat.counting.rows import LARGEST_CHARACTER, LARGEST_COUNT

COUNTING_OPTIONS = (
    "input",
    "input_format",
    "input_column",
    "split_lines",
    "skip_bad_records",
    "max_sentence_length",
    "long_sentences",
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
"""The options that determine the rows of a table of counts. Training takes them from the table.
The paths `input` and `normalization_rule_tsv` are stored in the model, but not opened: the content
of the rules file is in the metadata.
"""

SYMBOL_OPTIONS = (
    "control_symbols",
    "user_defined_symbols",
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
"""The options that decide at which symbols the text is cut. Training may use other symbols if they
do not occur in the text."""

STORED_OPTIONS = frozenset((*COUNTING_OPTIONS, *SYMBOL_OPTIONS))
"""All options that the metadata may contain."""


# A limit is needed: compiling a regular expression of several megabytes takes minutes.
_LONGEST_PATTERN = 1 << 16


class Kind(NamedTuple):
    """The values that a field may have.

    Attributes
    ----------
    description : str
        Completes the phrase "the field must be ...".
    allows : callable
        Returns whether a value is allowed.
    """

    description: str
    allows: Callable[[Any], bool]


def _is_text(value: object) -> bool:
    """Return whether the value is text that can be encoded in UTF-8."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _is_whole(value: object, largest: int) -> bool:
    return type(value) is int and 0 <= value <= largest


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_options(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


_FLAG = Kind("true or false", lambda value: isinstance(value, bool))
_TEXT = Kind("text", _is_text)
_TEXTS = Kind("a list of texts", _is_list_of_texts)
_SIZE = Kind("a whole number from 0 to 2**62", lambda value: _is_whole(value, LARGEST_COUNT))
_CHARACTER = Kind("a code point", lambda value: _is_whole(value, LARGEST_CHARACTER))

RULES: Mapping[str, Kind] = {
    "add_dummy_prefix": _FLAG,
    "remove_extra_whitespaces": _FLAG,
    "treat_whitespace_as_suffix": _FLAG,
    "split_by_whitespace": _FLAG,
    "whitespace_as_suffix": _FLAG,
    "allow_whitespace_only_pieces": _FLAG,
    "spaces_apart": _FLAG,
    "boundary": _CHARACTER,
    "copies": _SIZE,
    "script_runs": _FLAG,
    "calls_pretokenizer": _FLAG,
    "boundaries_end_pretokens": _FLAG,
    "uniform_starts": _FLAG,
}
"""The fields of the plan that determine the rows."""

FIELDS: Mapping[str, Kind] = {
    "options": Kind("an object whose values are texts", _are_options),
    "rules": Kind("an object", lambda value: isinstance(value, dict)),
    "charsmap": Kind(
        "a SHA-256 in hexadecimal digits",
        lambda value: _is_text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None,
    ),
    "symbols": _TEXTS,
    "delimiter": _TEXT,
    "sentences": _SIZE,
    "first_character": _CHARACTER,
    "lines": _SIZE,
    "too_long": _SIZE,
    "reserved": _SIZE,
    "huge_characters": Kind(
        "a number from 0",
        lambda value: type(value) in (int, float) and 0 <= value <= 1e300 and math.isfinite(value),
    ),
    "bytes_read": _SIZE,
    "changes": _TEXTS,
    "nulls": _SIZE,
    "broken": _SIZE,
    "normalization_rules": _TEXT,
}
"""The fields of `Origin`. Metadata must contain all of them, and the version of the format."""


def fault_of(document: object) -> str | None:
    """Return the first reason why a document is not valid metadata of counts; None if it is valid.

    Parameters
    ----------
    document : object
        A JSON value, without the version of the format.
    """
    if not isinstance(document, dict):
        return "they are not an object"
    return (
        _fault_of_fields(document, FIELDS, "the field ")
        or _fault_of_fields(document["rules"], RULES, "the rule ")
        or _fault_of_options(document["options"])
        or _contradiction(document)
    )


def _fault_of_fields(
    document: Mapping[str, Any], kinds: Mapping[str, Kind], prefix: str
) -> str | None:
    for name in kinds:
        if name not in document:
            return f"{prefix}{name} is missing"
        if not kinds[name].allows(document[name]):
            return f"{prefix}{name} must be {kinds[name].description}"
    unknown = [name for name in document if name not in kinds]
    return f"{prefix}{unknown[0]} is unknown" if unknown else None


def _fault_of_options(options: Mapping[str, str]) -> str | None:
    foreign = [name for name in options if name not in STORED_OPTIONS]
    if foreign:
        return f"counts cannot set the option {foreign[0]}"
    if len(options.get("pretokenizer", "")) > _LONGEST_PATTERN:
        return f"the option pretokenizer has more than {_LONGEST_PATTERN:,} characters"
    return None


def _contradiction(document: Mapping[str, Any]) -> str | None:
    """Return how fields contradict each other, or None if they do not."""
    names_rules = bool(document["options"].get("normalization_rule_tsv"))
    if document["lines"] < document["sentences"]:
        return "there are fewer lines than sentences"
    if names_rules != bool(document["normalization_rules"]):
        return "normalization_rules and the option normalization_rule_tsv belong together"
    return None
