"""A ``tokenizer.json`` becomes an equivalent model, or an error names what prevents this."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import compile_charsmap
from spmcompat.tools.export import document, tokenizer_json
from spmcompat.tools.export.causes import Reference
from spmcompat.tools.export.exporting import import_file
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.importing import import_tokenizer
from tests.kinds import raises_kind
from tests.unit.tools.export.models import FORMS, TEXT, changed, train, trained

PIECE = ModelProto.SentencePiece
# tests/property/test_imports.py has the predefined rules.
CASES = [(rules, form) for rules in ("own", "identity") for form in FORMS]


def described(model: ModelProto) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(tokenizer_json.files(model)[""])
    return content


def again(content: dict[str, Any]) -> ModelProto:
    return import_tokenizer(json.dumps(content).encode())[0]


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "form"), CASES)
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_an_export_comes_back(model_type: str, rules: str, form: str) -> None:
    model = trained(model_type, rules, form)
    back, limits = import_tokenizer(tokenizer_json.files(model)[""])
    assert not limits
    assert [(one.piece, one.score, one.type) for one in back.pieces] == [
        (one.piece, one.score, one.type) for one in model.pieces
    ]
    for name in ("name", "precompiled_charsmap", "add_dummy_prefix", "remove_extra_whitespaces"):
        assert getattr(back.normalizer_spec, name) == getattr(model.normalizer_spec, name)
    assert back.denormalizer_spec == model.denormalizer_spec
    lines = [*hard_lines(model), *TEXT[:8]]
    assert Reference(back).encode(lines) == Reference(model).encode(lines)
    # The ids of unk, bos, eos and pad in the trainer_spec are those of the original model.
    for kind in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(back.trainer_spec, kind) == getattr(model.trainer_spec, kind)


def test_rules_that_delete_control_characters_come_back(tmp_path: Path) -> None:
    """The rules delete two characters, which the exported normalizer uses as separators."""
    rules = tmp_path / "rules.tsv"
    rules.write_text("1\t\n2\t\n41\t61\n")
    model = train("bpe", normalization_rule_tsv=str(rules), user_defined_symbols=["<A>"])
    back = again(described(model))
    assert back.normalizer_spec.precompiled_charsmap == model.normalizer_spec.precompiled_charsmap
    assert back.pieces == model.pieces


def test_unused_pieces_and_char_models_come_back() -> None:
    def retire(model: ModelProto) -> None:
        model.pieces[20].type = PIECE.UNUSED

    for model_type in ("unigram", "char"):
        model = changed(trained(model_type, "identity", "plain"), retire)
        back = again(described(model))
        assert back.pieces[20].type == PIECE.UNUSED
        assert back.trainer_spec.model_type == model.trainer_spec.model_type
        assert Reference(back).encode(TEXT) == Reference(model).encode(TEXT)


@pytest.mark.parametrize("model_type", ["bpe", "char"])
def test_control_pieces_come_back_if_the_unknown_piece_is_decoded_to_nothing(
    model_type: str,
) -> None:
    content = described(train(model_type, unk_surface="", normalization_rule_name="identity"))
    back, limits = import_tokenizer(json.dumps(content).encode())
    assert (back.trainer_spec.bos_id, back.pieces[1].type) == (1, PIECE.CONTROL)
    assert back.trainer_spec.unk_surface == ""
    assert not limits


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_an_added_token_of_an_export_becomes_a_symbol(model_type: str) -> None:
    model = trained(model_type, "identity", "plain")
    content = described(model)
    token = {"id": len(model.pieces), "content": "<new>", "special": False, "normalized": True}
    content["added_tokens"].append(token)
    back, limits = import_tokenizer(json.dumps(content).encode())
    assert back.pieces[-1] == PIECE(piece="<new>", score=0, type=PIECE.USER_DEFINED)
    assert back.pieces[:-1] == model.pieces
    (limit,) = limits
    assert limit.refuses
    assert limit.text.startswith("Added tokens such as '<new>' become user-defined symbols.")


def test_settings_that_a_model_cannot_store_are_listed() -> None:
    content = described(trained("bpe", "identity", "plain"))
    content["padding"] = {"strategy": "BatchLongest", "pad_id": 0, "pad_token": "<pad>"}
    content["truncation"] = {"max_length": 9, "strategy": "LongestFirst", "stride": 0}
    _, limits = import_tokenizer(json.dumps(content).encode())
    assert [limit.text for limit in limits] == [
        "The truncation of texts is left out.",
        "The padding of texts is left out.",
    ]


def test_the_usual_file_of_a_model_without_rules_is_imported() -> None:
    """Other converters write special tokens, a post-processor, and each merge as one string."""
    options = {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "byte_fallback": True,
    }
    model = train("bpe", **options)
    content = described(model)
    content["added_tokens"] = [
        {"id": index, "content": text, "special": True, "normalized": False}
        for index, text in enumerate(["<unk>", "<s>", "</s>"])
    ]
    content["post_processor"] = {"type": "TemplateProcessing"}
    content["decoder"] = {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    }
    assert content["normalizer"] == {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    }
    content["model"]["merges"] = [" ".join(merge) for merge in content["model"]["merges"]]
    del content["model"]["ignore_merges"]
    back, limits = import_tokenizer(json.dumps(content).encode())
    assert len(limits) == 3
    assert Reference(back).encode(TEXT) == Reference(model).encode(TEXT)
    assert [one.type for one in back.pieces] == [one.type for one in model.pieces]


def _precompiled(content: dict[str, Any]) -> None:
    steps = content["normalizer"]["normalizers"]
    content["normalizer"] = {
        "type": "Sequence",
        "normalizers": [step for step in steps if step["type"] in ("Precompiled", "Prepend")],
    }


def _word_piece(content: dict[str, Any]) -> None:
    content["model"] = {"type": "WordPiece", "vocab": {"a": 0}}


def _swap(content: dict[str, Any]) -> None:
    """Move one of two merges of the same piece to the end. No scores produce this order."""
    merges = content["model"]["merges"]
    texts = ["".join(merge) for merge in merges]
    merges.append(merges.pop(next(i for i, text in enumerate(texts) if texts.count(text) > 1)))


def _without_one(content: dict[str, Any]) -> None:
    content["model"]["merges"].pop()


def _gap(content: dict[str, Any]) -> None:
    content["model"]["vocab"]["gap"] = 10_000


def _dropout(content: dict[str, Any]) -> None:
    content["model"]["dropout"] = 0.1


def _metaspace(content: dict[str, Any]) -> None:
    content["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁"}


def _lower(content: dict[str, Any]) -> None:
    content["normalizer"]["normalizers"].append({"type": "Lowercase"})


def _added(content: dict[str, Any]) -> None:
    content["added_tokens"] = [{"id": 5, "content": "<x>", "special": False}]


def _added_beyond(content: dict[str, Any]) -> None:
    content["added_tokens"] = [{"id": 900, "content": "<x>", "special": True}]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (_precompiled, '"normalizer"'),
        (_lower, '"normalizer"'),
        (_word_piece, '"model" (WordPiece)'),
        (_swap, '"model" (BPE)'),
        (_without_one, '"model" (BPE)'),
        (_gap, '"model" (BPE)'),
        (_dropout, '"model" (BPE)'),
        (_metaspace, '"pre_tokenizer" (Metaspace)'),
        (_added, '"added_tokens"'),
        (_added_beyond, '"added_tokens"'),
    ],
)
def test_what_cannot_be_exact_is_refused_by_its_name(
    change: Callable[[dict[str, Any]], None], part: str
) -> None:
    content = described(trained("bpe", "own", "plain"))
    change(content)
    with raises_kind(f"cannot-import {part}"):
        again(content)


def test_scores_that_are_no_float32_are_refused() -> None:
    content = described(trained("unigram", "identity", "plain"))
    content["model"]["vocab"][10][1] += 1e-12
    with raises_kind("cannot-import model"):
        again(content)


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "char"])
def test_models_without_an_unknown_piece_come_back(model_type: str) -> None:
    options = {"byte_fallback": True, "character_coverage": 0.98}
    model = train(model_type, unk_id=-1, normalization_rule_name="identity", **options)
    back, limits = import_tokenizer(tokenizer_json.files(model)[""])
    assert not limits
    assert back.pieces == model.pieces


@pytest.mark.parametrize("symbol", [True, False])
@pytest.mark.parametrize(("text", "score"), [("a", 0.0), ("é", 0.1), ("abc", 0.2)])
def test_a_normal_piece_with_the_score_of_a_symbol_stays_normal(
    text: str, score: float, symbol: bool
) -> None:
    kind = PIECE.USER_DEFINED if symbol else PIECE.NORMAL
    model = ModelProto()
    model.CopyFrom(trained("unigram", "identity", "plain"))
    kept = [piece for piece in model.pieces if piece.piece != text]
    del model.pieces[:]
    model.pieces.extend(kept)
    model.pieces.add(piece=text, score=0 if symbol else np.float32(score), type=kind)
    back, limits = import_tokenizer(tokenizer_json.files(model)[""])
    assert not limits
    piece = back.pieces[-1]
    assert (piece.piece, piece.score, piece.type) == (text, model.pieces[-1].score, kind)


def test_a_piece_of_score_zero_in_the_file_of_another_program_is_normal() -> None:
    vocabulary = [["<unk>", 0], ["a", 0], ["b", -1]]
    file = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary, "byte_fallback": False}}
    back = again(file)
    assert [piece.type for piece in back.pieces] == [PIECE.UNKNOWN, PIECE.NORMAL, PIECE.NORMAL]


def test_steps_of_another_program_that_change_nothing_are_imported() -> None:
    rules = {(0x41,): (0x41,), (0x65, 0x301): (0x65, 0x301), (0x301,): ()}
    vocabulary = [["<unk>", 0], *([text, -1] for text in "▁Ae`\u0301")]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
    for others in ([], [{"type": "NFD"}]):
        blob = compile_charsmap(rules, change_something=False)
        step = {
            "type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(blob).decode(),
        }
        file = {
            "normalizer": {"type": "Sequence", "normalizers": [*others, step]},
            "pre_tokenizer": metaspace,
            "model": {"type": "Unigram", "unk_id": 0, "vocab": vocabulary},
        }
        back = again(file)
        assert Reference(back).normalize("Ae\u0301\u0301") == "▁Ae\u0301"


@pytest.mark.parametrize("texts", [["a", "b", "ab"], ["<unk>", "a", "b", "ab"]])
def test_a_file_without_an_unknown_token_gets_one_with_approximate(
    texts: list[str], tmp_path: Path
) -> None:
    vocabulary = {text: number for number, text in enumerate(texts)}
    file = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b"]]}
    path, output = tmp_path / "tokenizer.json", tmp_path / "m.model"
    path.write_text(json.dumps({"model": file}))
    with raises_kind("inexact-import --approximate"):
        import_file(str(path), str(output), lambda _: None)
    assert not output.exists()
    said: list[str] = []
    import_file(str(path), str(output), said.append, approximate=True)
    back = ModelProto.FromString(output.read_bytes())
    assert [piece.piece for piece in back.pieces[:-1]] == texts
    assert back.pieces[-1].type == PIECE.UNKNOWN
    assert back.trainer_spec.unk_id == len(texts)
    assert any(repr(back.pieces[-1].piece) in line for line in said)
    assert Reference(back).encode(["ab"]) == [[texts.index("ab")]]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"model": 1}',
        b'{"model": {"type": "BPE", "merges": 1}}',
        b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}',
        b'{"model": {"type": "Unigram"}}',
        b'{"model": {"type": "Unigram", "vocab": [1]}}',
    ],
)
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(BadValueError):
        import_tokenizer(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model": ' + "[" * 100_000, "bad-tokenizer-json"),
        ('{"model": {"vocab": [["a", NaN]], "type": "Unigram"}}', "bad-tokenizer-json"),
        (
            '{"model": {"vocab": [["a", 1e400]], "type": "Unigram"}}',
            "bad-tokenizer-json vocab[0][1]",
        ),
        ('{"model": {"vocab": [["a", 0], ["a", 1]], "type": "Unigram"}}', "cannot-import model"),
        ('{"model": {"vocab": {"a": 0, "a": 1}, "merges": []}}', "bad-tokenizer-json"),
        ('{"model": {"vocab": {"a": 1099511627776}, "merges": []}}', "bad-tokenizer-json"),
        ('{"model": {"vocab": {"a": 0, "b": 0}, "merges": []}}', "cannot-import model"),
        ('{"model": {"vocab": {"a": 0}, "merges": [["a", "b"]]}}', "cannot-import model"),
        ('{"model": {"vocab": [["\\ud800", 0]], "type": "Unigram"}}', "bad-tokenizer-json"),
        (
            '{"added_tokens": [{"id": 1, "content": "a", "special": true}],'
            ' "model": {"vocab": {"a": 0}, "merges": []}}',
            "cannot-import added_tokens",
        ),
        (
            '{"normalizer": {"type": "Precompiled"}, "model": {"vocab": {"a": 0}, "merges": []}}',
            "bad-tokenizer-json normalizer precompiled_charsmap",
        ),
        (
            '{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="},'
            ' "model": {"vocab": {"a": 0}, "merges": []}}',
            "cannot-import normalizer",
        ),
    ],
)
def test_damaged_files_are_refused_by_the_place(content: str, message: str) -> None:
    with raises_kind(message):
        import_tokenizer(content.encode())


def test_files_above_the_limit_are_refused_before_they_are_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MOST_BYTES", 1 << 20)
    path, output = tmp_path / "tokenizer.json", tmp_path / "m.model"
    for size, limit in ((1 << 20, ""), ((1 << 20) + 1, "1 MiB")):
        path.write_bytes(b"x" * size)
        with raises_kind(f"bad-tokenizer-json {limit}"):
            import_file(str(path), str(output), lambda _: None)
    assert not output.exists()


@pytest.mark.parametrize("pattern", [r"\A(?:(a|a)*b)\z", r"\A(?:" + "(?:a|b)" * 60 + r")\z"])
def test_no_pattern_of_the_file_is_run(pattern: str) -> None:
    content = described(trained("bpe", "identity", "plain"))
    content["decoder"] = {"type": "Replace", "pattern": {"Regex": pattern}, "content": ""}
    content["model"]["vocab"]["a" * 60] = len(content["model"]["vocab"])
    with raises_kind("cannot-import decoder"):
        again(content)
