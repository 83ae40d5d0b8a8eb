"""The comparison of two models finds every difference, and nothing else."""

import math
import struct
from collections.abc import Callable
from typing import Any

import pytest

from spmcompat.engine import shortest
from spmcompat.model.reading import parse_unchecked as parse
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import compile_charsmap
from spmcompat.tools.diff.difference import (
    Difference,
    compare,
    first_difference,
    ordinal,
)
from spmcompat.unicode.marks import SPACE_MARK
from tests.kinds import raises_kind
from tests.parity.case import Option
from tests.parity.harness import Trainers, file_case

TEXT = "abc abd abe abc\nabf abc abd\n" * 5


@pytest.fixture(scope="module")
def model(trainers: Trainers) -> bytes:
    case = file_case({"vocab_size": 30, "hard_vocab_limit": False, "byte_fallback": False}, [TEXT])
    data = trainers.run(case).reference.output(".model")
    assert data is not None
    return data


def _changed(model: bytes, change: Callable[[ModelProto], object]) -> Difference:
    """Compare a model with a changed copy of it."""
    copy = parse(model)
    change(copy)
    return compare(model, copy.SerializeToString())


def _float32(bits: int) -> float:
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return value


def test_equal_models_have_no_differences(model: bytes) -> None:
    found = compare(model, model)
    assert found.equal
    assert found.same_content
    assert found.first_byte is None
    assert not any((found.fields, found.charsmaps, found.samples, found.unknown))
    assert found.pieces == found.pieces._replace(
        only_left=[], only_right=[], moved=[], types=[], stored=[], scores=[]
    )


def test_stored_fields_are_compared(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.trainer_spec.split_digits = True
        copy.trainer_spec.model_type = 2
        copy.trainer_spec.character_coverage = 0.995
        copy.trainer_spec.control_symbols.extend(["<a>", "é"])
        copy.trainer_spec.ClearField("vocab_size")
        copy.denormalizer_spec.SetInParent()

    assert [tuple(one) for one in _changed(model, change).fields] == [
        ("trainer_spec.character_coverage", None, 0.995),
        ("trainer_spec.control_symbols", None, ["<a>", "é"]),
        ("trainer_spec.model_type", None, "BPE"),
        ("trainer_spec.split_digits", None, True),
        ("trainer_spec.vocab_size", parse(model).trainer_spec.vocab_size, None),
        ("denormalizer_spec", None, "stored"),
    ]


def test_a_stored_default_differs_from_a_missing_field(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.trainer_spec.split_digits = False
        copy.pieces[5].type = ModelProto.SentencePiece.NORMAL

    found = _changed(model, change)
    assert [tuple(one) for one in found.fields] == [("trainer_spec.split_digits", None, False)]
    piece = parse(model).pieces[5].piece
    assert found.pieces.stored == [(piece, 5, 5, "piece, score", "piece, score, type")]
    assert found.pieces.first_id == 5
    assert not found.pieces.types


def test_score_differences_are_counted_in_float32_steps(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        piece = copy.pieces[5]
        piece.score = _float32(ordinal(-piece.score) + 3 | 1 << 31)

    found = _changed(model, change).pieces
    (score,) = found.scores
    assert (score.left_id, score.right_id, score.units) == (5, 5, 3)
    assert (found.first_id, found.common, found.moved) == (5, len(parse(model).pieces), [])


@pytest.mark.parametrize("other", ["bpe", "word", "char"])
def test_scores_of_different_types_of_models_are_not_compared(
    model: bytes, trainers: Trainers, other: str
) -> None:
    options: dict[str, Option] = {"vocab_size": 60, "hard_vocab_limit": False, "model_type": other}
    other_model = trainers.reference.run(file_case(options, [TEXT])).output(".model")
    assert other_model is not None
    found = compare(model, other_model)
    assert found.pieces.common > 2
    assert not found.pieces.scores_are_comparable
    assert found.pieces.scores == []
    assert "units in the last place" not in str(found)
    assert "scores" in str(found)
    assert "scores" in found._repr_html_()
    assert compare(other_model, other_model).pieces.scores_are_comparable


def test_float32_steps_are_counted_for_log_probabilities_only(
    model: bytes, trainers: Trainers
) -> None:
    """The scores of BPE are ranks, and those of user-defined pieces are not used."""
    options: dict[str, Option] = {"hard_vocab_limit": False, "model_type": "bpe"}
    small, large = (
        trainers.reference.run(file_case({**options, "vocab_size": size}, [text])).output(".model")
        for size, text in ((20, TEXT), (30, "abe abf xyz xyz\n" * 5 + TEXT))
    )
    assert small is not None
    assert large is not None
    found = compare(small, large)
    assert found.pieces.scores
    assert {one.units for one in found.pieces.scores} == {None}
    assert "units in the last place" not in str(found)

    def change(score: float, kind: Any) -> Callable[[ModelProto], None]:
        def apply(copy: ModelProto) -> None:
            copy.pieces[5].score = score
            copy.pieces[5].type = kind

        return apply

    normal = ModelProto.SentencePiece.NORMAL
    for other in (
        change(0.0, ModelProto.SentencePiece.USER_DEFINED),
        change(math.nan, normal),
        change(-math.inf, normal),
    ):
        (score,) = _changed(model, other).pieces.scores
        assert score.units is None
    (score,) = _changed(model, change(-1.0, normal)).pieces.scores
    assert score.units


def test_zeros_of_different_sign_differ_and_nan_equals_itself(model: bytes) -> None:
    def set_score(score: float) -> Callable[[ModelProto], None]:
        return lambda copy: setattr(copy.pieces[5], "score", score)

    changed = parse(model)
    set_score(0.0)(changed)
    (score,) = _changed(changed.SerializeToString(), set_score(-0.0)).pieces.scores
    assert score.units == 0
    set_score(float("nan"))(changed)
    changed.trainer_spec.character_coverage = float("nan")
    data = changed.SerializeToString()
    assert compare(data, data).same_content


def test_pieces_of_only_one_model_are_listed(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.pieces[4].piece = "new"
        copy.pieces[4].type = ModelProto.SentencePiece.USER_DEFINED
        copy.pieces.add(piece="last", score=-1.5)

    found = _changed(model, change).pieces
    size = len(parse(model).pieces)
    assert [one.id for one in found.only_left] == [4]
    assert [(one.id, one.piece, one.score, one.type) for one in found.only_right] == [
        (4, "new", shortest(parse(model).pieces[4].score), "USER_DEFINED"),
        (size, "last", -1.5, "NORMAL"),
    ]
    assert (found.left_count, found.right_count, found.common) == (size, size + 1, size - 1)
    assert (found.moved, found.first_id) == ([], 4)


def test_types_of_pieces_are_compared(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.pieces[6].type = ModelProto.SentencePiece.UNUSED

    (kind,) = _changed(model, change).pieces.types
    assert (kind.left_id, kind.left, kind.right) == (6, "NORMAL", "UNUSED")


def test_as_few_pieces_as_possible_count_as_moved(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        """Move one piece to the end."""
        moved = ModelProto.SentencePiece()
        moved.CopyFrom(copy.pieces[4])
        del copy.pieces[4]
        copy.pieces.add().CopyFrom(moved)

    found = _changed(model, change).pieces
    last = len(parse(model).pieces) - 1
    assert found.moved == [(parse(model).pieces[4].piece, 4, last)]
    assert found.first_id == 4
    assert not any((found.scores, found.types, found.only_left, found.only_right))


def test_a_duplicate_piece_counts_as_an_extra_piece(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.pieces.add().CopyFrom(copy.pieces[5])

    (piece,) = _changed(model, change).pieces.only_right
    assert piece.piece == parse(model).pieces[5].piece


def test_normalization_rules_are_compared(model: bytes) -> None:
    charsmaps = [
        compile_charsmap({(0x41,): (0x61,), (0xC9,): (), (0x42,): (0x62,)}),
        compile_charsmap({(0x41,): (0x61,), (0xC9,): (0x65, 0x301), (0x43,): (0x63,)}),
    ]
    models = []
    for charsmap in charsmaps:
        copy = parse(model)
        copy.normalizer_spec.precompiled_charsmap = charsmap
        models.append(copy.SerializeToString())
    (found,) = compare(*models).charsmaps
    assert found.name == "normalizer_spec.precompiled_charsmap"
    assert (found.left_bytes, found.right_bytes) == tuple(map(len, charsmaps))
    assert found.first_byte == first_difference(*charsmaps)
    assert [tuple(rule) for rule in found.rules] == [
        ("B", "b", None),
        ("C", None, "c"),
        ("É", "", "e\u0301"),
    ]


def test_a_charsmap_may_be_missing_empty_or_invalid(model: bytes) -> None:
    identity = parse(model)
    identity.normalizer_spec.precompiled_charsmap = b""
    data = identity.SerializeToString()
    (found,) = _changed(
        data, lambda copy: copy.normalizer_spec.ClearField("precompiled_charsmap")
    ).charsmaps
    assert (found.left_bytes, found.right_bytes, found.rules) == (0, None, [])
    (found,) = _changed(
        data, lambda copy: setattr(copy.normalizer_spec, "precompiled_charsmap", b"xyz")
    ).charsmaps
    assert (found.first_byte, found.rules) == (0, [])
    assert found.problem


def test_self_test_samples_are_compared(model: bytes) -> None:
    def change(copy: ModelProto) -> None:
        copy.self_test_data.samples.add(input=b"abc", expected=f"{SPACE_MARK}abc".encode())

    assert _changed(model, change).samples == [(0, None, ("abc", f"{SPACE_MARK}abc"))]


def test_fields_outside_the_schema_are_compared(model: bytes) -> None:
    # The schema has neither field 250 (here: bytes) nor field 251 (here: a group that contains a
    # number). The changed model contains both, and one of its pieces contains field 250.
    text, group = b"\xd2\x0f\x03abc", b"\xdb\x0f\x08\x05\xdc\x0f"
    piece = b"\x0a\x01z" + text
    changed = model + group + b"\x0a" + bytes([len(piece)]) + piece + text + text
    found = compare(model, changed)
    last = len(parse(model).pieces)
    assert found.unknown == [
        ("model", 251, [], [[5]]),
        ("model", 250, [], ["616263", "616263"]),
        (f"pieces[{last}]", 250, [], ["616263"]),
    ]
    assert not found.same_content


def test_the_same_content_may_have_different_bytes(model: bytes) -> None:
    copy = parse(model)
    specs = ModelProto(trainer_spec=copy.trainer_spec, normalizer_spec=copy.normalizer_spec)
    pieces = ModelProto(pieces=copy.pieces)
    found = compare(model, specs.SerializeToString() + pieces.SerializeToString())
    assert not found.equal
    assert found.same_content
    assert found.first_byte == 0


def test_pieces_may_be_invalid_utf8(model: bytes) -> None:
    found = compare(model + b"\x0a\x03\x0a\x01\xff", model + b"\x0a\x03\x0a\x01\xfe")
    assert [one.piece for one in found.pieces.only_left] == ["\udcff"]
    assert [one.piece for one in found.pieces.only_right] == ["\udcfe"]


@pytest.mark.parametrize("data", [b"", b"hello world", b"\x12\x00"])
def test_bytes_that_are_not_a_model_are_an_error(model: bytes, data: bytes) -> None:
    with raises_kind("bad-model"):
        compare(model, data)


def test_ordinals_continue_across_zero() -> None:
    assert ordinal(0.0) == ordinal(-0.0) == 0
    assert ordinal(_float32(1)) - ordinal(-_float32(1)) == 2
