"""Reads columns of a Parquet file in batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError, TooLargeError, WrongColumnError
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_inputs import column_of_schema, naming, seekable
from spmcompat.text.arrow_producers import strings_of
from spmcompat.text.formats import PARQUET, require_library
from spmcompat.text.forms import Form
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.skipped import Skipped

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ColumnChunkMetaData, FileMetaData, ParquetFile, RowGroupMetaData

# The maximum size of a batch of rows that is decoded at once: the bytes of its text, estimated from
# the sizes in the file, and the number of its rows.
_BATCH_BYTES = 1 << 22
_BATCH_ROWS = 1 << 14
# A file is refused if the cells of a row group are larger than this on average. pyarrow decodes
# whole pages, and needs memory for several times the size of a page.
_MOST_CELL_BYTES = 1 << 24
# The columns of a file of counts. Its pretokens are not sentences.
_OF_COUNTS = ["pretoken", "place", "next", "count"]
# Cells that are larger than this on average are read as dictionaries if most of them are equal.
_LONG_CELL_BYTES = 1 << 14


def read(file: InputFile, form: Form, text: TextPlan, skipped: Skipped) -> Iterator[ReadBuffer]:
    """Yield the strings of a column. See `read_records` for the parameters and the errors."""
    name = name_of(file.path)
    parquet = _ParquetColumns(file, {"--input_column": text.input_column})
    size = file.size or 0
    done = 0
    limits = text.longest_record, text.keeps_ends
    for buffer in strings_of(parquet.batches(), parquet.paths[0], name, *limits):
        done += buffer.rows
        file.consumed = size * done // max(parquet.rows, 1)
        yield buffer


def read_columns(file: InputFile, columns: Mapping[str, str]) -> Iterator[tuple[str | None, ...]]:
    """Yield the values of several columns of strings in each row, given their flags and names.

    Raises
    ------
    TrainingError
        If a column does not exist or does not contain strings, or the file is broken.
    """
    name = name_of(file.path)
    parquet = _ParquetColumns(file, columns)
    for batch in parquet.batches():
        values = [_texts(batch, column, name) for column in parquet.paths]
        yield from zip(*values, strict=True)


def _texts(batch: pa.RecordBatch, path: str, name: str) -> list[str | None]:
    """Return the values of a column. Equal values of a dictionary share one string."""
    import pyarrow as pa

    if path not in batch.schema.names or pa.types.is_nested(batch.schema.field(path).type):
        raise WrongColumnError(
            f"{name}: {path!r} is nested, or is a list. Give a column of strings."
        )
    with naming(name):
        column = batch.column(path)
        if not pa.types.is_dictionary(column.type):
            whole: list[str | None] = column.cast(pa.string()).to_pylist()
            return whole
        texts: list[str] = column.dictionary.cast(pa.string()).to_pylist()
        return [None if index is None else texts[index] for index in column.indices.to_pylist()]


class _ParquetColumns:
    """Columns of a Parquet file.

    Parameters
    ----------
    file : InputFile
        The file.
    columns : mapping from str to str
        The flag that names each column, and the name that the user gave.

    Attributes
    ----------
    paths : list of str
        The paths of the texts in the file, as in `column_of_schema`.
    rows : int
        The number of rows.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str]) -> None:
        require_library(PARQUET)
        self._name = name_of(file.path)
        with naming(self._name):
            self._source = seekable(file, PARQUET)
            self._plain = self._open()
        schema = self._plain.schema_arrow
        if not any(columns.values()) and schema.names == _OF_COUNTS:
            raise BadValueError(
                f"{self._name} is a file of counts: give it with --counts instead of --input."
            )
        found = [
            column_of_schema(schema, column, self._name, flag) for flag, column in columns.items()
        ]
        self.paths = [path for _, path in found]
        self.rows: int = self._plain.metadata.num_rows
        self._leaves = _leaves(self._plain, found)
        self._names = [self._plain.schema.column(leaf).path for leaf in self._leaves]
        with naming(self._name):
            metadata = self._plain.metadata
            if any("dictionary<" in str(schema.field(top).type) for top, _ in found):
                metadata = _without_arrow_types(metadata)
                self._plain = self._open(metadata)
            self._as_dictionaries = self._open(metadata, self._names)

    def _open(
        self, metadata: FileMetaData | None = None, dictionaries: Sequence[str] = ()
    ) -> ParquetFile:
        """Open the file. The columns in `dictionaries` will be read as dictionaries."""
        from pyarrow.parquet import ParquetFile

        # With pre_buffer, pyarrow would read whole row groups into memory.
        return ParquetFile(
            self._source,
            metadata=metadata,
            pre_buffer=False,
            buffer_size=1 << 20,
            read_dictionary=dictionaries,
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each row group in batches.

        pyarrow copies equal cells for each row, so long cells that occur often could fill the
        memory. If it reads a column as a dictionary, it stores equal cells once, but then every
        batch contains all earlier values of its row group. So only row groups that are small, or
        that mostly consist of equal long cells, are read as dictionaries, each in one batch.
        """
        metadata = self._plain.metadata
        for group in range(metadata.num_row_groups):
            facts = metadata.row_group(group)
            chunks = [facts.column(leaf) for leaf in self._leaves]
            size = sum(self._bytes_of(chunk, group, facts.num_rows) for chunk in chunks)
            rows = min(max(_BATCH_BYTES * facts.num_rows // max(size, 1), 16), _BATCH_ROWS)
            parquet = self._plain
            if any(_is_better_as_dictionary(one, facts) for one in chunks):
                parquet, rows = self._as_dictionaries, max(facts.num_rows, 1)
            batches = parquet.iter_batches(
                batch_size=rows, row_groups=[group], columns=self._names, use_threads=False
            )
            with naming(self._name):
                yield from batches

    def _bytes_of(self, chunk: ColumnChunkMetaData, group: int, rows: int) -> int:
        """Return the size of a column in a row group, and raise if its cells are too large."""
        size: int = chunk.total_uncompressed_size
        if size > _MOST_CELL_BYTES * max(rows, 1):
            raise TooLargeError(
                f"{self._name}: row group {group} of {chunk.path_in_schema!r} has {size:,} bytes "
                f"in {rows} rows, which would need too much memory. Divide the texts into "
                "sentences, or write them as JSON Lines."
            )
        return size


def _leaves(parquet: ParquetFile, found: Sequence[tuple[str, str]]) -> list[int]:
    """Return the indexes of the columns in the file that must be read.

    Parameters
    ----------
    parquet : ParquetFile
        The file. It stores each field of a nested column as a separate column.
    found : sequence of (str, str)
        The columns with the texts, and the paths of the texts in them.
    """
    paths = [parquet.schema.column(i).path for i in range(parquet.metadata.num_columns)]
    leaves = set()
    for top, path in found:
        # The paths in the file also name the levels of lists. If such a level comes before the
        # field, no path in the file begins with `path`, so the whole column is read.
        for begin in (path, top):
            if below := [i for i, one in enumerate(paths) if f"{one}.".startswith(f"{begin}.")]:
                leaves.update(below)
                break
    return sorted(leaves)


def _without_arrow_types(metadata: FileMetaData) -> FileMetaData:
    """Return metadata without the Arrow types that the columns had when the file was written.

    These types can force pyarrow to read a column as a dictionary.
    """
    from pyarrow.parquet import read_metadata

    written = BytesIO()
    metadata.write_metadata_file(written)
    # pyarrow cannot change metadata, so the key of the Arrow types is renamed in the serialized
    # metadata. pyarrow ignores the new key, which must have the same length.
    return read_metadata(BytesIO(written.getvalue().replace(b"ARROW:schema", b"ARROW-schema")))


def _is_better_as_dictionary(chunk: ColumnChunkMetaData, group: RowGroupMetaData) -> bool:
    """Return whether a column of a row group should be read as a dictionary."""
    if not chunk.has_dictionary_page:
        return False
    size: int = chunk.total_uncompressed_size
    if size <= _BATCH_BYTES:
        return True
    dictionary: int = chunk.data_page_offset - chunk.dictionary_page_offset
    is_long = size > _LONG_CELL_BYTES * group.num_rows
    return is_long and 2 * dictionary > int(chunk.total_compressed_size)
