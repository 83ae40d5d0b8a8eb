"""Pretokenizer functions by name. A case only contains a name, so other processes can run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .own_types import OwnBytes, OwnStr

_WORDS = re.compile(r"▁+[^▁\x1f]*|[^▁]+", re.DOTALL)
_KINDS = re.compile(r"▁|[^\W\d_]+|\d{1,3}|[^\w]|_|\w", re.DOTALL)


def _pairs(sentence: str) -> list[str]:
    return [sentence[at : at + 2] for at in range(0, len(sentence), 2)]


def _half_characters(sentence: str) -> list[bytes]:
    data = sentence.encode()
    return [data[at : at + 4] for at in range(0, len(data), 4)]


CONSISTENT: Mapping[str, Callable[[str], Any]] = {
    "whole": lambda sentence: [sentence],
    "words": _WORDS.findall,
    "kinds": _KINDS.findall,
    "characters": str,
    "tuple of pairs": lambda sentence: tuple(_pairs(sentence)),
    "bytes": lambda sentence: [pretoken.encode() for pretoken in _pairs(sentence)],
    "own str": lambda sentence: [OwnStr(pretoken) for pretoken in _pairs(sentence)],
    "own bytes": lambda sentence: [OwnBytes(pretoken.encode()) for pretoken in _pairs(sentence)],
    "bytearrays": lambda sentence: [bytearray(sentence.encode())],
    "half characters": _half_characters,
    "empty pretokens": lambda sentence: ["", sentence[:3], "", "", sentence[3:], ""],
}
"""Functions whose pretokens, joined, are the sentence."""

INCONSISTENT: Mapping[str, Callable[[str], Any]] = {
    "no spaces": lambda sentence: sentence.split("▁"),
    "first half": lambda sentence: _pairs(sentence[: len(sentence) // 2]),
    "long words": lambda sentence: re.findall(r"▁?\w{4,}", sentence),
    "twice": lambda sentence: [sentence, sentence.upper()],
    "one and the same": lambda _: ["▁hello", "▁hell", "▁he"],
    "broken bytes": lambda sentence: [sentence.encode()[1:-1], b"\xe2\x96", b"a\0b\xff"],
}
"""Functions whose pretokens, joined, are not the sentence."""

CUTTING_CHARACTERS = ("half characters", "broken bytes")
"""Functions whose pretokens are not well-formed UTF-8."""

FAILING: Mapping[str, Any] = {
    "raises": lambda sentence: sentence[10**6],
    "raises for an empty sentence": lambda sentence: sentence.index("▁") or [sentence],
    "an iterator": iter,
    "a set": lambda sentence: {sentence},
    "a dict": lambda sentence: {sentence: 1},
    "None": lambda _: None,
    "a number": lambda _: 5,
    "bytes for a list": str.encode,
    "a pretoken that is None": lambda sentence: [sentence, None],
    "a lone surrogate": lambda _: ["\ud800"],
    "a space": lambda _: ["a b"],
    "the unknown mark": lambda _: ["a\u2585b"],
    "nothing": lambda _: [],
    "no function": 5,
    "False": False,
}
"""Functions that make training fail, even if the pretokens need not join to the sentence."""


def _exit(_: str) -> None:
    raise SystemExit(3)


def _interrupt(_: str) -> None:
    raise KeyboardInterrupt


def _count_call(sentence: str) -> list[str]:
    with open("calls", "a") as file:
        file.write(".")
    return [sentence]


DEVIATING: Mapping[str, Any] = {
    "exits": _exit,
    "interrupts": _interrupt,
    "counts calls": _count_call,
}
"""Functions that the two sides handle differently. One of them counts its calls in a file."""

BY_NAME: Mapping[str, Any] = {**CONSISTENT, **INCONSISTENT, **FAILING, **DEVIATING}
