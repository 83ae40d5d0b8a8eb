"""Boundary scores of examples that were worked out by hand."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold import GoldWord, boundaries, score_boundaries
from spmcompat.tools.evaluate.models import load_model
from tests.oracle.morphology import ends, morph_scores

from .conftest import Train
from .tokenizers_by_hand import bpe_without_unknown, byte_level


def gold(*segmentations: str) -> list[GoldWord]:
    words = []
    for morphs in segmentations:
        ends = [len(morphs[:i].replace(" ", "")) for i, c in enumerate(morphs) if c == " "]
        words.append(GoldWord(morphs.replace(" ", ""), frozenset(ends)))
    return words


def test_boundary_scores_count_all_words_of_the_list() -> None:
    words = gold("walk ing", "un do ing", "house", "anti dis establish ment")
    cuts = [{4}, {2, 3}, set(), {4}]
    scores = score_boundaries(
        words, [word.parts(cut) for word, cut in zip(words, cuts, strict=True)]
    )
    assert scores.words == 4
    assert scores.precision == pytest.approx(3 / 4)
    assert scores.recall == pytest.approx(3 / 6)
    assert scores.f1 == pytest.approx(2 * (3 / 4) * (1 / 2) / (3 / 4 + 1 / 2))
    assert scores.mean_length == pytest.approx((2 + 3 + 1 + 2) / 4)
    # MorphScore leaves out "house", which has no boundary, and the last word, which has three.
    assert scores.morph_score_words == 2
    assert scores.morph_score == pytest.approx((1 + 1 / 2) / 2)
    assert scores.morph_score_precision == pytest.approx((1 + 1 / 2) / 2)
    assert scores.morph_score_token_precision == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_morph_score_leaves_out_words_that_the_model_does_not_cut() -> None:
    scores = score_boundaries(gold("walk ing", "talk ed"), [["walking"], ["t", "alked"]])
    assert scores.morph_score_words == 1
    assert scores.morph_score == 0
    # The figures "with single tokens" also include words that are not cut, with a recall of 1.
    assert scores.morph_score_words_with_single_tokens == 2
    assert scores.morph_score_with_single_tokens == pytest.approx(1 / 2)


@pytest.mark.reference
def test_boundaries_refer_to_the_text_before_normalization(train: Train) -> None:
    """Normalization turns the ligature into two letters and adds a space mark before the word."""
    path = train("m", model_type="char", vocab_size=200)
    model = load_model(str(path), Workers(1))
    scores = score_boundaries(gold("\ufb01 b"), model.cut(["\ufb01b"]))
    assert (scores.recall, scores.mean_length) == (1, 3)


@pytest.mark.reference
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "char"])
def test_every_token_counts_if_a_character_has_several(train: Train, model_type: str) -> None:
    """With byte fallback, a character that the model lacks becomes several tokens."""
    sp = pytest.importorskip("sentencepiece")
    path = train("m", model_type=model_type, vocab_size=400, byte_fallback=True)
    words = gold("\u00c4nder ung en", "the \u6f22\u5b57", "\U0001f600 s", "no thing")
    parts = load_model(str(path), Workers(1)).cut([word.text for word in words])
    encoder = sp.SentencePieceProcessor(model_file=str(path))
    tokens = [
        [piece for piece in encoder.encode(word.text, out_type=str) if piece != "\u2581"]
        for word in words
    ]
    assert list(map(len, parts)) == list(map(len, tokens))
    assert ["".join(one) for one in parts] == [word.text for word in words]
    assert any(piece.startswith("<0x") for one in tokens for piece in one)
    scores = score_boundaries(words, parts)
    assert scores.mean_length == sum(map(len, tokens)) / len(words)
    expected = [
        len(word.boundaries & boundaries(one)) / len(pieces)
        for word, one, pieces in zip(words, parts, tokens, strict=True)
        if boundaries(one)
    ]
    assert scores.morph_score_token_precision == pytest.approx(sum(expected) / len(expected))


@pytest.mark.reference
@pytest.mark.parametrize("suffix", [False, True])
def test_characters_without_tokens_move_no_boundary(train: Train, suffix: bool) -> None:
    """Normalization removes U+0007; the space mark that the encoder adds is no token of a word."""
    path = train("m", model_type="char", vocab_size=200, treat_whitespace_as_suffix=suffix)
    words = gold("\u0007t he", "t he\u0007", "t\u0007 he", "\u0007 \u0007")
    parts = load_model(str(path), Workers(1)).cut([word.text for word in words])
    assert list(map(len, parts)) == [3, 3, 3, 0]
    assert ["".join(tokens) for tokens in parts[:3]] == [word.text for word in words[:3]]
    assert score_boundaries(words[:3], parts[:3]).recall == 1


def test_all_tokens_of_a_byte_level_vocabulary_count(tmp_path: Path) -> None:
    words = gold("\u6771\u4eac \u90fd", "the cat")
    parts = load_model(str(byte_level(tmp_path)), Workers(1)).cut([word.text for word in words])
    assert list(map(len, parts)) == [9, 5]
    scores = score_boundaries(words[:1], parts[:1])
    assert (scores.mean_length, scores.precision) == (9, 1 / 2)
    assert scores.morph_score_token_precision == 1 / 9


def test_a_word_of_unknown_characters_without_tokens_has_length_0(tmp_path: Path) -> None:
    model = load_model(str(bpe_without_unknown(tmp_path)), Workers(1))
    scores = score_boundaries(gold("\u6771 \u4eac", "a b"), model.cut(["\u6771\u4eac", "ab"]))
    assert (scores.mean_length, scores.morph_score_words) == (1, 1)


def test_a_cut_inside_a_character_splits_a_word_but_finds_no_boundary() -> None:
    # As with the pieces "f" and "ib", if the word begins with a ligature.
    scores = score_boundaries(gold("\ufb01 b"), [["", "\ufb01b"]])
    assert (scores.mean_length, scores.morph_score_words, scores.morph_score) == (2, 1, 0)
    assert (scores.morph_score_precision, scores.morph_score_token_precision) == (0, 0)


MORPHS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4)


@given(st.lists(st.tuples(MORPHS, st.sets(st.integers(1, 11))), max_size=12))
def test_morph_score_follows_its_definitions(drawn: list[tuple[list[str], set[int]]]) -> None:
    words, parts = [], []
    for morphs, cuts in drawn:
        text = "".join(morphs)
        offsets = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
        parts.append([text[a:b] for a, b in itertools.pairwise(offsets)])
        words.append(GoldWord(text, frozenset(ends(morphs)[:-1])))
    scores = score_boundaries(words, parts)
    both = [(morphs, tokens) for (morphs, _), tokens in zip(drawn, parts, strict=True)]
    recall, precision, count = morph_scores(both, by_tokens=False, single_tokens=False)
    assert scores.morph_score_words == count
    assert scores.morph_score == pytest.approx(recall, nan_ok=True)
    assert scores.morph_score_precision == pytest.approx(precision, nan_ok=True)
    _, by_tokens, _ = morph_scores(both, by_tokens=True, single_tokens=False)
    assert scores.morph_score_token_precision == pytest.approx(by_tokens, nan_ok=True)
    recall, _, count = morph_scores(both, by_tokens=True, single_tokens=True)
    assert scores.morph_score_words_with_single_tokens == count
    assert scores.morph_score_with_single_tokens == pytest.approx(recall, nan_ok=True)
