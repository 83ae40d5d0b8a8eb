"""A table of counts: in memory, in a file, or in a folder of files."""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from spmcompat.errors import (
    BadCountsError,
    CountsMismatchError,
    MissingFileError,
    TrainingError,
    printable,
    refuse_impossible,
)
from spmcompat.runtime.outputs import outputs
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.checks import CheckedParts
from spmcompat.stored_counts.origin import Origin
from spmcompat.stored_counts.unordered import (
    Closing,
    check_facts,
    close,
    closed,
    unordered_origin,
    without_facts,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

_Origin = TypeVar("_Origin")

KEY = b"spmcompat"
"""The key of the origin in the metadata of a Parquet file."""

_NOT_COUNTS = "Give a file that spmcompat count wrote."
_BATCH_ROWS = 1 << 17
_LEAST_ROWS = 1 << 10
# The approximate size of a batch in bytes, estimated from the size of the row group.
_BATCH_BYTES = 1 << 23


class StoredTable(Generic[_Origin]):
    """A table whose rows are in memory, or in Parquet files that are read when they are needed.

    Parameters
    ----------
    origin : object
        How the rows were made.
    rows : pyarrow.Table, optional
        The rows, if they are in memory.
    paths : sequence of paths
        The Parquet files that contain the rows, if they are not in memory.
    """

    _content = "counts"

    def __init__(
        self, origin: _Origin, rows: pa.Table | None = None, paths: Sequence[Path] = ()
    ) -> None:
        self.origin = origin
        self._rows = rows
        self._paths = [*paths]

    def __len__(self) -> int:
        """Return the number of rows."""
        if self._rows is not None:
            return int(self._rows.num_rows)
        return sum(open_parquet(path).metadata.num_rows for path in self._paths)

    @property
    def name(self) -> str:
        """The name of this table in messages."""
        if not self._paths:
            return f"the {self._content}"
        return printable(str(self._paths[0].parent if len(self._paths) > 1 else self._paths[0]))

    @property
    def files(self) -> list[str]:
        """The files that contain the rows; empty if the rows are in memory."""
        return [os.fspath(path) for path in self._paths]

    def __radd__(self, other: object) -> Self:
        """Return this table, because ``sum`` of several tables begins with 0 + the first table."""
        return self if other == 0 else NotImplemented


class CountTable(StoredTable[Origin]):
    """The counts of a text as a table, from which any number of models can be trained.

    A row has four columns:

    ``pretoken`` (string)
        A distinct pretoken of the normalized text, with U+2581 for a space.
    ``place`` (int8)
        0 if another pretoken of the same sentence follows, 1 if the pretoken ends a sentence but
        not the text, 2 if it ends the text. Exactly one row has place 2, and its count is 1. (A
        text without sentences has no rows.)
    ``next`` (int32)
        The code point of the character that follows the pretoken: the next character of the
        sentence, the first character of the next sentence, or 0 at the end of the text.
    ``count`` (int64)
        How often the pretoken occurs at this place, followed by this character.

    No two rows have equal values in the first three columns.

    Parameters
    ----------
    origin : Origin
        Which text was counted, and with which options.
    rows : pyarrow.Table, optional
        The rows, if they are in memory.
    paths : sequence of paths
        The Parquet files that contain the rows, if they are not in memory.
    closing : Closing, optional
        How the text ends, if the files contain unordered counts.
    """

    def __init__(
        self,
        origin: Origin,
        rows: pa.Table | None = None,
        paths: Sequence[Path] = (),
        closing: Closing | None = None,
    ) -> None:
        super().__init__(origin, rows, paths)
        self._closing = closing

    def __len__(self) -> int:
        """Return the number of rows."""
        return super().__len__() if self._closing is None else self._closing.rows

    def __repr__(self) -> str:
        return f"<CountTable of {self.origin.sentences:,} sentences, {len(self):,} rows>"

    @property
    def sentences(self) -> int:
        """The number of non-empty sentences."""
        return self.origin.sentences

    def to_arrow(self) -> pa.Table:
        """Return all rows as a ``pyarrow.Table``."""
        import pyarrow as pa

        if self._rows is not None:
            return self._rows
        return pa.Table.from_batches([*self.batches()], schema=arrow.schema())

    def batches(self, rows: int = _BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Check the values of the rows, and yield the rows in batches.

        Raises
        ------
        TrainingError
            If a file cannot be read, or its rows are not valid rows of counts.
        """
        reading = self.reading(rows)
        for part in reading.parts:
            yield from part
        reading.finish()

    def reading(self, rows: int = _BATCH_ROWS) -> CheckedParts:
        """Return all rows in parts. Each part may be read in its own thread."""
        return CheckedParts(
            self._parts(rows),
            self.name,
            is_sorted=self._closing is None,
            is_empty=self.origin.sentences == 0,
        )

    def _parts(self, rows: int) -> list[Iterator[pa.RecordBatch]]:
        if self._rows is not None:
            slices = self._rows.to_batches(max_chunksize=rows)
            return [self._checked(one) for one in slices]
        groups = [(path, open_parquet(path).metadata) for path in self._paths]
        return [
            self._rows_of(path, metadata, group, rows)
            for path, metadata in groups
            for group in range(metadata.num_row_groups)
        ]

    def _checked(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        typed = arrow.with_columns(batch, self.name)
        arrow.check(typed, self.name)
        yield typed

    def _rows_of(
        self, path: Path, metadata: pa.parquet.FileMetaData, group: int, rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a row group."""
        size = metadata.row_group(group)
        fitting = size.num_rows * _BATCH_BYTES // max(size.total_byte_size, 1)
        rows = max(min(rows, fitting), _LEAST_ROWS)
        for batch in _batches_of(path, rows, self._closing is not None, metadata, group):
            yield batch if self._closing is None else closed(batch, self._closing)

    def in_order(self, rows: int = _BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the rows sorted by pretoken (bytes), then place, then next character.

        Unordered counts are sorted here, in a temporary folder if there are many rows. Other tables
        are already in order.

        Raises
        ------
        TrainingError
            In the same cases as `batches`.
        """
        from spmcompat.stored_counts.sorting import sorted_rows

        batches = self.batches(rows)
        return batches if self._closing is None else sorted_rows(batches)

    def summary(self, frequent: int = 8) -> tuple[int, int, list[str]]:
        """Return the number of distinct pretokens, the total number, and the most frequent ones.

        The method reads all rows.
        """
        from spmcompat.stored_counts.merging_tables import Cursor

        distinct = occurrences = 0
        top: list[tuple[int, str]] = []
        cursor = Cursor(self.in_order())
        while cursor.rows is not None:
            totals = arrow.add_up(cursor.take_to(cursor.last), ["pretoken"])
            counted = totals.column("count").to_pylist()
            distinct += len(counted)
            occurrences += sum(counted)
            pretokens = totals.column("pretoken").to_pylist()
            top = heapq.nlargest(frequent, [*top, *zip(counted, pretokens, strict=True)])
        return distinct, occurrences, [pretoken for _, pretoken in top]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a Parquet file.

        Raises
        ------
        TrainingError
            If the file cannot be written. An existing file is then left unchanged.
        """
        write_counts(path, lambda: self.origin, self.in_order())

    def __add__(self, other: object) -> CountTable:
        """Return the counts of the text of this table, followed by the text of the other table."""
        import pyarrow as pa

        from spmcompat.stored_counts.merging_tables import Merging

        if not isinstance(other, CountTable):
            return NotImplemented
        merging = Merging([self, other])
        rows = pa.Table.from_batches([*merging], schema=arrow.schema())
        return CountTable(merging.origin(), rows)


def load_counts(path: str | os.PathLike[str]) -> CountTable:
    """Open a table of counts. Its rows are read when needed.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of Parquet files, as Spark writes it.

    Raises
    ------
    TrainingError
        If the file does not exist, or is not a table of counts.
    """
    paths, (origin, is_unordered) = files_of_table(path, _origin_of)
    if not is_unordered:
        return CountTable(origin, paths=paths)

    def batches() -> Iterator[pa.RecordBatch]:
        for one in paths:
            yield from _batches_of(one, _BATCH_ROWS, True)

    origin, closing = close(batches, origin, printable(os.fspath(path)))
    return CountTable(origin, paths=paths, closing=closing)


def files_of_table(
    path: str | os.PathLike[str], origin_of: Callable[[Path], _Origin]
) -> tuple[list[Path], _Origin]:
    """Return the Parquet files of a table, and their common origin.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of Parquet files.
    origin_of : callable
        Returns the origin that a file states.

    Raises
    ------
    TrainingError
        If there is no file, or the files were not made together.
    """
    arrow.require_pyarrow()
    refuse_impossible(path, "Check --counts")
    place = Path(path)
    paths = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    if not paths:
        raise MissingFileError(
            f"{printable(str(place))}: the folder contains no .parquet file. Check the path."
        )
    origins = [origin_of(one) for one in paths]
    if origins.count(origins[0]) != len(origins):
        raise CountsMismatchError(
            f"{printable(str(place))}: its files were not made together. Merge them with spmcompat "
            "counts merge."
        )
    return paths, origins[0]


def write_counts(
    path: str | os.PathLike[str],
    origin: Callable[[], Origin],
    batches: Iterable[pa.RecordBatch],
) -> None:
    """Write a Parquet file. `origin` is called after all rows are written.

    Raises
    ------
    MissingFileError
        If the file cannot be written. An existing file is then left unchanged.
    """
    write_parquet(path, arrow.schema(), batches, lambda: {KEY: origin().to_json()})


def write_parquet(
    path: str | os.PathLike[str],
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    metadata: Callable[[], dict[bytes, bytes]],
) -> None:
    """Write rows to a Parquet file. The first column has sorted texts, and the last one counts.

    `metadata` is called after all rows are written.

    Raises
    ------
    MissingFileError
        If the file cannot be written. An existing file is then left unchanged.
    """
    import pyarrow.parquet as pq

    text, *others, count = schema.names
    with (
        outputs("name") as files,
        files.open(path) as file,
        pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=others,
            # DELTA_BYTE_ARRAY omits the prefix that a text shares with the previous text. The texts
            # are sorted, so most of them share a prefix.
            column_encoding={text: "DELTA_BYTE_ARRAY", count: "PLAIN"},
        ) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
        writer.add_key_value_metadata(metadata())


def _origin_of(path: Path) -> tuple[Origin, bool]:
    """Return the origin in the metadata of a file, and whether its counts are unordered."""
    metadata = open_parquet(path).metadata.metadata or {}
    name = printable(str(path))
    if KEY in metadata:
        return Origin.from_json(metadata[KEY], name), False
    origin = unordered_origin(metadata, name)
    if origin is None:
        raise BadCountsError(
            f"{name} is a Parquet file, but does not contain counts. {_NOT_COUNTS}"
        )
    return origin, True


def open_parquet(
    path: Path, metadata: pa.parquet.FileMetaData | None = None
) -> pa.parquet.ParquetFile:
    """Open a Parquet file. Its metadata are only read if `metadata` is None.

    Raises
    ------
    TrainingError
        If the file cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = printable(str(path))
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # reading a pipe would block
            raise MissingFileError(f"{name} is not a regular file. {_NOT_COUNTS}")
        with open(path, "rb"):  # If the file cannot be opened, this raises the system's error.
            pass
        # If a name is not UTF-8, pyarrow accepts it only as bytes.
        file = pa.OSFile(os.fsencode(path))
        return pq.ParquetFile(file, metadata=metadata, pre_buffer=False, buffer_size=1 << 20)
    except (TrainingError, MemoryError):
        raise
    # pyarrow raises UnicodeDecodeError for the damaged name of a column.
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.strerror:  # an error of the system, not of pyarrow
            remedy = "Join files with spmcompat counts merge" if "," in name else "Check the path"
            raise MissingFileError(f'"{name}": {error.strerror}. {remedy}.') from error
        raise BadCountsError(
            f"{name} is not a Parquet file, or is damaged. {_NOT_COUNTS}"
        ) from None


def _batches_of(
    path: Path,
    rows: int,
    with_facts: bool,
    metadata: pa.parquet.FileMetaData | None = None,
    group: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Check and yield the rows of a file, or of one row group.

    The batches may include fact rows.
    """
    import pyarrow as pa

    name = printable(str(path))
    file = open_parquet(path, metadata)
    groups = None if group is None else [group]
    try:
        for batch in file.iter_batches(batch_size=rows, row_groups=groups, use_threads=False):
            typed = arrow.with_columns(batch, name)
            if with_facts:
                check_facts(typed, name)
            arrow.check(without_facts(typed) if with_facts else typed, name)
            yield typed
    except (TrainingError, MemoryError):
        raise
    except (pa.ArrowException, OSError) as error:
        raise BadCountsError(
            f"{name}: the file is broken. Copy it again, or count the text again."
        ) from error
