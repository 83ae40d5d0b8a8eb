"""Time and memory of each file format: ``python -m benchmarks.formats TEXT``.

The lines of the text are written in each format. For each file, a new process counts and trains.
The pieces must be the same as those of the plain text. The time is that of the fastest of several
runs; the memory is the largest resident set of a process, including the libraries that read the
format.
"""

# The process that trains imports only what its format needs.

from __future__ import annotations

import argparse
import csv
import gzip
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.sides import Options, Side, ours
from spmcompat.runtime.measure import run

_BATCH_ROWS = 4096
_HEAD = "| format | MB | time in s | CPU time in s | MiB | times the time | times the MiB |"
_RULE = "|---|--:|--:|--:|--:|--:|--:|"


class Format(NamedTuple):
    """A file format.

    Attributes
    ----------
    name : str
        The name of the format in the table.
    file : str
        The name of the file.
    write : callable
        Writes the lines of the text to a path.
    column : str
        The value of ``input_column``; empty if the option is not given.
    """

    name: str
    file: str
    write: Callable[[Sequence[str], Path], None]
    column: str = ""


def _text(lines: Sequence[str], path: Path) -> None:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _json(record: Callable[[int, str], object]) -> Callable[[Sequence[str], Path], None]:
    def write(lines: Sequence[str], path: Path) -> None:
        texts = (json.dumps(record(*item), ensure_ascii=False) for item in enumerate(lines))
        _text([*texts], path)

    return write


def _csv(lines: Sequence[str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *enumerate(lines)])


def _lists(lines: Sequence[str]) -> list[list[str]]:
    """Divide the lines into lists of ten lines each."""
    return [[*lines[begin : begin + 10]] for begin in range(0, len(lines), 10)]


def _table(lines: Sequence[str], kind: str) -> Any:
    import pyarrow as pa

    if kind == "lists":
        return pa.table({"text": _lists(lines)})
    texts = pa.array(lines)
    if kind == "nested":
        numbers = pa.array(range(len(lines)))
        return pa.table({"meta": pa.StructArray.from_arrays([numbers, texts], ["id", "text"])})
    texts = texts.dictionary_encode() if kind == "dictionary" else texts
    return pa.table({"id": range(len(lines)), "text": texts})


def _parquet(kind: str = "", **options: Any) -> Callable[[Sequence[str], Path], None]:
    def write(lines: Sequence[str], path: Path) -> None:
        import pyarrow.parquet as pq

        pq.write_table(_table(lines, kind), path, **options)

    return write


def _arrow(kind: str = "", **options: Any) -> Callable[[Sequence[str], Path], None]:
    def write(lines: Sequence[str], path: Path) -> None:
        import pyarrow as pa

        table = _table(lines, kind)
        opened = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with opened(str(path), table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table, max_chunksize=_BATCH_ROWS)

    return write


_WHOLE_DICTIONARY = 1 << 40  # in bytes; pyarrow's default is to end a dictionary at 1 MiB
PLAIN = Format("plain text", "text.txt", _text)
FORMATS = (
    PLAIN,
    Format("gzip", "text.txt.gz", _text),
    Format("JSON Lines", "text.jsonl", _json(lambda number, line: {"id": number, "text": line})),
    Format(
        "JSON Lines, nested",
        "nested.jsonl",
        _json(lambda number, line: {"meta": {"id": number, "text": line}}),
        "meta.text",
    ),
    Format("CSV", "text.csv", _csv, "text"),
    Format("Parquet without dictionary", "plain.parquet", _parquet(use_dictionary=False)),
    Format("Parquet", "text.parquet", _parquet()),
    Format(
        "Parquet, all in a dictionary",
        "dictionary.parquet",
        _parquet(dictionary_pagesize_limit=_WHOLE_DICTIONARY),
    ),
    Format(
        "Parquet of an Arrow dictionary",
        "arrow-dictionary.parquet",
        _parquet("dictionary", dictionary_pagesize_limit=_WHOLE_DICTIONARY),
    ),
    Format("Parquet, nested", "nested.parquet", _parquet("nested"), "meta.text"),
    Format("Parquet, lists", "lists.parquet", _parquet("lists")),
    Format("Arrow file", "text.arrow", _arrow()),
    Format("Arrow file, zstd", "compressed.arrow", _arrow(compression="zstd")),
    Format("Arrow file of a dictionary", "dictionary.arrow", _arrow("dictionary")),
    Format("Arrow stream", "text.arrows", _arrow()),
    Format("Arrow file, nested", "nested.arrow", _arrow("nested"), "meta.text"),
    Format("Arrow file, lists", "lists.arrow", _arrow("lists")),
)


def rows(lines: Sequence[str], side: Side, options: Options, runs: int, only: str) -> Iterator[str]:
    """Yield the rows of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, expected = (0.0, 0), b""
        for one in FORMATS:
            if only not in one.name and one is not PLAIN:
                continue
            path = folder / one.file
            one.write(lines, path)
            given = {**options, "input": one.file, "model_prefix": "m", "minloglevel": 2}
            given |= {"input_column": one.column} if one.column else {}
            done = [run(side.command(given), folder, side.environment) for _ in range(runs)]
            if failure := next((each.failure for each in done if each.failure), None):
                raise SystemExit(f"{one.name}: {failure}")
            seconds = min(each.seconds for each in done)
            peak = max(each.peak_kib for each in done)
            found = (folder / "m.vocab").read_bytes()
            plain, expected = (plain, expected) if expected else ((seconds, peak), found)
            cpu = min(each.cpu_seconds for each in done)
            yield (
                f"| {one.name}{'' if found == expected else ' DIFFERENT PIECES'} "
                f"| {path.stat().st_size / 1e6:.1f} | {seconds:.2f} | {cpu:.2f} "
                f"| {peak / 1024:.0f} | {seconds / plain[0]:.2f} | {peak / plain[1]:.2f} |"
            )
            path.unlink()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a model differs from the model of the plain text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats", description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("--only", default="", help="only use formats whose name contains this text")
    parser.add_argument("--type", default="unigram", help="model type (default: %(default)s)")
    parser.add_argument("--vocab_size", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args(argv)
    # Only a line feed ends a line. Carriage returns before line feeds are removed below.
    with arguments.text.open(encoding="utf-8", errors="replace", newline="\n") as file:
        text = file.read()
    options: Options = {
        "model_type": arguments.type,
        "vocab_size": arguments.vocab_size,
        "hard_vocab_limit": False,
    }
    side = ours(arguments.workers, as_command=True)
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]
    print(f"{_HEAD}\n{_RULE}")
    differs = False
    for row in rows(lines, side, options, arguments.runs, arguments.only):
        print(row, flush=True)
        differs |= "DIFFERENT" in row
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main())
