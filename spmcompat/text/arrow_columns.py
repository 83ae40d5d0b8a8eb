"""Chooses the column of Arrow data that contains the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

from spmcompat.errors import BadValueError, WrongColumnError, printable

DEFAULT_COLUMN = "text"
"""The column that is read if the user does not name one."""

COLUMN = "column="
"""The argument that names a column, as messages show it."""

# The largest number of columns that a message lists.
_MOST_LISTED = 30

_ACCEPTED = (
    "spmcompat reads string, binary, their large and view types, dictionaries of these, and lists "
    "of these"
)


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
        Whether the column contains strings, lists of strings or only nulls.
    """

    name: str
    format: str
    is_readable: bool

    @property
    def has_strings(self) -> bool:
        """Whether the column contains strings, not lists of strings."""
        return self.is_readable and self.format != "n" and not self.format.startswith("+")


Path: TypeAlias = "tuple[tuple[int, str], ...]"
"""The index and the name of a column, and of each nested field down to the text."""


def column_of_table(
    fields_at: Callable[[list[int]], Sequence[Field]], column: str | None, option: str = COLUMN
) -> Path:
    """Return the path to the column or the nested field that contains the text.

    Parameters
    ----------
    fields_at : callable
        Takes a path: the index of a column, followed by the indexes of nested fields. Returns the
        fields of the struct, or of the lists of structs, to which the path leads; no fields if it
        leads to something else. For an empty path, returns the columns.
    column : str, optional
        The name of the column. If there is no column ``a.b``, the name ``a.b`` means the field
        ``b`` of the column ``a``. Without a name, `DEFAULT_COLUMN` is read, or else the only column
        of strings.
    option : str
        The option that names the column, as messages write it.

    Raises
    ------
    BadValueError
        If there is no such column, or more than one, or the column does not contain strings.
    """
    fields = fields_at([])
    names = chain.from_iterable(_names_of(i, one, fields_at) for i, one in enumerate(fields))
    choice = f"{_listed([*names])}. Name one of them with {option}."
    wanted = DEFAULT_COLUMN if column is None else column
    path = _path(fields_at, [], wanted)
    if path is None and column is None:
        found = [index for index, field in enumerate(fields) if field.has_strings]
        if len(found) != 1:
            number = f"{len(found)} columns contain" if found else "no top-level column contains"
            raise WrongColumnError(
                f"cannot tell which column contains the text: there is no column {wanted!r}, and "
                f"{number} strings. {choice}"
            )
        return ((found[0], fields[found[0]].name),)
    if path is None:
        raise WrongColumnError(f"there is no column {wanted!r}. {choice}")
    *above, (last, _) = path
    field = fields_at([index for index, _ in above])[last]
    if not field.is_readable:
        raise _unreadable(field, f"the column {wanted!r}", f"convert it first. {choice}")
    return path


def _path(
    fields_at: Callable[[list[int]], Sequence[Field]], above: list[int], wanted: str
) -> Path | None:
    """Return the path to a field below the path `above`, or None if there is no such field."""
    fields = fields_at(above)
    first, _, rest = wanted.partition(".")
    for name in (wanted, first):
        found = [index for index, field in enumerate(fields) if field.name == name]
        if len(found) > 1:
            raise WrongColumnError(f"there is more than one column {name!r}. Rename one of them.")
        if found and name == wanted:
            return ((found[0], name),)
        if found and rest:
            below = _path(fields_at, [*above, found[0]], rest)
            return None if below is None else ((found[0], name), *below)
    return None


def check_column_alone(field: Field, column: str | None) -> None:
    """Raise if a column that is not part of a table cannot be read.

    Raises
    ------
    BadValueError
        If the column does not contain strings, or a column name was given.
    """
    if column is not None:
        raise WrongColumnError(
            f"column={column!r} was given, but the data are a single column without a name. Omit "
            "`column`."
        )
    if not field.is_readable:
        raise _unreadable(field, "the column")


def _unreadable(field: Field, what: str, remedy: str = "convert it first.") -> BadValueError:
    """Return the error for a column that cannot be read as strings."""
    return WrongColumnError(
        f"{what} has the Arrow format {field.format!r}, not strings. {_ACCEPTED}: {remedy}"
    )


def _names_of(
    index: int, field: Field, fields_at: Callable[[list[int]], Sequence[Field]]
) -> list[str]:
    """Return the names of a column's fields, or the column's name. Mark those with strings."""
    inner = fields_at([index]) if field.format.startswith("+") else []
    found = [(f"{field.name}.{one.name}", one) for one in inner] or [(field.name, field)]
    return [f"{name} (strings)" if one.has_strings else name for name, one in found]


def _listed(names: Sequence[str]) -> str:
    """Return a sentence that names the columns and says which of them contain strings."""
    listed = [printable(name) for name in names[:_MOST_LISTED]]
    if len(names) > _MOST_LISTED:
        listed.append(f"and {len(names) - _MOST_LISTED} more")
    return f"The columns are: {', '.join(listed)}" if listed else "There are no columns"
