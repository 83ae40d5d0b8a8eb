"""The bytes of a spec, compared with those of protobuf."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.model import sentencepiece_model_pb2 as schema
from spmcompat.model.specs import NormalizerSpec, Spec, TrainerSpec

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: Mapping[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_BYTES: st.binary() | st.binary(min_size=127, max_size=20_000),
    FieldDescriptor.TYPE_ENUM: st.sampled_from(list(schema.TrainerSpec.ModelType.values())),
    FieldDescriptor.TYPE_FLOAT: st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False),
    FieldDescriptor.TYPE_INT32: st.integers(-(2**31), 2**31 - 1) | st.integers(-1, 300),
    FieldDescriptor.TYPE_STRING: TEXTS,
    FieldDescriptor.TYPE_UINT64: st.integers(0, 2**64 - 1),
}
SPECS = [(TrainerSpec, schema.TrainerSpec), (NormalizerSpec, schema.NormalizerSpec)]


def values_of(message: type[Message]) -> st.SearchStrategy[dict[str, Any]]:
    """Values for any of the fields of a message."""
    empty = message()
    values = {}
    for field in message.DESCRIPTOR.fields:
        is_single = isinstance(getattr(empty, field.name), bool | int | float | str | bytes)
        one = VALUES[field.type]
        values[field.name] = one if is_single else st.lists(one, max_size=3)
    return st.fixed_dictionaries({}, optional=values)


@pytest.mark.parametrize(("spec", "message"), SPECS, ids=["trainer", "normalizer"])
@given(data=st.data())
def test_specs_are_serialized_as_protobuf_serializes_them(
    spec: type[Spec], message: type[Message], data: st.DataObject
) -> None:
    values = data.draw(values_of(message))
    theirs = message(**values)
    ours = spec(**values)
    assert ours.serialize() == theirs.SerializeToString()
    again = spec.of_message(theirs)
    assert again.stored_fields() == ours.stored_fields()
    assert again.serialize() == ours.serialize()
