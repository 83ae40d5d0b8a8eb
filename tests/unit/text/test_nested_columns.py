"""Strings in nested fields and lists of Arrow data, compared with the data as Python objects."""

from __future__ import annotations

import random
from typing import Any

import pytest

from spmcompat.text.arrow_producers import arrow_parts, strings_of
from tests.kinds import raises_kind
from tests.unit.text.made_arrow import Batch, Column, strings, table
from tests.unit.text.test_arrow_strings import texts_of

pa = pytest.importorskip("pyarrow")

LISTS = ["list_", "large_list", "list_view", "large_list_view", "fixed"]


def list_of(kind: str, inner: Any) -> Any:
    if kind == "fixed":
        return pa.list_(inner, 2)
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    return getattr(pa, kind)(inner)


def made(data_type: Any, dice: random.Random) -> Any:
    """Return a random value of a type."""
    if dice.random() < 0.2:
        return None
    if pa.types.is_struct(data_type):
        return {field.name: made(field.type, dice) for field in data_type}
    if hasattr(data_type, "value_type") and not pa.types.is_dictionary(data_type):
        size = 2 if pa.types.is_fixed_size_list(data_type) else dice.randrange(4)
        return [made(data_type.value_type, dice) for _ in range(size)]
    return dice.choice(["", "a", "b\n", "a longer text with é\r\n"])


def values_of(value: Any, path: list[str]) -> list[str | None]:
    if value is None:
        return [None]
    if isinstance(value, list):
        return [one for element in value for one in values_of(element, path)]
    return [value] if not path else values_of(value[path[0]], path[1:])


def read(data: Any, column: str | None = None) -> tuple[list[bytes], int, int, int]:
    parts = arrow_parts(data, column)
    assert parts is not None
    buffers = [*strings_of(parts, column)]
    sums = (sum(getattr(one, name) for one in buffers) for name in ("lines", "nulls", "rows"))
    return (texts_of(buffers), *sums)  # type: ignore[return-value]


def check(array: Any, path: list[str]) -> None:
    """Compare a column, as a whole and sliced, with its Python objects."""
    rows = array.to_pylist()
    data = pa.table({"other": range(len(array)), "text": array})
    column = ".".join(["text", *path])
    for begin, end in ((0, len(rows)), (3, len(rows) - 2), (7, 7)):
        found = [one for row in rows[begin:end] for one in values_of(row, path)]
        texts = [one.encode().rstrip(b"\r\n") for one in found if one is not None]
        numbers = (len(texts), found.count(None), end - begin)
        kept = [text for text in texts if text]
        assert read(data[begin:end], column) == (kept, *numbers)
        assert read(pa.table({"text": array[begin:end]}), column) == (kept, *numbers)
        batches = data[begin:end].to_batches(max_chunksize=4)
        assert read(pa.Table.from_batches(batches, data.schema), column) == (kept, *numbers)
        if not path and begin < end:
            assert read(array[begin:end]) == (kept, *numbers)


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("shape", ["list", "lists", "struct of list", "list of structs", "deep"])
def test_nested_columns(shape: str, kind: str) -> None:
    dice = random.Random(f"{shape} {kind}")
    texts = list_of(kind, pa.string())
    fields = pa.struct({"n": pa.string(), "b": pa.string()})
    types: dict[str, tuple[Any, list[str]]] = {
        "list": (texts, []),
        "lists": (list_of(kind, texts), []),
        "struct of list": (pa.struct({"a": pa.struct({"b": texts})}), ["a", "b"]),
        "list of structs": (list_of(kind, fields), ["b"]),
        "deep": (list_of(kind, pa.struct({"a": list_of(kind, fields)})), ["a", "b"]),
    }
    data_type, path = types[shape]
    for _ in range(5):
        check(pa.array([made(data_type, dice) for _ in range(20)], data_type), path)


def test_a_list_of_dictionaries() -> None:
    indices = pa.array(["a", None, "b", "a"]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 1, 4], pa.int32()), indices)
    assert read(lists) == ([b"a", b"b", b"a"], 3, 1, 3)


def test_a_column_with_the_whole_name_wins() -> None:
    inner = pa.array([{"b": {"c": "inner"}, "b.c": "middle"}])
    columns = {"a": inner, "a.b.c": ["whole"]}
    assert read(pa.table(columns), "a.b.c")[0] == [b"whole"]
    assert read(pa.table({"a": inner}), "a.b.c")[0] == [b"middle"]
    assert read(pa.table({"a": pa.array([{"b": {"c": "inner"}}])}), "a.b.c")[0] == [b"inner"]


def test_other_libraries() -> None:
    polars = pytest.importorskip("polars")
    rows = [{"meta": {"text": "a", "tags": ["b", None]}}, {"meta": {"text": None, "tags": []}}]
    frame = polars.DataFrame(rows)
    for data in (frame, frame.lazy()):
        assert read(data, "meta.text") == ([b"a"], 1, 1, 2)
        assert read(data, "meta.tags") == ([b"b"], 1, 1, 2)
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select {'text': 'a', 'tags': ['b', null]} as meta, 1 as n")
    assert read(relation, "meta.text")[0] == [b"a"]
    assert read(relation, "meta.tags")[:3] == ([b"b"], 1, 1)
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_list(rows)
    for data in (whole, whole.to_iterable_dataset()):
        assert read(data, "meta.text") == ([b"a"], 1, 1, 2)
    generated = datasets.IterableDataset.from_generator(lambda: iter(rows))
    assert read(generated, "meta.text") == ([b"a"], 1, 1, 2)


@pytest.mark.parametrize("form", ["+l", "+L", "+vl", "+vL", "+w:2"])
def test_a_list_that_ends_after_its_elements(form: str) -> None:
    texts = strings([b"a", b"b", b"c"], name="text")
    size = 8 if form in ("+L", "+vL") else 4
    offsets = b"".join(number.to_bytes(size, "little") for number in (0, 2, 4))
    buffers = {
        "+w:2": (None,),
        "+vl": (None, offsets, offsets[4:]),
        "+vL": (None, offsets, offsets[8:]),
    }
    column = Column(form, 2, buffers.get(form, (None, offsets)), name="text", children=[texts])
    with raises_kind("broken-arrow-data"):
        list(strings_of([Batch(table([column], 2))]))


def test_a_type_that_is_nested_without_end() -> None:
    column = strings([b"a"], name="item")
    for _ in range(70):
        column = Column("+l", 1, (None, bytes(4) + b"\1\0\0\0"), name="text", children=[column])
    with raises_kind("wrong-column text"):
        list(strings_of([Batch(table([column], 1))]))
