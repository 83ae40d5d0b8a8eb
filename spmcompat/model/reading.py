"""Reads ``.model`` files."""

import os
from os import PathLike

from google.protobuf.message import DecodeError

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
from spmcompat.model.sentencepiece_model_pb2 import ModelProto


def parse(model: bytes) -> ModelProto:
    """Parse a model.

    Raises
    ------
    BadValueError
        If the bytes are not a model, or the model has no pieces.
    """
    try:
        message = ModelProto.FromString(model)
    except DecodeError:
        raise BadValueError("not a SentencePiece model. Give a .model file.") from None
    if not message.pieces:
        raise BadValueError("not a SentencePiece model: it has no pieces. Give a .model file.")
    return message


def read_model_bytes(path: str | PathLike[str]) -> bytes:
    """Return the bytes of a file, which are a model.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If it is not a model, or the model has no pieces.
    """
    refuse_impossible(path, "check the path")
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = file.read()
        parse(content)
    except OSError as error:
        raise MissingFileError(f'"{name}": {error.strerror}. Check the path.') from error
    except BadValueError as error:
        raise BadValueError(f'"{name}": {error}') from None
    return content


def read_model(path: str | PathLike[str]) -> ModelProto:
    """Return the model of a file; see `read_model_bytes` for the errors."""
    return parse(read_model_bytes(path))
