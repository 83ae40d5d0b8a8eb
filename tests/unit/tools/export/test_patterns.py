"""Tests of patterns that match a set of texts, and of finding the texts that a pattern matches."""

import pytest

from spmcompat.tools.export.patterns import longest_of, texts_of_pattern


@pytest.mark.parametrize(
    "texts",
    [
        ["a"],
        ["a", "ab", "abc", "b"],
        ["<mask>", "<m", "@@", "x-y", "[", "^", "\\", "é", "🙂", "\n"],
        ["a" * 5_000, "a" * 5_000 + "b"],
        [chr(code) for code in range(0x61, 0x7B)],
    ],
)
def test_the_texts_of_a_pattern_come_back(texts: list[str]) -> None:
    pattern = longest_of([tuple(map(ord, text)) for text in texts])
    found = texts_of_pattern(pattern, 1_000_000)
    assert found is not None
    assert sorted(found) == sorted(texts)


@pytest.mark.parametrize(
    "pattern",
    [
        "a*",
        "(a)",
        "(?i:a)",
        "[^a]",
        r"\p{L}",
        "a{2}",
        "(?:a",
        "a)",
        ".",
        r"\x{FFFFFF}",
        "(?:a)+",
        "(?:a|b)" * 60,
        "(?:a|a)?" * 60,
        "[a-z]" * 9,
    ],
)
def test_other_patterns_and_too_many_texts_have_none(pattern: str) -> None:
    assert texts_of_pattern(pattern, 1_000_000) is None
