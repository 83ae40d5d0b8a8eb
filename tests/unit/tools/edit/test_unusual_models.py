"""Models that training does not write: they are edited and shown if that is possible at all."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import spmcompat
from spmcompat.model.reading import parse, parse_unchecked
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.kinds import raises_kind
from tests.parity import corpora

KINDS = ("unigram", "bpe", "word", "char")
TEXT = corpora.topics_text(15_000).splitlines()
BROKEN_ID, SYMBOL_ID = 40, 3

Change = Callable[[ModelProto], object]


@cache
def trained(kind: str) -> bytes:
    model = io.BytesIO()
    spmcompat.train(
        sentence_iterator=TEXT,
        model_writer=model,
        model_type=kind,
        vocab_size=300,
        hard_vocab_limit=False,
        user_defined_symbols=["<x>"],
        minloglevel=3,
    )
    return model.getvalue()


def changed(kind: str, change: Change) -> bytes:
    model = parse(trained(kind))
    change(model)
    return model.SerializeToString()


def text(new: str, piece_id: int = BROKEN_ID) -> Change:
    return lambda model: setattr(model.pieces[piece_id], "piece", new)


def score(value: float) -> Change:
    return lambda model: setattr(model.pieces[BROKEN_ID], "score", value)


def duplicate(model: ModelProto) -> None:
    model.pieces[BROKEN_ID].piece = model.pieces[BROKEN_ID - 1].piece


# Pieces because of which sentencepiece does not load a model, and the names that edits use.
BROKEN: dict[str, tuple[Change, str]] = {
    "empty": (text(""), f"#{BROKEN_ID}"),
    "an empty symbol": (text("", SYMBOL_ID), f"#{SYMBOL_ID}"),
    "U+0000": (text("a\0b"), f"#{BROKEN_ID}"),
    "too long": (text("x" * 9000), f"#{BROKEN_ID}"),
    "a duplicate": (duplicate, f"#{BROKEN_ID}"),
    "a duplicate symbol": (text("<x>"), f"#{BROKEN_ID}"),
}
SCORES = {"NaN": score(math.nan), "infinity": score(math.inf)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*BROKEN, *SCORES])
def test_a_broken_model_is_shown_and_compared(tmp_path: Path, kind: str, name: str) -> None:
    change = SCORES[name] if name in SCORES else BROKEN[name][0]
    broken, whole = tmp_path / "broken.model", tmp_path / "whole.model"
    broken.write_bytes(changed(kind, change))
    whole.write_bytes(trained(kind))
    shown = spmcompat.show(broken)
    assert len(shown.faults) == 1
    assert sum(shown.pieces.values()) == len(parse(trained(kind)).pieces)
    assert "".join(shown.faults[0].split()) in "".join(str(shown).split())
    assert spmcompat.show(whole).faults == []
    assert not spmcompat.diff(broken, whole).same_content


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_text_is_removed_or_renamed(tmp_path: Path, kind: str, name: str) -> None:
    sp = pytest.importorskip("sentencepiece")
    change, piece = BROKEN[name]
    path = tmp_path / "m.model"
    path.write_bytes(changed(kind, change))
    with pytest.raises(RuntimeError):
        sp.SentencePieceProcessor(model_proto=path.read_bytes())
    with raises_kind(f"bad-edit {piece}"):
        spmcompat.edit(path, add_control=["<new>"])
    removed = spmcompat.edit(path, remove=[piece], add_control=["<new>"]).model
    new_text = "<renamed>" if name == "an empty symbol" else "\U0001f600"
    renamed = spmcompat.edit(path, rename={piece: new_text}).model
    dropped = spmcompat.edit(path, remove=[piece], reorder_ids=True).model
    old = parse_unchecked(path.read_bytes())
    for model in (removed, renamed, dropped):
        processor = sp.SentencePieceProcessor(model_proto=model)
        assert processor.encode(TEXT[0])
    assert parse(removed).pieces[int(piece[1:])].type == ModelProto.SentencePiece.UNUSED
    assert parse(renamed).pieces[int(piece[1:])].piece == new_text
    assert len(parse(dropped).pieces) == len(old.pieces) - 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCORES)
def test_a_broken_score_is_changed(tmp_path: Path, kind: str, name: str) -> None:
    path = tmp_path / "m.model"
    path.write_bytes(changed(kind, SCORES[name]))
    piece = parse(trained(kind)).pieces[BROKEN_ID].piece
    with raises_kind("bad-edit set_score"):
        spmcompat.edit(path, add_control=["<new>"])
    repaired = parse(spmcompat.edit(path, set_score={piece: -3.5}).model)
    assert repaired.pieces[BROKEN_ID].score == -3.5
    removed = parse(spmcompat.edit(path, remove=[piece]).model)
    assert removed.pieces[BROKEN_ID].type == ModelProto.SentencePiece.UNUSED


def test_each_broken_piece_needs_an_edit(tmp_path: Path) -> None:
    def both(model: ModelProto) -> None:
        model.pieces[50].piece = ""
        model.pieces[60].piece = "\0"
        model.pieces[60].score = math.nan

    path = tmp_path / "m.model"
    path.write_bytes(changed("unigram", both))
    with raises_kind("bad-edit #60"):
        spmcompat.edit(path, remove=["#50"])
    assert parse(spmcompat.edit(path, remove=["#50", "#60"]).model)


# Specs that training refuses, in models that sentencepiece loads.
UNTRAINABLE: dict[str, Change] = {
    "bos is eos": lambda model: setattr(model.trainer_spec, "bos_id", 2),
    "pad is eos": lambda model: setattr(model.trainer_spec, "pad_id", 2),
    "pad is unk": lambda model: setattr(model.trainer_spec, "pad_id", 0),
    "unk is a symbol": lambda model: model.trainer_spec.user_defined_symbols.append("<unk>"),
    "two kinds of symbol": lambda model: model.trainer_spec.control_symbols.append("<x>"),
    "a symbol twice": lambda model: model.trainer_spec.user_defined_symbols.append("<x>"),
    "no name for bos": lambda model: setattr(model.trainer_spec, "bos_piece", ""),
    "use_all_vocab": lambda model: setattr(model.trainer_spec, "use_all_vocab", True),
    "no size": lambda model: setattr(model.trainer_spec, "vocab_size", 1),
}


@pytest.mark.parametrize("name", UNTRAINABLE)
def test_show_prints_no_command_that_is_refused(name: str) -> None:
    shown = spmcompat.show(changed("unigram", UNTRAINABLE[name]))
    assert shown.command == []
    assert shown.refusal in str(shown)
    assert "spm_train --" not in str(shown)
    usual = spmcompat.show(trained("unigram"))
    assert usual.command[0] == "spm_train"
    assert usual.refusal == ""
