"""Peak memory of training from Arrow data: ``python -m benchmarks.arrow_memory TEXT``.

The libraries that provide the data also need memory. So for each library, one process only reads
all batches, and another process trains from them. The difference between the memory of these two
processes is the memory for training. It is compared with that of training from the plain file: the
memory of a process that trains from the file, minus that of a process that only imports spmcompat.
The memory of a process is its largest resident set, including the pages of mapped files.
"""

# Each process imports the library that it measures, and no other.

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import spmcompat
from benchmarks import ROOT
from spmcompat.runtime.measure import run

_TABLE, _STREAM, _PARQUET = "text.arrow", "text.arrows", "text.parquet"
_BATCH_ROWS = 4096
_HEAD = "| data | only reading | training | difference | beyond the file's |\n|---|---|---|---|---|"


class Producer(NamedTuple):
    """Data that a library provides.

    Attributes
    ----------
    name : str
        The name of the data in the table.
    make : callable
        Returns the argument for `spmcompat.train`, from the folder with the files.
    read : callable
        Reads all batches of the data, without spmcompat.
    """

    name: str
    make: Callable[[Path], dict[str, Any]]
    read: Callable[[Any], None]


# ---------------------------------------------------------------- the libraries


def _touch(batches: Iterable[Any]) -> None:
    """Read every byte of the columns of record batches or tables of pyarrow."""
    for batch in batches:
        for column in batch.columns:
            for chunk in getattr(column, "chunks", [column]):
                for buffer in chunk.buffers():
                    if buffer is not None:
                        zlib.crc32(buffer)


def _mapped(folder: Path) -> Any:
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(str(folder / _TABLE))).read_all()


def _read_table(data: Any) -> None:
    _touch(data.to_batches())


def _reader(folder: Path) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(pa.OSFile(str(folder / _STREAM)))


def _read_parquet(path: Any) -> None:
    """Read the rows with pyarrow, as spmcompat does."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    for group in range(file.num_row_groups):
        _touch(file.iter_batches(_BATCH_ROWS, row_groups=[group], use_threads=False))


def _polars(folder: Path) -> Any:
    import polars

    return polars.read_parquet(folder / _PARQUET)


def _polars_lazy(folder: Path) -> Any:
    import polars

    return polars.scan_parquet(folder / _PARQUET)


def _read_polars(data: Any) -> None:
    for part in data.iter_slices(_BATCH_ROWS):
        part.to_series().hash().sum()


def _read_polars_lazy(data: Any) -> None:
    for part in data.collect_batches(chunk_size=10_000, maintain_order=True):
        part.to_series().hash().sum()


def _pandas(folder: Path) -> Any:
    import pandas

    return pandas.read_parquet(folder / _PARQUET)


def _read_pandas(data: Any) -> None:
    for text in data["text"]:
        len(text)


def _duckdb(folder: Path) -> Any:
    import duckdb

    return duckdb.sql(f"select text from '{folder / _PARQUET}'")


def _read_duckdb(data: Any) -> None:
    _touch(data.to_arrow_reader(10_000))


def _nanoarrow(folder: Path) -> Any:
    import nanoarrow as na

    return na.ArrayStream.from_path(str(folder / _STREAM))


def _read_nanoarrow(data: Any) -> None:
    for batch in data:
        for text in batch.child(0).buffers[1:]:
            zlib.crc32(memoryview(text))


def _datasets(folder: Path) -> Any:
    from datasets import Dataset

    return Dataset.from_file(str(folder / _STREAM))


def _read_datasets(data: Any) -> None:
    _touch(data.with_format("arrow").iter(1000))


def _streamed(folder: Path) -> Any:
    from datasets import load_dataset

    return load_dataset("parquet", data_files=str(folder / _PARQUET), split="train", streaming=True)


def _of(data: Callable[[Path], Any]) -> Callable[[Path], dict[str, Any]]:
    return lambda folder: {"sentence_iterator": data(folder)}


def _file(name: str) -> Callable[[Path], dict[str, Any]]:
    return lambda folder: {"input": str(folder / name)}


PRODUCERS = (
    Producer("pyarrow: Arrow file, mapped", _of(_mapped), _read_table),
    Producer("pyarrow: reader of batches", _of(_reader), _touch),
    Producer("pyarrow: Parquet file, by `input`", _file(_PARQUET), _read_parquet),
    Producer("polars: DataFrame", _of(_polars), _read_polars),
    Producer("polars: LazyFrame of Parquet", _of(_polars_lazy), _read_polars_lazy),
    Producer("pandas: DataFrame", _of(_pandas), _read_pandas),
    Producer("DuckDB: relation of Parquet", _of(_duckdb), _read_duckdb),
    Producer("nanoarrow: ArrayStream", _of(_nanoarrow), _read_nanoarrow),
    Producer("datasets: Dataset", _of(_datasets), _read_datasets),
    Producer("datasets: IterableDataset", _of(_streamed), _read_datasets),
)
_PLAIN = Producer("the plain file", _file("text.txt"), lambda data: None)


# ---------------------------------------------------------------- the table


def prepare(text: Path, folder: Path) -> None:
    """Write the files that the libraries read, with batches of 4,096 lines."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    os.symlink(text.resolve(), folder / "text.txt")
    schema = pa.schema({"text": pa.string()})
    with (
        text.open(encoding="utf-8", errors="replace", newline="\n") as lines,
        pa.OSFile(str(folder / _TABLE), "wb") as table,
        pa.OSFile(str(folder / _STREAM), "wb") as stream,
        pa.ipc.new_file(table, schema) as table_writer,
        pa.ipc.new_stream(stream, schema) as stream_writer,
        pq.ParquetWriter(folder / _PARQUET, schema) as parquet,
    ):
        stripped = (line.removesuffix("\n") for line in lines)
        while rows := [line for _, line in zip(range(_BATCH_ROWS), stripped, strict=False)]:
            batch = pa.record_batch([pa.array(rows, pa.string())], schema=schema)
            table_writer.write_batch(batch)
            stream_writer.write_batch(batch)
            parquet.write_batch(batch, row_group_size=1 << 20)


def child(name: str, does_train: bool, options: dict[str, Any]) -> None:
    """Read the data, and train if `does_train`. The files are in the current folder."""
    producer = next(one for one in (*PRODUCERS, _PLAIN) if one.name == name)
    data = producer.make(Path())
    if does_train:
        spmcompat.train(**data, **options)
    else:
        producer.read(next(iter(data.values())))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a run fails or its pieces differ from the plain file's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arrow_memory", description=__doc__)
    parser.add_argument("text", type=Path, nargs="?")
    parser.add_argument("--only", default="", help="only use data whose name contains this text")
    parser.add_argument("--type", default="unigram", help="model type (default: %(default)s)")
    parser.add_argument("--vocab_size", type=int, default=32000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.child is not None:
        options = {
            "model_prefix": "m",
            "model_type": arguments.type,
            "vocab_size": arguments.vocab_size,
            "workers": arguments.workers,
            "hard_vocab_limit": False,
            "minloglevel": 2,
        }
        child(arguments.child[0], arguments.child[1] == "train", options)
        # If Python ended normally, threads of pyarrow might abort the process (apache/arrow#45214).
        os._exit(0)
    if arguments.text is None:
        parser.error("give a text")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(arguments.text, folder)
        return _table(arguments, folder)


def _table(arguments: argparse.Namespace, folder: Path) -> int:
    def peak(producer: Producer, does: str) -> float:
        command = [sys.executable, "-m", "benchmarks.arrow_memory", "--type", arguments.type]
        command += ["--vocab_size", str(arguments.vocab_size), "--workers", str(arguments.workers)]
        done = run(
            [*command, "--child", producer.name, does],
            folder,
            {"PYTHONPATH": str(ROOT), "HF_HOME": str(folder / "cache")},
        )
        if done.failure:
            raise SystemExit(f"{producer.name}: {done.failure}")
        return done.peak_kib / 1024

    def vocabulary() -> bytes:
        return (folder / "m.vocab").read_bytes()

    print(_HEAD)
    imported, trained = peak(_PLAIN, "read"), peak(_PLAIN, "train")
    alone, expected = trained - imported, vocabulary()
    print(f"| {_PLAIN.name} | {imported:.0f} | {trained:.0f} | {alone:.0f} | |", flush=True)
    differs = False
    for producer in PRODUCERS:
        if arguments.only not in producer.name:
            continue
        read, trained = peak(producer, "read"), peak(producer, "train")
        same = vocabulary() == expected
        differs |= not same
        print(
            f"| {producer.name}{'' if same else ' DIFFERENT PIECES'} | {read:.0f} | {trained:.0f} "
            f"| {trained - read:.0f} | {trained - read - alone:+.0f} |",
            flush=True,
        )
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main())
