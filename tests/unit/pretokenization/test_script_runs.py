"""Pre-tokenization by script: the runs are those of the oracle."""

from __future__ import annotations

import random
import unicodedata

import pytest

from spmcompat.pretokenization.script_runs import script_runs
from spmcompat.releases import DEFAULT
from tests.oracle import pretokenizing


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
    """The published implementation cuts the texts into the same numbers of runs."""
    marked = text.replace(" ", "▁")
    runs = script_runs(marked)
    assert len(runs) == count
    assert "".join(runs) == marked


# One character of each kind that the rules distinguish, and all characters with special rules.
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
        assert script_runs(text) == pretokenizing.script_runs(text)


@pytest.mark.slow
@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="another version of Unicode")
def test_the_class_of_every_character() -> None:
    """Two characters are in the same run if and only if the oracle says so."""
    points = [c for c in (*range(0x20000), *range(0xE0000, 0xE0200)) if not 0xD800 <= c < 0xE000]
    points.remove(DEFAULT.boundary)
    for begin in range(0, len(points), 64):
        text = "".join(f"{chr(c)}1{chr(c)},{chr(c)}字" for c in points[begin : begin + 64])
        assert script_runs(text) == pretokenizing.script_runs(text), hex(points[begin])
