"""Reads a column of Arrow files: the file format, which includes Feather, and the stream format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spmcompat.errors import BrokenFileError
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_inputs import column_of_schema, naming, seekable
from spmcompat.text.arrow_producers import strings_of
from spmcompat.text.compression import contents
from spmcompat.text.formats import ARROW, require_library
from spmcompat.text.forms import Form, content_of
from spmcompat.text.line_buffers import ReadableInto
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.skipped import Skipped

if TYPE_CHECKING:
    import pyarrow as pa

_CHUNK_BYTES = 1 << 20
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


def read(file: InputFile, form: Form, text: TextPlan, skipped: Skipped) -> Iterator[ReadBuffer]:
    """Yield the strings of a column. One record batch is in memory at a time.

    Only streams may be compressed as a whole. See `read_records` for the parameters and the errors.
    """
    require_library(ARROW)
    column = text.input_column
    reader = (
        _ArrowFile(file, column)
        if content_of(file.head) == ARROW
        else _ArrowStream(file, form, column)
    )
    name = name_of(file.path)
    limits = text.longest_record, text.keeps_ends
    yield from strings_of(_checked(reader, name), reader.path, name, *limits)


def _checked(reader: _ArrowFile | _ArrowStream, name: str) -> Iterator[pa.RecordBatch]:
    """Check the offsets and indices of each batch's column, and yield the column as a batch."""
    import pyarrow as pa

    with naming(name):
        dictionary = None
        for batch in reader.batches():
            column = batch.column(reader.column)
            if isinstance(column, pa.DictionaryArray):
                dictionary = _check_dictionary(column, dictionary)
            else:
                column.validate(full=True)
            yield pa.RecordBatch.from_arrays([column], [reader.column])


def _check_dictionary(column: pa.DictionaryArray, checked: pa.Array | None) -> pa.Array:
    """Check a column with a dictionary, and return the dictionary.

    Usually, all batches of a file share one dictionary. It may be much larger than a batch, so it
    is checked only if it is not `checked`, the dictionary of the batch before.
    """
    import pyarrow as pa

    column.validate()
    found = column.dictionary
    pa.DictionaryArray.from_arrays(column.indices, found)  # raises if an index is out of range
    if checked is None or len(found) != len(checked) or found.buffers() != checked.buffers():
        found.validate(full=True)
    return found


class _ArrowFile:
    """An Arrow file of batches. It ends with an index of the batches.

    Attributes
    ----------
    column : str
        The column that contains the text.
    path : str
        The path of the text in this column, as in `column_of_schema`.
    """

    def __init__(self, file: InputFile, column: str) -> None:
        import pyarrow as pa

        name = name_of(file.path)
        self._file = file
        self._size = file.size or 0
        with naming(name):
            source = seekable(file, ARROW)
            if isinstance(source, str):
                source = pa.OSFile(os.fsencode(source))
            schema = pa.ipc.open_file(source).schema
        self.column, self.path = column_of_schema(schema, column, name)
        options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(self.column)])
        with naming(name):
            self._reader = pa.ipc.open_file(source, options=options)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches. Only the column `self.column` is read."""
        batches: int = self._reader.num_record_batches
        for index in range(batches):
            batch = self._reader.get_batch(index)
            self._file.consumed = self._size * (index + 1) // batches
            yield batch


class _ArrowStream:
    """An Arrow stream of batches. It has the same attributes as `_ArrowFile`."""

    def __init__(self, file: InputFile, form: Form, column: str) -> None:
        import pyarrow as pa

        self._name = name_of(file.path)
        self._bytes = _Bytes(contents(file, form))
        with naming(self._name):
            self._reader = pa.ipc.open_stream(self._bytes)
        self.column, self.path = column_of_schema(self._reader.schema, column, self._name)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches.

        Raises
        ------
        TrainingError
            If the stream does not end with the mark that all writers put there, or bytes follow the
            mark. pyarrow neither requires the mark nor reads beyond it, so it does not notice that
            batches are missing, or that there is a second stream.
        """
        yield from self._reader
        if self._bytes.last != _END_OF_STREAM:
            raise BrokenFileError(
                f"{self._name} ends early: the mark at the end of an Arrow stream is missing. Copy "
                "or make the file again."
            )
        if self._bytes.read(1):
            raise BrokenFileError(
                f"{self._name}: bytes follow the end of its Arrow stream. Give each stream as a "
                "separate file."
            )


class _Bytes:
    """The content of a file as pyarrow reads it.

    Attributes
    ----------
    closed : bool
        Always False. pyarrow requires this attribute.
    last : bytes
        The last eight bytes that were read.
    """

    closed = False

    def __init__(self, file: ReadableInto) -> None:
        self._file = file
        self.last = b""

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes; fewer at the end of the file."""
        # A broken file can make pyarrow ask for a huge size, so memory is only allocated for bytes
        # that exist.
        data = bytearray()
        chunk = bytearray(min(size, _CHUNK_BYTES))
        while len(data) < size:
            view = memoryview(chunk)[: size - len(data)]
            taken = self._file.readinto(view)
            if not taken:
                break
            data += view[:taken]
        self.last = (self.last + data[-8:])[-8:]
        return bytes(data)
