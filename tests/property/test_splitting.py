"""The scanners compared with the engine of ``tokenizers``, which runs the expressions themselves.

``SPMCOMPAT_STRINGS`` sets how many random strings are tried (10,000 by default); with a million or
more, every character is tried, too. ``SPMCOMPAT_CORPORA`` is a folder with texts.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmcompat.splitting.expressions import EXPRESSIONS
from spmcompat.splitting.scanners import chunks, words
from tests.searches import examples

tokenizers = pytest.importorskip("tokenizers")

STRINGS = int(os.environ.get("SPMCOMPAT_STRINGS", "10000"))
BLOCK = 1 << 18

SPLITS = [
    (tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "isolated"), scanner)
    for expression, scanner in EXPRESSIONS.items()
]

# U+10D4A is a letter since Unicode 16.0, and U+088F since 17.0.
LETTERS = tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\p{L}"), "isolated")
pytestmark = pytest.mark.skipif(
    len(LETTERS.pre_tokenize_str("\U00010d4a\U00010d4a\u088f\u088f")) != 3,
    reason="this release of tokenizers does not have Unicode 16.0",
)

PARTS = [
    *("a", "Z", "ß", "ǅ", "ʰ", "ª", "日", "ا", "Σ", "\u212a", "\u017f", "ﬆ", "ŉ", "\U00010d4a"),
    *("'", "'s", "'S", "'\u017f", "'t", "'re", "'rE", "'ve", "'V", "'m", "'LL", "'l", "'d", "’s"),
    *("r", "e", "E", "l", "L", "\u0301", "\u0903", "\u20dd", "\ufe0f", "\U000e0100"),
    *("1", "23", "456", "٣", "१", "Ⅷ", "½", "²", "〇", "\U0001d7d8"),
    *(" ", " ", "  ", "   ", "\n", "\r", "\r\n", "\n\n", "\t", "\v", "\f", "\x1c", "\x1f", "\0"),
    *("\x85", "\xa0", "\u1680", "\u2000", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"),
    *("\u180e", "\u200b", "\u200d", "\u2060", "\ufeff", "\ufffe", "\ufffd", "\ud7ff", "\ue000"),
    *("!", "/", "//", ".", "$", "_", "、", "«", "€", "😀", "👩\u200d👩", "\u0378", "\U0010ffff"),
]
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.sampled_from(PARTS) | CHARACTERS, max_size=30).map("".join)


def assert_equal_to_the_engine(text: str) -> None:
    raw = text.encode()
    pieces = chunks(raw)
    assert b"".join(pieces) == raw
    for split, scanner in SPLITS:
        found = words(scanner, raw)
        expected = [word.encode() for word, _ in split.pre_tokenize_str(text)]
        assert found == expected, (scanner, ascii(text))
        assert [word for piece in pieces for word in words(scanner, piece)] == expected


@given(TEXTS)
@settings(max_examples=examples(6000))
def test_words_and_chunks(text: str) -> None:
    assert_equal_to_the_engine(text)


def random_text(dice: random.Random) -> str:
    """Return a text of few different parts, so that each of them meets each other one."""
    pool = dice.choices(PARTS, k=dice.choice([2, 3, 5, 30]))
    if dice.random() < 0.3:
        pool += [chr(dice.choice([dice.randrange(0xD800), dice.randrange(0xE000, 0x110000)]))]
    return "".join(dice.choices(pool, k=dice.randrange(1, 13)))


def test_random_texts() -> None:
    dice = random.Random(STRINGS)
    for _ in range(STRINGS):
        assert_equal_to_the_engine(random_text(dice))


@pytest.mark.skipif(STRINGS < 1_000_000, reason="takes minutes: set SPMCOMPAT_STRINGS")
@pytest.mark.parametrize(
    "form", ["{0}", "'{0}a", "'r{0}", "'l{0}", " {0}a", "a{0}B", "A{0}", "{0}A", "1{0}1", "!{0}\n/"]
)
def test_every_character(form: str) -> None:
    for begin in range(0, sys.maxunicode, BLOCK // 4):
        points = [c for c in range(begin, begin + BLOCK // 4) if not 0xD800 <= c < 0xE000]
        assert_equal_to_the_engine("".join(form.format(chr(point)) for point in points))


def test_corpora() -> None:
    folder = os.environ.get("SPMCOMPAT_CORPORA")
    if folder is None:
        pytest.skip("SPMCOMPAT_CORPORA is not set")
    for path in sorted(Path(folder).glob("*.txt")):
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            while text := file.read(BLOCK):
                assert_equal_to_the_engine(text)
