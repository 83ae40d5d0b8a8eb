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
    ("pattern", "texts"),
    [
        ("[0-3]", ["0", "1", "2", "3"]),
        (r"[\x{41}\x{43}-\x{44}\-é]", ["A", "C", "D", "-", "é"]),
        (r"\x{10FFFF}\\\.", ["\U0010ffff\\."]),
    ],
)
def test_classes_and_escaped_characters(pattern: str, texts: list[str]) -> None:
    assert texts_of_pattern(pattern, 100) == texts


@pytest.mark.parametrize(
    "pattern",
    [
        "a*",
        "(a)",
        "(?i:a)",
        "[^a]",
        r"\p{L}",
        r"[\d]",
        r"[a\p{L}]",
        r"[\x41]",
        r"[a-\d]",
        "a{2}",
        "(?:a",
        "a)",
        ".",
        r"\x{FFFFFF}",
        r"[\x{110000}]",
        "(?:a)+",
        "(?:a|b)" * 60,
        "(?:a|a)?" * 60,
        "[a-z]" * 9,
    ],
)
def test_other_patterns_and_too_many_texts_have_none(pattern: str) -> None:
    assert texts_of_pattern(pattern, 1_000_000) is None
