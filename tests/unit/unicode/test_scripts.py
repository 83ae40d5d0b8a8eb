"""The table of Unicode scripts, read through the Python binding for cutting by script."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator

import pytest

from spmcompat.pretokenization import script_runs as scripts

# The digest of the whole table, with scripts numbered by first appearance. Every code point of the
# table with this digest was compared with unicode_script_map.h of sentencepiece 0.2.3.
DIGEST = "8aaed425998983406345dcaca97de9f9891f6db575c4a57cf68aea47dd6aa85a"


def test_the_table_has_not_changed() -> None:
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
        (0x2A6D7, scripts.COMMON),  # not yet assigned in the Unicode version of the table
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BENGALI", "DEVANAGARI", "HIRAGANA", "KATAKANA", "MONGOLIAN"])
def test_letters_of_one_alphabet_have_one_script(name: str) -> None:
    found = {scripts.script_of(c) for c in letters(name)}
    assert len(found - {scripts.COMMON}) == 1  # characters newer than the table are Common


def test_different_alphabets_have_different_scripts() -> None:
    alphabets = [scripts.script_of(ord(c)) for c in "aаαאعकকก한あア中አაա"]
    assert len(set(alphabets)) == len(alphabets)
