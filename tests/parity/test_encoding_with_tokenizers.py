"""Trained tokenizers encode in tokenizers, transformers and tiktoken as those of the library do.

With ``SPMCOMPAT_CORPORA``, a folder with texts, they are also trained on large texts.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.huggingface.template import Template
from tests.searches import LONG

from .corpora import head, large, mixed_text

pytest.importorskip("tokenizers")
from tokenizers import AddedToken

from .test_tokenizers import LINES, bare, trainer_of

LANGUAGES = ("en-books", "zh-laws", "hi-stories", "ar-hindawi", "ko-nsmc")
TEXTS = {name: path for name, path in large().items() if name in LANGUAGES}
BYTES, MOST_LINES = (3_000_000, 20_000) if LONG else (100_000, 500)


def assert_same_ids(name: str, text: Path, lines: list[str], size: int) -> None:
    """Assert that all libraries give the ids of a tokenizer that the library has trained."""
    template = Template.load(name)
    real = bare(template.document)
    real.train([str(text)], trainer_of(template, vocab_size=size))
    real.add_special_tokens([AddedToken(**one) for one in template.special_tokens])
    expected = [one.ids for one in real.encode_batch(lines, add_special_tokens=False)]
    ours = spmcompat.train_tokenizer(name, input=text, vocab_size=size, minloglevel=2)
    encoded = ours.tokenizer().encode_batch(lines, add_special_tokens=False)
    assert [one.ids for one in encoded] == expected
    assert with_transformers(ours, text.parent, lines) == expected
    assert with_tiktoken(ours, text.parent, lines) == expected


def with_transformers(ours: Any, folder: Path, lines: list[str]) -> list[list[int]]:
    transformers = pytest.importorskip("transformers")
    ours.save(folder / "hf", to="hf-folder")
    loaded = transformers.AutoTokenizer.from_pretrained(folder / "hf")
    ids: list[list[int]] = loaded(lines, add_special_tokens=False)["input_ids"]
    return ids


def with_tiktoken(ours: Any, folder: Path, lines: list[str]) -> list[list[int]]:
    tiktoken = pytest.importorskip("tiktoken")
    ours.save(folder / "ranks", to="tiktoken")
    ranks = map(str.split, (folder / "ranks/ranks.tiktoken").read_text().splitlines())
    encoding = tiktoken.Encoding(
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in ranks},
        **json.loads((folder / "ranks/encoding.json").read_text()),
    )
    return [encoding.encode(line, allowed_special="all") for line in lines]


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "llama3"])
def test_small_texts(name: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(mixed_text(2000), encoding="utf-8", newline="\n")
    assert_same_ids(name, text, LINES, 1000)


@pytest.mark.skipif(not TEXTS, reason="SPMCOMPAT_CORPORA is not set")
@pytest.mark.parametrize("name", ["gpt2", "llama3"])
@pytest.mark.parametrize("language", TEXTS)
def test_large_texts(language: str, name: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(head(TEXTS[language], BYTES).decode(errors="ignore").encode())
    lines = text.read_text().splitlines(keepends=True)[:MOST_LINES]
    assert_same_ids(name, text, lines, 32000)
