"""The word and char trainers."""

import math

import numpy as np
import pytest

from spmcompat.counting.counts import log_shares
from spmcompat.errors import TrainingError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.segments.coverage import whole_alphabet
from spmcompat.simple.char import train as train_char
from spmcompat.simple.word import train as train_word
from tests.unit import stages


def test_scores_are_float32_logarithms_of_shares() -> None:
    counts = [1, 3, 1000, 2**24 + 1, 2**63]
    expected = [np.float32(math.log(np.float32(n))) - np.float32(math.log(1e6)) for n in counts]
    scores = log_shares(counts, 10**6)
    assert scores == [float(np.float32(score)) for score in scores]
    assert scores == pytest.approx([float(score) for score in expected], rel=1e-6)
    assert log_shares([0], 5) == [-math.inf]
    # The total wraps, as in the reference.
    assert log_shares([1], 2**64 + 3) == log_shares([1], 3)


def test_characters() -> None:
    alphabet = [(ord("漢"), 3), (ord("a"), 1), (ord("z"), 0)]
    every = train_char(alphabet, None)
    assert [piece.decode() for piece, _ in every] == ["漢", "a", "z"]
    assert [score for _, score in every] == log_shares([3, 1, 0], 4)
    assert train_char(alphabet, 2) == every[:2]
    assert train_char(alphabet, 0) == []
    with pytest.raises(TrainingError, match="No character of the corpus is left"):
        train_char([(ord("z"), 0)], None)


def test_words_with_unknown_characters_are_counted_but_are_not_pieces() -> None:
    words = [("▁a▅".encode(), 5), ("▁b".encode(), 2), ("▁c".encode(), 1)]
    every = train_word(words, 8, None)
    assert every == [
        (piece, score) for (piece, _), score in zip(words[1:], log_shares([2, 1], 8), strict=True)
    ]
    assert train_word(iter(words), 8, 1) == every[:1]
    assert train_word([], 5, None) == []


def test_pretokens_are_sorted_by_count() -> None:
    corpus = stages.read(["b a", "a b c", "b"])
    found = [(text.decode(), count) for text, count in corpus.counted_pretokens()]
    assert found == [("▁b", 3), ("▁a", 2), ("▁c", 1)]
    assert corpus.total_count == 6
    suffixed = stages.read(
        ["a b"],
        model_type=TrainerSpec.WORD,
        treat_whitespace_as_suffix=True,
        character_coverage=1.0,
    )
    assert [text.decode() for text, _ in suffixed.counted_pretokens()] == ["a", "▁", "▁b"]


def test_the_whole_alphabet_has_all_characters_but_the_boundary_mark() -> None:
    counts = {0x1F: 9, ord("b"): 2, ord("a"): 2, 0x2585: 5}
    assert whole_alphabet(counts) == [(0x2585, 5), (ord("a"), 2), (ord("b"), 2)]
