"""``show --check`` finds one seeded fault of each kind, and nothing in good tokenizers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.pieces import CONTROL, NORMAL, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.show.check import check
from spmcompat.tools.show.findings import EXPLANATIONS, NOTES
from tests.kinds import assert_error, raises_kind
from tests.unit.tools.edit.growing_models import PLAIN, extended, trained, trimmed, words

Json = dict[str, Any]

LINES = [*words(1, 200, types=150), "12 345, it's 2024", "don't"]
PAGES = Path(__file__).parents[4] / "docs"


@pytest.fixture(scope="module")
def models() -> dict[str, ModelProto]:
    """Train a model of each type."""
    sizes = {"unigram": 200, "bpe": 200, "word": 100, "char": 60}
    return {
        kind: trained(LINES, model_type=kind, vocab_size=n, character_coverage=1.0)
        for kind, n in sizes.items()
    }


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Json]:
    """Train a tokenizer.json like each template."""
    pytest.importorskip("tokenizers")
    return {
        like: json.loads(
            json.dumps(
                spmcompat.train_tokenizer(
                    like, sentence_iterator=iter(LINES), vocab_size=600, minloglevel=2
                ).document
            )
        )
        for like in ("gpt2", "llama3", "qwen2", "bert")
    }


def found(tokenizer: ModelProto | Json, text: list[str] | None = None) -> dict[str, list[str]]:
    """Return the names of the findings, and the pieces that are concerned."""
    is_json = isinstance(tokenizer, dict)
    content = json.dumps(tokenizer).encode() if is_json else tokenizer.SerializeToString()
    return {one.name: one.found for one in check(content, text).findings}


def changed(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def add(model: ModelProto, text: str, score: float = -5.0, kind: int = NORMAL) -> ModelProto:
    """Return a copy of a model with one more piece."""
    copy = changed(model)
    copy.pieces.add(piece=text, score=score, type=kind)  # type: ignore[arg-type]
    return copy


# ---------------------------------------------------------------- good tokenizers


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_nothing_is_found_in_models_of_all_types(models: dict[str, ModelProto], kind: str) -> None:
    assert found(models[kind], LINES) == {}


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize(
    "options",
    [
        {"byte_fallback": True, "split_digits": True, "user_defined_symbols": ["<sep>", "the"]},
        {"treat_whitespace_as_suffix": True, "normalization_rule_name": "nfkc_cf"},
        {
            "split_by_whitespace": False,
            "allow_whitespace_only_pieces": True,
            "normalization_rule_name": "identity",
            "remove_extra_whitespaces": False,
        },
    ],
)
def test_nothing_is_found_with_other_options(kind: str, options: Json) -> None:
    assert found(trained(LINES, model_type=kind, vocab_size=450, **options)) == {}


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_nothing_is_found_in_edited_models(models: dict[str, ModelProto], kind: str) -> None:
    other = words(2, 100, types=80)
    assert found(extended(models[kind], other, add=20)) == {}
    assert found(trimmed(models[kind], other, keep=100, keep_ids=True)) == {}


@pytest.mark.parametrize("like", ["gpt2", "llama3", "qwen2", "bert"])
def test_nothing_is_found_in_each_template(tokenizers: dict[str, Json], like: str) -> None:
    assert found(tokenizers[like], LINES) == {}


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_nothing_is_found_in_exports(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    content = trained(LINES, model_type=kind, vocab_size=60, **PLAIN).SerializeToString()
    path = str(tmp_path / "tokenizer.json")
    spmcompat.export(content, to="tokenizer.json", output=path, verify="no")
    assert check(path).findings == check(tmp_path).findings == []


def test_a_tokenizer_may_begin_with_a_line_feed(
    tokenizers: dict[str, Json], tmp_path: Path
) -> None:
    plain = check(json.dumps(tokenizers["gpt2"]).encode())
    for text in (json.dumps(tokenizers["gpt2"]), json.dumps(tokenizers["gpt2"], indent=1)):
        (tmp_path / "tokenizer.json").write_text(f"\n{text}")
        assert check(tmp_path) == check(f"\n{text}".encode()) == plain


def test_a_model_may_begin_like_json() -> None:
    model = trained(LINES, model_type="bpe", vocab_size=200, unk_piece="u" * 114)
    content = model.SerializeToString()
    assert content[:2] == b"\n{"
    assert check(content).findings == []


# ---------------------------------------------------------------- seeded faults

MODEL_FAULTS: list[Any] = [
    ("broken-pieces", "bpe", lambda m: add(m, ""), "is empty"),
    ("broken-pieces", "unigram", lambda m: add(m, "zzq", float("nan")), "nan"),
    ("duplicate-pieces", "bpe", lambda m: add(m, m.pieces[50].piece), ""),
    ("duplicate-pieces", "unigram", lambda m: add(m, m.pieces[50].piece), ""),
    ("unreachable-pieces", "bpe", lambda m: add(m, "aQb", -900.0), "aQb"),
    ("unreachable-pieces", "unigram", lambda m: add(m, "aaaa", -900.0), "aaaa"),
    ("unreachable-pieces", "char", lambda m: add(m, "aa"), "aa"),
    pytest.param("changed-pieces", "bpe", lambda m: add(m, "ﬁ"), "ﬁ", marks=pytest.mark.slow),
    ("changed-pieces", "unigram", lambda m: add(m, "a b"), "a b"),
    ("changed-pieces", "bpe", lambda m: add(m, "a b", 0.0, USER_DEFINED), "a b"),
    ("split-spaces", "unigram", lambda m: add(m, "▁a▁b", -0.1), "▁a▁b"),
    ("score-order", "unigram", lambda m: add(m, "ab", 0.0), "ab"),
]


@pytest.mark.parametrize(("name", "kind", "damage", "concerned"), MODEL_FAULTS)
def test_a_fault_of_a_model_is_found(
    models: dict[str, ModelProto],
    name: str,
    kind: str,
    damage: Callable[[ModelProto], ModelProto],
    concerned: str,
) -> None:
    damaged = found(damage(models[kind]))
    assert list(damaged) == [name]
    assert len(damaged[name]) == 1
    assert concerned in damaged[name][0]


def test_a_bpe_score_above_those_of_the_parts_is_found(models: dict[str, ModelProto]) -> None:
    model = changed(models["bpe"])
    longest = max((one for one in model.pieces if one.type == NORMAL), key=lambda p: len(p.piece))
    longest.score = 1.0
    assert found(model) == {"score-order": [longest.piece]}


def test_digits_that_training_divided_are_found() -> None:
    model = trained(LINES, vocab_size=150, split_digits=True)
    assert found(add(model, "12", -0.1)) == {"split-digits": ["12"]}


@pytest.mark.parametrize("kind", [NORMAL, CONTROL])
def test_a_missing_byte_is_found(kind: int) -> None:
    model = trained(LINES, vocab_size=450, byte_fallback=True)
    (piece,) = (one for one in model.pieces if one.piece == "<0x41>")
    piece.type = kind  # type: ignore[assignment]
    assert found(model) == {"missing-bytes": ["<0x41>"]}
    model.pieces.remove(piece)
    assert found(model) == {"missing-bytes": ["<0x41>"]}


def test_missing_characters_of_a_text_are_found(models: dict[str, ModelProto]) -> None:
    assert found(models["unigram"], ["ａ ☃b"]) == {"missing-characters": ["☃"]}
    assert found(models["word"], ["☃"]) == {}
    symbols = trained(LINES, vocab_size=150, user_defined_symbols=["<☃>"])
    assert found(symbols, ["a<☃>b"]) == {}
    assert found(trained(LINES, vocab_size=450, byte_fallback=True), ["☃"]) == {}


def test_several_faults_are_found_at_once(models: dict[str, ModelProto]) -> None:
    model = add(add(models["unigram"], ""), "aaaa", -900.0)
    assert [*found(model, ["☃"])] == ["broken-pieces", "unreachable-pieces", "missing-characters"]


def put(document: Json, *texts: str) -> None:
    """Add pieces to the vocabulary of a tokenizer.json."""
    vocabulary = document["model"]["vocab"]
    ids = [*vocabulary.values(), *(token["id"] for token in document["added_tokens"])]
    vocabulary.update({text: max(ids) + 1 + n for n, text in enumerate(texts)})


def _merge(document: Json, *parts: str) -> None:
    put(document, "".join(parts))
    document["model"]["merges"].append([*parts])


def _early_merge(document: Json) -> None:
    put(document, "QX", "QXY")
    document["model"]["merges"] += [["QX", "Y"], ["Q", "X"]]


def _gap(document: Json) -> None:
    document["model"]["vocab"]["QX"] = 5000
    document["model"]["merges"].append(["Q", "X"])


def _plain(document: Json) -> None:
    step = {"type": "Split", "pattern": {"String": r"\p{N}"}, "behavior": "Isolated"}
    cuts = [{**step, "invert": False}, document["pre_tokenizer"]]
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": cuts}


def _lowercase(document: Json) -> None:
    document["normalizer"] = {"type": "Lowercase"}


def _digits(document: Json) -> None:
    _merge(document, "1", "2")
    cuts = [{"type": "Digits", "individual_digits": True}, document["pre_tokenizer"]]
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": cuts}


def _special_merge(document: Json) -> None:
    put(document, "QX")
    token = {**document["added_tokens"][0], "content": "QX"}
    token["id"] = document["model"]["vocab"]["QX"]
    document["added_tokens"].append(token)
    document["model"]["merges"].append(["Q", "X"])


JSON_FAULTS: list[tuple[str, str, Callable[[Json], None], str]] = [
    ("broken-pieces", "bert", lambda d: put(d, ""), ""),
    ("unreachable-pieces", "gpt2", lambda d: put(d, "QX"), "QX"),
    ("unreachable-pieces", "bert", lambda d: put(d, "a" * 101), "a" * 101),
    ("divided-pieces", "gpt2", lambda d: _merge(d, "Q", "!"), "Q!"),
    ("divided-pieces", "bert", lambda d: put(d, "a!b"), "a!b"),
    ("split-digits", "gpt2", _digits, "12"),
    ("split-digits", "qwen2", lambda d: _merge(d, "7", "7"), "77"),
    ("split-spaces", "llama3", lambda d: _merge(d, "Q", "Ġ"), "QĠ"),
    ("split-spaces", "bert", lambda d: put(d, "a b"), "a b"),
    ("changed-pieces", "bert", lambda d: put(d, "É"), "É"),
    ("special-tokens-in-merges", "gpt2", _special_merge, "QX"),
    ("plain-patterns", "gpt2", _plain, r"\p{N}"),
    ("merge-order", "gpt2", _early_merge, "QXY"),
    ("id-gaps", "gpt2", _gap, "4999"),
]


@pytest.mark.parametrize(("name", "like", "damage", "concerned"), JSON_FAULTS)
def test_a_fault_of_a_tokenizer_is_found(
    tokenizers: dict[str, Json],
    name: str,
    like: str,
    damage: Callable[[Json], None],
    concerned: str,
) -> None:
    document = json.loads(json.dumps(tokenizers[like]))
    damage(document)
    damaged = found(document)
    assert list(damaged) == [name]
    assert concerned in damaged[name][0]
    assert len(damaged[name]) == 1


def test_pieces_that_normalization_changes_are_found(tokenizers: dict[str, Json]) -> None:
    document = json.loads(json.dumps(tokenizers["gpt2"]))
    _lowercase(document)
    assert "A" in found(document)["changed-pieces"]
    assert "a" not in found(document)["changed-pieces"]


def test_a_missing_byte_of_a_tokenizer_is_found(tokenizers: dict[str, Json]) -> None:
    document = json.loads(json.dumps(tokenizers["gpt2"]))
    vocabulary = document["model"]["vocab"]
    document["model"]["vocab"] = {"QQ" if one == "~" else one: n for one, n in vocabulary.items()}
    document["model"]["merges"].append(["Q", "Q"])
    assert found(document) == {"missing-bytes": ["~"]}
    # UTF-8 never contains the byte 0xFF.
    document["model"]["vocab"] = {"QQ" if one == "ÿ" else one: n for one, n in vocabulary.items()}
    assert found(document) == {}


def test_a_character_that_represents_no_byte_is_found(tokenizers: dict[str, Json]) -> None:
    document = json.loads(json.dumps(tokenizers["llama3"]))
    put(document, "hello world")
    assert found(document)["broken-pieces"] == ["hello world"]


def test_an_id_that_occurs_twice_is_found(tokenizers: dict[str, Json]) -> None:
    document = json.loads(json.dumps(tokenizers["bert"]))
    document["model"]["vocab"]["QX"] = 300
    assert found(document)["duplicate-pieces"] == ["id 300"]


def test_a_name_that_occurs_twice_is_found(tokenizers: dict[str, Json]) -> None:
    text = json.dumps(tokenizers["bert"])
    twice = text.replace('"[UNK]": ', '"the": 599, "the": 599, "[UNK]": ', 1)
    (finding, *_) = check(twice.encode()).findings
    assert (finding.name, finding.found[0]) == ("duplicate-pieces", "the")


def test_missing_characters_of_a_tokenizer_are_found(tokenizers: dict[str, Json]) -> None:
    assert found(tokenizers["bert"], ["☃ a\x01"]) == {"missing-characters": ["☃"]}
    assert found(tokenizers["gpt2"], ["☃ a\x01"]) == {}


def test_pieces_with_affixes_need_a_merge() -> None:
    pytest.importorskip("tokenizers")
    vocabulary = {text: n for n, text in enumerate(["a", "b", "a</w>", "b</w>", "ab</w>", "abb"])}
    model = {"type": "BPE", "vocab": vocabulary, "merges": [["a", "b</w>"]]}
    model = {**model, "end_of_word_suffix": "</w>", "unk_token": None}
    assert found({"model": model}) == {"unreachable-pieces": ["abb"]}


# ---------------------------------------------------------------- the command


def run(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    status = main(["show", *arguments], stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()


def test_the_command_fails_only_with_strict_and_a_fault(
    models: dict[str, ModelProto], tmp_path: Path
) -> None:
    good, bad = str(tmp_path / "good.model"), str(tmp_path / "bad.model")
    Path(good).write_bytes(models["unigram"].SerializeToString())
    Path(bad).write_bytes(add(models["unigram"], "aaaa", -900.0).SerializeToString())
    text = tmp_path / "t.txt"
    text.write_text("☃\n", encoding="utf-8")
    assert run(good, "--check", "--strict")[0] == 0
    assert run(bad, "--check")[0] == 0
    status, out, _ = run(bad, "--check", "--strict", f"--text={text}")
    assert status == 1
    assert "unreachable-pieces" in out
    assert "☃" in out
    shown = json.loads(run(bad, "--check", "--json")[1])
    assert shown["findings"][0]["found"] == ["aaaa"]
    assert [one["name"] for one in shown["notes"]] == ["size"]
    assert {"model": bad, **check(bad).to_dict()} == shown


def test_a_size_that_is_a_multiple_of_64_has_no_note(models: dict[str, ModelProto]) -> None:
    model = changed(models["char"])
    for number in range(-len(model.pieces) % 64):
        model.pieces.add(piece=f"<x{number}>", type=CONTROL)
    assert check(model.SerializeToString()) == ([], [])


@pytest.mark.parametrize("flag", ["--strict", "--text=t.txt"])
def test_flags_of_a_check_need_it(flag: str) -> None:
    status, _, err = run("a.model", flag)
    assert status == 2
    assert_error(err, f"usage --check {flag.partition('=')[0]}")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "bad-model"),
        (b"{", "bad-tokenizer-json"),
        (b'{"model": {"type": "WordLevel", "vocab": {}}}', "cannot-import"),
        (b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}', "bad-model"),
        (b'{"a": 1, "a": 2, "model": {"vocab": {}}}', "bad-tokenizer-json"),
    ],
)
def test_other_files_are_refused(content: bytes, kind: str) -> None:
    pytest.importorskip("tokenizers")
    with raises_kind(kind):
        check(content)


def test_an_error_names_its_file(models: dict[str, ModelProto], tmp_path: Path) -> None:
    model, text = tmp_path / "a.model", tmp_path / "t.txt"
    model.write_bytes(models["unigram"].SerializeToString())
    text.write_bytes(b"\xff\n")
    with raises_kind("not-utf8 t.txt") as caught:
        check(model, text)
    assert "a.model" not in str(caught.value)
    model.write_bytes(b"\xff")
    with raises_kind("bad-model a.model"):
        check(model)
    with raises_kind("cannot-read"):
        check(tmp_path / "no.model")


def test_texts_of_the_tokenizer_are_printable() -> None:
    damaged = add(trained(LINES, vocab_size=60, **PLAIN), "\x1b[31m", -900.0)
    assert "\x1b" not in str(check(damaged.SerializeToString()))


def test_the_page_lists_all_names() -> None:
    page = (PAGES / "tools.md").read_text(encoding="utf-8")
    assert [name for name in EXPLANATIONS if f"`{name}`" not in page] == []
    assert set(NOTES) <= EXPLANATIONS.keys()
