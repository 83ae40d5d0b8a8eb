"""Boundary scores of examples that are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.errors import BadValueError, MissingFileError
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold import GoldWord, compare, read_gold, score_boundaries
from spmcompat.tools.evaluate.models import load_model

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


def test_morph_score_leaves_out_words_that_the_model_does_not_cut() -> None:
    scores = compare(gold("walk ing", "talk ed"), [frozenset(), frozenset({1})])
    assert scores.morph_score_words == 1
    assert scores.morph_score == 0


@pytest.mark.reference
def test_boundaries_refer_to_the_text_before_normalization(train: Train) -> None:
    """Normalization turns the ligature into two letters and adds a space mark before the word."""
    path = train("m", model_type="char", vocab_size=200)
    model = load_model(str(path), Workers(1))
    scores = score_boundaries(gold("\ufb01 b"), model.cut(["\ufb01b"]))
    assert (scores.recall, scores.mean_length) == (1, 2)


def test_a_gold_list_is_read_and_duplicate_words_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("walking\twalk ing\n\nwalking\twal king\nhouse\thouse\r\n", encoding="utf-8")
    assert read_gold(path) == gold("walk ing", "house")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("walking", "1: expected a word, a tab"),
        ("walking\t", "1: expected a word, a tab"),
        ("\twalk ing", "1: expected a word, a tab"),
        ("walked\twalk ing", "are not the parts of the word 'walked'"),
        ("", "contains no words"),
    ],
)
def test_an_invalid_gold_list_is_an_error(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(BadValueError, match=message):
        read_gold(path)


def test_a_gold_list_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="nowhere"):
        read_gold(tmp_path / "nowhere.tsv")
    path = tmp_path / "latin1.tsv"
    path.write_bytes(b"caf\xe9\tcaf \xe9\n")
    with pytest.raises(BadValueError, match="not UTF-8"):
        read_gold(path)
