"""Words are counted in the text, so their number is the same for every kind of model."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Train
from .tokenizers_by_hand import byte_level, measure, metaspace, wordpiece


def test_a_word_after_a_lone_space_mark_is_counted(tmp_path: Path) -> None:
    result = measure(metaspace(tmp_path), ["the cat the", "cat cats"])
    # The tokens are: the | ▁ cat | the, and ▁ cat | ▁ cat s. A bar separates words.
    assert result.tokens == 9
    assert result.words == 5
    assert result.tokens_per_word == pytest.approx(9 / 5)
    assert result.whole_words == pytest.approx(4 / 5)


def test_punctuation_that_bert_splits_off_is_no_word(tmp_path: Path) -> None:
    result = measure(wordpiece(tmp_path, "BertPreTokenizer"), ["the cat, cat", "cats ,"])
    # The tokens are: the cat , cat, and cat ##s ,
    assert result.tokens == 7
    assert result.words == 5
    assert result.tokens_per_word == pytest.approx(7 / 5)
    assert result.whole_words == pytest.approx(3 / 5)


def test_a_word_of_bytes_is_not_a_whole_word(tmp_path: Path) -> None:
    result = measure(byte_level(tmp_path), ["cat cat\tcat", "\u00e9 cat"])
    # No space precedes the last word of the first line, only a tab, so its tokens are c and at.
    assert result.words == 5
    assert result.whole_words == pytest.approx(3 / 5)


def test_a_space_mark_that_the_tokenizer_adds_is_no_second_token(tmp_path: Path) -> None:
    # No space follows the first word of the line, so the line is aligned with its tokens.
    result = measure(byte_level(tmp_path), ["A\u3000A A"])
    assert (result.tokens, result.whole_words) == (8, 1)


def test_an_unknown_word_is_not_a_whole_word(tmp_path: Path, train: Train) -> None:
    assert measure(wordpiece(tmp_path, "WhitespaceSplit"), ["cat dog"]).whole_words == 1 / 2
    assert measure(train("m", model_type="word"), ["xylophone"]).whole_words == 0


def test_all_models_have_the_same_number_of_words(tmp_path: Path, train: Train) -> None:
    lines = ["the  cat\u00a0the", " cat\u3000cats, ", "", "\u200bthe\u200bcat", "caf\u00e9 \u00b4s"]
    words = sum(len(line.split()) for line in lines)
    paths = [
        train("m"),
        train("m", model_type="bpe", normalization_rule_name="identity"),
        train("m", split_by_whitespace=False),
        train("m", space_pieces="separate"),
    ]
    results = [measure(path, lines) for path in paths]
    results += [measure(metaspace(tmp_path), lines), measure(byte_level(tmp_path), lines)]
    results += [
        measure(wordpiece(tmp_path, name), lines) for name in ("Whitespace", "BertPreTokenizer")
    ]
    for result in results:
        assert result.words == words
        assert result.tokens_per_word == pytest.approx(result.tokens / words)
        assert 0 <= result.whole_words <= 1
