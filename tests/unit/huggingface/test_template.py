"""Templates: what they may be, and what a finished tokenizer needs of them."""

from __future__ import annotations

import json
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
        ("{", "not a tokenizer.json"),
        ("[]", "no model"),
        ('{"model": {"type": "Unigram"}}', "Unigram BPE WordPiece"),
        (json.dumps({"model": BPE, "normalizer": []}), "normalizer damaged"),
        (json.dumps({"model": BPE, "added_tokens": [{"id": 0}]}), "added_tokens damaged"),
        (json.dumps({"model": {**BPE, "unk_token": "\ud800"}}), "surrogates"),
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


def test_an_expression_that_is_a_plain_text_is_named() -> None:
    split: dict[str, Any] = {"type": "Split", "behavior": "Isolated", "invert": False}
    for pattern, said in [
        ({"String": r"\p{N}+"}, 1),
        ({"Regex": r"\p{N}+"}, 0),
        ({"String": "?"}, 0),
    ]:
        document = {"model": BPE, "pre_tokenizer": {**split, "pattern": pattern}}
        assert len(Template(document, "t").warnings()) == said
