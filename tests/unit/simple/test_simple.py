"""The word and char trainers."""

import math

import numpy as np
import pytest

from spmcompat.counting.counts import log_shares
from spmcompat.simple.char import train as train_char
from spmcompat.simple.word import train as train_word
from tests.kinds import raises_kind


def test_scores_are_float32_logarithms_of_shares() -> None:
    counts = [1, 3, 1000, 2**24 + 1, 2**63]
    expected = [np.float32(math.log(np.float32(n))) - np.float32(math.log(1e6)) for n in counts]
    scores = log_shares(counts, 10**6)
    assert scores == [float(np.float32(score)) for score in scores]
    assert scores == pytest.approx([float(score) for score in expected], rel=1e-6)
    assert log_shares([0], 5) == [-math.inf]
    # The total wraps around at 2**64, as in the reference.
    assert log_shares([1], 2**64 + 3) == log_shares([1], 3)


def test_characters() -> None:
    alphabet = [(ord("漢"), 3), (ord("a"), 1), (ord("z"), 0)]
    every = train_char(alphabet, None)
    assert [piece.decode() for piece, _ in every] == ["漢", "a", "z"]
    assert [score for _, score in every] == log_shares([3, 1, 0], 4)
    assert train_char(alphabet, 2) == every[:2]
    assert train_char(alphabet, 0) == []
    with raises_kind("text-too-small"):
        train_char([(ord("z"), 0)], None)


def test_words_with_unknown_characters_are_counted_but_are_not_pieces() -> None:
    words = [("▁a▅".encode(), 5), ("▁b".encode(), 2), ("▁c".encode(), 1)]
    every = train_word(words, 8, None)
    assert every == [
        (piece, score) for (piece, _), score in zip(words[1:], log_shares([2, 1], 8), strict=True)
    ]
    assert train_word(iter(words), 8, 1) == every[:1]
    assert train_word([], 5, None) == []
