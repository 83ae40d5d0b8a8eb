"""Regular expressions for sets of texts, in the syntax of Oniguruma, which ``tokenizers`` uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

_Node: TypeAlias = "dict[int, _Node]"

_END = -1  # marks a node at which a text ends
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
    """Return a pattern that matches any one character of a set.

    Parameters
    ----------
    codes : iterable of int
        Code points.
    properties : str
        Text that is added to the character class, such as a Unicode property.
    """
    spans = ranges(codes)
    texts = [_escaped(a) if a == b else f"{_escaped(a)}-{_escaped(b)}" for a, b in spans]
    if len(spans) == 1 and spans[0][0] == spans[0][1] and not properties:
        return texts[0]
    return f"[{''.join(texts)}{properties}]"


def ranges(codes: Iterable[int]) -> list[list[int]]:
    """Return the first and the last of each range of consecutive code points."""
    found: list[list[int]] = []
    for code in sorted(set(codes)):
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def longest_of(texts: Iterable[Sequence[int]]) -> str:
    """Return the pattern that matches the longest of several texts.

    Parameters
    ----------
    texts : iterable of sequence of int
        Texts as code points. If a text begins with another one, the longer text is tried first.
    """
    root: _Node = {}
    nodes = [root]  # each node comes before its children
    for text in texts:
        node = root
        for code in text:
            if code not in node:
                node[code] = {}
                nodes.append(node[code])
            node = node[code]
        node[_END] = {}
    # For each node, a list of strings: joined in reverse order, they are the node's pattern. If a
    # node has only one child, its list is the child's list with one string appended. So long texts
    # take linear time.
    patterns: dict[int, list[str]] = {}
    for node in reversed(nodes):
        if len(node) == 1 and _END in node:
            continue  # nothing follows: most nodes are such leaves
        children = {
            code: patterns.pop(id(child), []) for code, child in node.items() if code != _END
        }
        patterns[id(node)] = _parts(children, is_end=_END in node)
    return "".join(reversed(patterns.get(id(root), [])))


def _parts(children: dict[int, list[str]], *, is_end: bool) -> list[str]:
    """Return the pattern of the texts after a node, as parts in reverse order.

    Characters with the same continuations become one character class. This keeps the pattern small.
    """
    if len(children) == 1 and not is_end:
        ((code, parts),) = children.items()
        parts.append(_escaped(code))
        return parts
    by_rest: dict[str, list[int]] = {}
    for code, parts in children.items():
        by_rest.setdefault("".join(reversed(parts)), []).append(code)
    options = [character_class(codes) + rest for rest, codes in by_rest.items()]
    if not options:
        return []
    if is_end:
        return [f"(?:{'|'.join(options)})?"]
    return [options[0] if len(options) == 1 else f"(?:{'|'.join(options)})"]


_ESCAPED = r"\\x\{(?:10[0-9A-F]{4}|[0-9A-F]{1,5})\}|\\[^0-9A-Za-z]"
_TOKEN = re.compile(
    r"(?P<open>\(\?:)|(?P<close>\)\??)|(?P<bar>\|)"
    rf"|\[(?P<set>(?:{_ESCAPED}|[^\\\[\]^&])+)\]|(?P<text>(?:{_ESCAPED}|[^\\()|\[\].?*+{{}}^$])+)",
    re.DOTALL,
)
_CHARACTER = re.compile(r"\\x\{([0-9A-F]+)\}|\\?(.)", re.DOTALL)
_RANGE = re.compile(rf"({_ESCAPED}|.)(?:-({_ESCAPED}|.))?", re.DOTALL)


def texts_of_pattern(pattern: str, most: int) -> list[str] | None:
    """Return the texts that a pattern matches; this is the inverse of `longest_of`.

    Parameters
    ----------
    pattern : str
        A pattern such as this module writes. It consists of literal characters, escaped characters,
        classes of characters and ranges, and groups ``(?:a|b)`` and ``(?:a|b)?``.
    most : int
        The largest number of characters to produce. It limits time and memory.

    Returns
    -------
    list of str or None
        The texts; None if the pattern contains anything else, or its texts have more characters.
    """
    # For each open group: the texts of the finished alternatives, and the texts of the current
    # alternative so far.
    groups: list[tuple[list[str], list[str]]] = [([], [""])]
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at = token.end()
        if token["open"]:
            groups.append(([], [""]))
            continue
        finished, current = groups.pop()
        if token["bar"]:
            finished += current
            groups.append((finished, [""]))
            continue
        if token["close"]:
            if not groups:
                return None
            options = [*finished, *current, *([""] if token["close"] == ")?" else [])]
            finished, current = groups.pop()
        else:
            text = token["text"]
            options = ["".join(_characters(text))] if text else _of_class(token["set"], most)
        before, after = (sum(map(len, texts)) + len(texts) for texts in (current, options))
        most -= before * len(options) + after * len(current)
        if most < 0:
            return None
        groups.append((finished, [text + option for text in current for option in options]))
    finished, current = groups.pop()
    return None if groups else finished + current


def _characters(text: str) -> list[str]:
    """Return the characters of a text in which some are escaped."""
    found = _CHARACTER.findall(text)
    return [chr(int(code, 16)) if code else character for code, character in found]


def _of_class(text: str, most: int) -> list[str]:
    """Return the characters of a class, but not many more than `most`."""
    found: list[str] = []
    for start, end in _RANGE.findall(text):
        first, last = (ord(*_characters(one)) for one in (start, end or start))
        found += map(chr, range(first, min(last, first + most) + 1))
        most -= len(found)
    return found
