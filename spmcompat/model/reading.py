"""Reads ``.model`` files."""

import math
import os
from collections.abc import Callable
from os import PathLike
from typing import TypeVar

from google.protobuf.message import DecodeError

from spmcompat.errors import BadModelError, BadValueError
from spmcompat.model.loading import Fault, check_loads, name_of_piece, piece_faults
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.inputs import open_file

_Read = TypeVar("_Read")


def parse(model: bytes) -> ModelProto:
    """Parse a model that ``sentencepiece`` would load.

    Raises
    ------
    BadValueError
        If the bytes are not a model, or ``sentencepiece`` would not load it; see `check_loads`.
    """
    message = parse_unchecked(model)
    check_loads(message)
    return message


def parse_unchecked(model: bytes) -> ModelProto:
    """Parse a model, even if ``sentencepiece`` would not load it.

    Texts that are not UTF-8 are returned as bytes.

    Raises
    ------
    BadValueError
        If the bytes are not a model, or the model has no pieces.
    """
    try:
        message = ModelProto.FromString(model)
    except (DecodeError, UnicodeDecodeError):
        raise BadModelError(f"not a SentencePiece model. {_remedy(model)}.") from None
    if not message.pieces:
        raise BadModelError("not a SentencePiece model: it has no pieces. Give a .model file.")
    return message


def read_for_editing(model: str | PathLike[str] | bytes) -> tuple[ModelProto, list[Fault]]:
    """Return the model of a file, or the model that the bytes contain, even if pieces are wrong.

    Pieces that `check_loads` refuses are returned in a form that it accepts: a text that is wrong
    is replaced with ``#`` and the id, such as ``#17``, and a score that is not finite with the
    lowest one.

    Returns
    -------
    model : ModelProto
        The model.
    faults : list of Fault
        What was replaced.

    Raises
    ------
    MissingFileError, BadValueError
        As for `read_model`, except for the faults that are returned.
    """
    return _read(model, _parse_for_editing)


def _parse_for_editing(content: bytes) -> tuple[ModelProto, list[Fault]]:
    message = parse_unchecked(content)
    faults = [*piece_faults(message)]
    lowest = min((one.score for one in message.pieces if math.isfinite(one.score)), default=0.0)
    for fault in faults:
        entry = message.pieces[fault.piece_id]
        if fault.of_text:
            entry.piece = name_of_piece(fault.piece_id)
        else:
            entry.score = lowest
    check_loads(message)
    return message, faults


def _remedy(content: bytes) -> str:
    """Return what to do with a file that is not a model."""
    if content.startswith(b"PAR1"):
        return "For counts, use spmcompat counts merge or spmcompat counts show"
    if content.lstrip().startswith(b"{"):
        return "Convert a tokenizer.json with spmcompat import"
    return "Give a .model file"


def read_model(model: str | PathLike[str] | bytes) -> ModelProto:
    """Return the model of a file, or the model that the bytes contain.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If ``sentencepiece`` would not load it; see `check_loads`.
    """
    return _read(model, parse)


def read_model_bytes(model: str | PathLike[str] | bytes) -> bytes:
    """Return the bytes of a file, or the given bytes, if `parse_unchecked` can parse them.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If the bytes are not a model, or the model has no pieces.
    """

    def checked(content: bytes) -> bytes:
        parse_unchecked(content)
        return content

    return _read(model, checked)


def _read(source: str | PathLike[str] | bytes, take: Callable[[bytes], _Read]) -> _Read:
    """Call a function with the bytes of a file. Add the path to the errors that it raises."""
    if isinstance(source, bytes):
        return take(source)
    with open_file(source, "Check the path") as file:
        content = file.read()
    try:
        return take(content)
    except BadValueError as error:
        raise BadModelError(f'"{os.fspath(source)}": {error}') from None
