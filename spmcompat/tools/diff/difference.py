"""Compares two models.

Models are equal only if their bytes are equal. Their contents are compared to explain differences.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

from spmcompat.engine import SPACE_MARK, decompile
from spmcompat.errors import ConflictError, TrainingError
from spmcompat.model.reading import parse_unchecked, read_model_bytes
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.tools.diff.contents import (
    CHARSMAP,
    NORMAL,
    SPECS,
    charsmap,
    pieces_by_text,
    samples,
    stored_fields,
    unknown_values,
)
from spmcompat.tools.diff.documents import UNIGRAM, TokenizerContents, document_of
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
    Value,
    Vocabularies,
)
from spmcompat.tools.evaluate.models import BYTE_SPACE, CONTINUES
from spmcompat.tools.evaluate.vocabularies import (
    Affixes,
    count_vocabulary,
    read_affixes,
    share_texts,
    texts_of_pieces,
)

if TYPE_CHECKING:
    from spmcompat.engine import StrPath

_K = TypeVar("_K")
_V = TypeVar("_V")


def diff(
    left: StrPath | bytes,
    right: StrPath | bytes,
    *,
    affixes: StrPath | None = None,
    text: StrPath | None = None,
) -> Difference:
    """Compare two models. Models that ``sentencepiece`` cannot load are compared, too.

    Parameters
    ----------
    left, right : path or bytes
        Two ``.model`` files, or two ``tokenizer.json`` files or folders that contain one; or the
        contents of two files.
    affixes : path
        A list of prefixes such as ``un-`` and suffixes such as ``-ness``, one on each line, to
        count in both vocabularies.
    text : path
        A text in UTF-8. The result says which of its words are cut differently. This needs paths,
        and ``sentencepiece`` or ``tokenizers``.

    Returns
    -------
    Difference
        `equal` is true if the bytes are equal. The other fields explain the differences.

    Raises
    ------
    TrainingError
        If a file cannot be read, or is not a model.
    """
    a, b = (document_of(model) or read_model_bytes(model) for model in (left, right))
    found = compare(a, b, None if affixes is None else read_affixes(affixes))
    if text is None:
        return found
    if isinstance(left, bytes) or isinstance(right, bytes):
        raise ConflictError("With text, diff needs the paths of the models, not their contents.")
    from spmcompat.tools.diff.cuts import compare_words

    return found._replace(cuts=compare_words(os.fspath(left), os.fspath(right), os.fspath(text)))


def compare(
    left: bytes | TokenizerContents,
    right: bytes | TokenizerContents,
    affixes: Affixes | None = None,
) -> Difference:
    """Return the differences between two models.

    Parameters
    ----------
    left, right : bytes or TokenizerContents
        The contents of two ``.model`` files, or of two ``tokenizer.json`` files.
    affixes : Affixes, optional
        The affixes to count.

    Raises
    ------
    BadValueError
        If the bytes are not a model, or only one of the two is a tokenizer.json.
    """
    if isinstance(left, bytes) and isinstance(right, bytes):
        return _compare_models(left, right, affixes)
    if isinstance(left, bytes) or isinstance(right, bytes):
        raise ConflictError(
            "A tokenizer.json cannot be compared with a model. Convert one of them with spmcompat "
            "export or import."
        )
    return _compare_documents(left, right, affixes)


def _compare_models(left: bytes, right: bytes, affixes: Affixes | None) -> Difference:
    a, b = parse_unchecked(left), parse_unchecked(right)
    pieces, others = pieces_by_text(a), pieces_by_text(b)
    serialized = [[entry.SerializeToString() for entry in model.pieces] for model in (a, b)]
    comparable = a.trainer_spec.model_type == b.trainer_spec.model_type
    have_probabilities = a.trainer_spec.model_type != TrainerSpec.BPE
    return Difference(
        left_bytes=len(left),
        right_bytes=len(right),
        first_byte=first_difference(left, right),
        fields=[
            found
            for name in SPECS
            for found in _fields(stored_fields(a, name), stored_fields(b, name))
        ],
        pieces=compare_pieces(
            pieces, others, first_difference(*serialized), comparable, have_probabilities
        ),
        charsmaps=[
            *_charsmaps("normalizer_spec", a.normalizer_spec, b.normalizer_spec),
            *_charsmaps("denormalizer_spec", a.denormalizer_spec, b.denormalizer_spec),
        ],
        samples=[
            SampleDifference(*sample)
            for sample in _changed(samples(a.self_test_data), samples(b.self_test_data))
        ],
        unknown=[
            UnknownDifference(*key, one or [], other or [])
            for key, one, other in _changed(unknown_values(a), unknown_values(b))
        ],
        vocabularies=_vocabularies(pieces, others, affixes),
    )


def _compare_documents(
    a: TokenizerContents, b: TokenizerContents, affixes: Affixes | None
) -> Difference:
    comparable = a.type == b.type
    marks = SPACE_MARK + BYTE_SPACE
    continuation = CONTINUES if a.type == b.type == "WordPiece" else ""
    return Difference(
        left_bytes=len(a.content),
        right_bytes=len(b.content),
        first_byte=first_difference(a.content, b.content),
        fields=[*_fields(a.fields, b.fields)],
        pieces=compare_pieces(
            a.tokens,
            b.tokens,
            first_difference([*a.tokens.values()], [*b.tokens.values()]),
            comparable,
            a.type == UNIGRAM,
        ),
        charsmaps=[],
        samples=[],
        unknown=[],
        vocabularies=_vocabularies(a.tokens, b.tokens, affixes, marks, continuation),
        merges=compare_pieces(a.merges, b.merges, first_difference([*a.merges], [*b.merges])),
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


def _changed(
    left: Mapping[_K, _V], right: Mapping[_K, _V]
) -> list[tuple[_K, _V | None, _V | None]]:
    """Return the keys whose values differ, each with both values; None for a missing key."""
    found = [(key, left.get(key), right.get(key)) for key in {**left, **right}]
    # `repr` makes NaN equal to itself, and -0.0 different from 0.0.
    return [(key, a, b) for key, a, b in found if repr(a) != repr(b)]


def _fields(left: Mapping[str, Value], right: Mapping[str, Value]) -> Iterator[FieldDifference]:
    """Yield the fields whose values differ, by name."""
    changed = sorted(_changed(left, right), key=itemgetter(0))
    return (FieldDifference(*field) for field in changed)


def compare_pieces(
    left: Mapping[tuple[str, int], Piece],
    right: Mapping[tuple[str, int], Piece],
    first_id: int | None,
    comparable: bool = True,
    have_probabilities: bool = False,
) -> PiecesDifference:
    """Compare the order of the pieces, the sets of pieces, and each common piece.

    Parameters
    ----------
    left, right : mapping of (str, int) to Piece
        The pieces by their texts, as `pieces_by_text` returns them.
    first_id : int or None
        The first id at which the models differ.
    comparable : bool, optional
        Whether the scores of both models are of one kind.
    have_probabilities : bool, optional
        Whether the scores of normal pieces are log probabilities.
    """
    common = [(piece, right[key]) for key, piece in left.items() if key in right]
    return PiecesDifference(
        left_count=len(left),
        right_count=len(right),
        common=len(common),
        first_id=first_id,
        only_left=[piece for key, piece in left.items() if key not in right],
        only_right=[piece for key, piece in right.items() if key not in left],
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
                a.piece,
                a.id,
                b.id,
                a.score,
                b.score,
                _units(a.score, b.score)
                if have_probabilities and a.type == b.type == NORMAL
                else None,
            )
            for a, b in common
            if comparable and a.score is not None and b.score is not None
            if repr(a.score) != repr(b.score)
        ],
        scores_are_comparable=comparable,
    )


def _units(a: float, b: float) -> int | None:
    """Return the number of float32 steps between two scores; None if one is not finite."""
    return abs(ordinal(a) - ordinal(b)) if isfinite(a) and isfinite(b) else None


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


def _vocabularies(
    left: Mapping[tuple[str, int], Piece],
    right: Mapping[tuple[str, int], Piece],
    affixes: Affixes | None,
    marks: str = SPACE_MARK,
    continuation: str = "",
) -> Vocabularies:
    """Compare the normal pieces of two models, ignoring their marks."""
    a, b = (
        {one.piece for one in pieces.values() if one.type == NORMAL} for pieces in (left, right)
    )
    a_texts, b_texts = (texts_of_pieces(pieces, marks, continuation) for pieces in (a, b))
    return Vocabularies(
        count_vocabulary(a, a_texts, affixes),
        count_vocabulary(b, b_texts, affixes),
        share_texts(a_texts, b_texts),
    )


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
        changed = _changed(decompile(a or b""), decompile(b or b""))
        rules = [
            RuleDifference(_characters(source) or "", _characters(c), _characters(d))
            for source, c, d in sorted(changed, key=itemgetter(0))
        ]
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


def _characters(points: tuple[int, ...] | None) -> str | None:
    return None if points is None else "".join(map(chr, points))
