"""Unordered counts of a text, as Spark and other engines add them up.

The rows are like those of a table of counts, with two differences:

- There is no row that ends the text. When the rows are read, the sentence whose last pretoken comes
  first in byte order is chosen to end the text. So the end depends only on the lines, not on how
  the text was divided into parts. With a named pretokenizer, the rows do not show which pretokens
  end a sentence: a pretoken before a boundary mark is counted like one at the end of a sentence. So
  each part of the text has a row with `LAST` in the column ``place``. It contains the pretoken that
  comes first in byte order among those that end a sentence of the part.
- Facts such as the number of lines are also rows, because engines only add up rows. Such a row has
  `FACT` in the column ``place``, and an index into `FACTS` in the column ``next``.

The metadata of each file contain the origin of the counts, with the key `KEY`. Spark instead
stores the same key in the metadata of the column ``pretoken``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.counting.rows import AT_END, AT_TEXT_END, LARGEST_COUNT, count_of_place, total_count
from spmcompat.errors import BadCountsError
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.checks import RepeatedRows
from spmcompat.stored_counts.origin import Origin
from spmcompat.unicode.marks import SPACE_MARK

if TYPE_CHECKING:
    import pyarrow as pa

KEY = "spmcompat.unordered"
"""The key of the origin: in the metadata of a file, or of the ``pretoken`` column in Spark."""
FACT = 3
"""The place of a row that states a fact."""
LAST = 4
"""The place of a row that names the last pretoken of a sentence, which may end the text."""
FACTS = ("lines", "sentences", "too_long", "reserved", "nulls", "bytes_read", "pretokens")
"""What fact rows state: the number of pretokens in the text, and fields of `Origin`."""

# The key under which Spark stores its schema in the metadata of a Parquet file.
_SPARK_KEY = b"org.apache.spark.sql.parquet.row.metadata"
_AGAIN = "Count again, and write the rows as they are."


class Closing(NamedTuple):
    """How to complete the rows of an unordered table with a row that ends the text.

    Attributes
    ----------
    pretoken : str
        The last pretoken of the sentence that ends the text.
    rows : int
        The number of rows of the completed table.
    """

    pretoken: str
    rows: int


def fact_rows(facts: Mapping[str, int], last: bytes) -> pa.RecordBatch:
    """Return the rows that state facts, and the one that names a last pretoken if there is one."""
    import pyarrow as pa

    rows = [
        {"pretoken": "", "place": FACT, "next": index, "count": facts[name]}
        for index, name in enumerate(FACTS)
        if facts[name]
    ]
    if last:
        rows.append({"pretoken": last.decode(), "place": LAST, "next": 0, "count": 1})
    return pa.RecordBatch.from_pylist(rows, schema=arrow.schema())


def check_facts(batch: pa.RecordBatch, name: str) -> None:
    """Raise if a row that states a fact or names a last pretoken has an impossible value.

    Raises
    ------
    TrainingError
        If such a row cannot have come from `fact_rows`.
    """
    import pyarrow as pa

    arrow.refuse_nulls(batch, name)
    facts, last = _rows_at(batch, FACT), _rows_at(batch, LAST)
    is_known = set(facts.column("next").to_pylist()) <= {*range(len(FACTS))}
    counts = facts.column("count").to_pylist()
    texts = set(facts.column("pretoken").cast(pa.binary()).to_pylist())
    if not is_known or texts - {b""} or not all(0 <= count <= LARGEST_COUNT for count in counts):
        raise BadCountsError(f"{name}: a row that states a fact is not valid. {_AGAIN}")
    # Apart from its place, a row that names a last pretoken is like other rows of counts.
    pretoken, _, *others = last.columns
    places = pa.array([AT_END] * last.num_rows, pa.int8())
    rows = pa.RecordBatch.from_arrays([pretoken, places, *others], schema=arrow.schema())
    arrow.check(rows, name)


def without_facts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows that count pretokens."""
    import pyarrow.compute as pc

    place = batch.column("place")
    is_count = pc.and_(pc.not_equal(place, FACT), pc.not_equal(place, LAST))
    # Keep nulls, so that the check of values finds them.
    return batch.filter(pc.fill_null(is_count, True))


def unordered_origin(metadata: Mapping[bytes, bytes], path: str) -> Origin | None:
    """Return the origin of unordered counts, without the facts; None if the file has none.

    Parameters
    ----------
    metadata : mapping of bytes to bytes
        The metadata of a Parquet file.
    path : str
        The path of the file, for messages.

    Raises
    ------
    TrainingError
        If the metadata are broken, or a release with another file format wrote them.
    """
    text = metadata_of(metadata, KEY)
    return None if text is None else Origin.from_json(text, path)


def metadata_of(metadata: Mapping[bytes, bytes], key: str) -> bytes | None:
    """Return the value of a key in the metadata of a Parquet file, also of one from Spark."""
    if value := metadata.get(key.encode()):
        return value
    try:
        columns = json.loads(metadata.get(_SPARK_KEY, b"{}")).get("fields", [])
        found = [one["metadata"][key] for one in columns if key in one.get("metadata", {})]
        return found[0].encode() if found else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def close(
    read: Callable[[], Iterable[pa.RecordBatch]], origin: Origin, name: str
) -> tuple[Origin, Closing]:
    """Read all rows to collect the facts and to determine how the text ends.

    Parameters
    ----------
    read : callable
        Returns all rows, including fact rows. Their values have been checked.
    origin : Origin
        The origin of the counts, without the facts.
    name : str
        The name of the table in messages.

    Raises
    ------
    TrainingError
        If there are no sentences, or rows are missing.
    """
    facts = dict.fromkeys(FACTS, 0)
    repeated = RepeatedRows(name)
    is_stated = bool(origin.rules["boundaries_end_pretokens"])
    rows = ends = pretokens = 0
    candidates: dict[str, int] = {}
    for batch in read():
        _add_facts(facts, batch)
        repeated.add(batch)
        counted = without_facts(batch)
        rows += counted.num_rows
        pretokens += total_count(arrow.to_columns(counted))
        if _rows_at(batch, AT_TEXT_END).num_rows:
            raise BadCountsError(
                f"{name}: a row ends the text (place {AT_TEXT_END}), but unordered counts have no "
                f"such row. {_AGAIN}"
            )
        ends += count_of_place(arrow.to_columns(batch), AT_END)
        candidates |= _first_of(_rows_at(batch, LAST if is_stated else AT_END))
    repeated.refuse(read())
    if facts["lines"] == 0:
        raise BadCountsError(
            f"{name}: no row states how many sentences there are. Give the folder with all its "
            "files, or count again: the text may not contain any sentence."
        )
    if not candidates:
        raise BadCountsError(f"{name}: all sentences are empty.")
    expected, sentences = facts.pop("pretokens"), facts["sentences"]
    if pretokens != expected or ends < sentences or (ends > sentences and not is_stated):
        raise BadCountsError(
            f"{name}: the rows contain {pretokens:,} pretokens and end {ends:,} sentences, but "
            f"{expected:,} and {sentences:,} were counted. A file is missing, or rows were "
            f"changed. {_AGAIN}"
        )
    last = min(candidates, key=str.encode)
    count = candidates[last]
    if is_stated:
        count = sum(_count_at_end(batch, last) for batch in read())
    if count == 0:
        raise BadCountsError(f"{name}: the row that ends the text is missing. {_AGAIN}")
    stated: dict[str, Any] = {**facts}
    whole = origin._replace(**stated)
    whole.check(name)
    return whole, Closing(last, rows + (count > 1))


def _add_facts(facts: dict[str, int], batch: pa.RecordBatch) -> None:
    for row in _rows_at(batch, FACT).to_pylist():
        facts[FACTS[row["next"]]] += row["count"]


def _rows_at(batch: pa.RecordBatch, place: int) -> pa.RecordBatch:
    import pyarrow.compute as pc

    return batch.filter(pc.equal(batch.column("place"), place))


def _first_of(batch: pa.RecordBatch) -> dict[str, int]:
    """Return the first pretoken in byte order and its count; empty if there are no rows."""
    import pyarrow.compute as pc

    if batch.num_rows == 0:
        return {}
    first = pc.min(batch.column("pretoken"))
    rows = batch.filter(pc.equal(batch.column("pretoken"), first))
    return {first.as_py(): pc.sum(rows.column("count")).as_py()}


def _ends_sentence(batch: pa.RecordBatch, pretoken: str) -> pa.BooleanArray:
    """Return a mask of the rows that may count `pretoken` at the ends of sentences."""
    import pyarrow.compute as pc

    # After the end of a sentence, the next character is the space mark that begins the next
    # sentence. Any other next character means that the row counts pretokens before a boundary mark
    # inside a sentence.
    at_end = pc.and_(
        pc.equal(batch.column("place"), AT_END), pc.equal(batch.column("next"), ord(SPACE_MARK))
    )
    return pc.and_(at_end, pc.equal(batch.column("pretoken"), pretoken))


def _count_at_end(batch: pa.RecordBatch, pretoken: str) -> int:
    import pyarrow.compute as pc

    rows = batch.filter(_ends_sentence(batch, pretoken))
    return pc.sum(rows.column("count")).as_py() or 0


def closed(batch: pa.RecordBatch, closing: Closing) -> pa.RecordBatch:
    """Return the rows of a batch that count pretokens, and add the row that ends the text.

    This row is only added if the batch counts the last pretoken of the text at the end of a
    sentence. One of these occurrences is then moved to the new row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    batch = without_facts(batch)
    is_last = _ends_sentence(batch, closing.pretoken)
    if not pc.any(is_last).as_py():
        return batch
    counts = pc.subtract(batch.column("count"), pc.cast(is_last, pa.int64()))
    rest = pa.RecordBatch.from_arrays([*batch.columns[:-1], counts], schema=arrow.schema())
    rest = rest.filter(pc.greater(counts, 0))
    end = {"pretoken": closing.pretoken, "place": AT_TEXT_END, "next": 0, "count": 1}
    return pa.concat_batches([rest, pa.RecordBatch.from_pylist([end], schema=arrow.schema())])
