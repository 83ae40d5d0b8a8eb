"""Chooses the column of Arrow data that contains the text, and names types in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.errors import BadValueError, printable

DEFAULT_COLUMN = "text"
"""The column that is read if none is named."""

COLUMN = "column="
"""The argument that names a column, as messages write it."""

# The number of columns that a message names at most.
_MOST_LISTED = 30

_STRINGS = {
    "u": "string",
    "U": "large_string",
    "vu": "string_view",
    "z": "binary",
    "Z": "large_binary",
    "vz": "binary_view",
}
_OTHERS = {
    "n": "null",
    "b": "bool",
    "c": "int8",
    "C": "uint8",
    "s": "int16",
    "S": "uint16",
    "i": "int32",
    "I": "uint32",
    "l": "int64",
    "L": "uint64",
    "e": "float16",
    "f": "float32",
    "g": "float64",
}
_BEGINNINGS = {
    "w:": "fixed_size_binary",
    "d:": "decimal",
    "td": "date",
    "tt": "time",
    "ts": "timestamp",
    "tD": "duration",
    "ti": "interval",
    "+l": "list",
    "+L": "large_list",
    "+v": "list_view",
    "+w": "fixed_size_list",
    "+s": "struct",
    "+m": "map",
    "+u": "union",
    "+r": "run_end_encoded",
}


class Field(NamedTuple):
    """A column of Arrow data.

    Attributes
    ----------
    name : str
        Its name.
    format : str
        Its format string in the Arrow C data interface; for a dictionary, that of the indices.
    values : str
        The format string of a dictionary's values; empty without a dictionary.
    is_readable : bool
        Whether the column contains strings or only nulls.
    """

    name: str
    format: str
    values: str
    is_readable: bool

    @property
    def type_name(self) -> str:
        """The name of the type in Arrow."""
        return f"dictionary of {_name(self.values)}" if self.values else _name(self.format)

    @property
    def has_strings(self) -> bool:
        """Whether the column contains strings."""
        return self.is_readable and (self.values or self.format) in _STRINGS


def column_of_table(fields: Sequence[Field], column: str | None, option: str = COLUMN) -> int:
    """Return the index of the column that contains the text.

    Parameters
    ----------
    fields : sequence of Field
        The columns.
    column : str, optional
        The name of the column. Without it, `DEFAULT_COLUMN` is read, or else the only column of
        strings.
    option : str
        The option that names the column, as messages write it.

    Raises
    ------
    BadValueError
        If there is not exactly one such column, or it does not contain strings.
    """
    wanted = DEFAULT_COLUMN if column is None else column
    found = [index for index, field in enumerate(fields) if field.name == wanted]
    if not found and column is None:
        found = [index for index, field in enumerate(fields) if field.has_strings]
        if len(found) != 1:
            raise BadValueError(
                f"cannot tell which column holds the text: there is no column {wanted!r}, and "
                f"{len(found) or 'no'} columns hold strings. {_choice(fields, option)}"
            )
    if not found:
        raise BadValueError(f"there is no column {wanted!r}. {_choice(fields, option)}")
    if len(found) > 1:
        raise BadValueError(
            f"there is more than one column {wanted!r}. {_listed(fields)}. Rename one of them."
        )
    if not fields[found[0]].is_readable:
        remedy = _choice(fields, option)
        raise _unreadable(fields[found[0]], f"the column {wanted!r} holds", remedy)
    return found[0]


def check_column_alone(field: Field, column: str | None) -> None:
    """Raise if a column outside a table cannot be read.

    Raises
    ------
    BadValueError
        If the column does not contain strings, or a column name was given.
    """
    if column is not None:
        raise BadValueError(
            f"column={column!r} was given, but the data are a single column without a name. Leave "
            "column out."
        )
    if not field.is_readable:
        raise _unreadable(field, "the data hold")


def _unreadable(field: Field, what_holds: str, remedy: str = "") -> BadValueError:
    """Return the error for a column that cannot be read as strings."""
    if field.format == "+r":
        return BadValueError(
            f"{what_holds} run-end encoded values, which spmcompat does not read. Decode them "
            "first, with pyarrow.compute.run_end_decode for example."
        )
    return BadValueError(f"{what_holds} {field.type_name}, not strings. {remedy}".strip())


def _choice(fields: Sequence[Field], option: str) -> str:
    return f"{_listed(fields)}. Name one of them with {option}."


def _listed(fields: Sequence[Field]) -> str:
    """Return a sentence that names the columns and their types."""
    named = [f"{printable(field.name)} ({field.type_name})" for field in fields[:_MOST_LISTED]]
    if len(fields) > _MOST_LISTED:
        named.append(f"and {len(fields) - _MOST_LISTED} more")
    return f"The columns are: {', '.join(named)}" if named else "There are no columns"


def _name(form: str) -> str:
    """Return the name of a type."""
    return _STRINGS.get(form) or _OTHERS.get(form) or _BEGINNINGS.get(form[:2]) or form
