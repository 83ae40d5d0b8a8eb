"""Pre-tokenization by script or by a pattern, as a function that the real library takes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from itertools import groupby, pairwise
from typing import Any

from spmcompat.unicode.scripts import (
    COMMON,
    HAN,
    HIRAGANA,
    INHERITED,
    KATAKANA,
    script_of,
)

from .characters import BOUNDARY, SPACE, is_digit

CLASSES = {"L": "LM", "M": "LM", "P": "PS", "S": "PS"}
SEPARATOR = (COMMON, "Z")
JOINING = {(script_of(ord(letter)), "LM") for letter in "aاअ가አаαאঅܐଅஅఅਅઅඅഅԱಅა"}
JOINING.add((COMMON, "PS"))

Kind = tuple[int, str]


def kind_of(character: str) -> Kind:
    """Return the script and the class, which decide about the script run of a character."""
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
    """Return the script runs: group a text by kind, then join groups from the left."""
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
    """Cut a text where a match begins or ends; for the pattern, space marks are spaces."""
    import regex  # noqa: PLC0415

    cuts = {0, len(text)}
    for match in regex.finditer(pattern.replace(SPACE, " "), text.replace(SPACE, " ")):
        cuts |= {*match.span()}
    return [text[begin:end] for begin, end in pairwise(sorted(cuts))]


def separates(left: str, right: str, options: Mapping[str, Any]) -> bool:
    """Return whether the options alone forbid a piece with these two neighbours."""
    if SPACE in (left, right):
        if not options.get("split_by_whitespace", True):
            return False
        if left == right:
            return not options.get("allow_whitespace_only_pieces", False)
        return (left if options.get("treat_whitespace_as_suffix") else right) == SPACE
    if options.get("split_digits") and (is_digit(left) or is_digit(right)):
        return True
    if not options.get("split_by_unicode_script", True):
        return False
    scripts = [_script(character, options) for character in (left, right)]
    return None not in scripts and INHERITED not in scripts and scripts[0] != scripts[1]


def _script(character: str, options: Mapping[str, Any]) -> int | None:
    if is_digit(character) and not options.get("split_by_number", True):
        return None
    script = script_of(ord(character))
    return HAN if script in (HIRAGANA, KATAKANA) or character == "\u30fc" else script


def without_redundant_cuts(pretokens: list[str], options: Mapping[str, Any]) -> list[str]:
    """Join pretokens, and the text around boundary marks, where the options cut anyway."""
    first, *others = BOUNDARY.join(pretokens).split(BOUNDARY)
    kept = [first]
    for pretoken in filter(None, others):
        if kept[-1] and separates(kept[-1][-1], pretoken[0], options):
            kept[-1] += pretoken
        else:
            kept.append(pretoken)
    return kept


def function_for(pretokenizer: str, options: Mapping[str, Any]) -> Callable[[str], list[str]]:
    """Return a function that does in the real library what the option does in ours."""

    def cut(sentence: str) -> list[str]:
        if pretokenizer == "script":
            pretokens = script_runs(sentence)
        else:
            pretokens = matches(pretokenizer.removeprefix("regex:"), sentence)
        return without_redundant_cuts(pretokens, options)

    return cut
