"""Arrow data give the same read buffers, however they are sliced and divided."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.text.arrow_producers import strings_of
from spmcompat.text.lines import BUFFER_BYTES
from tests.unit.text.made_arrow import Batch, Batches, Column, bitmap, strings, table
from tests.unit.text.test_arrow_strings import FORMATS, expected, texts_of

Row = bytes | None
LONG = b"long " * (BUFFER_BYTES // 20)
rows_of_any_kind = st.lists(
    st.none()
    | st.binary(max_size=20)
    | st.sampled_from([b"", b"\r\n", b"a\n\r", b"x" * 12, b"y" * 13, LONG, LONG + b"\n"]),
    max_size=30,
)


def facts(parts: Sequence[Batch | Batches]) -> list[tuple[int, int, int, int, list[bytes]]]:
    return [
        (buffer.first_line, buffer.lines, buffer.nulls, buffer.size, texts_of([buffer]))
        for buffer in strings_of(parts)
    ]


def dictionary(rows: Sequence[Row], form: str, skip: int, name: str) -> Column:
    """Return a dictionary-encoded column, whose dictionary may contain nulls and duplicates."""
    entries = [None, *rows]
    indices = bytes(range(1, len(rows) + 1))
    valid = bitmap(row is not None or i % 2 == 0 for i, row in enumerate(rows))
    values = strings(entries, form)
    return Column("C", len(rows) - skip, (valid, indices), skip, name=name, dictionary=values)


@given(st.data(), rows_of_any_kind)
def test_any_slices_and_parts_give_the_same_read_buffers(
    data: st.DataObject, rows: list[Row]
) -> None:
    whole = facts([Batch(strings(rows))])
    texts = [text for buffer in whole for text in buffer[4]]
    lines, nulls = sum(buffer[1] for buffer in whole), sum(buffer[2] for buffer in whole)
    assert (texts, lines, nulls) == expected(rows)
    assert [buffer[0] for buffer in whole] == [
        1 + sum(before[1] + before[2] for before in whole[:i]) for i in range(len(whole))
    ]

    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    form = data.draw(st.sampled_from(FORMATS))
    shape = data.draw(st.sampled_from(["column", "table", "dictionary"]))
    parts: list[Column] = []
    for begin, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        # Rows around the slice, which must not be read.
        margin = data.draw(st.integers(0, begin))
        skip = data.draw(st.integers(0, margin)) if shape == "table" else 0
        around = rows[begin - margin :]
        if shape == "dictionary":
            column = dictionary(around, form, margin - skip, "text")
            column.length = end - begin
        else:
            column = strings(around, form, margin - skip, None, "text")
        if shape == "column":
            column.length = end - begin
        if shape == "table":
            column = table([column], end - begin, skip)
        parts.append(column)
    assert facts([Batches(parts, parts[0])]) == whole
    assert facts([Batch(part) for part in parts]) == whole


@pytest.mark.parametrize("form", FORMATS)
def test_hidden_rows_are_nulls(form: str) -> None:
    """A row is null if the validity bitmap of the table says so, whatever its column contains."""
    rows: list[Row] = [b"a", None, b"b" * 30, b"", b"c"] * 5
    for number in range(1 << 5):
        valid = [bool(number >> row % 5 & 1) for row in range(len(rows))]
        shown = [row if keep else None for row, keep in zip(rows, valid, strict=True)]
        hidden = table([strings(rows, form, name="text")], len(rows), 0, bitmap(valid))
        assert facts([Batch(hidden)]) == facts([Batch(strings(shown, form))])
