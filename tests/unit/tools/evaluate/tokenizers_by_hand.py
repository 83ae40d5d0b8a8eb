"""Builds small tokenizers with the ``tokenizers`` library, and measures them on a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate
from spmcompat.tools.evaluate.models import load_model
from spmcompat.unicode.marks import SPACE_MARK

tokenizers = pytest.importorskip("tokenizers")


def measure(path: Path, lines: Sequence[str]) -> Evaluation:
    text = path.with_name("measured.txt")
    text.write_bytes("\n".join(lines).encode())
    (result,) = evaluate([load_model(str(path), Workers(1))], [str(text)], [], Report(3))
    return result


def metaspace(folder: Path) -> Path:
    scores = {"<unk>": 0.0, SPACE_MARK: -2.0, f"{SPACE_MARK}the": -1.0, "cat": -3.0, "s": -4.0}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.Unigram(list(scores.items()), unk_id=0, byte_fallback=False)
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    return save(tokenizer, folder)


def wordpiece(folder: Path, pre_tokenizer: str) -> Path:
    texts = ("[UNK]", "cat", "##s", ",", "the", "##,")
    vocabulary = {text: i for i, text in enumerate(texts)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = getattr(tokenizers.pre_tokenizers, pre_tokenizer)()
    return save(tokenizer, folder)


def byte_level(folder: Path) -> Path:
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    texts = [*alphabet, "at", "\u0120the", "\u0120c", "\u0120cat"]
    merges = [("a", "t"), ("\u0120", "c"), ("\u0120c", "at")]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE({text: i for i, text in enumerate(texts)}, merges)
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True)
    return save(tokenizer, folder)


def save(tokenizer: Any, folder: Path) -> Path:
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def bpe_without_unknown(folder: Path) -> Path:
    vocabulary = {text: i for i, text in enumerate((SPACE_MARK, "a", "b", "c"))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    return save(tokenizer, folder)
