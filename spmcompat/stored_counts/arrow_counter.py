"""Counts a text that is given as Arrow record batches, part by part, in bounded memory."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING

from spmcompat.counting.counts import Counter, Counts, SentenceRules
from spmcompat.counting.rows import RowReader, total_count
from spmcompat.errors import NeedsSentencesError
from spmcompat.plan import Plan
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.origin import Origin
from spmcompat.stored_counts.unordered import KEY, fact_rows
from spmcompat.text.arrow_producers import strings_of
from spmcompat.text.lines import LineFilter
from spmcompat.unicode.marks import SPACE_MARK

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowCounter:
    """Counts parts of a text. The order of the lines does not matter.

    An engine such as Spark calls `count` for each part, in any process, adds up the counts of rows
    with equal ``pretoken``, ``place`` and ``next``, and writes the sums to Parquet files with
    `metadata`. The counter can be pickled.

    Parameters
    ----------
    plan : Plan
        How the text is read; the result of `for_table`.
    origin : Origin
        The origin of the counts, without facts about the text.
    column : str
        The column of strings. Each string is a sentence.
    table_bytes : int
        The size that the table of distinct pretokens may reach before its rows are yielded. Memory
        use may reach three times this size.

    Raises
    ------
    BadValueError
        If counting depends on the order of the lines.
    """

    def __init__(self, plan: Plan, origin: Origin, column: str, table_bytes: int) -> None:
        _check_needs_no_order(plan)
        self._plan = plan
        self._table_bytes = table_bytes
        self.origin = origin
        self.column = column

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows that `count` yields."""
        return arrow.schema()

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata that the Parquet files must contain in addition to the rows."""
        return {KEY: self.origin.to_json().decode()}

    def count(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count a part of the text.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            The text. A line break at the end of a string is removed; a null is skipped.

        Yields
        ------
        pyarrow.RecordBatch
            Rows of counts. Several rows may have equal values of ``pretoken``, ``place`` and
            ``next``.

        Raises
        ------
        TrainingError
            If a batch does not have the column, or the column does not contain strings.
        """
        workers = Workers(1)
        rules = SentenceRules(self._plan, workers.cancel)
        line_filter = LineFilter(self._plan.text)
        counter = Counter(0, rules)
        sentences = nulls = size = pretokens = 0
        last = b""
        for buffer in strings_of(batches, self.column):
            counted = counter.count(0, buffer, line_filter, False)
            sentences += counted.filled
            nulls += buffer.nulls
            size += buffer.size
            if self._plan.cutting.boundaries_end_pretokens:
                least = counter.least_last_pretoken(counted)
                last = min(last or least, least or last)
            if counter.table_bytes >= self._table_bytes:
                pretokens += yield from self._rows(counter, workers)
                counter = Counter(0, rules)
        pretokens += yield from self._rows(counter, workers)
        yield fact_rows(
            {
                "lines": line_filter.totals["lines"],
                "sentences": sentences,
                "too_long": line_filter.totals["too_long"],
                "reserved": line_filter.totals["reserved"],
                "nulls": nulls,
                "bytes_read": size,
                "pretokens": pretokens,
            },
            last,
        )

    def _rows(self, counter: Counter, workers: Workers) -> Generator[pa.RecordBatch, None, int]:
        """Yield the rows of counts, and return the sum of the counts.

        No row marks the end of the text, because `Counts` gets no `Batch`.
        """
        counts = Counts(self._plan, [counter], [], False)
        counts.merge(workers)
        total = 0
        for columns in RowReader(counts, workers):
            total += total_count(columns)
            yield arrow.to_batch(columns)
        return total


def _check_needs_no_order(plan: Plan) -> None:
    """Raise if the counts depend on the order of the sentences.

    Raises
    ------
    BadValueError
        If the counts depend on the order. The message names the option that causes this.
    """
    mark = SPACE_MARK.encode()
    reasons = {
        "add_dummy_prefix=false": not plan.counting.add_dummy_prefix,
        "treat_whitespace_as_suffix=true": plan.counting.treat_whitespace_as_suffix,
        "this pretokenizer": plan.cut is not None,
        "a symbol that contains U+2581": any(mark in symbol for symbol in plan.meta_pieces),
        "a pretokenization_delimiter that contains U+2581": mark in plan.counting.delimiter,
    }
    if plan.cutting.spaces_apart:
        reasons = {}
    found = [reason for reason, applies in reasons.items() if applies]
    if found:
        raise NeedsSentencesError(
            f"cannot count unordered lines: with {found[0]}, counts depend on which sentence "
            "follows which. Count files with spmcompat count, which reads them in order."
        )
    assert plan.counting.uniform_starts
