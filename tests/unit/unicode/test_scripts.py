"""The table of Unicode scripts."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Iterator

import pytest

from spmcompat.unicode import scripts
from tests.oracle import pretokenizing

# Of the whole table, scripts numbered by first appearance: a record of the state in which it
# was compared, code point by code point, with unicode_script_map.h of sentencepiece 0.2.3.
DIGEST = "8aaed425998983406345dcaca97de9f9891f6db575c4a57cf68aea47dd6aa85a"


def test_the_whole_table_is_the_recorded_one() -> None:
    order: dict[int, int] = {}
    table = bytes(order.setdefault(scripts.script_of(c), len(order)) for c in range(0x110000))
    assert hashlib.sha256(table).hexdigest() == DIGEST


@pytest.mark.parametrize(
    ("code_point", "script"),
    [
        (0x20, scripts.COMMON),
        (0x30, scripts.COMMON),
        (0x2581, scripts.COMMON),
        (0x30FC, scripts.COMMON),
        (0xFF10, scripts.COMMON),
        (0x1F600, scripts.COMMON),
        (0x0300, scripts.INHERITED),
        (0x200D, scripts.INHERITED),
        (0x3041, scripts.HIRAGANA),
        (0x30A1, scripts.KATAKANA),
        (0xFF66, scripts.KATAKANA),
        (0x4E00, scripts.HAN),
        (0x3005, scripts.HAN),
        (0x20000, scripts.HAN),
        (0x2A6D6, scripts.HAN),
        (0x2A6D7, scripts.COMMON),  # assigned later than the table
        (0xE0100, scripts.INHERITED),
        (0x10FFFF, scripts.COMMON),
        (0x110000, scripts.COMMON),
        (0xFFFFFFFF, scripts.COMMON),
    ],
)
def test_scripts_that_the_rules_name(code_point: int, script: int) -> None:
    assert scripts.script_of(code_point) == script


def letters(name: str) -> Iterator[int]:
    for c in range(0x110000):
        if unicodedata.name(chr(c), "").startswith(f"{name} LETTER"):
            yield c


@pytest.mark.parametrize("name", ["BENGALI", "DEVANAGARI", "HIRAGANA", "KATAKANA", "MONGOLIAN"])
def test_letters_of_one_alphabet_have_one_script(name: str) -> None:
    found = {scripts.script_of(c) for c in letters(name)}
    assert len(found - {scripts.COMMON}) == 1  # Common: assigned later than the table


def test_different_alphabets_have_different_scripts() -> None:
    alphabets = [scripts.script_of(ord(c)) for c in "aаαאعकকก한あア中አაա"]
    assert len(set(alphabets)) == len(alphabets)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1234 5678", 3),
        ("x = a + b", 5),
        ("漢字ひらがな", 1),
        (" 日本語 ", 3),
        ("第1番", 3),
        ("Hello العالمي  ❤", 4),
    ],
)
def test_runs_of_a_script(text: str, count: int) -> None:
    """The counts of the published implementation."""
    marked = text.replace(" ", "▁")
    runs = scripts.script_runs(marked)
    assert len(runs) == count
    assert "".join(runs) == marked


# One of each kind, and those that the rules name.
KINDS = [
    "a",
    "\u0301",
    ",",
    "€",
    "1",
    "½",
    "▁",
    "\u00a0",
    "\t",
    "\x1e",
    "\u200d",
    "字",
    "ひ",
    "カ",
    "ー",
]
KINDS += ["ｰ", "ا", "ـ", "،", "ก", "α", "가", "❤", "\U0001f600", "\u3000", "。"]


def test_runs_are_those_of_the_oracle() -> None:
    dice = random.Random(1)
    for _ in range(5000):
        text = "".join(dice.choices(KINDS, k=dice.randint(1, 9)))
        assert scripts.script_runs(text) == pretokenizing.script_runs(text)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="another version of Unicode")
def test_the_class_of_every_character() -> None:
    """Two characters share a run exactly if the oracle says so."""
    points = [c for c in (*range(0x20000), *range(0xE0000, 0xE0200)) if not 0xD800 <= c < 0xE000]
    points.remove(0x1F)
    for begin in range(0, len(points), 64):
        text = "".join(f"{chr(c)}1{chr(c)},{chr(c)}字" for c in points[begin : begin + 64])
        assert scripts.script_runs(text) == pretokenizing.script_runs(text), hex(points[begin])
