"""Which characters must be in the vocabulary."""

import random
from collections import Counter

import numpy as np
import pytest

from spmcompat.segments.coverage import choose_alphabet, kept_alphabet, whole_alphabet
from tests.kinds import raises_kind
from tests.oracle.characters import Options, cover


def chosen(counts: dict[str, int], coverage: float, required: str = "") -> str:
    alphabet, _ = choose_alphabet({ord(c): n for c, n in counts.items()}, coverage, required)
    return "".join(chr(c) for c, _ in alphabet)


@pytest.mark.parametrize("number", range(60))
def test_alphabets_are_those_of_the_oracle(number: int) -> None:
    dice = random.Random(f"coverage/{number}")
    letters = "abcdefg▁漢あ\u0301\U0001f600"
    texts = ["".join(dice.choices(letters, k=dice.randint(1, 9))) for _ in range(20)]
    sentences = [(text, dice.randint(1, 50)) for text in texts]
    counts: Counter[int] = Counter()
    for text, count in sentences:
        for c in text:
            counts[ord(c)] += count
    coverage = float(np.float32(dice.choice([1.0, 0.9995, 0.98, 0.9, 0.5, dice.random()])))
    required = "".join(dice.sample(letters + "xyz\0", dice.choice([0, 0, 1, 5])))
    options = Options(character_coverage=coverage, required_chars=required)
    _, expected = cover(sentences, options)
    alphabet, covered = choose_alphabet(counts, coverage, required)
    assert dict(alphabet) == {ord(c): n for c, n in expected.items()}
    assert alphabet == sorted(alphabet, key=lambda item: (-item[1], item[0]))
    assert covered == sum(expected.values()) / counts.total()


def test_coverage_stops_as_soon_as_it_is_reached() -> None:
    counts = {"a": 50, "b": 30, "c": 15, "d": 5}
    assert chosen(counts, 0.5) == "a"
    assert chosen(counts, float(np.nextafter(np.float32(0.5), 1))) == "ab"
    # The share of a and b is compared as float32, in which it equals the option.
    assert chosen(counts, float(np.float32(0.8))) == "ab"
    assert chosen(counts, 1.0) == "abcd"


def test_the_share_is_rounded_to_float32_before_it_is_compared() -> None:
    """In float32, the share of all but one of 2^30 characters rounds to 1."""
    assert chosen({"a": 2**30 - 1, "b": 1}, 1.0) == "a"
    assert chosen({"a": 2**20 - 1, "b": 1}, 1.0) == "ab"


def test_required_characters_come_first_and_count() -> None:
    counts = {"a": 60, "b": 30, "c": 10}
    assert chosen(counts, 0.1, "c") == "c"
    assert chosen(counts, 0.5, "c") == "ac"
    # A character that does not occur in the text has the count 0 and comes last.
    assert chosen(counts, 1.0, "zb") == "abcz"
    assert chosen(counts, 1.0, "\0") == "abc"


def test_ties_are_ordered_by_code_point() -> None:
    assert chosen({"漢": 5, "b": 5, "\U0001f600": 5, "a": 5}, 1.0) == "ab漢\U0001f600"
    assert chosen({"漢": 5, "b": 5, "\U0001f600": 5, "a": 5}, 0.5) == "ab"


def test_boundaries_are_counted_but_not_taken() -> None:
    assert chosen({"\x1f": 50, "a": 25, "b": 25}, 0.75) == "a"


def test_a_text_that_stays_as_it_is() -> None:
    counts = {ord(c): count for c, count in {"b": 2, "a": 2, "▅": 9, "\x1f": 7, "▁": 3}.items()}
    assert kept_alphabet(counts) == [(ord("▁"), 3), (ord("a"), 2), (ord("b"), 2), (0x1F, 0)]
    with raises_kind("empty-corpus"):
        kept_alphabet({})


def test_the_share_that_is_covered() -> None:
    _, covered = choose_alphabet({ord("a"): 3, ord("b"): 1}, 0.7, "")
    assert covered == 0.75


@pytest.mark.parametrize(
    ("counts", "required", "message"),
    [
        ({}, "", "empty-corpus"),
        ({"a": 0}, "b", "empty-corpus"),
        ({"a": 1, " ": 1}, "", "bad-value"),
        ({"a": 1}, " ", "bad-value"),
        ({"a": 1}, "▅", "bad-value U+2585"),
    ],
)
def test_what_cannot_be_covered(counts: dict[str, int], required: str, message: str) -> None:
    with raises_kind(message):
        chosen(counts, 1.0, required)


def test_the_whole_alphabet_has_all_characters_but_the_boundary_mark() -> None:
    counts = {0x1F: 9, ord("b"): 2, ord("a"): 2, 0x2585: 5}
    assert whole_alphabet(counts) == [(0x2585, 5), (ord("a"), 2), (ord("b"), 2)]
