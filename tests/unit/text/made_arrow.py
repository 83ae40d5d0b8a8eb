"""Creates Arrow structs by hand, and counts how many of them are not yet released."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Pointer = ctypes.c_void_p
Release = ctypes.CFUNCTYPE(None, Pointer)
Fill = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Pointer)
LastError = ctypes.CFUNCTYPE(Pointer, Pointer)


class Schema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", Pointer),
        ("dictionary", Pointer),
        ("release", Pointer),
        ("private_data", Pointer),
    )


class Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", Pointer),
        ("children", Pointer),
        ("dictionary", Pointer),
        ("release", Pointer),
        ("private_data", Pointer),
    )


class Stream(ctypes.Structure):
    _fields_ = (
        ("get_schema", Pointer),
        ("get_next", Pointer),
        ("get_last_error", Pointer),
        ("release", Pointer),
        ("private_data", Pointer),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (Pointer, ctypes.c_char_p, Pointer)
NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}


def capsule(struct: ctypes.Structure) -> Any:
    return _new_capsule(ctypes.addressof(struct), NAMES[type(struct)], None)


def address_of(callback: Any) -> int | None:
    return ctypes.cast(callback, Pointer).value


def bitmap(valid: Iterable[bool]) -> bytes:
    bits = [*valid]
    made = bytearray((len(bits) + 7) // 8)
    for i, bit in enumerate(bits):
        made[i // 8] |= bit << i % 8
    return bytes(made)


Buffer = bytes | int | None


@dataclass
class Column:
    """The fields of the two C structs of a column. A buffer is bytes, an address or None."""

    format: str
    length: int
    buffers: Sequence[Buffer]
    offset: int = 0
    null_count: int = -1
    name: str | None = None
    children: Sequence[Column] = ()
    dictionary: Column | None = None


def offsets_of(texts: Sequence[bytes], size: int, first: int = 0) -> bytes:
    ends = [first]
    for text in texts:
        ends.append(ends[-1] + len(text))
    return b"".join(end.to_bytes(size, "little") for end in ends)


def views_of(texts: Sequence[bytes], most_bytes: int = 40) -> tuple[bytes, list[bytes]]:
    """Return the views of strings, and the variadic buffers with the long strings."""
    views, buffers = b"", [b""]
    for text in texts:
        views += len(text).to_bytes(4, "little")
        if len(text) <= 12:
            views += text.ljust(12, b"\0")
            continue
        if len(buffers[-1]) + len(text) > most_bytes:
            buffers.append(b"")
        views += text[:4] + (len(buffers) - 1).to_bytes(4, "little")
        views += len(buffers[-1]).to_bytes(4, "little")
        buffers[-1] += text
    return views, buffers


def strings(
    rows: Sequence[str | bytes | None],
    form: str = "u",
    skip: int = 0,
    length: int | None = None,
    name: str | None = None,
) -> Column:
    """Return a column of strings that begins at the row `skip` of its buffers."""
    texts = [
        b"??" if row is None else row.encode() if isinstance(row, str) else row for row in rows
    ]
    valid = bitmap(row is not None for row in rows)
    length = len(rows) - skip if length is None else length
    if form == "n":
        return Column(form, length, (), skip, name=name)
    if form[0] == "v":
        views, buffers = views_of(texts)
        sizes = b"".join(len(one).to_bytes(8, "little") for one in buffers)
        return Column(form, length, (valid, views, *buffers, sizes), skip, name=name)
    ends = offsets_of(texts, 8 if form in "UZ" else 4)
    return Column(form, length, (valid, ends, b"".join(texts)), skip, name=name)


def table(columns: Sequence[Column], length: int, skip: int = 0, valid: Buffer = None) -> Column:
    return Column("+s", length, (valid,), skip, children=columns)


@dataclass
class Made:
    """Hands out the Arrow structs of a column, as a batch or as a stream of batches.

    For each kind of struct, `given` is the number of structs handed out, `held` the number of them
    that are not yet released, and `most` the largest value that `held` had.
    """

    held: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    _kept: dict[int, Any] = field(default_factory=dict)

    @property
    def is_released(self) -> bool:
        return bool(self.given) and not any(self.held.values())

    def keep(self, value: Any) -> Any:
        self._kept[id(value)] = value
        return value

    def _release(self, kind: type, what: str) -> int | None:
        def release(address: int) -> None:
            struct = kind.from_address(address)
            assert struct.release, "released twice"
            struct.release = None
            self.held[what] -= 1

        self.given[what] += 1
        self.held[what] += 1
        self.most[what] = max(self.most[what], self.held[what])
        return address_of(self.keep(Release(release)))

    def _pointers(self, structs: Sequence[Any]) -> int | None:
        if not structs:
            return None
        made = (Pointer * len(structs))(*structs)
        return ctypes.addressof(self.keep(made))

    def schema(self, column: Column, top: bool = True) -> Schema:
        children = [ctypes.addressof(self.schema(one, False)) for one in column.children]
        made = Schema(
            format=column.format.encode(),
            name=None if column.name is None else column.name.encode(),
            n_children=len(children),
            children=self._pointers(children),
        )
        if column.dictionary is not None:
            made.dictionary = ctypes.addressof(self.schema(column.dictionary, False))
        made.release = self._release(Schema, "schema") if top else None
        return self.keep(made)

    def array(self, column: Column, top: bool = True) -> Array:
        children = [ctypes.addressof(self.array(one, False)) for one in column.children]
        buffers = [self._address(one) for one in column.buffers]
        made = Array(
            length=column.length,
            null_count=column.null_count,
            offset=column.offset,
            n_buffers=len(buffers),
            n_children=len(children),
            buffers=self._pointers(buffers),
            children=self._pointers(children),
        )
        if column.dictionary is not None:
            made.dictionary = ctypes.addressof(self.array(column.dictionary, False))
        made.release = self._release(Array, "array") if top else None
        return self.keep(made)

    def _address(self, buffer: Buffer) -> int | None:
        if not isinstance(buffer, bytes):
            return buffer
        # The copy is exactly as large as the bytes, so that the address sanitizer detects a read
        # after the end.
        return ctypes.addressof(self.keep((ctypes.c_char * len(buffer)).from_buffer_copy(buffer)))


class Batch:
    """An object with ``__arrow_c_array__``."""

    def __init__(self, column: Column) -> None:
        self.made = Made()
        self._column = column

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return capsule(self.made.schema(self._column)), capsule(self.made.array(self._column))


class Batches:
    """An object with ``__arrow_c_stream__``. A number instead of a batch is an error code."""

    def __init__(
        self,
        batches: Iterable[Column | int],
        schema: Column | int,
        message: bytes | None = b"out of order",
    ) -> None:
        self.made = Made()
        self._batches: Iterator[Column | int] = iter(batches)
        self._schema = schema
        self._message = message
        self.before_next: Callable[[], object] = lambda: None

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        def get_schema(_: int, out: int) -> int:
            if isinstance(self._schema, int):
                return self._schema
            ctypes.memmove(
                out, ctypes.addressof(self.made.schema(self._schema)), ctypes.sizeof(Schema)
            )
            return 0

        def get_next(_: int, out: int) -> int:
            self.before_next()
            batch = next(self._batches, None)
            if isinstance(batch, int):
                return batch
            if batch is None:
                Array.from_address(out).release = None
            else:
                made = self.made.array(batch)
                ctypes.memmove(out, ctypes.addressof(made), ctypes.sizeof(Array))
            return 0

        keep = self.made.keep
        message = None if self._message is None else keep(ctypes.c_char_p(self._message))
        stream = Stream(
            get_schema=address_of(keep(Fill(get_schema))),
            get_next=address_of(keep(Fill(get_next))),
            get_last_error=address_of(
                keep(
                    LastError(
                        lambda _: None if message is None else ctypes.cast(message, Pointer).value
                    )
                )
            ),
            release=self.made._release(Stream, "stream"),
        )
        return capsule(keep(stream))
