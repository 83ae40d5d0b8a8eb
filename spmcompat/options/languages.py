"""The options of parity-aware BPE that name the counts of each language."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.errors import BadValueError, ConflictError, WrongTypeError, printable
from spmcompat.options.extension_options import LANGUAGE_OPTIONS
from spmcompat.options.values import split_csv

if TYPE_CHECKING:
    from spmcompat.stored_counts.table import CountTable


class LanguageTables(NamedTuple):
    """The counts of each language for parity-aware BPE.

    Attributes
    ----------
    training : sequence of CountTable
        For each language, the counts of the text in which pairs are counted.
    development : sequence of CountTable
        For each language, in the order of `training`, the counts of the text in which tokens are
        counted. If empty, tokens are counted in the texts of `training`.
    ratios : sequence of Fraction
        For each language, the factor by which its number of tokens is multiplied.
    """

    training: Sequence[CountTable]
    development: Sequence[CountTable]
    ratios: Sequence[Fraction]


def pop_languages(options: dict[str, object]) -> LanguageTables | None:
    """Remove the language options from `options`, and return their tables of counts and ratios.

    Returns None without ``language_counts``.

    Raises
    ------
    BadValueError
        If the lists do not have the same length, or an item is not valid.
    TrainingError
        If a file cannot be read.
    """
    counts, development, ratios = language_items(
        {name: options.pop(name, None) for name in LANGUAGE_OPTIONS}
    )
    if not counts:
        return None
    return LanguageTables(
        [open_counts(item) for item in counts],
        [open_counts(item) for item in development],
        ratios or [Fraction(1)] * len(counts),
    )


def language_items(
    options: Mapping[str, object],
) -> tuple[Sequence[object], Sequence[object], Sequence[Fraction]]:
    """Return the items of the options ``language_counts``, ``language_development`` and so on.

    Raises
    ------
    BadValueError
        If the lists do not have the same length, or a ratio is not valid.
    """
    counts, development, ratios = (_items(options[name]) for name in LANGUAGE_OPTIONS)
    for name, items in zip(LANGUAGE_OPTIONS[1:], (development, ratios), strict=True):
        if items and not counts:
            raise ConflictError(f"{name} needs language_counts. Give both or neither.")
        if items and len(items) != len(counts):
            raise ConflictError(
                f"{name} has {len(items)} items, but language_counts has {len(counts)}. Give one "
                "for each language, in the same order."
            )
    return counts, development, [_ratio(item) for item in ratios]


def merge_languages(languages: LanguageTables) -> CountTable:
    """Return the sum of the training counts of all languages, as a table in memory.

    Raises
    ------
    BadValueError
        If two tables, including those of development texts, were made with different rules.
    """
    import pyarrow as pa

    from spmcompat.stored_counts import arrow
    from spmcompat.stored_counts.merging_tables import Merging
    from spmcompat.stored_counts.table import CountTable

    Merging([*languages.training, *languages.development])  # checks the rules
    merging = Merging(languages.training)
    rows = pa.Table.from_batches([*merging], schema=arrow.schema())
    return CountTable(merging.origin(), rows)


def open_counts(counts: object) -> CountTable:
    """Return a table of counts, which may be given by its path.

    Raises
    ------
    BadValueError
        If `counts` is neither a table nor a path.
    TrainingError
        If the file cannot be read.
    """
    from spmcompat.stored_counts.table import CountTable, load_counts

    if isinstance(counts, CountTable):
        return counts
    if not isinstance(counts, str | os.PathLike):
        remedy = " Merge them with merge_counts." if isinstance(counts, list | tuple) else ""
        raise WrongTypeError(
            f"counts must be a CountTable or a path to one, not {type(counts).__name__}.{remedy}"
        )
    return load_counts(counts)


def _items(given: object) -> Sequence[object]:
    """Return the items of a list, which may be text separated by commas."""
    if given is None:
        return []
    if isinstance(given, str):
        return split_csv(given)
    return [*given] if isinstance(given, list | tuple) else [given]


def _ratio(item: object) -> Fraction:
    """Return the number as it is written: the text or number 0.1 is a tenth."""
    try:
        ratio = Fraction(str(item)) if 0 < float(item) < math.inf else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        ratio = None
    if ratio is None or max(ratio.numerator, ratio.denominator) >= 2**64:
        raise BadValueError(
            "language_ratios takes a number above 0 with at most 19 digits for each language, not "
            f"{printable(str(item))}."
        )
    return ratio
