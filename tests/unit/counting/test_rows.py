"""The rows of counts: their order, and how they are handed out."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from spmcompat.counting.counter import Counter as WorkerCounter
from spmcompat.counting.counter import SentenceRules
from spmcompat.counting.counts import Counts
from spmcompat.counting.reading import read_counts
from spmcompat.counting.rows import Columns, RowReader
from spmcompat.runtime.cancel import CancelFlag
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import open_source
from tests.oracle import counting as oracle
from tests.unit import stages


def text_of(words: list[str], lines: int = 400) -> list[str]:
    dice = random.Random(1)
    return [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(lines)]


def counts_of(text: list[str]) -> Counts:
    plan = stages.plan_of()._replace(keeps_contexts=True, keeps_pretokens=False)
    return read_counts(plan, open_source(plan.text, text, stages.QUIET), Workers(2), stages.QUIET)


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


def test_a_batch_ends_when_it_has_much_text() -> None:
    words = [str(number) * 500_000 for number in range(1, 4)]
    text = [f"{number}{word}" for number in range(60) for word in words]
    plan = stages.plan_of(max_sentence_length=1 << 20)
    plan = plan._replace(keeps_contexts=True, keeps_pretokens=False)
    source = open_source(plan.text, text, stages.QUIET)
    counts = read_counts(plan, source, Workers(2), stages.QUIET)
    batches = [*RowReader(counts, Workers(2))]
    assert len(batches) > 1
    assert sum(batch.size for batch in batches) == len(text)
    assert max(len(batch.text) for batch in batches) < (1 << 26) + (1 << 20)


def test_counts_without_pretokens_have_no_rows() -> None:
    plan = stages.plan_of()._replace(keeps_contexts=True, keeps_pretokens=False)
    counts = Counts(plan, [WorkerCounter(0, SentenceRules(plan, CancelFlag()))], [], False)
    counts.merge(Workers(1))
    assert [*RowReader(counts, Workers(1))] == []
