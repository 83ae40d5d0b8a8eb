"""NFC by hand, and compared with the normalizer of tokenizers.

``SPMCOMPAT_STRINGS`` sets how many random strings are tried (10,000 by default).
``SPMCOMPAT_CORPORA`` is a folder with texts.
"""

from __future__ import annotations

import io
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

import derive.nfc
from derive.nfc import CHARACTERS, HANGUL, compositions
from derive.properties import VERSION
from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.splitting.expressions import EXPRESSIONS
from spmcompat.splitting.scanners import chunks, nfc, words
from spmcompat.text.sources import LineSource, open_source
from spmcompat.words.reading import read_words
from tests.unit.derived import assert_current
from tests.unit.stages import QUIET
from tests.unit.words.test_words import counts_of

from .test_properties import installed

STRINGS = int(os.environ.get("SPMCOMPAT_STRINGS", "10000"))
CORPUS = 1_000_000
CORPORA = ["vi-courses", "hi-courses", "ko-docs", "ja-docs", "th-wisesight", "ar-hindawi"]

live = pytest.mark.skipif(installed() != VERSION, reason=f"tokenizers {VERSION} is not installed")


@cache
def reference() -> Callable[[str], str]:
    """Return the normalizer of the real library."""
    from tokenizers.normalizers import NFC

    return NFC().normalize_str


def reference_words(scanner: str) -> Callable[[str], list[bytes]]:
    """Return the function of the real library that normalizes and splits a text."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    expression = next(text for text, name in EXPRESSIONS.items() if name == scanner)
    split = Split(Regex(expression), "isolated")

    def words(text: str) -> list[bytes]:
        return [word.encode() for word, _ in split.pre_tokenize_str(reference()(text))]

    return words


def counted(source: LineSource, scanner: str = "qwen2") -> Counter[bytes]:
    """Return the words that counters find in the normalized text."""
    context = Context(Workers(2), QUIET)
    return counts_of(read_words(source, scanner, False, context, normalizes=True))


def items(texts: Iterable[str]) -> LineSource:
    return open_source(TextPlan(), texts, QUIET)


def normalized(text: str) -> str:
    return nfc(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain ASCII, é, 日本, 한국", "plain ASCII, é, 日本, 한국"),
        ("e\u0301", "é"),
        ("\u0301e", "\u0301e"),
        ("abcdefgh e\u0323\u0302 abcdefgh", "abcdefgh \u1ec7 abcdefgh"),
        ("e\u0302\u0323", "\u1ec7"),
        ("\u00ea\u0323x\u0323", "\u1ec7x\u0323"),
        ("a\u0301\u0323", "\u1ea1\u0301"),
        ("a\u0345\u0334", "a\u0334\u0345"),
        ("a\u0300\u0301", "\u00e0\u0301"),
        ("a\u034f\u0301", "a\u034f\u0301"),
        ("\u0344", "\u0308\u0301"),
        ("\u2126\u212b\u212a", "\u03a9\u00c5K"),
        ("\ufb1d\u0958\u0f73", "\u05d9\u05b4\u0915\u093c\u0f71\u0f72"),
        ("\uf900\U0002f800", "\u8c48\u4e3d"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\ud558\u11ab\u11ab", "\ud55c\u11ab"),
        ("\ud55c\u11ab\u1161\u11a7", "\ud55c\u11ab\u1161\u11a7"),
        ("\u1100\u0301\u1161", "\u1100\u0301\u1161"),
        ("\u0dd9\u0dcf\u0dca", "\u0ddd"),
        ("\U0001d15e", "\U0001d157\U0001d165"),
        ("\u2000 \u2001", "\u2002 \u2003"),
        (" \u0338 \u0301", " \u0338 \u0301"),
    ],
)
def test_texts(text: str, expected: str) -> None:
    assert normalized(text) == expected
    assert normalized(expected) == expected


def test_a_malformed_text_is_refused() -> None:
    with pytest.raises(ValueError, match="well-formed"):
        nfc(b"a\xe2\x80")


def test_long_chunks_are_normalized_before_they_are_cut() -> None:
    marks = ["e\u0301", "a\u0301", "é", "1\u0301", " e\u0301"]
    texts = [f"漢字{mark}" * 30 for mark in marks]
    expected = Counter(word for text in texts for word in words("qwen2", nfc(text.encode())))
    assert counted(items(texts)) == expected


def assert_equal(texts: Iterable[str]) -> None:
    """Compare the NFC of texts, and of their chunks, with that of the library."""
    for text in texts:
        raw, expected = text.encode(), reference()(text).encode()
        assert nfc(raw) == expected, ascii(text)
        assert nfc(expected) == expected, ascii(text)
        assert [nfc(chunk) for chunk in chunks(raw)] == chunks(expected), ascii(text)


FORMS = ["{0}", "a{0}e", "a\u0301{0}\u0323\u0334 \u0301{0}\u3099", "{0}{0}\u1161{0}\u11a8"]
"""Each character alone, between letters, and between marks."""


@live
def test_every_character() -> None:
    for begin in range(0, len(CHARACTERS), 256):
        block = CHARACTERS[begin : begin + 256]
        assert_equal("\n".join(form.format(char) for char in block) for form in FORMS)


@live
def test_white_space_stays_white_space() -> None:
    def has_white(char: str) -> bool:
        return len(chunks(f"{char} x".encode())) == 1

    white = [char for char in CHARACTERS if char.isspace() and has_white(char)]
    assert len(white) == 25
    changed = [char for char in CHARACTERS if normalized(char) != char]
    for char in {*white, *changed}:
        assert all(has_white(part) == (char in white) for part in normalized(char)), ascii(char)
    marks = sorted({pair[1] for pair in pairs()})
    for char in white:
        text = char + char.join(marks)
        assert reference()(text) == normalized(char) + normalized(char).join(marks)


@cache
def pairs() -> dict[str, str]:
    """Return the pairs of characters that the library composes."""
    from tokenizers.normalizers import NFD

    decompose = NFD().normalize_str
    decomposed = {char: decompose(char) for char in CHARACTERS}
    return compositions(decomposed, {char: reference()(char) for char in CHARACTERS})


@live
def test_every_pair() -> None:
    for pair, result in pairs().items():
        assert normalized(pair) == result
    for between in ["\u0334", "\u0323", "\u0301", "\u0345", "x", "\u1161"]:
        assert_equal(between.join(pair) for pair in pairs())


@live
def test_every_first_character_with_every_second_one() -> None:
    syllables = {*map(chr, HANGUL)}
    firsts = {pair[0] for pair in pairs()} | {*pairs().values()}
    seconds = sorted({pair[1] for pair in pairs()})
    assert_equal(
        "\n".join(first + second for second in seconds) for first in sorted(firsts - syllables)
    )


PARTS = [
    *("a", "e", "E", "x", "é", "ê", "ệ", "Ǖ", "ǖ", "ṩ", "Ω", "ᾳ", "ᾂ", "ι", "=", "<", "≠", "≮"),
    *("\u0300", "\u0301", "\u0302", "\u0304", "\u0307", "\u0308", "\u0323", "\u0327", "\u0328"),
    *("\u031b", "\u0334", "\u0338", "\u0340", "\u0341", "\u0343", "\u0344", "\u0345", "\u034f"),
    *("\u0360", "\u05b0", "\u05bc", "\u05bf", "\u05d9", "\u05b4", "\ufb1d", "\ufb2c", "\ufb4e"),
    *("\u0622", "\u0627", "\u064b", "\u0651", "\u0653", "\u0654", "\u0655", "\u0670", "\u06d5"),
    *("\u0915", "\u0928", "\u0929", "\u093c", "\u094d", "\u0958", "\u09c7", "\u09be", "\u09d7"),
    *("\u0b47", "\u0b56", "\u0b3e", "\u0bc6", "\u0bd7", "\u0cc6", "\u0cc2", "\u0cd5", "\u0ccb"),
    *("\u0dd9", "\u0dcf", "\u0dca", "\u0ddc", "\u0ddd", "\u0e38", "\u0e48", "\u0eb8", "\u0f71"),
    *("\u0f72", "\u0f73", "\u0f74", "\u0f75", "\u0f80", "\u0f81", "\u0f76", "\u0fb2", "\u1025"),
    *("\u102e", "\u1100", "\u1112", "\u1113", "\u115f", "\u1161", "\u1175", "\u1176", "\u11a7"),
    *("\u11a8", "\u11c2", "\u11c3", "가", "각", "한", "\ud7a3", "\ud788", "\u302e", "\u3131"),
    *("\u304b", "\u304c", "\u30ab", "\u3099", "\u309a", "\u309b", "\u30f7", "\uff9e", "\u1b05"),
    *("\u1b35", "\u2126", "\u212a", "\u212b", "\u1fbf", "\u1fee", "\u2adc", "\u2329", "\u1e9b"),
    *("\uf900", "\ufa0e", "\ufad9", "\U0002f800", "\U0002fa1d", "豈", "日", "\u2000", "\u2001"),
    *("\U0001d157", "\U0001d165", "\U0001d15e", "\U0001d160", "\U0001d16e", "\U00011099"),
    *("\U000110ba", "\U00011131", "\U00011127", "\U000114b9", "\U000114ba", "\U000115b8"),
    # Newer than the normalizer.
    *("\U00011935", "\U00011930", "\U00011938", "\U00016d63", "\U00016d67", "\U00016d68"),
    *("\U000113c2", "\U000113b8", "\U000113c7", "\u1ac1", "\u1acf", "\u0898", "\U0001e4ec"),
    *(" ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "'", "'s", "1", "!", "\ufffd"),
    *("\0", "\u200d", "\ufe0f", "😀", "\u0378", "\ue000", "\U000e0100", "\U0010ffff", "abcdefgh"),
]


def random_texts(count: int) -> Iterable[str]:
    dice = random.Random(count)
    for _ in range(count):
        pool = dice.choices(PARTS, k=dice.choice([2, 3, 5, 30]))
        pool += [dice.choice(CHARACTERS)] * (dice.random() < 0.3)
        yield "".join(dice.choices(pool, k=dice.randrange(1, 30)))


@live
def test_random_texts() -> None:
    assert_equal(random_texts(STRINGS))


@live
@pytest.mark.parametrize("scanner", sorted({*EXPRESSIONS.values()}))
def test_words_of_random_texts(scanner: str) -> None:
    expected = reference_words(scanner)
    texts = [text.rstrip("\r\n") for text in random_texts(STRINGS)]
    for begin in range(0, STRINGS, 100):
        batch = texts[begin : begin + 100]
        found = counted(items(batch), scanner)
        assert found == Counter(word for text in batch for word in expected(text))


@live
@pytest.mark.slow
@pytest.mark.parametrize("decomposes", [False, True])
@pytest.mark.parametrize("name", CORPORA)
def test_corpora(name: str, decomposes: bool, tmp_path: Path) -> None:
    folder = os.environ.get("SPMCOMPAT_CORPORA")
    if folder is None:
        pytest.skip("SPMCOMPAT_CORPORA is not set")
    from tokenizers.normalizers import NFD

    text = (Path(folder) / f"{name}.txt").read_bytes()[:CORPUS].decode(errors="ignore")
    if decomposes:
        text = NFD().normalize_str(text)
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    plan = TextPlan(input=(str(path),), input_format="text", long_sentences="keep")
    split = reference_words("qwen2")
    expected = Counter(word for line in io.StringIO(text, newline="\n") for word in split(line))
    assert counted(open_source(plan, None, QUIET)) == expected


@pytest.mark.slow
def test_the_derived_tables_are_current() -> None:
    assert_current(derive.nfc)
