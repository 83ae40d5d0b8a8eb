"""How two models differ, as plain data.

Their bytes decide whether they are equal; what they hold tells how they differ.
"""

import struct
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from spmcompat.errors import TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, SelfTestData
from spmcompat.normalization.charsmap import decompile

SPECS = ("trainer_spec", "normalizer_spec", "denormalizer_spec")

_CHARSMAP = "precompiled_charsmap"
_PIECE_FIELDS = ("piece", "score", "type")

# None stands for what is not stored.
Value: TypeAlias = "str | int | float | list[str] | None"
# Bytes are written in hexadecimal, a group as the list of its values.
Unknown: TypeAlias = "str | int | list[Unknown]"


class FieldDifference(NamedTuple):
    """A field of a spec, such as ``trainer_spec.vocab_size``, or a whole spec."""

    name: str
    left: Value
    right: Value


class Piece(NamedTuple):
    """A piece of one model; `stored` names the fields that are written."""

    id: int
    piece: str
    score: float
    type: str
    stored: str


class IdDifference(NamedTuple):
    """A piece that stands at another place among those that both models hold."""

    piece: str
    left_id: int
    right_id: int


class TextDifference(NamedTuple):
    """A piece of another type, or with other fields stored."""

    piece: str
    left_id: int
    right_id: int
    left: str
    right: str


class ScoreDifference(NamedTuple):
    """A piece of another score; `units` counts the float32 values from one to the other."""

    piece: str
    left_id: int
    right_id: int
    left: float
    right: float
    units: int


class PiecesDifference(NamedTuple):
    """How the pieces differ.

    Attributes
    ----------
    left_count, right_count, common : int
        How many there are, and how many of them stand in both models.
    first_id : int or None
        The first id at which the models differ.
    only_left, only_right : list of Piece
        Those that the other model does not hold.
    moved : list of IdDifference
        As few as possible, without which the others stand in the same order.
    types, stored : list of TextDifference
        Those of another type, and those that store other fields.
    scores : list of ScoreDifference
        Those of other scores.
    """

    left_count: int
    right_count: int
    common: int
    first_id: int | None
    only_left: list[Piece]
    only_right: list[Piece]
    moved: list[IdDifference]
    types: list[TextDifference]
    stored: list[TextDifference]
    scores: list[ScoreDifference]


class RuleDifference(NamedTuple):
    """A source text and what it becomes in each model; None where there is no such rule."""

    source: str
    left: str | None
    right: str | None


class CharsmapDifference(NamedTuple):
    """Two compiled charsmaps of different bytes.

    Attributes
    ----------
    name : str
        Such as ``normalizer_spec.precompiled_charsmap``.
    left_bytes, right_bytes : int or None
        Their sizes; None if there is none.
    first_byte : int or None
        Where they first differ.
    rules : list of RuleDifference
        The rules that differ; none if the same rules are compiled in another way.
    problem : str
        Why the rules cannot be compared, if they cannot.
    """

    name: str
    left_bytes: int | None
    right_bytes: int | None
    first_byte: int | None
    rules: list[RuleDifference]
    problem: str


class SampleDifference(NamedTuple):
    """A self-test sample, its input and the expected pieces; None where there is none."""

    number: int
    left: tuple[str, str] | None
    right: tuple[str, str] | None


class UnknownDifference(NamedTuple):
    """The values of one field, in one place of the model, that the schema does not know."""

    place: str
    field: int
    left: list[Unknown]
    right: list[Unknown]


class Difference(NamedTuple):
    """All that differs between two models; `first_byte` is None if nothing does."""

    left_bytes: int
    right_bytes: int
    first_byte: int | None
    fields: list[FieldDifference]
    pieces: PiecesDifference
    charsmaps: list[CharsmapDifference]
    samples: list[SampleDifference]
    unknown: list[UnknownDifference]

    @property
    def equal(self) -> bool:
        """Whether the models are the same, byte for byte."""
        return self.first_byte is None

    @property
    def same_content(self) -> bool:
        """Whether both models hold the same, however it is written."""
        found = (self.fields, self.charsmaps, self.samples, self.unknown)
        return self.pieces.first_id is None and not any(found)


class UnreadableError(Exception):
    """Bytes that are no model; the message says what to do."""


def compare(left: bytes, right: bytes) -> Difference:
    """Return how two models differ.

    Parameters
    ----------
    left, right : bytes
        The contents of two ``.model`` files.

    Raises
    ------
    UnreadableError
        If one of them is no model.
    """
    ours, theirs = parse(left), parse(right)
    return Difference(
        left_bytes=len(left),
        right_bytes=len(right),
        first_byte=first_difference(left, right),
        fields=[found for name in SPECS for found in _fields(name, ours, theirs)],
        pieces=_pieces(ours, theirs),
        charsmaps=[
            *_charsmaps("normalizer_spec", ours.normalizer_spec, theirs.normalizer_spec),
            *_charsmaps("denormalizer_spec", ours.denormalizer_spec, theirs.denormalizer_spec),
        ],
        samples=_samples(ours.self_test_data, theirs.self_test_data),
        unknown=_unknown_fields(ours, theirs),
    )


def parse(model: bytes) -> ModelProto:
    """Read a model.

    Raises
    ------
    UnreadableError
        If the bytes are no model, or one without pieces.
    """
    try:
        message = ModelProto.FromString(model)
    except DecodeError:
        raise UnreadableError("no SentencePiece model. Give a .model file.") from None
    if not message.pieces:
        raise UnreadableError("no SentencePiece model: it holds no pieces. Give a .model file.")
    return message


def first_difference(left: Sequence[object], right: Sequence[object]) -> int | None:
    """Return the first place at which two sequences differ; None if they are equal."""
    if left == right:
        return None
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


# ---------------------------------------------------------------- values


def ordinal(value: float) -> int:
    """Return the place of a float32 value among all of them; that of both zeros is 0."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def shortest(value: float) -> float:
    """Return the float64 of the shortest decimal that gives a float32 value back, as 0.9995."""
    for digits in range(6, 10):
        short = float(f"{value:.{digits}g}")
        try:
            if struct.pack("<f", short) == struct.pack("<f", value):
                return short
        except OverflowError:  # rounded beyond the largest float32
            pass
    return value


def _text(value: str | bytes) -> str:
    """Return a text; what is not UTF-8 comes as bytes."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


# ---------------------------------------------------------------- specs


def _fields(spec: str, left: ModelProto, right: ModelProto) -> Iterator[FieldDifference]:
    """Yield the fields of a spec that differ, but for its charsmap."""
    if left.HasField(spec) != right.HasField(spec):
        stored = ["stored" if model.HasField(spec) else None for model in (left, right)]
        yield FieldDifference(spec, *stored)
    ours, theirs = _values(getattr(left, spec)), _values(getattr(right, spec))
    for name in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(name), theirs.get(name)
        # As text, in which not-a-number equals itself and the zeros differ.
        if repr(a) != repr(b):
            yield FieldDifference(f"{spec}.{name}", a, b)


def _values(spec: Message) -> dict[str, Value]:
    """Return the fields that a spec stores, but for its charsmap."""
    stored = spec.ListFields()
    return {field.name: _value(field, value) for field, value in stored if field.name != _CHARSMAP}


def _value(field: FieldDescriptor, value: Any) -> Value:
    """Return the value of a field as plain data."""
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, str | bytes):
        return _text(value)
    if isinstance(value, int):
        return value
    return [_text(item) for item in value]


# ---------------------------------------------------------------- pieces


def _pieces(left: ModelProto, right: ModelProto) -> PiecesDifference:
    """Compare the pieces: by id, as sets, and one by one."""
    ours, theirs = _by_text(left), _by_text(right)
    common = [(piece, theirs[key]) for key, piece in ours.items() if key in theirs]
    serialized = [[entry.SerializeToString() for entry in model.pieces] for model in (left, right)]
    return PiecesDifference(
        left_count=len(ours),
        right_count=len(theirs),
        common=len(common),
        first_id=first_difference(*serialized),
        only_left=[piece for key, piece in ours.items() if key not in theirs],
        only_right=[piece for key, piece in theirs.items() if key not in ours],
        moved=_moved(common),
        types=[
            TextDifference(a.piece, a.id, b.id, a.type, b.type)
            for a, b in common
            if a.type != b.type
        ],
        stored=[
            TextDifference(a.piece, a.id, b.id, a.stored, b.stored)
            for a, b in common
            if a.stored != b.stored
        ],
        scores=[
            ScoreDifference(
                a.piece, a.id, b.id, a.score, b.score, abs(ordinal(a.score) - ordinal(b.score))
            )
            for a, b in common
            if repr(a.score) != repr(b.score)
        ],
    )


def _by_text(model: ModelProto) -> dict[tuple[str, int], Piece]:
    """Return the pieces by text, and by how many of that text came before in a broken model."""
    seen: Counter[str] = Counter()
    pieces = {}
    types = {number: name for name, number in ModelProto.SentencePiece.Type.items()}
    for number, entry in enumerate(model.pieces):
        text = _text(entry.piece)
        stored = ", ".join(name for name in _PIECE_FIELDS if entry.HasField(name))
        piece = Piece(number, text, shortest(entry.score), types[entry.type], stored)
        pieces[text, seen[text]] = piece
        seen[text] += 1
    return pieces


def _moved(common: Sequence[tuple[Piece, Piece]]) -> list[IdDifference]:
    """Return the pieces outside of a longest run that stands in the same order in both models."""
    ends: list[int] = []  # by length of a run, the least right id that ends one
    last: list[int] = []  # by length of a run, the place of that id
    before: list[int] = []  # by place, the place before it in its run
    for place, (_, piece) in enumerate(common):
        length = bisect_left(ends, piece.id)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [piece.id]
        last[length : length + 1] = [place]
    kept = set()
    place = last[-1] if last else -1
    while place >= 0:
        kept.add(place)
        place = before[place]
    return [
        IdDifference(a.piece, a.id, b.id)
        for place, (a, b) in enumerate(common)
        if place not in kept
    ]


# ---------------------------------------------------------------- charsmaps


def _charsmaps(
    spec: str, left: NormalizerSpec, right: NormalizerSpec
) -> Iterator[CharsmapDifference]:
    """Yield the difference of two charsmaps, if they differ."""
    ours, theirs = (
        normalizer.precompiled_charsmap if normalizer.HasField(_CHARSMAP) else None
        for normalizer in (left, right)
    )
    if ours == theirs:
        return
    problem = ""
    rules = []
    try:
        rules = _rules(decompile(ours or b""), decompile(theirs or b""))
    except TrainingError as error:
        problem = str(error)
    yield CharsmapDifference(
        name=f"{spec}.{_CHARSMAP}",
        left_bytes=None if ours is None else len(ours),
        right_bytes=None if theirs is None else len(theirs),
        first_byte=first_difference(ours or b"", theirs or b""),
        rules=rules,
        problem=problem,
    )


def _rules(
    left: dict[tuple[int, ...], tuple[int, ...]], right: dict[tuple[int, ...], tuple[int, ...]]
) -> list[RuleDifference]:
    """Return the rules that differ, by source."""
    return [
        RuleDifference(_characters(source) or "", _characters(ours), _characters(theirs))
        for source in sorted(left.keys() | right.keys())
        if (ours := left.get(source)) != (theirs := right.get(source))
    ]


def _characters(points: tuple[int, ...] | None) -> str | None:
    return None if points is None else "".join(map(chr, points))


# ---------------------------------------------------------------- samples, unknown fields


def _samples(left: SelfTestData, right: SelfTestData) -> list[SampleDifference]:
    """Return the self-test samples that differ."""
    ours, theirs = (
        {
            number: (_text(sample.input), _text(sample.expected))
            for number, sample in enumerate(data.samples)
        }
        for data in (left, right)
    )
    return [
        SampleDifference(number, ours.get(number), theirs.get(number))
        for number in range(max(len(ours), len(theirs)))
        if ours.get(number) != theirs.get(number)
    ]


def _unknown_fields(left: ModelProto, right: ModelProto) -> list[UnknownDifference]:
    """Return what the schema does not know and only one of the models holds."""
    ours, theirs = _unknown_of(left), _unknown_of(right)
    return [
        UnknownDifference(*place, ours.get(place, []), theirs.get(place, []))
        for place in {**ours, **theirs}
        if ours.get(place) != theirs.get(place)
    ]


def _unknown_of(model: ModelProto) -> dict[tuple[str, int], list[Unknown]]:
    """Return the unknown values by place and number of the field."""
    found: dict[tuple[str, int], list[Unknown]] = defaultdict(list)
    for place, message in _messages(model):
        fields = UnknownFieldSet(message)
        for at in range(len(fields)):
            found[place, fields[at].field_number].append(_unknown(fields[at].data))
    return found


def _messages(model: ModelProto) -> Iterator[tuple[str, Message]]:
    """Yield the model and every message in it, with the place where it stands."""
    yield "model", model
    for name in SPECS:
        yield name, getattr(model, name)
    for number, piece in enumerate(model.pieces):
        yield f"pieces[{number}]", piece
    yield "self_test_data", model.self_test_data
    for number, sample in enumerate(model.self_test_data.samples):
        yield f"self_test_data.samples[{number}]", sample


def _unknown(data: object) -> Unknown:
    """Return the value of an unknown field as plain data."""
    if isinstance(data, int):
        return data
    if isinstance(data, bytes):
        return data.hex()
    assert isinstance(data, UnknownFieldSet)
    return [_unknown(data[at].data) for at in range(len(data))]
