"""The words of BERT: by hand, and compared with the normalizer and pre-tokenizer of tokenizers.

``SPMCOMPAT_STRINGS`` sets how many random strings are tried (10,000 by default); with a million or
more, every character is tried with all options, too.
``SPMCOMPAT_CORPORA`` is a folder with texts.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from derive import bert
from derive.properties import VERSION
from spmcompat.splitting.bert import BertOptions
from spmcompat.splitting.scanners import bert_parts, bert_words, chunks
from tests.unit.derived import assert_current

from .test_properties import installed

STRINGS = int(os.environ.get("SPMCOMPAT_STRINGS", "10000"))
CORPUS = 1_000_000

EVERY_OPTION = [BertOptions(*flags) for flags in product([False, True], repeat=4)]
UNCASED = BertOptions()
CASED = BertOptions(lowercase=False, strip_accents=False)

live = pytest.mark.skipif(installed() != VERSION, reason=f"tokenizers {VERSION} is not installed")


def reference(options: BertOptions) -> Callable[[str], list[bytes]]:
    """Return the function of the real library that splits a text."""
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    normalizer, split = BertNormalizer(*options), BertPreTokenizer()

    def words(text: str) -> list[bytes]:
        found = split.pre_tokenize_str(normalizer.normalize_str(text))
        return [word.encode() for word, _ in found]

    return words


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        (UNCASED, "", ""),
        (UNCASED, " \t\r\n\u00a0\u3000\u2028", ""),
        (UNCASED, "Hey friend!  How are you?!?", "hey|friend|!|how|are|you|?|!|?"),
        (UNCASED, "It's $5_a^b", "it|'|s|$|5|_|a|^|b"),
        (UNCASED, "Caf\u00e9 \u00c0\u00c9\u00ce cafe\u0301", "cafe|aei|cafe"),
        (UNCASED, "日本語 Abc漢字x", "日|本|語|abc|漢|字|x"),
        (UNCASED, "かな カナ \u30ac", "かな|カナ|\u30ab"),
        (UNCASED, "\ud55c\uac00", "\u1112\u1161\u11ab\u1100\u1161"),
        (UNCASED, "ΣΑΣ ΟΔΟΣ", "σασ|οδοσ"),
        (UNCASED, "\u0130stanbul I\u0131 STRASSE straße ẞ", "istanbul|i\u0131|strasse|straße|ß"),
        (UNCASED, "a\u0000b\u200dc\ufffdd\u007fe a\vb\u0085c", "abcde|abc"),
        (UNCASED, "a\u226eb ; \u1fef", "a|<|b|;|`"),
        (UNCASED, "\uf900a", "\u8c48|a"),
        (UNCASED, "a\u302e\U000116b6b", "a\U000116b6\u302eb"),
        (UNCASED, "a\u302e\u034f\U000116b6b", "a\u302e\U000116b6b"),
        (CASED, "Caf\u00e9 \u0130 日本 A\u0301", "Caf\u00e9|\u0130|日|本|A\u0301"),
        (CASED._replace(strip_accents=True), "Caf\u00e9 \u0130", "Cafe|I"),
        (UNCASED._replace(strip_accents=False), "\u00c9 \u0130 \uac01", "\u00e9|i\u0307|\uac01"),
        (UNCASED._replace(handle_chinese_chars=False), "日本 a\uf900。", "日本|a\u8c48|。"),
        (UNCASED._replace(clean_text=False), "A\u0000\u200dB\vC\u0085D", "a\u0000\u200db|c|d"),
    ],
)
def test_words(options: BertOptions, text: str, expected: str) -> None:
    assert bert_words(options, text.encode()) == [
        word.encode() for word in expected.split("|") if word
    ]


def test_parts() -> None:
    text = "A\u0301b, \u3000日本x\vY"
    assert bert_parts(UNCASED, text.encode()) == [
        part.encode() for part in ("A\u0301b", ",", "日", "本", "x\vY")
    ]
    other = BertOptions(clean_text=False, handle_chinese_chars=False)
    assert bert_parts(other, text.encode()) == [
        part.encode() for part in ("A\u0301b", ",", "日本x", "Y")
    ]
    assert bert_parts(UNCASED, b" ") == bert_parts(UNCASED, b"") == []


def test_malformed_texts_are_refused() -> None:
    for split in (bert_words, bert_parts):
        with pytest.raises(ValueError, match="well-formed"):
            split(UNCASED, b"a\xe2\x80")


def assert_equal(options: BertOptions, text: str, expected: list[bytes]) -> None:
    """Compare the words of a text, of its chunks and of its parts with those of the library."""
    raw = text.encode()
    assert bert_words(options, raw) == expected, (options, ascii(text))
    for cuts in (chunks(raw), bert_parts(options, raw)):
        found = [word for cut in cuts for word in bert_words(options, cut)]
        assert found == expected, (options, ascii(text))


FORMS = ["{0}", "a{0}b", "a\u302e{0}\U000116b6\u0301"]
"""Each character alone, between letters, and between nonstarters that stay but may be reordered."""


def assert_characters_equal(options: BertOptions, points: list[int]) -> None:
    words = reference(options)
    for begin in range(0, len(points), 64):
        block = [chr(point) for point in points[begin : begin + 64]]
        text = " ".join(form.format(char) for char in block for form in FORMS)
        assert_equal(options, text, words(text))


CODE_POINTS = [point for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]


@live
@pytest.mark.parametrize("options", EVERY_OPTION)
def test_a_sample_of_characters(options: BertOptions) -> None:
    points = [*range(0x700), *random.Random(1).sample(CODE_POINTS, 2000)]
    assert_characters_equal(options, points)


@live
@pytest.mark.skipif(STRINGS < 1_000_000, reason="takes minutes: set SPMCOMPAT_STRINGS")
@pytest.mark.parametrize("options", EVERY_OPTION)
def test_every_character(options: BertOptions) -> None:
    assert_characters_equal(options, CODE_POINTS)


PARTS = [
    *("a", "Z", "é", "É", "ß", "ẞ", "İ", "ı", "Σ", "ς", "ǅ", "ŉ", "ﬁ", "Ω", "K", "Å", "ệ", "Ǖ"),
    *("\u0301", "\u0323", "\u0327", "\u0334", "\u0345", "\u0344", "\u0f73", "\u0f76", "\u05b0"),
    *("\u302e", "\u3099", "\U000116b6", "\U00011446", "\u08d5", "\u1dfb", "\U0001e94a", "\u1b44"),
    *("\u034f", "\ufe0f", "\u0902", "\u0903", "\u09cb", "\u0ccb", "\u0dde", "\U0001d160", "\u17b4"),
    *(
        "日",
        "豈",
        "\uf900",
        "\U0002f800",
        "〇",
        "\u3400",
        "\u4dc0",
        "\u9fff",
        "\ua000",
        "\U00020000",
    ),
    *(
        "\U0002a6df",
        "\U0002a6e0",
        "\U0002b81f",
        "\U0002b820",
        "\U0002b920",
        "\U0002ceaf",
        "ア",
        "が",
    ),
    *("가", "각", "\ud7a3", "\u1100", "\u1161", "\u11a8", "क़", "ا", "أ", "ـ", "ไ", "ำ"),
    *(" ", " ", "  ", "\n", "\r\n", "\t", "\v", "\f", "\x1c", "\x1f", "\0", "\x7f", "\x85"),
    *(
        "\xa0",
        "\xad",
        "\u1680",
        "\u180e",
        "\u2000",
        "\u200b",
        "\u200d",
        "\u2028",
        "\u3000",
        "\ufeff",
    ),
    *(
        "!",
        "_",
        "$",
        "^",
        "、",
        "«",
        "€",
        "\u037e",
        "\u0387",
        "\u1fef",
        "≠",
        "\u226e",
        "\u2329",
        "¿",
    ),
    *("\ufffd", "\ufffe", "\u0378", "\ue000", "\U000e0001", "\U0010ffff", "😀", "\ua7cb", "Ⴀ", "Ꭰ"),
]


@live
def test_random_texts() -> None:
    dice = random.Random(STRINGS)
    words = {options: reference(options) for options in EVERY_OPTION}
    for _ in range(STRINGS):
        pool = dice.choices(PARTS, k=dice.choice([2, 3, 5, 30]))
        pool += [chr(dice.choice(CODE_POINTS))] * (dice.random() < 0.3)
        text = "".join(dice.choices(pool, k=dice.randrange(1, 13)))
        options = dice.choice(EVERY_OPTION)
        assert_equal(options, text, words[options](text))


@live
@pytest.mark.slow
@pytest.mark.parametrize("options", [UNCASED, CASED, BertOptions(strip_accents=False)])
def test_corpora(options: BertOptions) -> None:
    folder = os.environ.get("SPMCOMPAT_CORPORA")
    if folder is None:
        pytest.skip("SPMCOMPAT_CORPORA is not set")
    words = reference(options)
    for path in sorted(Path(folder).glob("*.txt")):
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            text = file.read(CORPUS)
        lines = (line + "\n" for line in text.split("\n"))
        expected = Counter(word for line in lines for word in words(line))
        assert Counter(bert_words(options, text.encode())) == expected, path.name


@pytest.mark.slow
def test_the_derived_tables_are_current() -> None:
    assert_current(bert)
