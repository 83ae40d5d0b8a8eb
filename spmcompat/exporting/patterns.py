"""Regular expressions for sets of texts, in the syntax of Oniguruma, which ``tokenizers`` uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

_Node: TypeAlias = "dict[int, _Node]"

_END = -1  # the key of a node at which a text ends
_SPECIAL = frozenset(map(ord, "\\^$.|?*+()[]{}-&~#/ "))


def escaped(text: str) -> str:
    """Return the pattern that matches a text."""
    return "".join(_escaped(ord(character)) for character in text)


def _escaped(code: int) -> str:
    if code in _SPECIAL:
        return "\\" + chr(code)
    if code < 0x20 or code > 0x7E:
        return f"\\x{{{code:X}}}"
    return chr(code)


def character_class(codes: Iterable[int], properties: str = "") -> str:
    """Return the pattern of one character out of a set.

    Parameters
    ----------
    codes : iterable of int
        Code points.
    properties : str
        More of the set, in the syntax of a class.
    """
    ordered = sorted(set(codes))
    if len(ordered) == 1 and not properties:
        return _escaped(ordered[0])
    ranges: list[str] = []
    start = 0
    for index, code in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == code + 1:
            continue
        first, last = _escaped(ordered[start]), _escaped(code)
        ranges.append(first if start == index else f"{first}-{last}")
        start = index + 1
    return f"[{''.join(ranges)}{properties}]"


def longest_of(texts: Iterable[Sequence[int]]) -> str:
    """Return the pattern that matches the longest of several texts.

    Parameters
    ----------
    texts : iterable of sequence of int
        Texts as code points. Where one is the beginning of another one, the longer one is tried
        first.
    """
    root: _Node = {}
    for text in texts:
        node = root
        for code in text:
            node = node.setdefault(code, {})
        node[_END] = {}
    return _pattern(root)


def _pattern(node: _Node) -> str:
    """Return the pattern of what may follow at a node.

    Characters with the same continuations become one class, so the pattern stays small.
    """
    by_rest: dict[str, list[int]] = {}
    for code, child in node.items():
        if code != _END:
            by_rest.setdefault(_pattern(child), []).append(code)
    options = [character_class(codes) + rest for rest, codes in by_rest.items()]
    if not options:
        return ""
    if _END in node:
        return f"(?:{'|'.join(options)})?"
    return options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"
