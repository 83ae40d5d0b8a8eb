"""Writes the key-value part of a GGUF file (version 3, little endian, no tensors).

The ``gguf`` package only writes to files that it opens itself, and would be an additional
dependency. The format is only a header and a list of keys with typed values. The tests read the
files of this module with ``gguf``.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

_MAGIC = b"GGUF"
_VERSION = 3
# The offset of tensor data is a multiple of this number of bytes. A file without tensors is padded
# to such a multiple, too.
_ALIGNMENT = 32

_UINT8, _UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 0, 4, 5, 6, 7, 8, 9


class TypedValue(NamedTuple):
    """A typed value as stored in the file: its type and its bytes."""

    type: int
    content: bytes


Values: TypeAlias = dict[str, TypedValue]


def integer(value: int) -> TypedValue:
    """Return a value of type UINT32."""
    return TypedValue(_UINT32, struct.pack("<I", value))


def flag(value: bool) -> TypedValue:
    """Return a value of type BOOL."""
    return TypedValue(_BOOL, struct.pack("<?", value))


def text(value: str) -> TypedValue:
    """Return a string."""
    return TypedValue(_STRING, _string(value.encode()))


def texts(values: Sequence[str]) -> TypedValue:
    """Return an array of strings."""
    return _array(_STRING, len(values), b"".join(_string(value.encode()) for value in values))


def floats(values: Sequence[float]) -> TypedValue:
    """Return an array of float32."""
    return _array(_FLOAT32, len(values), struct.pack(f"<{len(values)}f", *values))


def integers(values: Sequence[int]) -> TypedValue:
    """Return an array of signed 32-bit integers."""
    return _array(_INT32, len(values), struct.pack(f"<{len(values)}i", *values))


def binary(value: bytes) -> TypedValue:
    """Return an array of bytes."""
    return _array(_UINT8, len(value), value)


def serialize(values: Values) -> bytes:
    """Return the content of a file with these values and no tensors."""
    parts = [_MAGIC, struct.pack("<IQQ", _VERSION, 0, len(values))]
    for key, value in values.items():
        parts += [_string(key.encode()), struct.pack("<I", value.type), value.content]
    content = b"".join(parts)
    return content + bytes(-len(content) % _ALIGNMENT)


def _string(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def _array(kind: int, length: int, content: bytes) -> TypedValue:
    return TypedValue(_ARRAY, struct.pack("<IQ", kind, length) + content)
