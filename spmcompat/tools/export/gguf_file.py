"""Writes the key-value part of a GGUF file (version 3, little endian, no tensors).

The ``gguf`` package only writes to files that it opens itself, and would be an additional
dependency. The format is only a header and a list of keys with typed values. The tests read the
files of this module with ``gguf``.
"""

import struct
from collections.abc import Mapping
from typing import TypeAlias

_MAGIC = b"GGUF"
_VERSION = 3
# The offset of tensor data is a multiple of this number of bytes. A file without tensors is padded
# to such a multiple, too.
_ALIGNMENT = 32

_UINT8, _UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 0, 4, 5, 6, 7, 8, 9

Value: TypeAlias = bool | int | str | bytes | list[str] | list[float] | list[int]
"""A value: its type determines the type in the file. Bytes and lists become arrays."""


def serialize(values: Mapping[str, Value]) -> bytes:
    """Return the content of a file with these values and no tensors."""
    parts = [_MAGIC, struct.pack("<IQQ", _VERSION, 0, len(values))]
    for key, value in values.items():
        parts += [_string(key), _typed(value)]
    content = b"".join(parts)
    return content + bytes(-len(content) % _ALIGNMENT)


def _typed(value: Value) -> bytes:
    """Return the type of a value, and its content."""
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _UINT32, value)
    if isinstance(value, str):
        return struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, bytes):
        kind, content = _UINT8, value
    elif isinstance(value[0], str):
        kind, content = _STRING, b"".join(map(_string, value))
    else:
        kind, code = (_FLOAT32, "f") if isinstance(value[0], float) else (_INT32, "i")
        content = struct.pack(f"<{len(value)}{code}", *value)
    return struct.pack("<IIQ", _ARRAY, kind, len(value)) + content


def _string(value: str) -> bytes:
    content = value.encode()
    return struct.pack("<Q", len(content)) + content
