"""Words by hand, for each alternative of the expressions; `|` shows where a word ends."""

from __future__ import annotations

import pytest

from spmcompat.splitting.expressions import EXPRESSIONS, scanner_of
from spmcompat.splitting.scanners import words

SCANNERS = ["gpt2", "cl100k", "o200k", "llama3", "qwen2"]

COMMON = [
    "",
    "a",
    "word| word| wörd| слово",
    "日本語| 日本語|、| 日本",
    "a|  | !",
    "!?| !?| \u200b\ufeff",
    "a|  ",
    "a|\u3000\u0085\u2028",
    "\u0378\U000e0fff",
]
"""Texts that all scanners split in the same way."""

MODERN = [
    "a|\n| b",
    "a|\r\n|\tb",
    "a| \n\n|  | b",
    "\tword|.word|\u00a0word|  |\u00a0b|、日本",
    "a|!\r\n\n|b",
    "a| \t \n \n",
    "it|'|1",
]
"""Texts that all scanners but gpt2 split in the same way."""

CAPITALS = ["I|'LL|A", "it|'s|'S|'T|'rE|'Ve|'M|'d", "'\u017f|a", "'\u212a|'ra| '|La"]
"""Contractions whose case is ignored, as words of their own."""

TEXTS = {
    "gpt2": [
        *("it|'s|'t|'re|'ve|'m|'ll|'d|'|S| '|s", "'t|s|'|\u017f|'re", "I|'|LL"),
        *("1234567| 89½Ⅷ१| ²", "a|  |\u00a0|b| 1|a", "a|\t|b", ".|a"),
        *("a|\n| b", "a|\n\n|\n|b", "!|\n|/|\n"),
        *("a|  | b", "\r|\n|b", "a|\u0301|b| \u0301"),
    ],
    "cl100k": [*MODERN, *CAPITALS, "123|456|7| |1", "a|\n  ", "a|\n|  | b", "!\n|/a", "a|\u0301b"],
    "llama3": [*MODERN, *CAPITALS, "123|456|7| |1", "a|\n|  ", "a|\n|  | b", "!\n|/a", "½Ⅷ१|²"],
    "qwen2": [*MODERN, *CAPITALS, "1|2|3| |1|½|Ⅷ|१", "a|\n|  ", "!\n|/a", "a|\u0301b|\u0301\u0301"],
    "o200k": [
        *MODERN,
        *("123|456|7| |1", "a|\n|  ", "!\n/\n|a", "//\n|a|\n|/"),
        *("camel|Case|HTTPServer| HTTP|.Http", "ABC| ABC|!!|ABC"),
        *("日本ABc| 日本|AB", "A日|B", "aʰ|B"),
        *("it's| IT'S| it'LL|'s", "it'\u017f|a", "日'RE|A", "\u0301's|\u0301|A", "\u0301A\u0301"),
        *("!\u0301a|!!\u0301|a", " \u0301a", "ǅa|ǅ", "\u0301|ABC| ABCd"),
    ],
}
"""Texts of one scanner each."""


@pytest.mark.parametrize("scanner", SCANNERS)
def test_words(scanner: str) -> None:
    for marked in COMMON + TEXTS[scanner]:
        expected = [word.encode() for word in marked.split("|") if word]
        assert words(scanner, b"".join(expected)) == expected


def test_each_expression_has_its_scanner() -> None:
    assert sorted(set(EXPRESSIONS.values())) == sorted(SCANNERS)
    assert scanner_of(r"\s+") is None
    for expression, scanner in EXPRESSIONS.items():
        assert scanner_of(expression) == scanner
        assert words(scanner, b"") == []


def test_unknown_scanners_and_malformed_texts_are_refused() -> None:
    with pytest.raises(ValueError, match="no scanner is named r50k"):
        words("r50k", b"a")
    with pytest.raises(ValueError, match="well-formed"):
        words("gpt2", b"a\xe2\x80")
