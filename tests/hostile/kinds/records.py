"""Damaged files of records and compressed text, read by training and counting.

Parquet files are damaged only at the beginning and the end: pyarrow does not check everything that
it decodes from the pages between, so it may crash on malicious pages. Arrow files are damaged at
any position.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import json
import lzma
import random
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spmcompat.__main__ import main
from tests.hostile.mutations import damage_bytes, damage_document, to_json

LINES = [
    "The cat sat on the mat, and the dog sat.",
    "Übermut, naïve café; 猫がいる",
    "",
    "1 2 3",
] * 5
TEXT = "".join(f"{line}\n" for line in LINES).encode()
TABLE = "".join(f"{line}\t{number}\n" for number, line in enumerate(LINES, 1)).encode()
RECORDS: list[Any] = [{"id": n, "text": line, "tags": ["a", None]} for n, line in enumerate(LINES)]
JSONL = "".join(f"{json.dumps(record)}\n" for record in RECORDS).encode()
NESTED: list[Any] = [{"meta": {"text": [line, None]}, "text": 1} for line in LINES]
CSV = "".join(f'{n},"{line}\n""x""",b\r\n' for n, line in enumerate(["text", *LINES])).encode()


def prepare(folder: Path) -> None:
    """Write one valid file of each kind."""
    written = BytesIO()
    pq.write_table(pa.table({"text": LINES}), written)
    lists = [[line, None] for line in LINES]
    columns = [pa.array(LINES), pa.array(LINES).dictionary_encode(), pa.array(lists)]
    files = {
        "a.csv": CSV.replace(b'"text\n""x"""', b"text"),
        "a.nested.jsonl": "".join(f"{json.dumps(one)}\n" for one in NESTED).encode(),
        "a.strings.arrow": _arrow(columns[0], pa.ipc.new_file),
        "a.dictionaries.arrow": _arrow(columns[1], pa.ipc.new_file),
        "a.lists.arrow": _arrow(columns[2], pa.ipc.new_file),
        "a.compressed.feather": _arrow(columns[2], pa.ipc.new_file, compression="lz4"),
        "a.strings.arrows": _arrow(columns[0], pa.ipc.new_stream),
        "a.lists.arrows": _arrow(columns[2], pa.ipc.new_stream),
        "a.txt": TEXT,
        "a.tsv": TABLE,
        "a.jsonl": JSONL,
        "a.jsonl.gz": gzip.compress(JSONL),
        "a.txt.gz": gzip.compress(TEXT),
        "a.txt.xz": lzma.compress(TEXT),
        "a.txt.bz2": bz2.compress(TEXT),
        "a.parquet": written.getvalue(),
    }
    if (zstd := _zstd()) is not None:
        files["a.jsonl.zst"] = zstd(JSONL)
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        for command in _commands(path):
            assert main(command) == 0, command


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Damage one of the files, and choose a command that reads it."""
    source = chance.choice(sorted(valid.glob("a.*")))
    path = folder / source.name
    path.write_bytes(_damaged(source, chance))
    return partial(main, chance.choice(_commands(path)))


def _arrow(column: pa.Array, opened: Callable[..., Any], **options: Any) -> bytes:
    table = pa.table({"id": range(len(column)), "text": column})
    written = BytesIO()
    with opened(written, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=7)
    return written.getvalue()


def _damaged(source: Path, chance: random.Random) -> bytes:
    data = source.read_bytes()
    if source.name == "a.parquet":
        size = chance.choice([4, 8, len(data) // 2])
        return chance.choice(
            [
                data[:-size],
                data[size:],
                data[:4],
                data[:-4] + b"PAR2",
                chance.randbytes(4) + data[4:],
            ]
        )
    pack = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": _zstd()}
    packed = pack.get(source.suffix)
    # In half of the cases, damage the content and then compress it. Otherwise, damage the file.
    if chance.random() < 0.5 and ".jsonl" in source.name:
        inner = _damaged_lines(NESTED if "nested" in source.name else RECORDS, chance)
        return packed(inner) if packed else inner
    if chance.random() < 0.5 and packed:
        return packed(damage_bytes(TEXT, chance))
    return damage_bytes(data, chance)


def _damaged_lines(records: list[Any], chance: random.Random) -> bytes:
    lines = [
        to_json(damage_document(record, chance) if chance.random() < 0.2 else record)
        for record in records
    ]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _commands(path: Path) -> list[list[str]]:
    form = ["--input_format=tsv"] if path.suffix == ".tsv" else []
    if ".nested." in path.name:
        form = ["--input_column=meta.text"]
    if path.suffix == ".csv":
        form = ["--input_column=text"]
    skips = ["--skip_bad_records"] if ".jsonl" in path.name or path.suffix == ".csv" else []
    train = ["train", f"--input={path}", "--model_prefix=m", "--minloglevel=2", *form]
    small = ["--model_type=char", "--vocab_size=80", "--hard_vocab_limit=false"]
    count = ["count", f"--input={path}", "--output=m.counts", *form]
    return [[*train, *small], [*train, *small, *skips], [*count, *skips]]


def _zstd() -> Callable[[bytes], bytes] | None:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        compress: Callable[[bytes], bytes] = importlib.import_module(name).compress
    except ModuleNotFoundError:
        return None
    return compress
