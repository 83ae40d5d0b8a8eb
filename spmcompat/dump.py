r"""The option ``dump``: writes what each step of a training did into a folder of tables.

Tables are TSV, or Parquet with the package pyarrow. The first line of a TSV table has the names of
the columns. Pieces are always in double quotes, and a double quote in one is doubled. So a piece
may hold a tab or a line break. Empty cells are missing values; a piece is never empty. pandas reads
such a table exactly:

    pandas.read_csv(path, sep="\t", dtype={"piece": str}, keep_default_na=False, na_values="")
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from spmcompat.errors import MissingFileError
from spmcompat.model.writers import temporary_name
from spmcompat.runtime.rounds import PieceRow, Round

OVERVIEW = "rounds"
"""The name of the table that has one row for each step."""


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
    """Writes a table for each `Round` that it is called with.

    The tables are written into a temporary folder beside the target, with an overview that grows by
    a row each time. `finish` renames the folder. Without it, the ``with`` statement removes the
    folder at its end.

    Parameters
    ----------
    folder : str
        The folder to make. It does not exist yet, or is empty.
    table_format : str
        ``tsv`` or ``parquet``.
    """

    def __init__(self, folder: str, table_format: str) -> None:
        self._target = os.path.realpath(folder)
        self._shown = folder
        self._format = table_format
        self._folder = temporary_name(self._target)
        self._steps: list[Overview] = []

    def __enter__(self) -> Dump:
        self._try(os.mkdir, self._folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)  # it has another name once it is finished

    def __call__(self, done: Round) -> None:
        """Write the table of one step."""
        name = f"{len(self._steps):04d}-{done.step}.{self._format}"
        numbers = done.objective, done.tokens, done.threshold
        sizes = done.size_before, done.size_after
        self._steps.append(Overview(name, done.round, done.step, *sizes, *numbers))
        self._write(name, PieceRow, done.pieces)
        self._write(f"{OVERVIEW}.{self._format}", Overview, self._steps)

    def finish(self) -> int:
        """Give the folder its name, and return the number of steps."""
        self._try(os.rename, self._folder, self._target)
        return len(self._steps)

    def _write(self, name: str, kind: type[Any], rows: Sequence[Any]) -> None:
        write = _write_parquet if self._format == "parquet" else _write_tsv
        self._try(write, os.path.join(self._folder, name), kind, rows)

    def _try(self, action: Callable[..., object], *arguments: object) -> None:
        """Run what writes files, and turn its error into one line."""
        try:
            action(*arguments)
        except OSError as error:
            reason = error.strerror or str(error)
            raise MissingFileError(
                f'dump "{self._shown}": {reason}. Choose a new folder where files can be written '
                "and that has free space."
            ) from error


def _write_tsv(path: str, kind: type[Any], rows: Iterable[Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\t".join(kind._fields) + "\n")
        if kind is PieceRow:
            file.writelines(map(_piece_line, rows))
        else:
            file.writelines("\t".join(map(_cell, row)) + "\n" for row in rows)


def _piece_line(row: PieceRow) -> str:
    piece = row.piece.replace('"', '""')
    # Scores and expected counts are float32: nine digits tell all of them apart.
    score, count, new_score = (_short(row.score), _short(row.count), _short(row.new_score))
    kept, reason, loss = row.kept, row.reason, _cell(row.loss)
    return f'"{piece}"\t{kept}\t{reason}\t{score}\t{count}\t{loss}\t{new_score}\n'


def _short(value: float | None) -> str:
    return f"{value:.9g}" if isinstance(value, float) else _cell(value)


def _cell(value: object) -> str:
    """Return a value as text; what is no number or missing becomes empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(value)


def _write_parquet(path: str, kind: type[Any], rows: Sequence[Any]) -> None:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    types = {
        "piece": pa.string(),
        "kept": pa.bool_(),
        "score": pa.float32(),
        "new_score": pa.float32(),
        "file": pa.string(),
        "reason": pa.string(),
        "step": pa.string(),
        "round": pa.int32(),
        "size_before": pa.int64(),
        "size_after": pa.int64(),
    }
    columns = zip(*rows, strict=True) if rows else [() for _ in kind._fields]
    arrays = {
        name: pa.array(column, types.get(name, pa.float64()))
        for name, column in zip(kind._fields, columns, strict=True)
    }
    with open(path, "wb") as file:
        parquet.write_table(pa.table(arrays), file)
