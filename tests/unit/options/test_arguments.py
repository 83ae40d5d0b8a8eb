"""Arguments of the wrong type: the error names the argument and shows the value."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import BadValueError, out_of_memory
from spmcompat.options.arguments import naming_keywords
from tests.kinds import raises_kind


@pytest.mark.parametrize("value", [[1], ["<a>", None], [b"<a>"], b"<a>", 1, [["<a>"]]], ids=repr)
@pytest.mark.parametrize("name", ["input", "control_symbols", "user_defined_symbols"])
def test_a_list_of_texts_with_another_item(name: str, value: object, tmp_path: Path) -> None:
    options = {"sentence_iterator": ["a b"]} if name != "input" else {}
    with raises_kind(f"wrong-type {name}"):
        spmcompat.train(**options, **{name: value}, model_prefix=tmp_path / "m")  # type: ignore[arg-type]
    with raises_kind(f"wrong-type {name}"):
        spmcompat.count(**options, **{name: value})  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_models_of_another_type() -> None:
    with raises_kind("wrong-type"):
        spmcompat.merge(["m.model", 1])  # type: ignore[list-item]


@pytest.mark.parametrize("symbol", ["", "\0", "\0a"])
@pytest.mark.parametrize("name", ["control_symbols", "user_defined_symbols"])
def test_a_symbol_without_text_is_named(name: str, symbol: str, tmp_path: Path) -> None:
    values: dict[str, Any] = {name: [symbol, "<a>"]}
    with raises_kind(f"bad-symbol {name} U+0000"):
        spmcompat.train(sentence_iterator=["a b"], **values, model_prefix=tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "keyword"),
    [
        ({"model_type": "bpe", "use_all_vocab": True}, "conflicting-options use_all_vocab"),
        (
            {"auto_character_coverage": True, "use_sparse_pruning": True},
            "conflicting-options byte_fallback",
        ),
        ({"user_defined_symbols": ["<unk>"]}, "bad-symbol control_symbols"),
        ({"vocab_size": 5}, "vocabulary-too-small character_coverage"),
        ({"max_sentence_length": 10}, "empty-corpus max_sentence_length"),
    ],
    ids=str,
)
def test_errors_of_training_name_keywords(options: dict[str, Any], keyword: str) -> None:
    sentences = ["abcdefghijkl " * 9] * 9
    for train in (spmcompat.train, spmcompat.SentencePieceTrainer.train):
        with raises_kind(keyword) as raised:
            train(sentence_iterator=sentences, model_writer=io.BytesIO(), **options)
        assert "--" not in str(raised.value)


def test_errors_of_other_functions_name_keywords(tmp_path: Path) -> None:
    text = tmp_path / "t"
    text.write_text("no table")
    for read in (spmcompat.count, spmcompat.train):
        with raises_kind("wrong-format input_format=parquet") as raised:
            read(input=text, input_format="parquet")
        assert "--" not in str(raised.value)
    with raises_kind("cannot-read") as raised:
        spmcompat.parity(input=tmp_path / "missing")
    assert "--" not in str(raised.value)
    with raises_kind("bad-value --help", BadValueError):
        spmcompat.count(sentence_iterator=["a"], vocab_size=9)  # type: ignore[call-arg]


def test_errors_of_a_string_name_flags() -> None:
    with raises_kind("conflicting-options --use_all_vocab=true"):
        spmcompat.SentencePieceTrainer.train("--input=a --model_type=bpe --use_all_vocab=true")


def test_an_error_without_memory_names_keywords() -> None:
    with raises_kind("out-of-memory") as raised, naming_keywords():
        raise out_of_memory("Counting")
    assert "--" not in str(raised.value)
