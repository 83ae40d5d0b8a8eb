"""Compares two models.

Models are equal only if their bytes are equal. Their contents are compared to explain differences.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from spmcompat.engine import decompile
from spmcompat.errors import TrainingError
from spmcompat.model.reading import parse_unchecked, read_model_bytes
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.tools.diff.contents import (
    CHARSMAP,
    SPECS,
    charsmap,
    pieces_by_text,
    samples,
    stored_fields,
    unknown_values,
)
from spmcompat.tools.diff.report import Difference
from spmcompat.tools.diff.result import (
    CharsmapDifference,
    FieldDifference,
    IdDifference,
    Piece,
    PiecesDifference,
    RuleDifference,
    SampleDifference,
    ScoreDifference,
    TextDifference,
    UnknownDifference,
)
from spmcompat.tools.diff.vocabularies import compare_vocabularies
from spmcompat.tools.evaluate.vocabularies import Affixes, read_affixes

if TYPE_CHECKING:
    from spmcompat.engine import StrPath

# The normalization rules of a model: the replacement of each source text, both as code points.
_Rules: TypeAlias = dict[tuple[int, ...], tuple[int, ...]]


def diff(
    left: StrPath | bytes, right: StrPath | bytes, *, affixes: StrPath | None = None
) -> Difference:
    """Compare two models. Models that ``sentencepiece`` cannot load are compared, too.

    Parameters
    ----------
    left, right : path or bytes
        ``.model`` files, or their contents.
    affixes : path
        A list of prefixes such as ``un-`` and suffixes such as ``-ness``, one on each line, to
        count in both vocabularies.

    Returns
    -------
    Difference
        `equal` is true if the bytes are equal. The other fields explain the differences.

    Raises
    ------
    TrainingError
        If a file cannot be read, or is not a model.
    """
    contents = read_model_bytes(left), read_model_bytes(right)
    return compare(*contents, None if affixes is None else read_affixes(affixes))


def compare(left: bytes, right: bytes, affixes: Affixes | None = None) -> Difference:
    """Return the differences between two models.

    Parameters
    ----------
    left, right : bytes
        The contents of two ``.model`` files.
    affixes : Affixes, optional
        The affixes to count.

    Raises
    ------
    BadValueError
        If the bytes are not a model.
    """
    a, b = parse_unchecked(left), parse_unchecked(right)
    return Difference(
        left_bytes=len(left),
        right_bytes=len(right),
        first_byte=first_difference(left, right),
        fields=[found for name in SPECS for found in _fields(name, a, b)],
        pieces=_pieces(a, b),
        charsmaps=[
            *_charsmaps("normalizer_spec", a.normalizer_spec, b.normalizer_spec),
            *_charsmaps("denormalizer_spec", a.denormalizer_spec, b.denormalizer_spec),
        ],
        samples=_samples(a, b),
        unknown=_unknown_fields(a, b),
        vocabularies=compare_vocabularies(a, b, affixes),
    )


def first_difference(left: Sequence[object], right: Sequence[object]) -> int | None:
    """Return the first index at which two sequences differ; None if they are equal."""
    if left == right:
        return None
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


def ordinal(value: float) -> int:
    """Return the position of a value among all float32 values; 0 for both 0.0 and -0.0."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def _fields(spec: str, left: ModelProto, right: ModelProto) -> Iterator[FieldDifference]:
    """Yield the fields of a spec, except its charsmap, in which the two models differ."""
    if left.HasField(spec) != right.HasField(spec):
        stored = ["stored" if model.HasField(spec) else None for model in (left, right)]
        yield FieldDifference(spec, *stored)
    left_fields, right_fields = (stored_fields(getattr(model, spec)) for model in (left, right))
    for name in sorted(left_fields.keys() | right_fields.keys()):
        a, b = left_fields.get(name), right_fields.get(name)
        # `repr` makes NaN equal to itself, and -0.0 different from 0.0.
        if repr(a) != repr(b):
            yield FieldDifference(f"{spec}.{name}", a, b)


def _pieces(left: ModelProto, right: ModelProto) -> PiecesDifference:
    """Compare the order of the pieces, the sets of pieces, and each common piece."""
    left_pieces, right_pieces = pieces_by_text(left), pieces_by_text(right)
    common = [
        (piece, right_pieces[key]) for key, piece in left_pieces.items() if key in right_pieces
    ]
    comparable = left.trainer_spec.model_type == right.trainer_spec.model_type
    serialized = [[entry.SerializeToString() for entry in model.pieces] for model in (left, right)]
    return PiecesDifference(
        left_count=len(left_pieces),
        right_count=len(right_pieces),
        common=len(common),
        first_id=first_difference(*serialized),
        only_left=[piece for key, piece in left_pieces.items() if key not in right_pieces],
        only_right=[piece for key, piece in right_pieces.items() if key not in left_pieces],
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
            ScoreDifference(a.piece, a.id, b.id, a.score, b.score, _units(left, a, b))
            for a, b in common
            if comparable and repr(a.score) != repr(b.score)
        ],
        scores_are_comparable=comparable,
    )


def _units(model: ModelProto, a: Piece, b: Piece) -> int | None:
    """Return the number of float32 steps between two scores; None if it means nothing."""
    is_probability = (
        model.trainer_spec.model_type != TrainerSpec.BPE
        and a.type == b.type == "NORMAL"
        and isfinite(a.score)
        and isfinite(b.score)
    )
    return abs(ordinal(a.score) - ordinal(b.score)) if is_probability else None


def _moved(common: Sequence[tuple[Piece, Piece]]) -> list[IdDifference]:
    """Return the common pieces that moved: the smallest set whose removal makes the orders equal.

    `common` is sorted by the ids of the left model. The pieces on a longest increasing subsequence
    of the right ids have the same order in both models. All other pieces are returned.
    """
    # Item n describes the increasing subsequences of n + 1 right ids: the smallest of their last
    # ids, and the index of this id in `common`.
    end_ids: list[int] = []
    end_indices: list[int] = []
    # For each index: the preceding index in the longest increasing subsequence that ends there, or
    # -1 if the subsequence has only one item.
    previous: list[int] = []
    for i, (_, piece) in enumerate(common):
        length = bisect_left(end_ids, piece.id)
        previous.append(end_indices[length - 1] if length else -1)
        end_ids[length : length + 1] = [piece.id]
        end_indices[length : length + 1] = [i]
    in_order = set()
    i = end_indices[-1] if end_indices else -1
    while i >= 0:
        in_order.add(i)
        i = previous[i]
    return [
        IdDifference(a.piece, a.id, b.id) for i, (a, b) in enumerate(common) if i not in in_order
    ]


def _charsmaps(
    spec: str, left: NormalizerSpec, right: NormalizerSpec
) -> Iterator[CharsmapDifference]:
    """Yield the difference between two charsmaps if there is one."""
    a, b = charsmap(left), charsmap(right)
    if a == b:
        return
    problem = ""
    rules = []
    try:
        rules = _rules(decompile(a or b""), decompile(b or b""))
    except TrainingError as error:
        problem = str(error)
    yield CharsmapDifference(
        name=f"{spec}.{CHARSMAP}",
        left_bytes=None if a is None else len(a),
        right_bytes=None if b is None else len(b),
        first_byte=first_difference(a or b"", b or b""),
        rules=rules,
        problem=problem,
    )


def _rules(left: _Rules, right: _Rules) -> list[RuleDifference]:
    """Return the rules that differ, sorted by the text that they replace."""
    return [
        RuleDifference(_characters(source) or "", _characters(a), _characters(b))
        for source in sorted(left.keys() | right.keys())
        if (a := left.get(source)) != (b := right.get(source))
    ]


def _characters(points: tuple[int, ...] | None) -> str | None:
    return None if points is None else "".join(map(chr, points))


def _samples(left: ModelProto, right: ModelProto) -> list[SampleDifference]:
    """Return the self-test samples that differ."""
    a, b = samples(left.self_test_data), samples(right.self_test_data)
    return [
        SampleDifference(number, a.get(number), b.get(number))
        for number in range(max(len(a), len(b)))
        if a.get(number) != b.get(number)
    ]


def _unknown_fields(left: ModelProto, right: ModelProto) -> list[UnknownDifference]:
    """Return the differences in fields that are not in the schema."""
    a, b = unknown_values(left), unknown_values(right)
    return [
        UnknownDifference(*key, a.get(key, []), b.get(key, []))
        for key in {**a, **b}
        if a.get(key) != b.get(key)
    ]
