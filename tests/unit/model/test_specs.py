"""The specs of training agree with the schema."""

import math

import pytest

from spmcompat.model import sentencepiece_model_pb2 as schema
from spmcompat.model.specs import (
    ModelType,
    NormalizerSpec,
    PieceType,
    Spec,
    TrainerSpec,
    to_float32,
)

SPECS = [(TrainerSpec, schema.TrainerSpec()), (NormalizerSpec, schema.NormalizerSpec())]


@pytest.mark.parametrize(("spec", "message"), SPECS, ids=["trainer", "normalizer"])
def test_the_fields_are_those_of_the_schema(
    spec: type[Spec], message: schema.TrainerSpec | schema.NormalizerSpec
) -> None:
    known = {one.name: one.number for one in message.DESCRIPTOR.fields}
    assert {one.name: one.number for one in spec.FIELDS} == known
    assert [one.number for one in spec.FIELDS] == sorted(known.values())
    empty = spec()
    for name in known:
        default = getattr(message, name)
        ours = getattr(empty, name)
        if isinstance(default, bool | int | float | str | bytes):
            assert (ours, isinstance(ours, bool)) == (default, isinstance(default, bool)), name
        else:
            assert ours == list(default) == [], name


def test_the_numbers_of_types_are_those_of_the_schema() -> None:
    assert {one.name: one.value for one in ModelType} == dict(schema.TrainerSpec.ModelType.items())
    types = schema.ModelProto.SentencePiece.Type
    assert {one.name: one.value for one in PieceType} == dict(types.items())


def test_reading_a_field_does_not_set_it() -> None:
    spec = TrainerSpec(vocab_size=8000)
    assert spec.num_threads == 16
    assert spec.control_symbols == []
    assert spec.stored_fields() == {"vocab_size": 8000}
    spec.control_symbols.append("<c>")
    assert spec.stored_fields() == {"vocab_size": 8000, "control_symbols": ["<c>"]}


def test_a_field_that_does_not_exist() -> None:
    with pytest.raises(TypeError, match="TrainerSpec has no field vocab_sise"):
        TrainerSpec(vocab_sise=8000)


def test_a_copy_shares_nothing() -> None:
    first = TrainerSpec(input=["a"], vocab_size=9)
    second = first.copy()
    second.input.append("b")
    second.vocab_size = 10
    assert first.stored_fields() == {"input": ["a"], "vocab_size": 9}
    assert second.stored_fields() == {"input": ["a", "b"], "vocab_size": 10}


def test_fields_that_the_schema_does_not_have_are_kept() -> None:
    known = schema.NormalizerSpec(name="x", escape_whitespaces=True).SerializeToString()
    data = known + b"\xc2\x0c\x01z"  # a text as field 200
    spec = NormalizerSpec.of_message(schema.NormalizerSpec.FromString(data))
    assert spec.stored_fields() == {"name": "x", "escape_whitespaces": True}
    assert spec.serialize() == spec.copy().serialize() == data


def test_numbers_are_rounded_to_float32() -> None:
    spec = TrainerSpec(character_coverage=0.9995)
    assert spec.character_coverage == TrainerSpec().character_coverage
    assert spec.character_coverage == schema.TrainerSpec().character_coverage != 0.9995
    spec.shrinking_factor = 1e39
    assert spec.shrinking_factor == math.inf
    assert to_float32(-1e39) == -math.inf
    assert math.isnan(to_float32(math.nan))
