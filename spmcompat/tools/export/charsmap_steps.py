"""Converts a charsmap to steps of the ``tokenizers`` library that produce the same text.

``sentencepiece`` goes through the text from left to right. At each position, it replaces the
longest text that is the source of a rule. The ``Precompiled`` step of ``tokenizers`` works
differently: it looks at a whole grapheme cluster. It replaces a cluster of up to 5 bytes with the
target of the *shortest* source at its beginning, so it drops the rest, such as accents. In a longer
cluster it only looks at single characters, so it never composes.

So the steps here use Precompiled only in cases that it handles correctly: for rules of a single
character, and with a separator between the characters of a cluster. Other steps, before or after
Precompiled, apply the rules of several characters:

- A pattern cuts the text at the same positions as ``sentencepiece``, into *units*. A unit is a
  user-defined symbol, the source of a rule or a single character. The step with this pattern puts a
  separator before each unit that could combine with the preceding character, and before each symbol
  that the rules would change.
- Most rules of several characters compose characters. The ``NFC`` step does the same inside a unit.
- Each remaining rule becomes a ``Replace`` step. It writes a placeholder, which is a private-use
  character, and Precompiled replaces the placeholder with the target. So targets are never
  normalized again.
"""

from __future__ import annotations

import base64
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from spmcompat.engine import compile_charsmap, decompile
from spmcompat.tools.export.patterns import character_class, longest_of, texts_of_pattern

Points: TypeAlias = "tuple[int, ...]"
JsonObject: TypeAlias = "dict[str, Any]"

MOST_EXPLICIT = 5000
"""The largest number of rules that each become a step. More steps would be too slow."""

# Characters that texts should not contain: noncharacters, and one that is unassigned.
_SEPARATOR, _BREAK, _DELETED = 0xFDE6, 0xFFF5, 0xFDE7
DELETED_MARK = chr(_DELETED)
"""The character that replaces text that the rules delete."""
# Placeholders are private-use characters, from this one downwards.
_LAST_PLACEHOLDER = 0x10E9F7

# Characters that can continue a cluster: marks and format characters (including ranges that future
# versions of Unicode may assign), jamo, emoji modifiers, regional indicators, and some letters.
_JOINS = (
    "\\p{M}\\p{Cf}\\p{Cn}\\n\\x{E33}\\x{EB3}\\x{1100}-\\x{11FF}\\x{A960}-\\x{A97F}"
    "\\x{AC00}-\\x{D7FF}\\x{FF9E}\\x{FF9F}\\x{1F1E6}-\\x{1F1FF}\\x{1F3FB}-\\x{1F3FF}"
)
# Characters that NFC can combine with the preceding character.
_COMPOSES = "\\p{M}\\x{1161}-\\x{1175}\\x{11A8}-\\x{11C2}"
_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))

# The characters of blocks with compositions that Unicode 12 does not have. The ``tokenizers``
# library uses Unicode 12.
_NEWER_COMPOSITIONS = frozenset(
    map(
        chr,
        chain(
            range(0x105C0, 0x10600),
            range(0x11380, 0x11400),
            range(0x11900, 0x11960),
            range(0x16100, 0x16140),
            range(0x16D40, 0x16D80),
        ),
    )
)
# Parts of the pattern of `_cuts`. An escaped text contains neither of them.
_BEFORE_SOURCES, _CUTS_END = ".(?!", ")+?\\K(?="
# Limits the time for the expansion of that pattern into the sources. The predefined rules need up
# to half of it.
_MOST_CHARACTERS = 1 << 23
# Separates texts that are normalized together. It occurs in no rule, and NFC does not combine it.
_NUL = "\0"


class CharsmapRules(NamedTuple):
    """The rules of a charsmap, and how to apply them.

    Attributes
    ----------
    single : dict
        The rules whose source is one character.
    several : dict
        The rules whose source is several characters.
    explicit : list
        The sources in `several` that each become a step, sorted. The ``NFC`` step handles the rest.
    composes : bool
        Whether there is an ``NFC`` step.
    units : list of str
        Patterns that match the longest source in `several`, or else a single character.
    kept : frozenset of int
        The characters of the sources in `several`, and of all targets.
    joining : frozenset of int
        The first characters of the sources whose targets NFC could combine with the left.
    """

    single: dict[int, Points]
    several: dict[Points, Points]
    explicit: list[Points]
    composes: bool
    units: list[str]
    kept: frozenset[int]
    joining: frozenset[int]


# The result is cached: both the check of the limits and the construction of the steps need it, and
# computing it takes almost a second.
@lru_cache(maxsize=1)
def analysed(charsmap: bytes) -> CharsmapRules:
    """Decide how to apply the rules of a charsmap."""
    rules = decompile(charsmap) if charsmap else {}
    single = {source[0]: target for source, target in rules.items() if len(source) == 1}
    several = {source: target for source, target in rules.items() if len(source) > 1}
    explicit, composes = sorted(several), False
    if len(explicit) > 30 and _nfc_keeps(single):
        left = _not_composed(single, several)
        if len(left) < len(explicit):
            explicit, composes = left, True
    units = ["."]
    if several:
        later = character_class({code for source in several for code in source[1:]})
        units = [f"{_BEFORE_SOURCES}{later})", longest_of(several), "."]
    kept = frozenset(chain.from_iterable((*several, *rules.values())))
    return CharsmapRules(single, several, explicit, composes, units, kept, _joining(rules))


# The result is cached, because an import tries all settings for spaces, and converting a large
# charsmap takes a long time.
@lru_cache(maxsize=2)
def steps_of(
    charsmap: bytes, symbols: tuple[str, ...], taken: frozenset[str], *, marks_deleted: bool = False
) -> list[JsonObject]:
    """Return the steps that normalize a text as a charsmap does.

    Parameters
    ----------
    charsmap : bytes
        The charsmap.
    symbols : tuple of str
        The user-defined symbols, which the rules must not change.
    taken : frozenset of str
        The pieces. Their characters must not be used as placeholders.
    marks_deleted : bool
        Whether to write `DELETED_MARK` in place of text that the rules delete.
    """
    rules = analysed(charsmap)
    changed = _changed_symbols(symbols, rules)
    used = {*rules.kept, *rules.single, *map(ord, "".join(taken))}
    placeholders = (code for code in range(_LAST_PLACEHOLDER, 0xF0000, -1) if code not in used)
    separator, pause = (_SEPARATOR, _BREAK) if marks_deleted else _separators(rules)

    of_symbols = {symbol: chr(next(placeholders)) for symbol in changed}
    steps: list[JsonObject] = []
    single = dict(rules.single)
    has_cuts = bool(rules.several or changed)
    if has_cuts:
        single.pop(separator, None)
        mark = chr(separator)
        steps += [prepend(mark), replace_pattern(_cuts(rules, changed, symbols), mark)]
        steps += [replace(mark + symbol, text) for symbol, text in of_symbols.items()]
        of_targets: dict[Points, int] = {}
        for source in sorted(rules.explicit, key=lambda points: (-len(points), points)):
            target = rules.several[source]
            if target not in of_targets:
                of_targets[target] = next(placeholders)
                single[of_targets[target]] = target
            text = mark + "".join(map(chr, source))
            steps.append(replace(text, chr(of_targets[target])))
    if single:
        if marks_deleted:
            single = {one: target or (_DELETED,) for one, target in single.items()}
        joints = _joints(single)
        single[pause] = ()
        steps += [replace_pattern(joints, chr(pause)), precompiled(single)]
    if rules.composes:
        steps.append({"type": "NFC"})
    if has_cuts:
        steps.append(replace(chr(separator), ""))
    return [*steps, *(replace(text, symbol) for symbol, text in of_symbols.items())]


def rules_of_steps(steps: Sequence[JsonObject]) -> dict[Points, Points]:
    """Return the rules of steps that `steps_of` made. This is the inverse of `steps_of`.

    Parameters
    ----------
    steps : sequence of dict
        The steps of a normalizer.
    """
    places = [index for index, step in enumerate(steps) if step.get("type") == "Precompiled"]
    if not places:
        return {}
    last = places[0]
    single = decompile(base64.b64decode(steps[last]["precompiled_charsmap"]))
    marks = set(map(ord, steps[last - 1].get("content", ""))) if last else set()
    single = {
        source: () if target == (_DELETED,) else target
        for source, target in single.items()
        if source[0] not in marks or source[0] < 0x20
    }
    several: dict[Points, Points] = {}
    placeholders: set[Points] = set()
    for step in steps[:last]:
        source = points_of(pattern_of(step, "String")[1:])
        placeholder = points_of(step.get("content", ""))
        if len(source) > 1 and placeholder in single:
            several[source] = single[placeholder]
            placeholders.add(placeholder)
    for placeholder in placeholders:
        del single[placeholder]
    # The charsmap of the step lacks the rule that deletes the separator: `steps_of` removes that
    # rule, because a later step deletes all separators. Add the rule again.
    for step in steps[last:]:
        text = pattern_of(step, "String")
        if len(text) == 1 and ord(text) < 0x20 and step.get("content") == "":
            single[(ord(text),)] = ()
    if any(step.get("type") == "NFC" for step in steps):
        plain = {source[0]: target for source, target in single.items()}
        texts = _sources(steps)
        composed = zip(texts, _composed(texts, plain)[1], strict=True)
        several = {**{points_of(text): points_of(target) for text, target in composed}, **several}
    return {**single, **several}


def _sources(steps: Iterable[JsonObject]) -> list[str]:
    """Return the sources of several characters that the pattern of `_cuts` in the steps lists."""
    regexes = (pattern_of(step, "Regex") for step in steps)
    cuts = next((regex for regex in regexes if _CUTS_END in regex), "")
    listed = cuts.partition(_CUTS_END)[0].partition(_BEFORE_SOURCES)[2].partition(")|")[2]
    return texts_of_pattern(listed.removesuffix("|."), _MOST_CHARACTERS) or []


def pattern_of(step: JsonObject, kind: str) -> str:
    """Return the pattern of a step if it is of a kind, ``String`` or ``Regex``."""
    return str((step.get("pattern") or {}).get(kind, ""))


def replace(text: str, content: str) -> JsonObject:
    """Return the step that replaces a text."""
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def replace_pattern(pattern: str, content: str) -> JsonObject:
    """Return the step that replaces the matches of a pattern."""
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": content}


def prepend(text: str) -> JsonObject:
    """Return the step that puts a text before a line that is not empty."""
    return {"type": "Prepend", "prepend": text}


def precompiled(single: Mapping[int, Points]) -> JsonObject:
    """Return the step that applies `single`, the rules that each replace one character."""
    rules: dict[Points, Points] = {(one,): target for one, target in single.items()}
    blob = compile_charsmap(rules, change_something=False)
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}


def _separators(rules: CharsmapRules) -> tuple[int, int]:
    """Return a separator for units, and one for the characters of a cluster.

    If the rules delete at least two control characters, two of these become the separators. Then a
    text may contain the separators, because the rules delete them anyway. CR and LF are not
    suitable, because together they form one cluster.
    """
    deleted = [
        code
        for code, target in sorted(rules.single.items())
        if not target and code < 0x20 and code not in (0x0A, 0x0D) and code not in rules.kept
    ]
    return (deleted[0], deleted[1]) if len(deleted) > 1 else (_SEPARATOR, _BREAK)


def _cuts(rules: CharsmapRules, changed: Sequence[str], symbols: Sequence[str]) -> str:
    r"""Return a pattern with an empty match at each position where a separator must be inserted.

    ``\G`` matches where the last match ended, and ``\K`` drops everything matched before it. So the
    search goes from left to right, unit by unit, as ``sentencepiece`` does, and matches the empty
    text before a unit.
    """
    altered = {*changed}
    ordered = [*changed, *(symbol for symbol in symbols if symbol not in altered)]
    units = [longest_of(map(points_of, ordered))] if symbols else []
    units += rules.units
    ahead = [longest_of(map(points_of, changed))] if changed else []
    if rules.composes:
        ahead.append(character_class(rules.joining, _COMPOSES))
    if rules.explicit:
        ahead.append(longest_of(rules.explicit))
    return f"(?m)\\G(?>{'|'.join(units)}{_CUTS_END}{'|'.join(ahead)})"


def _joints(single: Mapping[int, Points]) -> str:
    """Return a pattern that matches the empty text after each source that ends inside a cluster."""
    pattern = f"(?<={character_class(single)})(?=[{_JOINS}])"
    # Some format characters combine with the next character.
    joining = [code for code in single if unicodedata.category(chr(code)) in ("Cf", "Cn")]
    return f"{pattern}|(?<={character_class(joining)})" if joining else pattern


def _joining(rules: Mapping[Points, Points]) -> frozenset[int]:
    """Return the first characters of the sources whose targets NFC could combine with the left."""
    starts = {target[0] for target in rules.values() if target}
    combining = {code for code in starts if combines(chr(code))}
    return frozenset(one[0] for one, target in rules.items() if target and target[0] in combining)


def _nfc_keeps(single: Mapping[int, Points]) -> bool:
    """Return whether NFC keeps all targets, and all characters that the rules keep."""
    # In the planes above, no character has a decomposition.
    kept = (chr(code) for code in range(0x40000) if code not in single)
    return all(
        unicodedata.is_normalized("NFC", text)
        for text in chain(kept, map(_text_of, single.values()))
    )


def _not_composed(single: Mapping[int, Points], several: Mapping[Points, Points]) -> list[Points]:
    """Return the sources of the rules that an ``NFC`` step would not apply correctly."""
    replaced, composed = _composed(map(_text_of, several), single)
    left: set[Points] = set()
    for source, before, after in zip(several, replaced, composed, strict=True):
        target = _text_of(several[source])
        if after != target or not _NEWER_COMPOSITIONS.isdisjoint(before + target):
            left.add(source)
    # If a source needs a separate step, all longer sources that begin with it need a step, too.
    # Otherwise, the step would match their beginning.
    for length in {len(source) for source in left}:
        left.update([source for source in several if source[:length] in left])
    return sorted(left)


def _composed(texts: Iterable[str], single: Mapping[int, Points]) -> tuple[list[str], list[str]]:
    """Return each text with the rules of single characters applied, and its NFC form."""
    replaced = _NUL.join(texts).translate(
        {code: _text_of(target) for code, target in single.items()}
    )
    return replaced.split(_NUL), unicodedata.normalize("NFC", replaced).split(_NUL)


def _text_of(points: Points) -> str:
    return "".join(map(chr, points))


def points_of(text: str) -> Points:
    """Return the code points of a text."""
    return tuple(map(ord, text))


def combines(character: str) -> bool:
    """Return whether a character combines with the preceding one."""
    return unicodedata.category(character).startswith("M") or any(
        ord(character) in jamo for jamo in _JAMO
    )


def _changed_symbols(symbols: Sequence[str], rules: CharsmapRules) -> list[str]:
    """Return the symbols that the rules must not change, but would change, longest first."""
    longest = max(map(len, rules.several), default=0)
    altered = {symbol for symbol in symbols if _changes(points_of(symbol), rules, longest)}
    lengths = set(map(len, altered))
    # The step that replaces a symbol must not match the beginning of a longer symbol, so the longer
    # symbol needs a step, too.
    changed = {one for one in symbols if any(one[:length] in altered for length in lengths)}
    return sorted(changed, key=lambda symbol: (-len(symbol), symbol))


def _changes(points: Points, rules: CharsmapRules, longest: int) -> bool:
    """Return whether the steps would change a symbol."""
    for start, code in enumerate(points):
        if code in rules.single or any(
            points[start : start + length] in rules.several for length in range(2, longest + 1)
        ):
            return True
    following = bisect_left(rules.explicit, points)
    if any(source[: len(points)] == points for source in rules.explicit[following : following + 1]):
        return True
    return rules.composes and not unicodedata.is_normalized("NFC", _text_of(points))
