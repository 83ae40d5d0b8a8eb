"""Reads ``.model`` files."""

import os
from collections.abc import Callable
from os import PathLike
from typing import TypeVar

from google.protobuf.message import DecodeError

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
from spmcompat.model.loading import check_loads
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

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
        raise BadValueError("not a SentencePiece model. Give a .model file.") from None
    if not message.pieces:
        raise BadValueError("not a SentencePiece model: it has no pieces. Give a .model file.")
    return message


def read_model(path: str | PathLike[str]) -> ModelProto:
    """Return the model of a file.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If ``sentencepiece`` would not load it; see `check_loads`.
    """
    return _read(path, parse)


def read_model_bytes(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file that `parse_unchecked` can parse.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If it is not a model, or the model has no pieces.
    """

    def checked(content: bytes) -> bytes:
        parse_unchecked(content)
        return content

    return _read(path, checked)


def _read(path: str | PathLike[str], take: Callable[[bytes], _Read]) -> _Read:
    """Return the result of a function on the bytes of a file, adding the path to its errors."""
    refuse_impossible(path, "Check the path")
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            return take(file.read())
    except OSError as error:
        raise MissingFileError(f'"{name}": {error.strerror}. Check the path.') from error
    except BadValueError as error:
        raise BadValueError(f'"{name}": {error}') from None
