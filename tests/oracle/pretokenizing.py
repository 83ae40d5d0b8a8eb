"""Pre-tokenization by script or by a pattern."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby, pairwise

from spmcompat.pretokenization.script_runs import (
    COMMON,
    HAN,
    HIRAGANA,
    INHERITED,
    script_of,
)

from .characters import BOUNDARY, SPACE

CLASSES = {"L": "LM", "M": "LM", "P": "PS", "S": "PS"}
SEPARATOR = (COMMON, "Z")
JOINING = {(script_of(ord(letter)), "LM") for letter in "aاअ가አаαאঅܐଅஅఅਅઅඅഅԱಅა"}
JOINING.add((COMMON, "PS"))

Kind = tuple[int, str]


def kind_of(character: str) -> Kind:
    """Return the script and the class of a character. Both determine which run it belongs to."""
    if character in (SPACE, "\t", "\n"):
        return SEPARATOR
    if character in "\u30fc\uff70":
        return INHERITED, "LM"
    if character == "\u0640":
        return script_of(ord("ا")), "LM"
    script, category = script_of(ord(character)), unicodedata.category(character)[0]
    kind = CLASSES.get(category, category)
    return (HAN, kind) if (script, kind) == (HIRAGANA, "LM") else (script, kind)


def script_runs(text: str) -> list[str]:
    """Return the script runs: group neighbours of the same kind, and then join groups in order."""
    groups = [(kind, "".join(group)) for kind, group in groupby(text, kind_of)]
    runs: list[str] = []
    while groups:
        kind, run = groups.pop(0)
        if run == SPACE and groups and groups[0][0] in JOINING:
            kind, text = groups.pop(0)
            run += text
        while groups and (groups[0][0][0] == INHERITED or groups[0][0] == kind):
            run += groups.pop(0)[1]
        runs.append(run)
    return runs


def matches(pattern: str, text: str) -> list[str]:
    """Cut a text before and after each match of a pattern, which sees space marks as spaces."""
    import regex

    cuts = {0, len(text)}
    for match in regex.finditer(pattern.replace(SPACE, " "), text.replace(SPACE, " ")):
        cuts |= {*match.span()}
    return [text[begin:end] for begin, end in pairwise(sorted(cuts))]


def without_symbols(text: str, symbols: Iterable[str]) -> str:
    """Replace each symbol with a boundary mark; the longest symbol wins."""
    longest_first = sorted(symbols, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), BOUNDARY, text)
