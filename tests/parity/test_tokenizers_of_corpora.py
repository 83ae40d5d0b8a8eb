"""Trained tokenizers on large texts, compared with those of the library ``tokenizers``.

They need ``SPMCOMPAT_CORPORA``, a folder with texts, and are skipped without it. With
``SPMCOMPAT_LONG``, they take the first 3 MB of each text, and hours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.huggingface.template import Template
from tests.searches import LONG

from .corpora import head, large

pytest.importorskip("tokenizers")
from .test_tokenizers import (
    BYTE_LEVEL,
    bare,
    expected,
    result_of,
    train_word_piece,
    trainer_of,
)

TEXTS = large()
BYTES = 3_000_000 if LONG else 100_000
SIZES = [1000, 8000, 32000]


@pytest.fixture(scope="module", params=TEXTS)
def text(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes(head(TEXTS[request.param], BYTES).decode(errors="ignore").encode())
    return path


def assert_equal(name: str, text: Path, sizes: list[int], **options: Any) -> None:
    """Assert that the tokenizers of all sizes are those of the library.

    The library trains only the largest one of `sizes`; smaller ones are its beginning.
    """
    template = Template.load(name)
    real = bare(template.document)
    real.train([str(text)], trainer_of(template, vocab_size=max(sizes), **options))
    texts, merges = expected(real)
    trained = spmcompat.train_tokenizer(name, input=text, vocab_size=sizes, **options)
    for size, ours in zip(sizes, trained, strict=True):  # type: ignore[arg-type]
        found, made = result_of(ours.document)
        assert found == texts[:size]
        assert made == merges[: len(made)]
        assert len(made) >= min(size, len(texts)) - len(texts) + len(merges)


@pytest.mark.skipif(not TEXTS, reason="SPMCOMPAT_CORPORA is not set")
@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_all_templates(name: str, text: Path) -> None:
    assert_equal(name, text, SIZES)


@pytest.mark.skipif(not TEXTS, reason="SPMCOMPAT_CORPORA is not set")
@pytest.mark.parametrize("size", SIZES)
def test_each_size_and_other_special_tokens(size: int, text: Path) -> None:
    assert_equal("gpt2", text, [size], special_tokens=["<s>", "</s>", "the"])


@pytest.mark.skipif(not TEXTS, reason="SPMCOMPAT_CORPORA is not set")
@pytest.mark.parametrize("size", SIZES)
def test_word_pieces(size: int, text: Path) -> None:
    train_word_piece(Template.load("bert"), text, size)
