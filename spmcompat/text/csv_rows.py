"""Reads a column of CSV files, whose first row names the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError, BrokenRecordError, WrongColumnError
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_columns import Field, column_of_table
from spmcompat.text.forms import Form
from spmcompat.text.line_buffers import record_limit
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.records import numbered_lines
from spmcompat.text.skipped import Skipped

if TYPE_CHECKING:
    from _csv import Reader

# The csv module reads str, not bytes. In Latin-1, each byte is a character, so any bytes can be
# read and are returned unchanged. Commas and quotation marks are the same bytes as in UTF-8.
_BYTES = "latin-1"


def read(file: InputFile, form: Form, text: TextPlan, skipped: Skipped) -> Iterator[ReadBuffer]:
    """Yield the texts of a column. See `read_records` for the parameters and the errors."""
    name = name_of(file.path)
    # A limit for lines and fields is needed for a file in which a quotation mark is missing.
    longest = record_limit(text)
    # This limit applies to all readers of the process, so it is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), longest))
    rows = csv.reader(_lines(file, form, longest), strict=True)
    try:
        names = next((row for row in rows if row), None)
    except csv.Error as error:
        raise BrokenRecordError(
            f"{name}: the row with the names of the columns is broken: {_reason(error)}. Repair it."
        ) from None
    if names is None:
        return
    index = _index_of(names, text.input_column, name)
    texts = _texts(rows, len(names), index, name, skipped, text.skip_bad_records)
    # If a field contains line breaks, the numbers of the later lines in the same buffer are too
    # small.
    limits = text.longest_record, name, text.keeps_ends
    while buffer := ReadBuffer.of_items(texts, rows.line_num + 1, *limits):
        yield buffer


def _lines(file: InputFile, form: Form, longest: int) -> Iterator[str]:
    """Yield the lines of a file, with their line ends."""
    name = name_of(file.path)
    for buffer, lines in numbered_lines(file, form, longest):
        if buffer.dropped:
            raise BrokenRecordError(
                f"{name}:{buffer.first_line}: the line has more than {longest:,} bytes, so the "
                "file is probably not CSV. Divide the text into shorter rows."
            )
        yield from StringIO(lines.decode(_BYTES), newline="\n")


def _index_of(names: Sequence[str], column: str, name: str) -> int:
    """Return the index of the column that contains the text."""
    other = next((one for one in ";\t|" if one in names[0]), "") if len(names) == 1 else ""
    if other and names[0] != column.encode().decode(_BYTES):
        raise WrongColumnError(
            f"{name}: the first row has {other!r} between its names, but the delimiter must be a "
            "comma. Write the file again with commas."
        )
    fields = [Field(one.encode(_BYTES).decode(errors="replace"), "u", True) for one in names]
    try:
        path = column_of_table(
            lambda above: [] if above else fields, column or None, "--input_column"
        )
    except BadValueError as error:
        raise WrongColumnError(f"{name}: {error}") from None
    return path[0][0]


def _texts(
    rows: Reader, columns: int, index: int, name: str, skipped: Skipped, may_skip: bool
) -> Iterator[bytes]:
    """Yield the text of each row. Blank lines are ignored."""
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"not valid CSV: {_reason(error)}"
            # Without its quotation mark, a field contains many rows. They must not be skipped.
            if "field limit" in reason or "end of data" in reason:
                raise BrokenRecordError(
                    f"{name}:{line}: {reason}. A quotation mark is probably missing: repair the "
                    "line, or give --input_format=text to read lines as they are."
                ) from None
        else:
            if len(row) == columns:
                yield row[index].encode(_BYTES)
                continue
            if not row:
                continue
            reason = f"the row has {len(row)} fields, but the first row has {columns}"
        skipped.add_broken(1, f"{name}:{line}: broken record: {reason}.", may_skip)


def _reason(error: csv.Error) -> str:
    # The csv module appends a dash and advice for programmers, which is dropped.
    return str(error).partition(" - ")[0]
