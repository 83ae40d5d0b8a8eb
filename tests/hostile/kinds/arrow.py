"""Arrow structs with impossible values, read by training and counting.

A consumer can detect every damaged value. For example, no length is only slightly too large: a
consumer could not detect such a length, because the structs do not contain the sizes of their
buffers, and would read past the end of a buffer.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import spmcompat
from spmcompat.errors import TrainingError
from tests.unit.text.made_arrow import (
    Array,
    Batch,
    Batches,
    Column,
    Pointer,
    Schema,
    Stream,
    capsule,
    strings,
    table,
)

ROWS = ["The cat sat on the mat.", None, "a dog", "", "naïve café; 猫がいる"] * 3
FORMS = ("u", "U", "vu", "z", "Z", "vz", "n")
FORMATS = (
    None,
    b"",
    b"+s",
    b"+l",
    b"+L",
    b"+w:3",
    b"+w:-1",
    b"+vL",
    b"i",
    b"vu?",
    b"\xff",
    b"\x1b[31m",
    b"u" * 10_000,
)
NEGATIVE = (-1, -(2**31), -(2**63))
HUGE = (2**62, 2**63 - 1)


def prepare(folder: Path) -> None:
    """Check that undamaged structs are read."""
    chance = random.Random(1)
    for form in FORMS[:-1]:
        for producer in (_DamagedBatch, _DamagedStream):
            assert _train(producer(_column(form, chance, True), chance, 0)) == 0
            assert _count(producer(_column(form, chance, False), chance, 0)) == 0


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Build structs, and choose a function that reads them."""
    column = _column(chance.choice(FORMS), chance, chance.random() < 0.5)
    producer = chance.choice([_DamagedBatch, _DamagedStream])
    data = producer(column, chance, chance.randint(1, 3))
    return partial(chance.choice([_train, _count]), data)


def _train(data: Any) -> int:
    options: dict[str, Any] = {"vocab_size": 40, "hard_vocab_limit": False, "minloglevel": 2}
    model = partial(spmcompat.train, model_writer=BytesIO(), model_type="char", **options)
    return _ended(model, data)


def _count(data: Any) -> int:
    return _ended(spmcompat.count, data)


def _ended(read: Callable[..., object], data: Any) -> int:
    """Read the data, and return the exit status that a command would have."""
    try:
        read(sentence_iterator=data)
    except TrainingError as error:
        print(f"spmcompat: {error}", file=sys.stderr)
        return 1
    return 0


def _column(form: str, chance: random.Random, in_table: bool) -> Column:
    column = strings(ROWS, form, name="text")
    lists = chance.choice(["", "", "+l", "+L", "+w:2", "+vl"])
    if lists:
        return _lists(lists, column)
    if form != "n" and chance.random() < 0.3:
        indices = bytes(range(len(ROWS)))
        column = Column("c", len(ROWS), (None, indices), name="text", dictionary=column)
    if in_table:
        other = Column("l", len(ROWS), (None, bytes(8 * len(ROWS))), name="id")
        return table([other, column], len(ROWS))
    return column


def _lists(form: str, column: Column) -> Column:
    """Return a table with a column of lists, each of which contains two strings."""
    rows = len(ROWS) // 2
    size = 8 if form == "+L" else 4
    begins = b"".join((2 * row).to_bytes(size, "little") for row in range(rows + 1))
    sizes = (2).to_bytes(4, "little") * rows
    buffers = {"+w:2": (None,), "+vl": (None, begins, sizes)}.get(form, (None, begins))
    return table([Column(form, rows, buffers, name="text", children=[column])], rows)


class _Damaged:
    """The structs of a column, with some damage."""

    def __init__(self, column: Column, chance: random.Random, changes: int) -> None:
        self._column = column
        self._chance = chance
        self._changes = changes

    def _structs(self, kind: Any) -> Any:
        """Return the schema and the array. Each of the random changes damages one of the two."""
        made = kind.made.schema(self._column), kind.made.array(self._column)
        for _ in range(self._changes):
            if self._chance.random() < 0.5:
                _damage_schema(made[0], self._chance)
            else:
                _damage_array(made[1], self._chance)
        return made


class _DamagedBatch(_Damaged):
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        self.batch = Batch(self._column)
        schema, array = self._structs(self.batch)
        return capsule(schema), capsule(array)


class _DamagedStream(_Damaged):
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        self.batches = Batches([], self._column)
        schema, array = self._structs(self.batches)
        arrays = [array]

        def get_schema(_: int, out: int) -> int:
            ctypes.memmove(out, ctypes.addressof(schema), ctypes.sizeof(Schema))
            return 0

        def get_next(_: int, out: int) -> int:
            if arrays:
                ctypes.memmove(out, ctypes.addressof(arrays.pop()), ctypes.sizeof(Array))
            return 0

        return self._capsule(get_schema, get_next)

    def _capsule(self, get_schema: Any, get_next: Any) -> Any:
        fill = ctypes.CFUNCTYPE(ctypes.c_int, Pointer, Pointer)
        message = ctypes.CFUNCTYPE(Pointer, Pointer)(lambda _: None)
        self.callbacks = [fill(get_schema), fill(get_next), message]
        addresses = [ctypes.cast(one, Pointer).value for one in self.callbacks]
        if self._changes and self._chance.random() < 0.1:
            addresses[self._chance.randrange(3)] = None
        release = self.batches.made._release(Stream, "stream")
        names = ("get_schema", "get_next", "get_last_error")
        self.stream = Stream(**dict(zip(names, addresses, strict=True)), release=release)
        return capsule(self.stream)


def _damage_schema(schema: Schema, chance: random.Random) -> None:
    struct = _one_of(schema, chance)
    match chance.randrange(6):
        case 0:
            struct.format = chance.choice(FORMATS)
        case 1:
            struct.n_children = chance.choice(NEGATIVE)
        case 2:
            struct.children = None
        case 3 if struct.children and struct.n_children > 0:
            Pointer.from_address(struct.children).value = None
        case 4:
            struct.dictionary = None
        case 5:
            struct.name = chance.choice([None, b"", b"\xff\xfe", b"\x1b[2J", b"text"])
    if chance.random() < 0.1:
        schema.release = None


def _damage_array(array: Array, chance: random.Random) -> None:
    struct = _one_of(array, chance)
    match chance.randrange(7):
        case 0:
            field = chance.choice(["length", "offset", "n_buffers", "n_children"])
            setattr(struct, field, chance.choice(NEGATIVE))
        case 1:
            field = chance.choice(["length", "offset"])
            setattr(struct, field, chance.choice(HUGE))
        case 2:
            struct.buffers = None
        case 3 if struct.buffers and struct.n_buffers > 0:
            at = chance.randrange(struct.n_buffers)
            Pointer.from_address(struct.buffers + at * ctypes.sizeof(Pointer)).value = None
        case 4:
            struct.children = None
        case 5 if struct.children and struct.n_children > 0:
            at = chance.randrange(struct.n_children)
            Pointer.from_address(struct.children + at * ctypes.sizeof(Pointer)).value = None
        case 6:
            field = chance.choice(["dictionary", "n_buffers", "n_children", "length"])
            setattr(struct, field, None if field == "dictionary" else 0)
    if chance.random() < 0.05:
        array.release = None


def _one_of(struct: Any, chance: random.Random) -> Any:
    """Return the struct or one of its children, or the dictionary of either."""
    kind = type(struct)
    if struct.children and struct.n_children > 0 and chance.random() < 0.6:
        at = chance.randrange(struct.n_children) * ctypes.sizeof(Pointer)
        if address := Pointer.from_address(struct.children + at).value:
            struct = kind.from_address(address)
    if struct.dictionary and chance.random() < 0.4:
        struct = kind.from_address(struct.dictionary)
    return struct
