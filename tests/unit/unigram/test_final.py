"""Compares the final pieces with those of the oracle, bit for bit."""

import random

import numpy as np
import pytest

from spmcompat.unigram.pieces import Pieces, finalize
from tests.oracle import training as oracle
from tests.oracle.characters import Options
from tests.searches import examples
from tests.unit import stages


@pytest.mark.parametrize("number", range(examples(60)))
def test_final_pieces_equal_the_oracle(number: int) -> None:
    dice = random.Random(f"final/{number}")
    pieces = stages.random_case(f"final/{number}").pieces
    letters = sorted({*"abcあ漢", *(text for text, _ in pieces if len(text) == 1)})
    required = {c: dice.randint(0, 3) for c in dice.sample(letters, dice.randint(1, len(letters)))}
    alphabet = sorted(((ord(c), n) for c, n in required.items()), key=lambda i: (-i[1], i[0]))
    size = dice.randint(len(required), len(required) + len(pieces) + 1)
    expected = oracle.finalize(pieces, required, Options(vocab_size=size, meta_pieces=0))
    final = finalize(stages.ours(pieces), alphabet, size)
    assert final == stages.plain(expected)
    assert len(final) <= size
    assert {piece for piece, _ in final} >= {c.encode() for c in required}


def test_pruned_required_characters_come_back_with_scores_in_float32_steps() -> None:
    alphabet = [(ord("a") + at, 100 - at) for at in range(26)]
    final = finalize(Pieces([(b"xyz", -1.5), (b"yz", -8.25)]), alphabet, 28)
    scores = dict(final)
    expected, step = [], np.float32(0)
    for _ in alphabet:
        expected.append(float(np.float32(-8.25) + step))
        step += np.float32(0.0001)
    assert [scores[bytes([c])] for c, _ in alphabet] == expected


def test_equal_scores_rank_by_bytes() -> None:
    pieces = Pieces([(text.encode(), -1.0) for text in ("漢", "b", "ab", "é", "a")])
    texts = [piece.decode() for piece, _ in finalize(pieces, [], 4)]
    assert texts == ["a", "ab", "b", "é"]
