"""Normalization rules as data, and as the content of a TSV file."""

from collections.abc import Mapping
from typing import TypeAlias

Rules: TypeAlias = Mapping[tuple[int, ...], tuple[int, ...]]
"""Pairs of a source and its replacement, as code points."""

NAMES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")
"""The names of the rules of ``sentencepiece``, except ``identity``, which changes nothing."""

MARK_CASE = "nmt_nfkc_mark_case"
"""The name of the rules that replace a capital with the case mark and its small letter."""

OWN_NAMES = {
    "nmt_nfkc_strip_accents": "nmt_nfkc",
    "nmt_nfkc_cf_strip_accents": "nmt_nfkc_cf",
    MARK_CASE: "nmt_nfkc",
}
"""Each set of rules that ``sentencepiece`` lacks, and the rules from which it is derived."""


def to_tsv(rules: Rules) -> str:
    """Return the content of a TSV file with these rules."""
    sides = [[" ".join(f"{c:X}" for c in side) for side in rule] for rule in rules.items()]
    return "".join(f"{source}\t{target}\n" for source, target in sides)
