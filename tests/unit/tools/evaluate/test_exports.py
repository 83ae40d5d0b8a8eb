"""A ``tokenizer.json`` that ``export`` has written has the same figures as its model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.models import load_model

from .conftest import Train
from .tokenizers_by_hand import measure, metaspace

LINES = [
    "\u0416",
    "\u2013 foo bar baz",
    "   manager = (EXPRESSION)",
    "\u2460 \u0416\u0416 a<x>b  \u0416 ",
    "",
    "1<x>\u0416",
]
OPTIONS: list[Mapping[str, object]] = [
    {},
    {"model_type": "bpe"},
    {"model_type": "char"},
    {"byte_fallback": True, "vocab_size": 400},
    {"byte_fallback": True, "vocab_size": 400, "model_type": "bpe"},
    {"user_defined_symbols": ["<x>", "\u2581"], "control_symbols": ["<c>"]},
    {"user_defined_symbols": ["<x>"], "control_symbols": ["<c>"], "model_type": "bpe"},
    {"treat_whitespace_as_suffix": True},
    {"remove_extra_whitespaces": False},
    {"unk_piece": "[UNK]", "bos_id": -1},
]


@pytest.fixture(params=OPTIONS, ids=str)
def pair(train: Train, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    model = train("m", **request.param)
    exported = tmp_path / "tokenizer.json"
    spmcompat.export(model, to="tokenizer.json", output=exported, verify="no")
    return model, exported


@pytest.mark.slow
@pytest.mark.reference
def test_an_export_has_the_figures_of_its_model(pair: tuple[Path, Path]) -> None:
    for lines in [LINES, *([line] for line in LINES if line)]:
        model, exported = (measure(path, lines).flat() for path in pair)
        for row in (model, exported):
            for name in [*row]:
                if name in ("model", "model_type") or "loss_" in name:
                    del row[name]
        assert exported == pytest.approx(model, nan_ok=True)


@pytest.mark.slow
@pytest.mark.reference
def test_an_export_has_the_vocabulary_of_its_model(pair: tuple[Path, Path]) -> None:
    model, exported = (load_model(str(path), Workers(1)) for path in pair)
    assert exported.vocabulary == model.vocabulary
    assert exported.texts == model.texts


def test_the_unknown_piece_is_not_a_normal_piece(tmp_path: Path) -> None:
    assert "<unk>" not in load_model(str(metaspace(tmp_path)), Workers(1)).vocabulary
