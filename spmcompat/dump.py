r"""The ``dump`` option: writes a table for each step of a training run to a folder.

Tables are in TSV format, or in Parquet format with the pyarrow package. The first line of a TSV
table contains the names of the columns. Pieces are always in double quotes, and a double quote in a
piece is doubled, so a piece may contain a tab or a line break. An empty cell is a missing value; a
piece is never empty. This call of pandas reads such a table without changing any value:

    pandas.read_csv(path, sep="\t", dtype={"piece": str}, keep_default_na=False, na_values="")
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from spmcompat.errors import UnwritableError
from spmcompat.runtime.outputs import Outputs
from spmcompat.runtime.rounds import Step

OVERVIEW = "rounds"
"""The file name, without its suffix, of the table that has one row for each step."""

_REMEDY = "Choose a new folder where files can be written and that has free space."

COLUMNS = ("piece", "kept", "reason", "score", "count", "loss", "new_score")
"""The columns of the table of a step. They are fields of `PieceRow`."""

MERGE_COLUMNS = ("piece", "left", "right", "kept", "reason", "count", "new_score")
"""The columns of the table of BPE merges."""


class Overview(NamedTuple):
    """A row of the overview: one step, and the file with its pieces."""

    file: str
    round: int
    step: str
    size_before: int
    size_after: int
    objective: float | None
    tokens: float | None
    threshold: float | None


class Dump:
    """Writes a table for each `Step` that it is called with.

    The tables are written to a temporary folder, together with an overview that has one row for
    each table. When the training succeeds, `files` gives the folder its final name.

    Parameters
    ----------
    folder : str
        The folder to create. If it exists, it must be empty.
    table_format : str
        ``tsv`` or ``parquet``.
    files : Outputs
        The outputs of the training run, which rename the temporary folder.

    Raises
    ------
    MissingFileError
        If the folder cannot be created.
    """

    def __init__(self, folder: str, table_format: str, files: Outputs) -> None:
        if table_format == "parquet":
            import pyarrow.parquet  # noqa: F401 - before the training needs the memory
        self._name = f'dump "{folder}"'
        self._format = table_format
        self._folder = files.new_folder(folder, self._name, _REMEDY)
        self._steps: list[Overview] = []

    @property
    def steps(self) -> int:
        """The number of steps whose tables have been written so far."""
        return len(self._steps)

    def __call__(self, done: Step) -> None:
        """Write the table of one step."""
        name = f"{len(self._steps):04d}-{done.step}.{self._format}"
        numbers = done.objective, done.tokens, done.threshold
        sizes = done.size_before, done.size_after
        self._steps.append(Overview(name, done.round, done.step, *sizes, *numbers))
        self._write(name, MERGE_COLUMNS if done.step == "merges" else COLUMNS, done.pieces)
        self._write(f"{OVERVIEW}.{self._format}", Overview._fields, self._steps)

    def _write(self, name: str, columns: Sequence[str], rows: Sequence[Any]) -> None:
        write = _write_parquet if self._format == "parquet" else _write_tsv
        try:
            write(os.path.join(self._folder, name), columns, rows)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UnwritableError(f"{self._name}: {reason}. {_REMEDY}") from error


def _write_tsv(path: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
    cells = [_FORMATS.get(name, _cell) for name in columns]
    values = attrgetter(*columns)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\t".join(columns) + "\n")
        for row in rows:
            texts = [cell(value) for cell, value in zip(cells, values(row), strict=True)]
            file.write("\t".join(texts) + "\n")


def _cell(value: object) -> str:
    """Return a value as text. None and NaN become an empty cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _quoted(text: str | None) -> str:
    return "" if text is None else '"' + text.replace('"', '""') + '"'


def _short(value: float | None) -> str:
    """Format a float32 with nine digits, enough to distinguish all float32 values."""
    if isinstance(value, float) and not math.isnan(value):
        return f"{value:.9g}"
    return _cell(value)


_FORMATS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("piece", "left", "right"), _quoted),
    **dict.fromkeys(("score", "new_score", "count"), _short),
}


def _write_parquet(path: str, columns: Sequence[str], rows: Sequence[Any]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    types = {
        **dict.fromkeys(("piece", "left", "right", "reason", "file", "step"), pa.string()),
        **dict.fromkeys(("score", "new_score"), pa.float32()),
        **dict.fromkeys(("round", "size_before", "size_after"), pa.int64()),
        "kept": pa.bool_(),
    }
    table = pa.table(
        {
            name: pa.array([getattr(row, name) for row in rows], types.get(name, pa.float64()))
            for name in columns
        }
    )
    with open(path, "wb") as file:
        parquet.write_table(table, file)
