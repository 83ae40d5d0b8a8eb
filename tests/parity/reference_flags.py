"""Sets, in the loaded library, the flags that only the reference's command line can set.

The wheel does not contain the command, and its Python module does not set Abseil flags. But the
library has the flags, and training reads them. A flag is a record in memory that begins with the
address of the flag's name. At an unknown distance from its beginning, the record contains eight
bytes: the value and, in the byte after the value, whether the flag was ever set. The distance is
found with a flag whose default is not zero. To make the library read the flags, it first trains
once.
"""

from __future__ import annotations

import ctypes
import io
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import sentencepiece
from sentencepiece import _sentencepiece

from .case import Option

DEFAULTS: Mapping[str, bool | float] = {
    "use_sparse_pruning": False,
    "post_l1_debias": True,
    "seed_piece_length_power": 1.0,
    "min_freq_alpha": 0.0,
}
"""The flags, with the types of their values."""

RECORD_BYTES = 256
"""A number of bytes that is larger than a record."""


@contextmanager
def flags_set(flags: Mapping[str, Option]) -> Iterator[None]:
    """Set `flags` at the beginning of the context, and all flags to their defaults at its end."""
    if not flags:
        yield
        return
    records = _records()
    values = {name: _value(name, flags.get(name, default)) for name, default in DEFAULTS.items()}
    try:
        for name, value in values.items():
            _write(records[name], value)
        yield
    finally:
        for name, value in DEFAULTS.items():
            _write(records[name], value)


def _value(name: str, flags: Option) -> bool | float:
    """Return a value as the command line parses it."""
    if isinstance(DEFAULTS[name], float):
        return float(str(flags))
    return str(flags).lower() in ("true", "t", "yes", "y", "1")


def _bits(value: bool | float) -> bytes:
    kind = "?" if isinstance(value, bool) else "f"
    return struct.pack(f"<{kind}?", value, True).ljust(8, b"\0")


def _write(address: int, value: bool | float) -> None:
    ctypes.memmove(address, _bits(value), 8)


@cache
def _records() -> Mapping[str, int]:
    """Return the address of the value of each flag, by the name of the flag."""
    _train_anything()
    names = {name: record(name) for name in DEFAULTS}
    bytes_there = ctypes.string_at(names["seed_piece_length_power"], RECORD_BYTES)
    distance = bytes_there.find(_bits(DEFAULTS["seed_piece_length_power"]))
    if distance < 0 or distance % 8:
        raise RuntimeError("the flags of this build of sentencepiece have an unknown layout")
    return {name: address + distance for name, address in names.items()}


def _train_anything() -> None:
    """Train a small model without logging."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b"]), model_writer=io.BytesIO(), vocab_size=6, minloglevel=2
    )
    sentencepiece.set_min_log_level(0)


def record(name: str) -> int:
    """Return the address of the pointer to a flag's name."""
    text = b"\0" + name.encode() + b"\0"
    for part in _mapped():
        at = part.data.find(text)
        if at < 0:
            continue
        pointer = struct.pack("<Q", part.begin + at + 1)
        for other in _mapped():
            found = other.data.find(pointer) if other.writable else -1
            if found >= 0:
                return other.begin + found
    raise RuntimeError(f"this build of sentencepiece has no flag {name}")


class _Part(NamedTuple):
    begin: int
    data: bytes
    writable: bool


def _mapped() -> list[_Part]:
    """Return the readable memory mappings of sentencepiece's extension module."""
    parts = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        if not line.endswith(str(_sentencepiece.__file__)):
            continue
        addresses, access = line.split()[:2]
        begin, end = (int(address, 16) for address in addresses.split("-"))
        if "r" in access:
            parts.append(_Part(begin, ctypes.string_at(begin, end - begin), "w" in access))
    return parts
