"""The text that a model loses: characters of unknown tokens, and spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.tools.evaluate.evaluation import lost_text
from spmcompat.unicode.marks import SPACE_MARK

from .conftest import Train
from .tokenizers_by_hand import bpe_without_unknown, byte_level, measure, metaspace, wordpiece


def test_an_unknown_token_loses_its_characters(tmp_path: Path) -> None:
    # The unknown token represents one character, which has no piece.
    result = measure(metaspace(tmp_path), ["the cat\u6f22s cat"] + ["the cat the cat"] * 9)
    assert result.lost_characters == pytest.approx(1 / (11 + 9 * 12))
    assert lost_text(result) == "it loses 0.840% of the characters (more than 0.5%)"


def test_a_space_mark_that_the_tokenizer_adds_does_not_keep_a_character(tmp_path: Path) -> None:
    # The tokens are: a space mark and the unknown token, twice.
    result = measure(metaspace(tmp_path), ["\u6f22 \u6f22"])
    assert (result.tokens, result.lost_characters) == (4, 1)


def test_an_unknown_word_loses_known_characters_too(tmp_path: Path) -> None:
    # Even a single lost word is reported: one unknown token replaces all the tokens of the word, so
    # the model seems to need fewer tokens.
    lines = ["the cat\u6f22s cat"] + ["the cat the cat"] * 999
    result = measure(wordpiece(tmp_path, "WhitespaceSplit"), lines)
    assert result.lost_characters == pytest.approx(5 / (11 + 999 * 12))
    assert result.lost_spaces == 0
    assert lost_text(result) == "it replaces whole words, with 0.042% of the characters"


def test_rare_characters_that_a_model_does_not_cover_are_tolerated(
    tmp_path: Path, train: Train
) -> None:
    lines = ["the cat\u6f22s cat"] + ["the cat the cat"] * 999
    result = measure(metaspace(tmp_path), lines)
    assert result.lost_characters == pytest.approx(1 / (11 + 999 * 12))
    assert lost_text(result) == ""
    sentencepiece = measure(train("m"), ["\u6f22 the cat"] + ["the cat the cat"] * 999)
    assert sentencepiece.lost_characters == pytest.approx(1 / (7 + 999 * 12))
    assert lost_text(sentencepiece) == ""


def test_sentencepiece_loses_what_it_does_not_know_unless_it_spells_bytes(train: Train) -> None:
    lines = ["the \u6f22\u5b57 cat", "\u00e9\u6f22 the"]
    lossy = measure(train("m"), lines)
    assert lossy.lost_characters >= 3 / 13
    assert lost_text(lossy).startswith("it loses ")
    spelled = measure(train("m", byte_fallback=True, vocab_size=400), lines)
    assert (spelled.lost_characters, lost_text(spelled)) == (0, "")


def test_a_word_model_loses_whole_words(train: Train) -> None:
    result = measure(train("m", model_type="word"), ["xylophone"])
    assert lost_text(result) == "it replaces whole words, with 100.000% of the characters"


def test_a_character_without_a_token_is_lost(tmp_path: Path) -> None:
    # This model drops unknown characters, and has no unknown token.
    result = measure(bpe_without_unknown(tmp_path), ["a\u6f22b abc"])
    assert result.lost_characters == pytest.approx(1 / 6)
    assert lost_text(result) == "it loses 16.667% of the characters (more than 0.5%)"


def test_a_split_at_punctuation_loses_spaces(tmp_path: Path) -> None:
    # "cats ," and "cats," have the same tokens.
    result = measure(wordpiece(tmp_path, "BertPreTokenizer"), ["the cat, cat", "cats ,"])
    assert result.lost_characters == 0
    assert result.lost_spaces == pytest.approx(1 / 5)
    assert (
        lost_text(result)
        == "it does not show where spaces are, in 20.000% of the words (more than 0.5%)"
    )


def test_models_that_keep_all_text_are_not_marked(tmp_path: Path, train: Train) -> None:
    lines = ["the  cat\tthe", " cat cat\u3000", "", "the"]
    paths = [train("m"), train("m", space_pieces="separate"), train("m", split_by_whitespace=False)]
    results = [measure(path, lines) for path in paths]
    results.append(measure(byte_level(tmp_path), [*lines, "\u00e9\u6f22", SPACE_MARK]))
    results.append(measure(metaspace(tmp_path), ["the cat", "cats"]))
    results.append(measure(wordpiece(tmp_path, "WhitespaceSplit"), lines))
    assert [lost_text(result) for result in results] == [""] * len(results)
    assert all(result.lost_spaces == 0 for result in results)
