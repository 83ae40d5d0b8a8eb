"""Chooses the column of Arrow data that contains the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.errors import BadValueError, printable

DEFAULT_COLUMN = "text"
"""The column that is read if the user does not name one."""

COLUMN = "column="
"""The argument that names a column, as messages show it."""

# The largest number of columns that a message lists.
_MOST_LISTED = 30

_ACCEPTED = "spmcompat reads string, binary, their large and view types, and dictionaries of these"


class Field(NamedTuple):
    """A column of Arrow data.

    Attributes
    ----------
    name : str
        The name of the column.
    format : str
        The type of the column in the notation of the Arrow C data interface; for a dictionary, the
        type of the values.
    is_readable : bool
        Whether the column contains strings or only nulls.
    """

    name: str
    format: str
    is_readable: bool

    @property
    def has_strings(self) -> bool:
        """Whether the column contains strings."""
        return self.is_readable and self.format != "n"


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
        If there is no such column, or more than one, or the column does not contain strings.
    """
    wanted = DEFAULT_COLUMN if column is None else column
    found = [index for index, field in enumerate(fields) if field.name == wanted]
    if not found and column is None:
        found = [index for index, field in enumerate(fields) if field.has_strings]
        if len(found) != 1:
            raise BadValueError(
                f"cannot tell which column contains the text: there is no column {wanted!r}, and "
                f"{len(found) or 'no'} columns contain strings. {_choice(fields, option)}"
            )
    if not found:
        raise BadValueError(f"there is no column {wanted!r}. {_choice(fields, option)}")
    if len(found) > 1:
        raise BadValueError(
            f"there is more than one column {wanted!r}. {_listed(fields)}. Rename one of them."
        )
    if not fields[found[0]].is_readable:
        remedy = f"convert it first, or name another column with {option}"
        raise _unreadable(fields[found[0]], f"the column {wanted!r}", remedy)
    return found[0]


def check_column_alone(field: Field, column: str | None) -> None:
    """Raise if a column that is not part of a table cannot be read.

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
        raise _unreadable(field, "the column")


def _unreadable(field: Field, what: str, remedy: str = "convert it first") -> BadValueError:
    """Return the error for a column that cannot be read as strings."""
    return BadValueError(
        f"{what} has the Arrow format {field.format!r}, not strings. {_ACCEPTED}: {remedy}."
    )


def _choice(fields: Sequence[Field], option: str) -> str:
    return f"{_listed(fields)}. Name one of them with {option}."


def _listed(fields: Sequence[Field]) -> str:
    """Return a sentence that names the columns and says which of them contain strings."""
    named = [
        f"{printable(field.name)} (strings)" if field.has_strings else printable(field.name)
        for field in fields[:_MOST_LISTED]
    ]
    if len(fields) > _MOST_LISTED:
        named.append(f"and {len(fields) - _MOST_LISTED} more")
    return f"The columns are: {', '.join(named)}" if named else "There are no columns"
