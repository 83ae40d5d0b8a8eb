"""Tables of words: the counts from which the vocabulary of a tokenizer.json is trained."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.counting.rows import LARGEST_COUNT
from spmcompat.errors import (
    BadCountsError,
    CountsMismatchError,
    TooLargeError,
    WrongTypeError,
    printable,
)
from spmcompat.stored_counts.arrow import require_pyarrow
from spmcompat.stored_counts.merging_tables import times
from spmcompat.stored_counts.origin import differing_names, document_of, invalid_metadata
from spmcompat.stored_counts.table import StoredTable, files_of_table, open_parquet, write_parquet
from spmcompat.stored_counts.unordered import metadata_of
from spmcompat.words.words import Words

if TYPE_CHECKING:
    import pyarrow as pa

KEY = "spmcompat.words"
"""The key of the origin: in the metadata of a file, or of the ``word`` column in Spark."""

VERSION = 2
"""The version of the file format. A reader refuses all other versions."""

_BATCH_ROWS = 1 << 17


class WordOrigin(NamedTuple):
    """How words were counted.

    Attributes
    ----------
    splitting : dict
        The normalizer and the pre-tokenizer that cut the text into words, as in a tokenizer.json.
    are_bytes : bool
        Whether the letters of the words are their bytes. If not, they are their characters.
    changes : tuple of str
        Later changes to the counts: merging with weights, dropping rare words.
    has_total : bool
        Whether a row with an empty word has the number of all words, so that a missing file is
        noticed. Engines such as Spark write it, because they only add up rows.
    """

    splitting: dict[str, Any]
    are_bytes: bool
    changes: tuple[str, ...] = ()
    has_total: bool = False

    def to_json(self) -> bytes:
        """Return the metadata for a file."""
        return json.dumps({"version": VERSION, **self._asdict()}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, text: bytes, name: str) -> WordOrigin:
        """Read the metadata of a file, which the messages call `name`.

        Raises
        ------
        TrainingError
            If a release with another file format wrote the file, or the metadata are invalid.
        """
        document = document_of(text, VERSION, name)
        types = {"splitting": dict, "are_bytes": bool, "changes": list, "has_total": bool}
        is_valid = document.keys() == types.keys() and all(
            type(document[field]) is kind for field, kind in types.items()
        )
        if not is_valid or not all(isinstance(change, str) for change in document["changes"]):
            raise invalid_metadata(name, "they are not those of words")
        return cls(**{**document, "changes": tuple(document["changes"])})


class WordTable(StoredTable[WordOrigin]):
    """The words of a text with their counts, from which any number of tokenizers can be trained.

    A row has two columns: ``word`` (string), and ``count`` (int64), how often the word occurs.

    Parameters
    ----------
    origin : WordOrigin
        How the words were counted.
    rows : pyarrow.Table, optional
        The rows, if they are in memory.
    paths : sequence of paths
        The Parquet files that contain the rows, if they are not in memory.
    """

    _content = "words"

    def __len__(self) -> int:
        """Return the number of rows."""
        return max(super().__len__() - self.origin.has_total, 0)

    def __repr__(self) -> str:
        """Name the number of words."""
        return f"<WordTable of {len(self):,} words>"

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Check the rows, and yield them.

        Raises
        ------
        TrainingError
            If a file cannot be read, or its rows are not words with counts.
        """
        if self._rows is not None:
            yield from self._rows.to_batches(_BATCH_ROWS)
            return
        total = stated = 0
        for path in self._paths:
            for rows in _batches_of(path):
                batch, total_row = _without_total(rows) if self.origin.has_total else (rows, 0)
                stated += total_row
                total += _checked_total(batch, printable(str(path)))
                _refuse_too_large(total)
                yield batch
        if self.origin.has_total and total != stated:
            raise BadCountsError(
                f"{self.name}: the rows have {total} words, but {stated} were counted. A file is "
                "missing, or rows were changed: count again, and keep all rows."
            )

    def to_arrow(self) -> pa.Table:
        """Return all rows as a ``pyarrow.Table``."""
        import pyarrow as pa

        return pa.Table.from_batches([*self.batches()], schema=schema())

    def words(self) -> Words:
        """Return the words for training."""
        words = Words()
        self.add_to(words)
        return words

    def add_to(self, words: Words, weight: Fraction = Fraction(1)) -> None:
        """Add the words with their counts times a weight, each rounded, halves up."""
        for batch in self.batches():
            rows = batch if weight == 1 else _weighed(batch, weight)
            if rows.num_rows:
                words.add_rows(*_buffers(rows))

    def sums(self) -> tuple[int, int]:
        """Return how many words the text has, and how many bytes."""
        import pyarrow.compute as pc

        words = size = 0
        for batch in self.batches():
            lengths = pc.binary_length(batch.column("word")).to_pylist()
            counts = batch.column("count").to_pylist()
            words += sum(counts)
            # A product may be too large for pyarrow, but not for Python.
            size += sum(length * count for length, count in zip(lengths, counts, strict=True))
        return words, size

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a Parquet file.

        Raises
        ------
        TrainingError
            If the file cannot be written. An existing file is then left unchanged.
        """
        metadata = {KEY.encode(): self.origin._replace(has_total=False).to_json()}
        write_parquet(path, schema(), self.batches(), lambda: metadata)

    def __add__(self, other: object) -> WordTable:
        """Return the words of both texts."""
        return merge_word_tables([self, other]) if isinstance(other, WordTable) else NotImplemented


def schema() -> pa.Schema:
    """Return the columns of a table of words."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("word", pa.large_string(), nullable=False),
            pa.field("count", pa.int64(), nullable=False),
        ]
    )


def table_of(words: Words, origin: WordOrigin) -> WordTable:
    """Return the table of words, sorted by their bytes."""
    import pyarrow as pa

    require_pyarrow()
    ends, text, counts = words.rows()
    size = len(counts) // 8
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(text)]
    columns = [
        pa.Array.from_buffers(pa.large_string(), size, buffers),
        pa.Array.from_buffers(pa.int64(), size, [None, pa.py_buffer(counts)]),
    ]
    return WordTable(origin, pa.Table.from_arrays(columns, schema=schema()))


def load_words(path: str | os.PathLike[str]) -> WordTable | None:
    """Open a table of words: a Parquet file, or a folder of Parquet files.

    Returns
    -------
    WordTable or None
        None if the files have no metadata of words.

    Raises
    ------
    TrainingError
        If a file cannot be read, or the files were not made together.
    """
    paths, metadata = files_of_table(path, _metadata_of)
    if metadata is None:
        return None
    return WordTable(WordOrigin.from_json(metadata, printable(str(paths[0]))), paths=paths)


def _metadata_of(path: Path) -> bytes | None:
    return metadata_of(open_parquet(path).metadata.metadata or {}, KEY)


def open_words(counts: object) -> WordTable:
    """Return a table of words, or open the one at a path.

    Raises
    ------
    TrainingError
        If there is no such table.
    """
    if isinstance(counts, WordTable):
        return counts
    if not isinstance(counts, str | os.PathLike):
        raise WrongTypeError(
            f"counts must be a WordTable or its path, not {type(counts).__name__}."
        )
    table = load_words(counts)
    if table is None:
        raise BadCountsError(
            f"{printable(os.fspath(counts))} is not a table of words. Give a file that spmcompat "
            "count --like wrote."
        )
    return table


def merge_word_tables(
    tables: Sequence[WordTable],
    weights: Sequence[Fraction] | None = None,
    min_count: int = 1,
) -> WordTable:
    """Return the table of the words of several texts.

    Parameters
    ----------
    tables : sequence of WordTable
        The tables.
    weights : sequence of Fraction, optional
        How often to repeat each text; by default once.
    min_count : int
        Words that occur less often than this in all texts together are dropped.

    Raises
    ------
    CountsMismatchError
        If the texts were not cut in the same way.
    TrainingError
        If a table is broken, or the sum of all counts is too large.
    """
    import pyarrow.compute as pc

    first = tables[0]
    for table in tables[1:]:
        check_same(first.origin, table.origin, first.name, table.name)
    used = [*(weights or [Fraction(1)] * len(tables))]
    words = Words()
    for table, weight in zip(tables, used, strict=True):
        table.add_to(words, weight)
    changes = [change for table in tables for change in table.origin.changes]
    if any(weight != 1 for weight in used):
        listed = ", ".join(str(float(weight)) for weight in used)
        changes.append(f"merged with the weights {listed}")
    merged = table_of(words, first.origin)
    rows = merged.to_arrow()
    total = pc.sum(rows.column("count")).as_py() or 0
    _refuse_too_large(total)
    if min_count > 1:
        rows = rows.filter(pc.greater_equal(rows.column("count"), min_count))
        dropped = total - (pc.sum(rows.column("count")).as_py() or 0)
        changes.append(
            f"dropped words with fewer than {min_count} occurrences, "
            f"{dropped / max(total, 1):.4%} of the text"
        )
    return WordTable(first.origin._replace(changes=tuple(changes), has_total=False), rows)


def check_same(one: WordOrigin, other: WordOrigin, name: str, other_name: str) -> None:
    """Raise if texts were not cut in the same way.

    Raises
    ------
    CountsMismatchError
        If they were not. The message names what differs.
    """
    different = differing_names(
        {**one.splitting, "letters": one.are_bytes}, {**other.splitting, "letters": other.are_bytes}
    )
    if different:
        raise CountsMismatchError(
            f"{name} and {other_name} cut texts in different ways ({', '.join(different)}). Count "
            "the text again with --like."
        )


def _batches_of(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    name = printable(str(path))
    file = open_parquet(path)
    try:
        for batch in file.iter_batches(_BATCH_ROWS, use_threads=False):
            arrays = [batch.column(field.name).cast(field.type) for field in schema()]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema())
    except (pa.ArrowException, OSError, KeyError) as error:
        raise BadCountsError(
            f"{name}: the table of words is broken. Copy it again, or count again."
        ) from error


def _without_total(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
    """Return the rows of words, and the number of all words if the row that states it is here."""
    import pyarrow.compute as pc

    is_total = pc.fill_null(pc.equal(batch.column("word"), ""), False)
    stated = sum(batch.filter(is_total).column("count").drop_null().to_pylist())
    return batch.filter(pc.invert(is_total)), stated


def _checked_total(batch: pa.RecordBatch, name: str) -> int:
    """Return the sum of the counts of rows that may come from anyone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = batch.column("count")
    try:
        batch.validate(full=True)
    except pa.ArrowException:
        raise BadCountsError(f"{name}: a word is not valid UTF-8. Count again.") from None
    least, most = pc.min_max(counts).as_py().values()
    shortest = pc.min(pc.binary_length(batch.column("word"))).as_py()
    has_nulls = any(column.null_count for column in batch.columns)
    if has_nulls or (batch.num_rows and (least < 1 or most > LARGEST_COUNT or shortest < 1)):
        raise BadCountsError(f"{name}: a row has no word or an impossible count. Count again.")
    return sum(counts.to_pylist())  # pyarrow's sum could overflow


def _refuse_too_large(total: int) -> None:
    if total > LARGEST_COUNT:
        raise TooLargeError(
            "The sum of all counts is too large for 64 bits. Merge fewer tables, or lower the "
            "weights."
        )


def _weighed(batch: pa.RecordBatch, weight: Fraction) -> pa.RecordBatch:
    """Return rows with their counts times a weight, without those whose count becomes 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = [times(count, weight) for count in batch.column("count").to_pylist()]
    _refuse_too_large(sum(counts))
    weighed = pa.array(counts, pa.int64())
    rows = pa.RecordBatch.from_arrays([batch.column("word"), weighed], schema=schema())
    return rows.filter(pc.greater(weighed, 0))


def _buffers(batch: pa.RecordBatch) -> tuple[memoryview, memoryview, memoryview]:
    """Return the ends, the text and the counts of rows, as `Words.add_rows` takes them."""
    words, counts = batch.columns
    _, ends, text = words.buffers()
    numbers = memoryview(counts.buffers()[1]).cast("q")
    return (
        memoryview(ends).cast("q")[words.offset : words.offset + len(words) + 1],
        memoryview(text).cast("B"),
        numbers[counts.offset : counts.offset + len(counts)],
    )
