"""Reads a field of JSON Lines, and explains why a line is broken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from spmcompat.errors import printable
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_columns import DEFAULT_COLUMN
from spmcompat.text.columns import JsonLines
from spmcompat.text.forms import OF_ARRAYS, Form
from spmcompat.text.line_buffers import record_limit
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.records import numbered_lines
from spmcompat.text.skipped import Skipped

_RECORD, _ELEMENT = "the record", "an element of "
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(file: InputFile, form: Form, text: TextPlan, skipped: Skipped) -> Iterator[ReadBuffer]:
    """Yield the texts of a field. See `read_records` for the parameters and the errors."""
    name = name_of(file.path)
    column = text.input_column or DEFAULT_COLUMN
    longest = record_limit(text)
    records = JsonLines(column, longest, text.keeps_ends)
    for lines, text_of_lines in numbered_lines(file, form, longest):
        buffer = records.read(text_of_lines, name, lines.first_line)
        too_long, number = records.too_long
        skipped.huge += too_long
        if too_long and not skipped.first_huge:
            skipped.first_huge = f"{name}:{number}"
        broken, number, line = records.broken
        if broken:
            fault = f"{name}:{number}: {what_is_wrong(line, column)}"
            skipped.add_broken(broken, fault, text.skip_bad_records)
        yield buffer


def what_is_wrong(line: bytes, column: str, flag: str = "--input_column") -> str:
    """Return a sentence that explains why a line of JSON Lines is broken.

    Parameters
    ----------
    line : bytes
        The broken line.
    column : str
        The name of the field that contains the text.
    flag : str
        The flag that names the field, as messages write it.
    """
    if line.lstrip().startswith(b"["):
        return f"broken record: the line begins a list, not an object. {OF_ARRAYS}."
    try:
        fault = _fault(json.loads(line.decode()), column, _RECORD, flag)
    except UnicodeDecodeError as error:
        return f"broken record: byte {error.start + 1} of the line is not valid UTF-8."
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        return f"broken record: not valid JSON: {reason}, at character {error.pos + 1} of the line."
    except (ValueError, RecursionError):
        return "broken record."
    return fault or f'broken record: the field "{column}" is nested or is a list, not a string.'


def _fault(value: object, column: str, where: str, flag: str, above: str = "") -> str:
    """Return why a value, or its field `column`, is not text; "" if it is text or null.

    Parameters
    ----------
    value : object
        A part of a record.
    column : str
        The name of a field in it; empty if the value itself should be text.
    where : str
        A description of the value.
    flag : str
        The flag that names the field.
    above : str
        The path to the fields of the value; empty for a record.
    """
    if isinstance(value, list) and where != _RECORD:
        element = where if where.startswith(_ELEMENT) else _ELEMENT + where
        return next(filter(None, (_fault(one, column, element, flag, above) for one in value)), "")
    if isinstance(value, dict):
        first, _, rest = column.partition(".")
        if column and column in value:
            return _fault(value[column], "", f'the field "{column}"', flag, f"{above}{column}.")
        if rest and first in value:
            return _fault(value[first], rest, f'the field "{first}"', flag, f"{above}{first}.")
        names = (json.dumps(above + name, ensure_ascii=False) for name in _names(value))
        listed = f"{printable(', '.join(names))} (choose one with {flag})"
        problem = f'has no field "{column}"' if column else "is an object, not a string"
        return f"{where} {problem}; it has {listed if value else 'none'}."
    return _fault_of_text(value, "an object" if column and where != _RECORD else "a string", where)


def _names(record: dict[str, object]) -> Iterator[str]:
    """Yield the names of the fields; instead of a field that contains fields, their paths."""
    for name, value in record.items():
        part = value[0] if isinstance(value, list) and value else value
        inner = part if isinstance(part, dict) else {}
        yield from [f"{name}.{one}" for one in inner] or [name]


def _fault_of_text(value: object, wanted: str, where: str) -> str:
    """Return why a value is not text; "" if it is text or null."""
    if isinstance(value, str) and wanted == "a string":
        if not _SURROGATE.search(value):
            return ""
        return f"broken record: {where} contains a lone surrogate, which has no UTF-8 form."
    kinds = {str: "a string", list: "a list", bool: "a truth value"}
    kind = kinds.get(type(value), "a number")
    return "" if value is None else f"broken record: {where} is {kind}, not {wanted}."
