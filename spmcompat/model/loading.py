"""Checks whether ``sentencepiece`` would load a model.

Source: ``model_interface.cc``, ``unigram_model.cc`` and ``normalizer.cc`` of ``sentencepiece``
0.2.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from spmcompat.errors import BadModelError, TrainingError
from spmcompat.model.pieces import (
    BYTE,
    BYTE_PIECES,
    BYTES_LIMIT,
    CONTROL,
    UNKNOWN,
    UNUSED,
    texts_of_type,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec

_NOT_ENCODED = (UNKNOWN, CONTROL, BYTE)
# The fields of the trainer_spec that contain paths. A path may contain any bytes.
_PATHS = ("input", "model_prefix")


def check_loads(model: ModelProto) -> None:
    """Raise for a model that ``sentencepiece`` would not load.

    Two kinds of models that it would load are also refused, because trainers do not write them and
    tools could not handle them: models with text that is not UTF-8, and BPE, word and char models
    with scores that are not finite. (``sentencepiece`` itself refuses such scores in Unigram
    models.) Minus infinity is allowed in a char model, because the trainer writes it for a required
    character that does not occur in the text. Fields that describe the pieces, such as
    ``vocab_size`` and ``unk_id``, may contradict the pieces, because ``sentencepiece`` ignores
    these fields.

    Raises
    ------
    BadValueError
        If a piece is empty, too long, contains U+0000, is not UTF-8 or occurs twice; if the unknown
        piece or a byte of ``byte_fallback`` is missing; if a score is not finite; if a Unigram
        model has only unknown, control and byte pieces; or if a charsmap is broken.
    """
    _check_specs(model)
    for fault in piece_faults(model):
        raise BadModelError(fault.message)
    byte_fallback = model.trainer_spec.byte_fallback
    kinds = {entry.type for entry in model.pieces}
    unknown = texts_of_type(model, UNKNOWN)
    if len(unknown) > 1:
        raise BadModelError(f"unk is already defined: {' and '.join(unknown)}. Keep one of them.")
    if not unknown and not byte_fallback:
        raise BadModelError("unk is not defined. A model without byte_fallback needs it.")
    _check_bytes(set(texts_of_type(model, BYTE)), byte_fallback)
    if model.trainer_spec.model_type == TrainerSpec.UNIGRAM and kinds.issubset(_NOT_ENCODED):
        raise BadModelError(
            "no pieces are loaded: all of them are meta pieces. A model needs normal pieces."
        )


class Fault(NamedTuple):
    """Something because of which a piece cannot be loaded.

    Attributes
    ----------
    piece_id : int
        The id of the piece.
    of_text : bool
        Whether the text of the piece is wrong, not the score.
    message : str
        What is wrong, and what to do about it.
    is_duplicate : bool
        Whether another piece has the same text.
    """

    piece_id: int
    of_text: bool
    message: str
    is_duplicate: bool = False


def piece_faults(model: ModelProto) -> Iterator[Fault]:
    """Yield what is wrong with the pieces of a model. Of pieces with one text, the first is right.

    See `check_loads`. `reading.read_for_editing` gives each piece whose text is wrong a name, by
    which it can be renamed and removed.
    """
    byte_fallback = model.trainer_spec.byte_fallback
    is_char = model.trainer_spec.model_type == TrainerSpec.CHAR
    # In BPE models, each text may occur only once. In other models, an unknown, control or byte
    # piece may have the same text as a piece of another type.
    one_namespace = model.trainer_spec.model_type == TrainerSpec.BPE
    ids: dict[tuple[str, bool], int] = {}
    for piece_id, entry in enumerate(model.pieces):
        text, kind = entry.piece, entry.type
        wrong = _fault_of(text, piece_id)
        if not math.isfinite(entry.score) and not (is_char and entry.score == -math.inf):
            name = name_of_piece(piece_id) if wrong else text
            message = (
                f"the score of the piece of id {piece_id} is {entry.score}, which is not a finite "
                f"number of 32 bits. Change it: spmcompat edit --set_score={name}=-9"
            )
            yield Fault(piece_id, False, message)
        # sentencepiece ignores this piece, which other programs write: google/sentencepiece#1308.
        if text == "\0" and (kind == UNUSED or byte_fallback):
            continue
        is_duplicate = not wrong
        if is_duplicate:
            first_id = ids.setdefault((text, one_namespace or kind not in _NOT_ENCODED), piece_id)
            if first_id == piece_id:
                continue
            wrong = (
                f"{text} is already defined: it is the piece of id {first_id} and of id {piece_id}"
            )
        remedy = f"Remove it: spmcompat edit --remove={name_of_piece(piece_id)}"
        yield Fault(piece_id, True, f"{wrong}. {remedy}", is_duplicate)


def name_of_piece(piece_id: int) -> str:
    """Return the name that an edit uses for a piece whose text is wrong."""
    return f"#{piece_id}"


def _check_specs(model: ModelProto) -> None:
    """Raise if a string in a spec is not UTF-8, or a charsmap is broken."""
    from spmcompat.normalization.charsmaps import check_charsmap  # noqa: PLC0415

    for name in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        spec: Message = getattr(model, name)
        for field, value in spec.ListFields():
            texts = [value] if isinstance(value, bytes) else value
            if field.type != FieldDescriptor.TYPE_STRING or field.name in _PATHS:
                continue
            # protobuf returns text that is not UTF-8 as bytes.
            if any(isinstance(text, bytes) for text in texts):
                raise BadModelError(f"{name}.{field.name} is not UTF-8. Write it in UTF-8.")
    for name in ("normalizer_spec", "denormalizer_spec"):
        try:
            check_charsmap(getattr(model, name).precompiled_charsmap)
        except TrainingError as error:
            raise BadModelError(
                f"{name}: {str(error).rstrip('.')}. Take the charsmap of an intact model."
            ) from None


def _fault_of(text: str, piece_id: int) -> str:
    """Return why no piece can have a text; empty if a piece can have it."""
    piece = f"the piece of id {piece_id}"
    if not isinstance(text, str):  # text that is not UTF-8, which protobuf returns as bytes
        return f"{piece} is not UTF-8"
    if not text:
        return f"{piece} is empty"
    if "\0" in text:
        return f"{piece} contains the character U+0000"
    if len(text.encode()) >= BYTES_LIMIT:
        return f"{piece} is too long, with {BYTES_LIMIT} bytes or more: {text[:40]}..."
    return ""


def _check_bytes(found: set[str], byte_fallback: bool) -> None:
    needed = set(BYTE_PIECES) if byte_fallback else set()
    if found != needed:
        wrong = min(found ^ needed)
        raise BadModelError(
            f"byte_fallback is {str(byte_fallback).lower()}, but the byte piece {wrong} is "
            f"{'not ' if wrong in needed else ''}in the vocabulary."
        )
