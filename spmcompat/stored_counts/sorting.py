"""Sorts rows in bounded memory: writes sorted runs to disk and merges them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.merging_tables import Cursor, merge_rows

if TYPE_CHECKING:
    import pyarrow as pa

_RUN_BYTES = 1 << 28
# The number of rows to read at a time from one run.
_ROWS_AT_A_TIME = 1 << 14


def sorted_rows(
    batches: Iterable[pa.RecordBatch], run_bytes: int = _RUN_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield rows sorted by pretoken (bytes), then place, then next character.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The rows, whose values have been checked.
    run_bytes : int
        How many bytes of rows to sort at a time. If there are more rows, the sorted runs are
        written to a temporary folder, and take about as much space on disk as they take in memory.
    """
    with tempfile.TemporaryDirectory(prefix="spmcompat-") as folder:
        runs: list[Path] = []
        pending: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            pending.append(batch)
            size += batch.nbytes
            if size >= run_bytes:
                runs.append(Path(folder) / f"{len(runs)}.arrow")
                _write_run(runs[-1], pending)
                pending, size = [], 0
        cursors = [Cursor(_run(path)) for path in runs]
        cursors.append(Cursor(iter(_sorted(pending))))
        yield from merge_rows(cursors)


def _sorted(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    import pyarrow as pa

    table = pa.Table.from_batches(batches, schema=arrow.schema())
    table = table.sort_by([(name, "ascending") for name in arrow.KEYS])
    rows: list[pa.RecordBatch] = table.to_batches(max_chunksize=_ROWS_AT_A_TIME)
    return rows


def _write_run(path: Path, batches: Sequence[pa.RecordBatch]) -> None:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, arrow.schema()) as writer:
        for batch in _sorted(batches):
            writer.write_batch(batch)


def _run(path: Path) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with pa.OSFile(str(path)) as source:
        reader = pa.ipc.open_file(source)
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index)
