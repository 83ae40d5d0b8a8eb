"""Arrow structs with null pointers or impossible numbers are reported as broken, in one line."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from spmcompat.text.arrow_producers import strings_of
from tests.kinds import raises_kind
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

TEXT = strings(["a", "b", "a longer string, out of its view"], name="text")
VIEWS = strings(["a", "b", "a longer string, out of its view"], "vu", name="text")
DICTIONARY = Column("c", 3, (None, bytes([0, 1, 2])), name="text", dictionary=TEXT)
TABLE = table([TEXT], 3)

Change = Callable[[Schema, Array], object]


def child(struct: Any, number: int = 0) -> Any:
    address = Pointer.from_address(struct.children + 8 * number).value
    assert address
    return type(struct).from_address(address)


def dictionary(struct: Any) -> Any:
    return type(struct).from_address(struct.dictionary)


def change(struct: Any, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(struct, name, value)


def clear(list_of_pointers: int, number: int) -> None:
    Pointer.from_address(list_of_pointers + 8 * number).value = None


CASES: dict[str, tuple[Column, Change, str]] = {
    "no format": (TEXT, lambda s, a: change(s, format=None), "broken-arrow-data"),
    "no format of a column": (
        TABLE,
        lambda s, a: change(child(s), format=None),
        "broken-arrow-data column",
    ),
    "no format of a dictionary": (
        DICTIONARY,
        lambda s, a: change(dictionary(s), format=None),
        "broken-arrow-data",
    ),
    "no columns": (TABLE, lambda s, a: change(s, children=None), "broken-arrow-data"),
    "no column": (TABLE, lambda s, a: clear(s.children, 0), "broken-arrow-data column"),
    "negative columns": (
        TABLE,
        lambda s, a: change(s, n_children=-1),
        "broken-arrow-data",
    ),
    "a released schema": (TEXT, lambda s, a: change(s, release=None), "broken-arrow-data"),
    "no list of columns in a batch": (
        TABLE,
        lambda s, a: change(a, children=None),
        "broken-arrow-data column",
    ),
    "no column in a batch": (TABLE, lambda s, a: clear(a.children, 0), "broken-arrow-data column"),
    "no list of buffers": (
        TEXT,
        lambda s, a: change(a, buffers=None),
        "broken-arrow-data",
    ),
    "no list of buffers in a column": (
        TABLE,
        lambda s, a: change(child(a), buffers=None),
        "broken-arrow-data",
    ),
    "no offsets": (TEXT, lambda s, a: clear(a.buffers, 1), "broken-arrow-data"),
    "no text": (TEXT, lambda s, a: clear(a.buffers, 2), "broken-arrow-data"),
    "no variadic buffer": (VIEWS, lambda s, a: clear(a.buffers, 2), "broken-arrow-data"),
    "no sizes of variadic buffers": (
        VIEWS,
        lambda s, a: clear(a.buffers, 3),
        "broken-arrow-data",
    ),
    "no dictionary": (
        DICTIONARY,
        lambda s, a: change(a, dictionary=None),
        "broken-arrow-data",
    ),
    "a negative length": (TEXT, lambda s, a: change(a, length=-1), "broken-arrow-data"),
    "a negative offset": (TEXT, lambda s, a: change(a, offset=-1), "broken-arrow-data"),
    "an offset beyond all memory": (
        TEXT,
        lambda s, a: change(a, offset=2**63 - 1),
        "broken-arrow-data",
    ),
    "a length beyond all memory": (
        TABLE,
        lambda s, a: change(child(a), length=2**63 - 1),
        "broken-arrow-data",
    ),
}


class Changed:
    """Exports a column as Arrow structs, after a function has damaged them."""

    def __init__(self, column: Column, damage: Change) -> None:
        batch = Batch(column)
        self.kept = batch.made, batch.made.schema(column), batch.made.array(column)
        damage(*self.kept[1:])

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return capsule(self.kept[1]), capsule(self.kept[2])


@pytest.mark.parametrize("what", CASES)
def test_broken_structs_are_an_error(what: str) -> None:
    column, damage, message = CASES[what]
    assert sum(one.lines for one in strings_of([Changed(column, lambda s, a: None)])) == 3
    with raises_kind(message):
        list(strings_of([Changed(column, damage)]))


class WithoutSchema(Batches):
    """A stream without a callback, or one whose callback succeeds without filling in a schema."""

    missing = ""

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        made = super().__arrow_c_stream__()
        self.keep = made
        get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
        get_pointer.restype, get_pointer.argtypes = Pointer, (ctypes.py_object, ctypes.c_char_p)
        stream = Stream.from_address(get_pointer(made, b"arrow_array_stream"))
        if self.missing:
            setattr(stream, self.missing, None)
        return made


def test_a_stream_without_a_schema() -> None:
    with raises_kind("broken-arrow-data"):
        list(strings_of([WithoutSchema([], 0)]))


@pytest.mark.parametrize("callback", ["get_schema", "get_next", "get_last_error"])
def test_a_stream_without_a_callback(callback: str) -> None:
    stream = WithoutSchema([TEXT], TEXT)
    stream.missing = callback
    with raises_kind("broken-arrow-data"):
        list(strings_of([stream]))


def test_names_of_columns_cannot_control_the_terminal() -> None:
    column = table([strings(["a"], name="\x1b[31mred"), strings(["b"], name="other")], 1)
    with raises_kind("wrong-column \\x1b[31mred") as caught:
        list(strings_of([Batch(column)]))
    assert str(caught.value).isprintable()
