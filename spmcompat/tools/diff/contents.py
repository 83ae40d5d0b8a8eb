"""Reads the contents of a model as plain data."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from spmcompat.engine import shortest
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, SelfTestData
from spmcompat.tools.diff.result import Piece, Unknown, Value

SPECS = ("trainer_spec", "normalizer_spec", "denormalizer_spec")
CHARSMAP = "precompiled_charsmap"
NORMAL = "NORMAL"

_PIECE_FIELDS = ("piece", "score", "type")


def _text(value: str | bytes) -> str:
    """Return the value as text: protobuf returns bytes if a string is not valid UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def stored_fields(model: ModelProto, spec: str) -> dict[str, Value]:
    """Return the fields that a spec stores, except its charsmap; and the spec, if it is stored."""
    found: dict[str, Value] = {spec: "stored"} if model.HasField(spec) else {}
    for field, value in getattr(model, spec).ListFields():
        if field.name != CHARSMAP:
            found[f"{spec}.{field.name}"] = _value(field, value)
    return found


def _value(field: FieldDescriptor, value: Any) -> Value:
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, str | bytes):
        return _text(value)
    if isinstance(value, int):
        return value
    return [_text(item) for item in value]


def charsmap(spec: NormalizerSpec) -> bytes | None:
    """Return the compiled charsmap; None if the spec does not store one."""
    return spec.precompiled_charsmap if spec.HasField(CHARSMAP) else None


def pieces_by_text(model: ModelProto) -> dict[tuple[str, int], Piece]:
    """Return the pieces. The key of a piece is its text and a counter.

    The counter is the number of earlier pieces with the same text. It is above 0 only in models
    that no trainer writes.
    """
    types = {number: name for name, number in ModelProto.SentencePiece.Type.items()}
    return by_text(
        Piece(
            number,
            _text(entry.piece),
            shortest(entry.score),
            types[entry.type],
            ", ".join(name for name in _PIECE_FIELDS if entry.HasField(name)),
        )
        for number, entry in enumerate(model.pieces)
    )


def by_text(pieces: Iterable[Piece]) -> dict[tuple[str, int], Piece]:
    """Return pieces by their texts, each with the number of earlier pieces with the same text."""
    seen: Counter[str] = Counter()
    found = {}
    for piece in pieces:
        found[piece.piece, seen[piece.piece]] = piece
        seen[piece.piece] += 1
    return found


def samples(data: SelfTestData) -> dict[int, tuple[str, str]]:
    """Return the input and the expected pieces of each self-test sample, by its number."""
    return {
        number: (_text(sample.input), _text(sample.expected))
        for number, sample in enumerate(data.samples)
    }


def unknown_values(model: ModelProto) -> dict[tuple[str, int], list[Unknown]]:
    """Return the fields that are not in the schema. A key is a message and a field number."""
    found: dict[tuple[str, int], list[Unknown]] = defaultdict(list)
    for name, message in _messages(model):
        fields = UnknownFieldSet(message)
        for i in range(len(fields)):
            found[name, fields[i].field_number].append(_unknown(fields[i].data))
    return found


def _messages(model: ModelProto) -> Iterator[tuple[str, Message]]:
    """Yield the model and every message in it, each with its name."""
    yield "model", model
    for name in SPECS:
        yield name, getattr(model, name)
    for number, piece in enumerate(model.pieces):
        yield f"pieces[{number}]", piece
    yield "self_test_data", model.self_test_data
    for number, sample in enumerate(model.self_test_data.samples):
        yield f"self_test_data.samples[{number}]", sample


def _unknown(data: object) -> Unknown:
    if isinstance(data, int):
        return data
    if isinstance(data, bytes):
        return data.hex()
    assert isinstance(data, UnknownFieldSet)
    return [_unknown(data[i].data) for i in range(len(data))]
