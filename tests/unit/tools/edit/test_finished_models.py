"""`extend` and `trim` work on every model that ``sentencepiece`` loads, trained with it or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spmcompat
from spmcompat.model.pieces import NORMAL, UNUSED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from tests.kinds import raises_kind
from tests.oracle import growing
from tests.oracle.characters import SPACE, UNKNOWN, Options, pretokens
from tests.unit.tools.edit.growing_models import (
    KINDS,
    PLAIN,
    covered,
    extended,
    old_and_new,
    scores_of,
    trained,
    trimmed,
    words,
)
from tests.unit.tools.edit.models import processor

TEXT = words(1, 200, types=300)
OTHER = [*words(2, 80, types=100), *TEXT[:20]]
NO_SPACES = ["".join(line.split()) for line in words(3, 100, "han", 60)]


@pytest.mark.parametrize("number", range(6))
def test_pieces_fall_as_in_the_oracle_if_the_space_mark_is_a_symbol(number: int) -> None:
    dice = random.Random(f"space mark/{number}")
    first, second = old_and_new(number)
    model = trained(first, vocab_size=160, user_defined_symbols=[SPACE], **PLAIN)
    scores = [(piece, np.float32(score)) for piece, score in scores_of(model).items()]
    may_fall = {piece for piece, _ in scores if len(piece) > 1}
    size = dice.randint(1, len(may_fall))
    known = {c for piece, _ in scores for c in piece}
    options = Options()
    text = [
        ("".join(c if c in known else UNKNOWN for c in line), count)
        for line, count in covered(second, model, options)[0]
    ]
    oracle = growing.trimmed_by_loss(scores, pretokens(text, options), may_fall, size, options)
    small = trimmed(model, second, len(model.pieces) - size)
    assert set(scores_of(model)) - set(scores_of(small)) == oracle


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {"space_pieces": "separate"},
        {"space_pieces": "dropped"},
        {"user_defined_symbols": [SPACE]},
        {"user_defined_symbols": [SPACE, "ab"], "add_dummy_prefix": False},
        {"control_symbols": [SPACE]},
        {"user_defined_symbols": [SPACE], "treat_whitespace_as_suffix": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("change", [{}, {"keep_ids": True}, {"drop_characters": True}], ids=str)
def test_models_whose_space_mark_is_not_a_normal_piece(
    kind: str, options: dict[str, Any], change: dict[str, Any]
) -> None:
    model = trained(TEXT, vocab_size=300, model_type=kind, **options)
    assert SPACE not in scores_of(model)
    small = trimmed(model, OTHER, len(model.pieces) - 50, **change)
    assert len(scores_of(small)) == len(scores_of(model)) - 50
    assert scores_of(small).items() <= scores_of(model).items()
    assert [one.piece for one in small.pieces if one.piece == SPACE] == [SPACE]
    processor(small)


@pytest.mark.parametrize("kind", KINDS)
def test_models_without_a_space_mark(kind: str) -> None:
    """Without spaces and without a space before each text, no piece contains the space mark."""
    model = trained(NO_SPACES, vocab_size=200, model_type=kind, add_dummy_prefix=False)
    assert not any(SPACE in one.piece for one in model.pieces)
    keep = len(model.pieces) - 20
    assert len(trimmed(model, NO_SPACES, keep).pieces) == keep
    assert len(trimmed(model, [*NO_SPACES, "a b c"], keep).pieces) == keep


@pytest.mark.parametrize("kind", KINDS)
def test_models_whose_space_mark_is_unused(kind: str) -> None:
    model = trained(TEXT, vocab_size=300, model_type=kind)
    for one in model.pieces:
        one.type = UNUSED if one.piece == SPACE else one.type
    keep = len(model.pieces) - 50
    assert len(trimmed(model, OTHER, keep).pieces) == keep


def test_counts_of_a_text_with_the_space_mark_as_a_symbol() -> None:
    model = trained(TEXT, vocab_size=300, user_defined_symbols=[SPACE]).SerializeToString()
    counts = spmcompat.count(sentence_iterator=TEXT, user_defined_symbols=[SPACE], minloglevel=2)
    small = spmcompat.trim(model, keep=200, counts=counts, minloglevel=2).model
    assert small == spmcompat.trim(model, keep=200, sentence_iterator=TEXT, minloglevel=2).model


def same_ids(spec: TrainerSpec) -> None:
    spec.bos_id = spec.eos_id = 2


def eos_as_pad(spec: TrainerSpec) -> None:
    spec.pad_id, spec.pad_piece = spec.eos_id, spec.eos_piece


def unknown_as_pad(spec: TrainerSpec) -> None:
    spec.pad_id, spec.pad_piece = spec.unk_id, spec.unk_piece


def unknown_among_the_symbols(spec: TrainerSpec) -> None:
    spec.control_symbols.extend(["<unk>", "<s>"])


def two_lists(spec: TrainerSpec) -> None:
    spec.control_symbols.append("<c>")
    spec.user_defined_symbols.extend(["<c>", "<c>", ""])


def no_unknown_id(spec: TrainerSpec) -> None:
    spec.unk_id = -1
    spec.bos_piece = ""


def ids_beyond_the_vocabulary(spec: TrainerSpec) -> None:
    spec.eos_id, spec.vocab_size = 100_000, 1


def numbers_out_of_range(spec: TrainerSpec) -> None:
    spec.max_sentence_length = spec.max_sentencepiece_length = 0
    spec.num_threads = spec.num_sub_iterations = 0
    spec.shrinking_factor, spec.character_coverage = 2.0, float("nan")
    spec.input_sentence_size = spec.self_test_sample_size = 50


def options_of_other_types(spec: TrainerSpec) -> None:
    spec.use_all_vocab = spec.enable_differential_privacy = True
    spec.differential_privacy_noise_level = 1.0
    spec.seed_sentencepieces_file = "missing"


SPECS: list[Callable[[TrainerSpec], None]] = [
    same_ids,
    eos_as_pad,
    unknown_as_pad,
    unknown_among_the_symbols,
    two_lists,
    no_unknown_id,
    ids_beyond_the_vocabulary,
    numbers_out_of_range,
    options_of_other_types,
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", SPECS)
def test_options_that_only_training_refuses(
    kind: str, change: Callable[[TrainerSpec], None]
) -> None:
    model = trained(TEXT, vocab_size=300, model_type=kind, control_symbols=["<c>"])
    changed = ModelProto()
    changed.CopyFrom(model)
    change(changed.trainer_spec)
    processor(changed)
    size = len(model.pieces)
    grown, small = extended(changed, OTHER, 20), trimmed(changed, TEXT, size - 50)
    assert grown.pieces == extended(model, OTHER, 20).pieces
    assert small.pieces == trimmed(model, TEXT, size - 50).pieces
    for one in (grown, small, changed):
        one.trainer_spec.ClearField("vocab_size")
    assert grown.trainer_spec == changed.trainer_spec == small.trainer_spec


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_that_share_a_text_with_a_meta_piece(kind: str) -> None:
    """In a Unigram model, a normal piece may have the text of a control piece."""
    model = trained(TEXT, vocab_size=300, model_type=kind, control_symbols=["<c>"])
    if kind == "unigram":
        model.pieces.add(piece="<c>", score=-9.5)
    model.pieces.add(piece="\0", score=-20, type=UNUSED)
    model.pieces.add(piece="\0", score=-20, type=UNUSED)
    processor(model)
    size = len(model.pieces)
    assert extended(model, OTHER, 20).pieces[:size] == model.pieces
    result = spmcompat.trim(
        model.SerializeToString(), keep=size - 100, sentence_iterator=OTHER, minloglevel=2
    )
    small = ModelProto.FromString(result.model)
    assert [model.pieces[old] for (old,) in result.ids] == [*small.pieces]
    assert len(small.pieces) == size - 100
    meta = [one for one in model.pieces if one.type not in (NORMAL, UNUSED)]
    assert [one for one in small.pieces if one.type not in (NORMAL, UNUSED)] == meta
    kept = trimmed(model, OTHER, size - 100, keep_ids=True)
    assert [one.piece for one in kept.pieces] == [one.piece for one in model.pieces]


def test_a_control_piece_with_the_text_of_an_unused_piece_keeps_its_id() -> None:
    model = trained(TEXT, vocab_size=300, control_symbols=["<c>"])
    model.pieces.add(piece="<c>", score=-9.5, type=UNUSED)
    processor(model)
    grown = extended(model, OTHER, 20, use_unused=True)
    assert len(grown.pieces) == len(model.pieces) + 19
    assert grown.pieces[: len(model.pieces) - 1] == model.pieces[:-1]


def test_a_model_of_one_piece_grows() -> None:
    model = ModelProto()
    model.trainer_spec.model_type = TrainerSpec.BPE
    model.pieces.add(piece="<unk>", type=ModelProto.SentencePiece.UNKNOWN)
    processor(model)
    assert len(extended(model, ["a"], 2).pieces) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_spaces_that_stay_spaces_are_refused(kind: str, tmp_path: Path) -> None:
    """No trainer cuts such a text; the error names the commands that work with the model."""
    model = trained(TEXT, vocab_size=300, model_type=kind)
    model.normalizer_spec.escape_whitespaces = False
    path = tmp_path / "m.model"
    path.write_bytes(model.SerializeToString())
    for run in (extended, trimmed):
        with raises_kind("wrong-model-type escape_whitespaces"):
            run(model, OTHER, 200)
    removed = next(text for text in scores_of(model) if len(text) > 2)
    spmcompat.edit(path, remove=[removed], output=path)


def test_wrong_options_of_the_user_are_still_refused() -> None:
    model = trained(TEXT, vocab_size=300, treat_whitespace_as_suffix=True)
    with raises_kind("bad-value character_coverage"):
        extended(model, OTHER, 20, character_coverage=2.0)
    with raises_kind("bad-value max_sentence_length"):
        trimmed(model, OTHER, 250, max_sentence_length=1)
    with raises_kind("conflicting-options pretokenizer=script"):
        trimmed(model, OTHER, 250, pretokenizer="script")
