"""Reads inputs other than plain text files: compressed files, JSON Lines and Parquet."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from spmcompat.errors import TrainingError, printable
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_columns import DEFAULT_COLUMN
from spmcompat.text.columns import JsonLines
from spmcompat.text.compression import Decompressed
from spmcompat.text.forms import HEAD_BYTES, PARQUET, Form, check_contents
from spmcompat.text.line_buffers import cut_at_lines
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.parquet import read_column
from spmcompat.text.skipped import Skipped

LONGEST_RECORD = 1 << 24
"""A longer record of JSON Lines (in bytes) is skipped, unless `max_sentence_length` is large.

The whole record must fit into memory.
"""


def read_records(
    file: InputFile, form: Form, text: TextPlan, skipped: Skipped
) -> Iterator[ReadBuffer]:
    """Yield the read buffers of an input.

    The `input_size` of a buffer is the number of bytes of the input, which may be compressed, that
    were read for the buffer.

    Parameters
    ----------
    file : InputFile
        The input.
    form : Form
        Its compression and format.
    text : TextPlan
        Names the column, and states how to read the input.
    skipped : Skipped
        Counts the records that cannot be read.

    Raises
    ------
    TrainingError
        If the input cannot be read to its end.
    """
    if form.format == PARQUET:
        buffers = read_column(file, text.input_column, text.longest_record)
    elif form.has_lines:
        buffers = _lines(file, form, text)
    else:
        buffers = _json_lines(file, form, text, skipped)
    for buffer in buffers:
        if text.split_lines and not form.has_lines:
            buffer.split_lines()
        yield buffer


def _lines(file: InputFile, form: Form, text: TextPlan) -> Iterator[ReadBuffer]:
    name = name_of(file.path)
    taken = 0
    for buffer in cut_at_lines(contents(file, form), name, longest=text.longest_line):
        buffer.input_size = file.consumed - taken
        taken = file.consumed
        yield buffer


def _json_lines(
    file: InputFile, form: Form, text: TextPlan, skipped: Skipped
) -> Iterator[ReadBuffer]:
    name = name_of(file.path)
    column = text.input_column or DEFAULT_COLUMN
    longest = max(LONGEST_RECORD, 8 * text.max_sentence_length)
    records = JsonLines(column, longest)
    taken = broken = too_long = 0
    for lines in cut_at_lines(contents(file, form), name, longest=longest, numbered=True):
        first = lines.first_line
        text_of_lines = lines.lines_text()
        if first == 1:
            text_of_lines = without_mark(text_of_lines, name)
        buffer = records.read(text_of_lines, name, first)
        skipped.broken += records.broken - broken
        broken = records.broken
        skipped.too_long += records.too_long - too_long
        too_long = records.too_long
        if too_long and not skipped.first_too_long:
            skipped.first_too_long = f"{name}:{records.first_too_long_line}"
        if records.first_broken is not None and not skipped.first_broken:
            number, line = records.first_broken
            skipped.first_broken = f"{name}:{number}: {what_is_wrong(line, column)}"
            if not text.skip_bad_records:
                raise TrainingError(
                    f"{skipped.first_broken} Repair the line, or give --skip_bad_records to skip "
                    "broken lines; --input_format=text reads lines as they are."
                )
        buffer.input_size = file.consumed - taken
        taken = file.consumed
        yield buffer


class _Contents:
    """The decompressed content of a file. The constructor checks the first bytes."""

    def __init__(self, inner: Decompressed, name: str, form: Form) -> None:
        self._inner = inner
        head = bytearray(HEAD_BYTES)
        self._head = bytes(head[: inner.readinto(head)])
        check_contents(name, self._head, form)

    def readinto(self, buffer: memoryview, /) -> int:
        """Put bytes into the buffer and return how many; none at the end."""
        head, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(head)] = head
        return len(head) + self._inner.readinto(buffer[len(head) :])


def contents(file: InputFile, form: Form) -> InputFile | _Contents:
    """Return the decompressed content of a file. Reading compressed content also checks it."""
    if not form.compression:
        return file
    name = name_of(file.path)
    return _Contents(Decompressed(file, form.compression, name), name, form)


def without_mark(lines: bytes, name: str) -> bytes:
    """Return the first lines of a file without the byte order mark of UTF-8."""
    if lines.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise TrainingError(f"{name} is in UTF-16: convert it with iconv -f UTF-16 -t UTF-8.")
    return lines.removeprefix(codecs.BOM_UTF8)


def what_is_wrong(line: bytes, column: str) -> str:
    """Return a sentence that explains why a line of JSON Lines is broken.

    Parameters
    ----------
    line : bytes
        The line.
    column : str
        The name of the field that contains the text.
    """
    try:
        record = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return f"broken record: byte {error.start + 1} of the line is not valid UTF-8."
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        return f"broken record: not valid JSON: {reason}, at character {error.pos + 1} of the line."
    except (ValueError, RecursionError):
        return "broken record."
    if not isinstance(record, dict):
        found = record
        where = "the record"
    elif column not in record:
        listed = printable(", ".join(json.dumps(name, ensure_ascii=False) for name in record))
        return f'the record has no field "{column}"; it has {listed or "none"} (--input_column).'
    else:
        found = record[column]
        where = f'the field "{column}"'
    if isinstance(found, str):
        return f"broken record: {where} contains a lone surrogate, which has no UTF-8 form."
    kinds = {dict: "an object", list: "a list", bool: "a truth value"}
    return f"broken record: {where} is {kinds.get(type(found), 'a number')}, not a string."
