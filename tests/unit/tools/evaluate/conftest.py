"""Small models, trained by the package under test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.parity import corpora

Train = Callable[..., Path]


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(corpora.words_text(5, 400, "latin", 300), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def train(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Return a function that trains on the text, with options, and returns the model's path."""

    def run(name: str, **options: object) -> Path:
        prefix = tmp_path_factory.mktemp("model") / name
        given = {"vocab_size": 120, "hard_vocab_limit": False, "minloglevel": 2, **options}
        spmcompat.SentencePieceTrainer.train(input=text, model_prefix=prefix, **given)
        return prefix.with_suffix(".model")

    return run


def load(path: Path) -> ModelProto:
    return ModelProto.FromString(path.read_bytes())
