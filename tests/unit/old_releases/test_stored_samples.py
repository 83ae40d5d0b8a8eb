"""The pieces of stored self-test samples. `test_self_tests.py` compares them with old releases."""

from __future__ import annotations

import pytest

from spmcompat.model.pieces import CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Piece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.normalization.charsmaps import compile_charsmap
from spmcompat.old_releases.self_test import self_tests
from spmcompat.releases import V0_2_1, V0_2_2, Release
from tests.kinds import raises_kind

UNIGRAM, BPE, WORD, CHAR = (
    TrainerSpec.UNIGRAM,
    TrainerSpec.BPE,
    TrainerSpec.WORD,
    TrainerSpec.CHAR,
)
PIECES = [
    Piece("<unk>", 0.0, UNKNOWN),
    Piece("c", 0.0, CONTROL),
    Piece("Z", 0.0, USER_DEFINED),
    Piece("ab", -1.0, NORMAL),
    Piece("a", -2.0, NORMAL),
    Piece("▁", -3.0, NORMAL),
    Piece("▁ab", -9.0, NORMAL),
]


def model_of(kind: TrainerSpec.ModelType, **options: bool) -> ModelProto:
    model = ModelProto(trainer_spec=TrainerSpec(model_type=kind, **options))
    for piece in PIECES:
        model.pieces.add(piece=piece.text, score=piece.score).type = piece.type  # type: ignore[assignment]
    return model


def stored(model: ModelProto, line: str, release: Release = V0_2_2) -> str:
    [sample] = self_tests(model, [line.encode()], release).samples
    assert sample.input == line.encode()
    return sample.expected.decode()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (UNIGRAM, "▁ ab ▁ zz ▁ z a"),
        (BPE, "▁ab ▁ zz ▁ z a"),
        (WORD, "▁ab ▁zz▁za"),
        (CHAR, "▁ a b ▁ zz ▁ z a"),
    ],
)
def test_unknown_tokens_are_joined(kind: TrainerSpec.ModelType, expected: str) -> None:
    assert stored(model_of(kind), "ab zz za") == expected


def test_unknown_tokens_are_spelled_as_bytes() -> None:
    model = model_of(UNIGRAM, byte_fallback=True)
    assert stored(model, "éab") == "▁ <0xC3> <0xA9> ab"


@pytest.mark.parametrize("kind", [UNIGRAM, BPE, CHAR])
def test_user_defined_symbols_are_not_normalized(kind: TrainerSpec.ModelType) -> None:
    rules = {(ord(letter),): (ord("a"),) for letter in "YZ"}
    model = model_of(kind)
    model.normalizer_spec.precompiled_charsmap = compile_charsmap(rules)
    assert stored(model, "YZ") == "▁ a Z"


@pytest.mark.parametrize("kind", [BPE, CHAR])
def test_control_symbols_cannot_be_encoded_before_0_2_2(kind: TrainerSpec.ModelType) -> None:
    model = model_of(kind)
    assert stored(model, "c") == "▁ c"
    with raises_kind("self-test-failed 0.2.1"):
        stored(model, "c", V0_2_1)
    assert stored(model_of(UNIGRAM), "c", V0_2_1) == "▁ c"


@pytest.mark.parametrize(("release", "refuses"), [(V0_2_1, False), (V0_2_2, True)])
@pytest.mark.parametrize("text", ["x" * 8000, "x\0"])
def test_pieces_that_0_2_2_does_not_load(release: Release, refuses: bool, text: str) -> None:
    model = model_of(WORD)
    model.pieces.add(piece=text, score=-20.0)
    if refuses:
        with raises_kind("self-test-failed"):
            stored(model, "ab", release)
    else:
        assert stored(model, "ab", release) == "▁ab"


def test_a_model_without_the_unknown_piece_cannot_be_loaded() -> None:
    model = model_of(WORD)
    del model.pieces[0]
    with raises_kind("self-test-failed"):
        stored(model, "ab")
