"""Counts of a text with symbols: the same bytes as from the text, or a remedy that works."""

from __future__ import annotations

import io
from typing import Any

import pytest

import spmcompat
from spmcompat.stored_counts.table import CountTable
from tests.kinds import raises_kind

pytest.importorskip("pyarrow")

TEXT = ["the cat sat on the mat<br>", "a <br> dog and a cat", "the end"] * 20
TYPES = ("unigram", "bpe", "word", "char")


def count(symbols: list[str], **options: Any) -> CountTable:
    return spmcompat.count(
        sentence_iterator=TEXT, user_defined_symbols=symbols, minloglevel=2, **options
    )


def model(**options: Any) -> bytes:
    writer = io.BytesIO()
    small = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}
    spmcompat.train(model_writer=writer, **small, **options)
    return writer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("symbols", [["<br>"], ["cat"], ["t"], ["▁cat"], ["▁", "<br>"]], ids=str)
@pytest.mark.parametrize("counted", TYPES)
@pytest.mark.parametrize("trained", TYPES)
def test_counts_with_symbols_train_the_model_of_the_text_or_say_what_does(
    symbols: list[str], counted: str, trained: str
) -> None:
    expected = model(sentence_iterator=TEXT, user_defined_symbols=symbols, model_type=trained)
    counts = count(symbols, model_type=counted)
    needs_text = "▁" in symbols and trained in ("unigram", "word")
    is_one_a_word_model = (counted == "word") != (trained == "word")
    if not needs_text and (not is_one_a_word_model or symbols == ["▁cat"]):
        assert model(counts=counts, model_type=trained) == expected
        return
    kind = "needs-sentences" if needs_text else "counts-mismatch model_type"
    with raises_kind(kind) as raised:
        model(counts=counts, model_type=trained)
    assert "required_chars" not in str(raised.value)
    if not needs_text:  # the remedy works
        assert model(counts=count(symbols, model_type=trained), model_type=trained) == expected


@pytest.mark.parametrize("model_type", TYPES)
def test_the_space_mark_as_a_symbol_of_training_only(model_type: str) -> None:
    needs_text = model_type in ("unigram", "word")
    with raises_kind("needs-sentences" if needs_text else "counts-mismatch"):
        model(counts=count([]), user_defined_symbols=["▁"], model_type=model_type)


def test_separate_spaces_can_be_trained_from_counts() -> None:
    options: dict[str, Any] = {"space_pieces": "separate"}
    expected = model(sentence_iterator=TEXT, **options)
    assert model(counts=count([], **options)) == expected
