"""Files of ``tokenizers``: ids with gaps, byte pieces, and errors, which name the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spmcompat.model.pieces import BYTE_PIECES
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate import models
from spmcompat.tools.evaluate.models import Model, load_model
from tests.kinds import raises_kind

pytest.importorskip("tokenizers", reason="tokenizers is not installed")


def load(folder: Path, **changes: Any) -> Model:
    content = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]},
        **changes,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return load_model(str(path), Workers(1))


def test_the_unchanged_file_is_loaded(tmp_path: Path) -> None:
    assert [list(ids) for ids in load(tmp_path).encode([b"aa"])] == [[1, 1]]


def test_a_folder_stands_for_the_file_in_it(tmp_path: Path) -> None:
    with raises_kind("cannot-read tokenizer.json"):
        load_model(str(tmp_path), Workers(1))
    load(tmp_path)
    for folder in (str(tmp_path), f"{tmp_path}/"):
        found = load_model(folder, Workers(1))
        assert [list(ids) for ids in found.encode([b"aa"])] == [[1, 1]]
        assert found.path == str(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("large", [2, 100, 2**31, 2**32 - 1])
def test_ids_with_gaps_are_numbered_in_their_order(large: int, tmp_path: Path) -> None:
    bpe = {"type": "BPE", "unk_token": None, "vocab": {"b": large, "a": 1}, "merges": []}
    model = load(tmp_path, model=bpe)
    assert model.size == 2
    assert [list(ids) for ids in model.encode([b"ab", b""])] == [[0, 1], []]


def test_lines_are_not_padded(tmp_path: Path) -> None:
    padding = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 77, "pad_type_id": 0, "pad_token": "<pad>"}
    assert [list(ids) for ids in load(tmp_path, padding=padding).encode([b"a"])] == [[1]]


def test_lines_are_not_truncated(tmp_path: Path) -> None:
    truncation = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
    assert [list(ids) for ids in load(tmp_path, truncation=truncation).encode([b"aa"])] == [[1, 1]]


def test_no_merges_are_dropped_at_random(tmp_path: Path) -> None:
    vocabulary = {"a": 0, "b": 1, "ab": 2}
    bpe = {"type": "BPE", "dropout": 0.9, "vocab": vocabulary, "merges": [["a", "b"]]}
    assert [list(ids) for ids in load(tmp_path, model=bpe).encode([b"ab"] * 50)] == [[2]] * 50


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MOST_BYTES", 100)
    with raises_kind("bad-model tokenizer.json"):
        load(tmp_path)


def test_an_error_while_loading(tmp_path: Path) -> None:
    with raises_kind("bad-model tokenizer.json"):
        load(tmp_path, model={})


def test_a_panic_while_loading(tmp_path: Path) -> None:
    charsmap = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    with raises_kind("bad-model precompiled_charsmap"):
        load(tmp_path, normalizer=charsmap)


def test_an_error_while_encoding(tmp_path: Path) -> None:
    wordpiece = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"a": 0},
    }
    model = load(tmp_path, model=wordpiece)
    for use in (lambda: model.encode([b"b"]), lambda: model.spans(["b"]), lambda: model.cut(["b"])):
        with raises_kind("bad-model"):
            use()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_other_exceptions_pass(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("tokenizers.Tokenizer", type("Tokenizer", (), {"from_file": fail}))
    with pytest.raises(error):
        load(tmp_path)


@pytest.mark.parametrize("is_fallback", [False, True])
def test_byte_pieces_are_those_of_a_model_with_byte_fallback(
    is_fallback: bool, tmp_path: Path
) -> None:
    ids = {text: i for i, text in enumerate(["a", *BYTE_PIECES])}
    bpe = {"type": "BPE", "vocab": ids, "merges": [], "byte_fallback": is_fallback}
    model = load(tmp_path, model=bpe)
    assert model.kinds.byte.tolist() == [False] + [is_fallback] * 256
    assert model.vocabulary == ({"a"} if is_fallback else {"a", *BYTE_PIECES})
    assert model.drops_characters is not is_fallback
    assert [list(ids) for ids in model.encode(["aé".encode()])] == [
        [0, 1 + 0xC3, 1 + 0xA9] if is_fallback else [0]
    ]
