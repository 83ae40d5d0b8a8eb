"""The rows of counts: their order, their blocks, and their checks."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from itertools import pairwise

import pytest

from spmcompat.counting.counts import Counter as WorkerCounter
from spmcompat.counting.counts import Counts, SentenceRules
from spmcompat.counting.reading import read_counts
from spmcompat.counting.rows import (
    AT_END,
    AT_TEXT_END,
    LARGEST_COUNT,
    Columns,
    RowReader,
    RowTable,
    count_of_place,
    find_wrong_row,
    total_count,
)
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import CancelFlag
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import open_source
from tests.oracle import counting as oracle
from tests.unit import stages


def text_of(words: list[str], lines: int = 400) -> list[str]:
    dice = random.Random(1)
    return [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(lines)]


def counts_of(text: list[str]) -> Counts:
    plan = stages.plan_of().for_table()
    source = open_source(plan.text, text, stages.QUIET)
    return read_counts(plan, source, Context(Workers(2), stages.QUIET))


def rows_of(columns: Columns) -> list[tuple[str, int, int, int]]:
    ends = memoryview(columns.ends).cast("B").cast("i")
    text = bytes(columns.text)
    return [
        (text[ends[i] : ends[i + 1]].decode(), place, following, count)
        for i, (place, following, count) in enumerate(
            zip(
                memoryview(columns.place),
                memoryview(columns.next).cast("B").cast("I"),
                memoryview(columns.count).cast("B").cast("q"),
                strict=True,
            )
        )
    ]


SHORT = [f"w{number}" for number in range(2000)]
SAME_PREFIX = [f"abcdefghijk{number:05}" for number in range(2000)]
PREFIXES = ["a" * length for length in range(1, 300)]


@pytest.mark.parametrize(
    "words", [SHORT, SAME_PREFIX, PREFIXES, ["only"], ["é", "日本", "\U0001f600"]]
)
@pytest.mark.parametrize("pretokens", [1, 64, 500, 1 << 16])
def test_rows_are_in_order_however_many_are_together(words: list[str], pretokens: int) -> None:
    text = text_of(words)
    batches = [rows_of(one) for one in RowReader(counts_of(text), Workers(2), pretokens)]
    rows = [row for batch in batches for row in batch]
    assert Counter({row[:3]: row[3] for row in rows}) == oracle.rows(text)
    keys = [(pretoken.encode(), place, following) for pretoken, place, following, _ in rows]
    assert keys == sorted(set(keys))
    for batch, following in pairwise(batches):
        assert batch[-1][0] != following[0][0]


def test_which_rows_are_together_does_not_depend_on_workers() -> None:
    text = text_of(SHORT)
    found = [
        [rows_of(one) for one in RowReader(counts_of(text), Workers(workers), 128)]
        for workers in (1, 3)
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 4


@pytest.mark.slow
def test_a_batch_ends_when_it_has_much_text() -> None:
    words = [str(number) * 500_000 for number in range(1, 4)]
    text = [f"{number}{word}" for number in range(60) for word in words]
    plan = stages.plan_of(max_sentence_length=1 << 20)
    plan = plan.for_table()
    source = open_source(plan.text, text, stages.QUIET)
    counts = read_counts(plan, source, Context(Workers(2), stages.QUIET))
    batches = [*RowReader(counts, Workers(2))]
    assert len(batches) > 1
    assert sum(batch.size for batch in batches) == len(text)
    assert max(len(batch.text) for batch in batches) < (1 << 26) + (1 << 20)


def test_counts_without_pretokens_have_no_rows() -> None:
    plan = stages.plan_of().for_table()
    counts = Counts(plan, [WorkerCounter(0, SentenceRules(plan, CancelFlag()))], [], False)
    counts.merge(Workers(1))
    assert [*RowReader(counts, Workers(1))] == []


def columns_of(rows: list[tuple[bytes, int, int, int]]) -> Columns:
    ends = [0]
    for pretoken, *_ in rows:
        ends.append(ends[-1] + len(pretoken))
    return Columns(
        len(rows),
        array("i", ends).tobytes(),
        b"".join(row[0] for row in rows),
        array("b", [row[1] for row in rows]).tobytes(),
        array("i", [row[2] for row in rows]).tobytes(),
        array("q", [row[3] for row in rows]).tobytes(),
    )


GOOD = ("▁a\U0001f600".encode(), 1, 0x2581, 3)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (GOOD, None),
        ((b"\0", 1, 0x10FFFF, LARGEST_COUNT), None),
        ((b"a", 2, 0, 1), None),
        ((b"a", 2, 1, 1), "text end"),
        ((b"a\xff", 0, 1, 1), "utf8"),
        ((b"\xe2\x96", 0, 1, 1), "utf8"),
        ((b"\xed\xa0\x80", 0, 1, 1), "utf8"),
        (("\ufffd".encode(), 0, 1, 1), None),
        ((b"", 0, 1, 1), "empty"),
        ((b"a", -1, 1, 1), "place"),
        ((b"a", 3, 1, 1), "place"),
        ((b"a", 0, -1, 1), "next"),
        ((b"a", 0, 0x110000, 1), "next"),
        ((b"a", 0, 1, 0), "count"),
        ((b"a", 0, 1, LARGEST_COUNT + 1), "count"),
    ],
)
def test_the_first_wrong_row_is_found(row: tuple[bytes, int, int, int], wrong: str | None) -> None:
    columns = columns_of([GOOD, row, GOOD, (b"", 9, -9, -9)])
    assert find_wrong_row(columns) == ((1, wrong) if wrong else (3, "place"))


@pytest.mark.parametrize("ends", [[0, 2, 1, 3], [-1, 1, 2, 3], [0, 1, 2, 4]])
def test_ends_outside_of_the_text_are_wrong(ends: list[int]) -> None:
    columns = columns_of([(b"a", 0, 1, 1), (b"b", 0, 1, 1), (b"c", 0, 1, 1)])
    found = find_wrong_row(columns._replace(ends=array("i", ends).tobytes()))
    assert found is not None
    assert found[1] == "utf8"


def test_a_batch_without_rows_is_valid() -> None:
    empty = Columns(0, None, None, None, None, None)  # type: ignore[arg-type]
    assert find_wrong_row(empty) is None
    assert count_of_place(empty, AT_END) == 0


def test_counts_of_a_place_are_added_up() -> None:
    columns = columns_of([(b"a", 1, 1, 5), (b"b", 0, 1, 7), (b"c", 1, 2, 2), (b"c", 2, 0, 1)])
    assert count_of_place(columns, AT_END) == 7
    assert count_of_place(columns, AT_TEXT_END) == 1


def test_added_rows_can_be_read_again() -> None:
    rows = [(f"w{i:05}".encode(), *(0, 0x2581), i + 1) for i in range(9_000)]
    rows += [(f"x{i:05}".encode(), i % 2, 0x2581 + i % 3, 2**40) for i in range(9_000)]
    rows += [(b"y", 0, 0x61, 3), (b"y", 0, 0x2581, 4), (b"y", 1, 0x2581, 5), (b"y", 2, 0, 1)]
    shuffled = random.Random(1).sample(rows, len(rows))
    table = RowTable(stages.plan_of().for_table(), Workers(1))
    table.add(0, columns_of(shuffled[:10_000]))
    table.add(0, columns_of(shuffled[10_000:]))
    counts = table.take_counts(1, counts_of(["a"]).facts)
    found = [row for part in RowReader(counts, Workers(2)) for row in rows_of(part)]
    assert found == [(pretoken.decode(), *rest) for pretoken, *rest in rows]


def test_sums_of_counts_may_exceed_64_bits() -> None:
    columns = columns_of([(b"a", 0, 1, LARGEST_COUNT)] * 5 + [(b"b", 1, 1, 7)])
    assert total_count(columns) == 5 * LARGEST_COUNT + 7
    assert count_of_place(columns, 0) == 5 * LARGEST_COUNT
