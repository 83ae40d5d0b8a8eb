"""Templates: what they may be, and what a finished tokenizer needs of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.huggingface.template import SHIPPED, Template
from tests.kinds import raises_kind

BPE: dict[str, Any] = {"type": "BPE", "vocab": {}, "merges": []}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("{", ""),
        ("[]", ""),
        ('{"model": {"type": "Unigram"}}', "Unigram BPE WordPiece"),
        (json.dumps({"model": BPE, "normalizer": []}), "normalizer"),
        (json.dumps({"model": BPE, "added_tokens": [{"id": 0}]}), "added_tokens"),
        (json.dumps({"model": {**BPE, "unk_token": "\ud800"}}), ""),
    ],
)
def test_other_files_are_refused(content: str, names: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(content)
    with raises_kind(f"bad-template t.json {names} {' '.join(SHIPPED)}"):
        Template.load(path)


def test_the_post_processor_needs_its_tokens() -> None:
    with raises_kind("bad-template llama3 <|begin_of_text|> special_tokens"):
        spmcompat.train_tokenizer("llama3", sentence_iterator=["a"], special_tokens=["<s>"])


def test_a_pattern_that_was_probably_not_intended_is_named() -> None:
    split: dict[str, Any] = {"type": "Split", "behavior": "Isolated", "invert": False}
    for pattern, said in [
        ({"String": r"\p{N}+"}, 1),
        ({"Regex": r"\p{N}+"}, 0),
        ({"String": "?"}, 0),
        ({"Regex": r"\p{N}{1,3}+"}, 1),
        ({"Regex": r"\p{N}{1,3}|\p{L}++"}, 0),
    ]:
        document = {"model": BPE, "pre_tokenizer": {**split, "pattern": pattern}}
        assert len(Template(document, "t").warnings()) == said


def test_a_limit_with_a_plus_has_no_effect() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    for limit, expected in [("{1,3}", ["123", "4"]), ("{1,3}+", ["1234"])]:
        split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(rf"\p{{N}}{limit}"), "isolated")
        assert [word for word, _ in split.pre_tokenize_str("1234")] == expected


def with_padding() -> dict[str, Any]:
    document = {**Template.load("bert").document}
    document["padding"] = {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    document["added_tokens"] = [
        {**token, "lstrip": token["content"] == "[MASK]"} for token in document["added_tokens"]
    ]
    return document


def test_what_depends_on_ids_is_renumbered(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(with_padding()))
    names = ["[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]", "[NEW]"]
    options: dict[str, Any] = {"sentence_iterator": ["a b"], "vocab_size": 30}
    trained = spmcompat.train_tokenizer(path, special_tokens=names, **options).document  # type: ignore[union-attr]
    assert trained["padding"]["pad_id"] == 4
    added = trained["added_tokens"]
    assert [(one["id"], one["content"]) for one in added] == [*enumerate(names)]
    assert [one["lstrip"] for one in added] == [True, *[False] * 5]
    special = trained["post_processor"]["special_tokens"]
    assert {token: one["ids"] for token, one in special.items()} == {"[CLS]": [2], "[SEP]": [1]}


@pytest.mark.parametrize("missing", ["[PAD]", "[UNK]"])
def test_the_template_needs_its_tokens(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(with_padding()))
    names = [name for name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]") if name != missing]
    with raises_kind(f"bad-template {missing} special_tokens"):
        spmcompat.train_tokenizer(path, sentence_iterator=["a"], special_tokens=names)


def test_a_format_is_refused_before_the_text_is_read(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        raise AssertionError("the text was read")
        yield ""

    for like, to in (("bert", "tiktoken"), ("bert", "vocab.json")):
        with raises_kind("cannot-export"):
            spmcompat.train_tokenizer(like, sentence_iterator=texts(), output=tmp_path / "o", to=to)
    trained = spmcompat.train_tokenizer("gpt2", sentence_iterator=["a"])
    with raises_kind("bad-value none tokenizer.json"):
        trained.save(tmp_path, to="none")  # type: ignore[union-attr]


def test_names_of_several_sizes(tmp_path: Path) -> None:
    for output, to, expected in (
        ("a.v1/", "hf-folder", {"a.v1-300", "a.v1-400"}),
        ("t.json", "tokenizer.json", {"t-300.json", "t-400.json"}),
    ):
        folder = tmp_path / to
        folder.mkdir()
        spmcompat.train_tokenizer(
            "gpt2",
            sentence_iterator=["some text"],
            vocab_size=[300, 400],
            output=f"{folder}/{output}",
            to=to,
        )
        assert {path.name for path in folder.iterdir()} == expected


def log_of(**options: Any) -> str:
    log = io.StringIO()
    spmcompat.train_tokenizer("gpt2", logstream=log, minloglevel=1, **options)
    return log.getvalue()


def test_what_was_not_expected_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "some text, some more text"}\n{"text": null}\nbroken\n{"text": 1}\n')
    log = log_of(input=path, skip_bad_records=True, vocab_size=200)
    assert f"{path}:3" in log  # the first broken record
    assert "257" in log  # the size, which is above vocab_size
    assert "257" in log_of(sentence_iterator=["a"])  # there, nothing is left to merge


def test_tiktoken_needs_all_bytes_and_nothing_else(tmp_path: Path) -> None:
    for options in ({"limit_alphabet": 20}, {"initial_alphabet": ["猫"]}):
        trained = spmcompat.train_tokenizer("gpt2", sentence_iterator=["some text"], **options)  # type: ignore[arg-type]
        with raises_kind("cannot-export tiktoken 256"):
            trained.save(tmp_path / "ranks", to="tiktoken")  # type: ignore[union-attr]
    assert not list(tmp_path.iterdir())


def test_special_tokens_are_named_once() -> None:
    names = [f"<{number}>" for number in range(26_000)]
    options: dict[str, Any] = {"sentence_iterator": ["a"], "vocab_size": 27_000}
    trained = spmcompat.train_tokenizer("gpt2", special_tokens=names, **options)
    assert [*trained.vocab][:26_000] == names  # type: ignore[union-attr]
    with raises_kind("bad-value <5> twice"):
        spmcompat.train_tokenizer("gpt2", special_tokens=[*names, "<5>"], **options)


def test_an_empty_list_of_special_tokens_means_none() -> None:
    trained = spmcompat.train_tokenizer("gpt2", sentence_iterator=["a"], special_tokens=[])
    assert trained.document["added_tokens"] == []  # type: ignore[union-attr]
    assert len(trained.vocab) == 256  # type: ignore[union-attr]
    with raises_kind("bad-template <|begin_of_text|>"):
        spmcompat.train_tokenizer("llama3", sentence_iterator=["a"], special_tokens=[])


def test_a_special_token_with_white_space_at_an_end_is_reported(tmp_path: Path) -> None:
    path = str(tmp_path / "t.json")
    log = log_of(sentence_iterator=["a"], special_tokens=["<a>", " <b>"], output=path)
    assert "' <b>'" in log
    kept = {"special_tokens": ["<a>", " "], "output": path}
    assert "white space" not in log_of(sentence_iterator=["a"], **kept)
    # The tokens of a template are as they should be.
    spmcompat.train_tokenizer("gpt2", sentence_iterator=["a"], special_tokens=[" <b>"], output=path)
    log = io.StringIO()
    spmcompat.train_tokenizer(path, sentence_iterator=["a"], logstream=log, minloglevel=1)
    assert "' <b>'" not in log.getvalue()
