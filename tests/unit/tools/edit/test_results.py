"""The object that a change to a model returns has a short `repr`."""

from __future__ import annotations

from pathlib import Path

import pytest

import spmcompat
from tests.unit.tools.edit.growing_models import trained, words

TEXT = words(1, 60)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    model = trained(TEXT, vocab_size=60)
    assert len(model.pieces) == 60
    path = tmp_path / "m.model"
    path.write_bytes(model.SerializeToString())
    return path


def test_edit(path: Path) -> None:
    edited = spmcompat.edit(path, add_control=["<new>"])
    assert repr(edited) == "<EditResult: 60 pieces became 61>"


def test_merge(path: Path) -> None:
    other = path.with_name("other.model")
    other.write_bytes(spmcompat.edit(path, add_control=["<a>", "<b>"]).model)
    assert repr(spmcompat.merge([path, other])) == "<MergeResult: 62 pieces, 2 of them new>"


def test_extend_and_trim(path: Path) -> None:
    extended = spmcompat.extend(path, add=3, sentence_iterator=words(2, 60), minloglevel=2)
    assert repr(extended) == "<SizeResult: 60 pieces became 63>"
    trimmed = spmcompat.trim(path, keep=58, sentence_iterator=TEXT, minloglevel=2)
    assert repr(trimmed) == "<SizeResult: 60 pieces became 58>"
