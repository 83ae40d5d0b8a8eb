"""Reads rows with several columns of text from JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from spmcompat.errors import BadValueError, BrokenRecordError, TrainingError
from spmcompat.text.formats import AUTO, JSONL, PARQUET
from spmcompat.text.forms import Form
from spmcompat.text.json_records import what_is_wrong
from spmcompat.text.line_buffers import LONGEST_RECORD
from spmcompat.text.opening import InputFile, form_of_input, name_of, open_input
from spmcompat.text.parquet import read_columns
from spmcompat.text.records import numbered_lines

Row = tuple[str | None, ...]


def rows_of(path: str, columns: Mapping[str, str]) -> Iterator[Row]:
    """Yield the values of some columns in each row of a file.

    Parameters
    ----------
    path : str
        The path or address of JSON Lines, perhaps compressed, or of a Parquet file.
    columns : mapping from str to str
        The flag that names each column or field, as messages write it, and the name.

    Raises
    ------
    OSError
        If the file cannot be opened.
    TrainingError
        If the file is neither JSON Lines nor Parquet, or a value is not text.
    """
    with open_input(path) as file:
        form = form_of_input(file, AUTO, False)
        if form.format not in (JSONL, PARQUET):
            raise BadValueError(
                f"{path} is not a table. Give JSON Lines (.jsonl) or a Parquet file (.parquet)."
            )
        if form.format == PARQUET:
            yield from read_columns(file, columns)
        else:
            yield from _records(file, form, columns)


def _records(file: InputFile, form: Form, columns: Mapping[str, str]) -> Iterator[Row]:
    name = name_of(file.path)
    for buffer, lines in numbered_lines(file, form, LONGEST_RECORD):
        for number, line in enumerate(lines.split(b"\n"), buffer.first_line):
            if line.strip():
                yield _values(line, columns, f"{name}:{number}")


def _values(line: bytes, columns: Mapping[str, str], where: str) -> Row:
    flag = next(iter(columns))
    try:
        record = json.loads(line.decode())
        if isinstance(record, str) or record is None:
            raise BrokenRecordError(f"{where}: the record is not an object. Write an object.")
        for flag in columns:
            if record[columns[flag]] is not None:
                record[columns[flag]].encode()
        return tuple(record[name] for name in columns.values())
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, TrainingError):
            raise
        fault = what_is_wrong(line, columns[flag], flag)
        raise BrokenRecordError(f"{where}: {fault} Repair the line.") from None
