"""Boundary scores of examples that were worked out by hand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold import GoldWord, compare, score_boundaries
from spmcompat.tools.evaluate.models import load_model
from tests.oracle.morphology import ends, morph_scores

from .conftest import Train


def gold(*segmentations: str) -> list[GoldWord]:
    words = []
    for morphs in segmentations:
        ends = [len(morphs[:i].replace(" ", "")) for i, c in enumerate(morphs) if c == " "]
        words.append(GoldWord(morphs.replace(" ", ""), frozenset(ends)))
    return words


def test_boundary_scores_count_all_words_of_the_list() -> None:
    words = gold("walk ing", "un do ing", "house", "anti dis establish ment")
    cuts = [{4}, {2, 3}, set(), {4}]
    scores = compare(words, [frozenset(cut) for cut in cuts])
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
    scores = compare(gold("walk ing", "talk ed"), [frozenset(), frozenset({1})])
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
    assert (scores.recall, scores.mean_length) == (1, 2)


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
