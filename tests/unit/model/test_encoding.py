"""Encoding with finished models, and the rules of earlier releases.

`tests/property/test_encoding.py` compares with the real library.
"""

from __future__ import annotations

from spmcompat.model.encoding import (
    BpeEncoder,
    UnigramEncoder,
    encoder_of,
    symbol_score,
)
from spmcompat.model.pieces import UNUSED, USER_DEFINED, Piece
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.rounding import to_float32

CHAR = TrainerSpec(model_type=TrainerSpec.CHAR)
WORD = TrainerSpec(model_type=TrainerSpec.WORD)


def normal(**scores: float) -> list[Piece]:
    return [Piece(text, to_float32(score)) for text, score in scores.items()]


def test_bpe_merges_the_highest_score_first_and_the_leftmost_of_equal_ones() -> None:
    encoder = BpeEncoder(normal(ab=-2, bc=-1, aa=-3))
    assert encoder.encode("abcaaab") == ["a", "bc", "aa", "ab"]
    assert encoder.merges("aaab") == [("ab", "a", "b"), ("aa", "a", "a")]
    assert encoder.encode("aaa") == ["aa", "a"]


def test_bpe_takes_unused_pieces_apart() -> None:
    encoder = BpeEncoder([Piece("ab", -1.0, UNUSED), *normal(abc=-2)])
    assert encoder.encode("ababc") == ["a", "b", "abc"]
    assert encoder.parts("abc") == ("ab", "c")
    assert encoder.parts("abd") is None


def test_bpe_never_merges_user_defined_symbols() -> None:
    encoder = BpeEncoder([Piece("a", 0.0, USER_DEFINED), *normal(ab=-1, bb=-2)])
    assert encoder.encode("abbb") == ["a", "bb", "b"]


def test_the_longest_symbol_is_found_at_each_position() -> None:
    symbols = [Piece(text, 0.0, USER_DEFINED) for text in ("ab", "abc", "b")]
    assert encoder_of(symbols, CHAR)("xabcabdb") == ["x", "abc", "ab", "d", "b"]


def test_only_64_symbols_are_found_at_one_position() -> None:
    symbols = [Piece("a" * size, 0.0, USER_DEFINED) for size in range(1, 80)]
    assert encoder_of(symbols, CHAR)("a" * 70) == ["a" * 64, "a" * 6]


def test_words_begin_with_space_marks() -> None:
    assert encoder_of([], WORD)("ab▁c▁▁d▁") == ["ab", "▁c", "▁", "▁d", "▁"]
    assert encoder_of([], WORD)("") == []


def test_unigram_takes_the_best_sum() -> None:
    encoder = UnigramEncoder(normal(a=-1, b=-1, ab=-3, ba=-1))
    assert encoder.encode("abab") == ["a", "ba", "b"]
    assert encoder.encode("axxb") == ["a", "x", "x", "b"]
    assert encoder.score_without("ab") == -2.0
    assert encoder.score_without("a") == -13.0


def test_unigram_keeps_the_path_whose_last_piece_begins_first() -> None:
    assert UnigramEncoder(normal(a=-1, b=-1, ab=-2)).encode("ab") == ["ab"]
    assert UnigramEncoder(normal(a=-1, b=-9, ab=-1, ba=-1)).encode("aba") == ["a", "ba"]


def test_unigram_ignores_unused_pieces() -> None:
    encoder = UnigramEncoder([Piece("ab", -1.0, UNUSED), *normal(a=-1, b=-1)])
    assert encoder.encode("ab") == ["a", "b"]


def encoded_by_releases(pieces: list[Piece], text: str) -> tuple[list[str], list[str]]:
    """Return the tokens of the releases since 0.2.2, and the tokens of earlier releases."""
    new, old = (UnigramEncoder(pieces, encodes_in_float=one) for one in (True, False))
    return new.encode(text), old.encode(text)


def test_sums_are_rounded_before_they_are_compared_since_0_2_2() -> None:
    """The scores of a and b add up to more than the score of ab, by less than a float32 step."""
    pieces = normal(a=-3 * 2.0**-25, b=-1, ab=-1 - 2.0**-23)
    assert encoded_by_releases(pieces, "ab") == (["ab"], ["a", "b"])


def test_large_sums_are_reset_since_0_2_2() -> None:
    """Near -120,000, the steps of float32 are larger than the scores of a, b and ab."""
    pieces = normal(x=-60_000, a=-0.001, b=-0.001, ab=-0.0021)
    assert encoded_by_releases(pieces, "xxab") == (["x", "x", "a", "b"], ["x", "x", "ab"])


def test_long_symbols_are_preferred_since_0_2_2_and_few_symbols_before() -> None:
    pieces = [*(Piece(text, 0.0, USER_DEFINED) for text in "ab"), *normal(ab=-0.15)]
    assert encoded_by_releases(pieces, "ab") == (["a", "b"], ["ab"])


def test_the_score_of_symbols_in_a_unigram_model() -> None:
    assert symbol_score("a") == 0.0
    assert symbol_score("é漢") == to_float32(0.4)
