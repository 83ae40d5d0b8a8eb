"""Finds what is wrong with a ``.model`` file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from spmcompat.engine import SPACE_MARK
from spmcompat.model.encoding import UnigramEncoder
from spmcompat.model.pieces import (
    BYTE,
    BYTE_PIECES,
    NORMAL,
    USER_DEFINED,
    Piece,
    is_learned,
    pieces_of,
    texts_of_type,
)
from spmcompat.model.reading import parse_unchecked, read_for_editing
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.reach import Gate, unreachable

Found = tuple[str, list[str]]

# Pieces that only reserve an id, or are special tokens of another program.
PLACEHOLDER = re.compile(r"<.*>|\[.*\]|madeupword\d+", re.DOTALL)
# Training estimates the scores once more after it has pruned for the last time. So in good Unigram
# models, a few pieces are beaten by up to 0.2, and in merged models by up to 2.
_MARGIN = 2.0
# transformers lowers the scores of these pieces of ALBERT and XLNet by 100, so as not to use them.
_DISABLED = re.compile(r"\d,$")
_MOST_CHANGED = 10  # `Gate` needs up to a second for such a piece
_DIGITS = re.compile("[0-9０-９]")  # the digits that split_digits isolates


def model_findings(content: bytes, lines: Iterable[str]) -> Iterator[Found]:
    """Yield the name of each finding, and what it concerns. The list may be empty.

    Raises
    ------
    BadValueError
        If the content is not a model, or cannot be loaded for a reason other than its pieces.
    """
    message = parse_unchecked(content)
    size = len(message.pieces)
    missing = []
    if message.trainer_spec.byte_fallback:
        missing = [one for one in BYTE_PIECES if one not in texts_of_type(message, BYTE)]
    yield "missing-bytes", missing
    # Add them, so that the model can be loaded and its other pieces can be checked.
    entries = {entry.piece: entry for entry in message.pieces}
    for text in missing:
        (entries.get(text) or message.pieces.add(piece=text)).type = BYTE
    model, faults = read_for_editing(message.SerializeToString())
    faults = [fault for fault in faults if fault.piece_id < size]
    duplicates = [one.piece_id for one in faults if one.is_duplicate]
    yield "duplicate-pieces", [message.pieces[number].piece for number in duplicates]
    yield "broken-pieces", [one.message for one in faults if not one.is_duplicate]
    faulty = {fault.piece_id for fault in faults}
    every = [one for number, one in enumerate(pieces_of(model)) if number not in faulty]
    yield "size", size_note(size)
    yield from _piece_findings(model, every)
    yield "missing-characters", _missing(model, lines)


def size_note(size: int) -> list[str]:
    """Return the size if it is not a multiple of 64."""
    return [str(size)] if size % 64 else []


def beaten(pieces: Iterable[Piece], texts: Iterable[str]) -> list[str]:
    """Return those of the texts, pieces of a Unigram model, that another path clearly beats."""
    pieces = [piece for piece in pieces if piece.type in (NORMAL, USER_DEFINED)]
    encoder = UnigramEncoder(pieces)
    scores = {piece.text: piece.score for piece in pieces}
    return [
        text
        for text in texts
        if encoder.encode(text) != [text]
        and encoder.score_without(text) > scores[text] + _MARGIN
        and not _DISABLED.search(text)
    ]


def _piece_findings(model: ModelProto, pieces: list[Piece]) -> Iterator[Found]:
    trainer = model.trainer_spec
    normal = [
        one.text for one in pieces if one.type == NORMAL and not PLACEHOLDER.fullmatch(one.text)
    ]
    long = [one for one in normal if len(one) > 1]
    words = [one for one in long if one.strip(SPACE_MARK)]  # not only spaces
    scores = {one.text: one.score for one in pieces if is_learned(one)}
    if trainer.model_type == TrainerSpec.UNIGRAM:
        yield "unreachable-pieces", beaten(pieces, normal)
        yield "score-order", [one for one in long if scores[one] >= 0]
    else:
        yield "unreachable-pieces", unreachable(pieces, trainer, normal)
    if trainer.model_type == TrainerSpec.BPE:
        # Good models have runs of spaces in any order.
        yield "score-order", [one for one in words if _is_early(one, scores)]
    gate = Gate(model)
    changed = islice((one for one in normal if gate.normalized(one) != one), _MOST_CHANGED)
    yield "changed-pieces", [one for one in changed if not gate.lets_through(one)]
    if model.normalizer_spec.escape_whitespaces:
        symbols = (one.text for one in pieces if one.type == USER_DEFINED)
        yield "changed-pieces", [one for one in symbols if " " in one]
    if trainer.split_digits:
        yield "split-digits", [one for one in long if _DIGITS.search(one)]
    if trainer.split_by_whitespace:
        inner = slice(0, -1) if trainer.treat_whitespace_as_suffix else slice(1, None)
        yield "split-spaces", [one for one in words if SPACE_MARK in one[inner]]


def _is_early(text: str, scores: Mapping[str, float]) -> bool:
    """Return whether each way to merge a piece needs a part that is not merged before it."""
    ways = [(text[:at], text[at:]) for at in range(1, len(text))]
    ways = [both for both in ways if both[0] in scores and both[1] in scores]
    parts = ([one for one in both if len(one) > 1] for both in ways)
    return bool(ways) and all(any(scores[one] <= scores[text] for one in both) for both in parts)


def _missing(model: ModelProto, lines: Iterable[str]) -> list[str]:
    """Return the characters of a text, after normalization, that are not pieces."""
    if model.trainer_spec.byte_fallback or model.trainer_spec.model_type == TrainerSpec.WORD:
        return []
    symbols = sorted(texts_of_type(model, USER_DEFINED), key=len, reverse=True)
    cut = re.compile("|".join(map(re.escape, symbols)) or "(?!)")
    gate = Gate(model)
    found = {one for line in lines for one in cut.sub(" ", gate.normalized(cut.sub(" ", line)))}
    return sorted(found - {" ", SPACE_MARK, *texts_of_type(model, NORMAL)})
