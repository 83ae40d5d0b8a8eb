"""Readers of JSON Lines compared: ``python -m benchmarks.json_lines TEXT``.

Each line of the text becomes a record with a text, an id and an address. Every reader extracts the
texts of all records, in one thread, from blocks in memory. The fastest of several passes counts.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from spmcompat.text.columns import JsonLines

_BLOCK_BYTES = 1 << 20  # the size of the blocks in which spmcompat reads a file
_PASSES = 5


def records(text: Path, limit: int) -> list[bytes]:
    """Convert the first lines of a text to JSON records, and return the records in blocks.

    Stop when the lines have `limit` characters or more in total.
    """
    blocks = [bytearray()]
    size = 0
    with text.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            record = {
                "id": number,
                "text": line.rstrip("\n"),
                "url": f"https://example.org/{number}",
            }
            blocks[-1] += json.dumps(record, ensure_ascii=False).encode() + b"\n"
            size += len(line)
            if len(blocks[-1]) >= _BLOCK_BYTES:
                blocks.append(bytearray())
            if size >= limit:
                break
    return [bytes(block) for block in blocks if block]


def with_spmcompat(blocks: Sequence[bytes]) -> None:
    """Read with the parser of spmcompat, which releases the GIL."""
    reader = JsonLines("text", 1 << 24)
    for block in blocks:
        reader.read(block, "text", 1)


def with_json(blocks: Sequence[bytes]) -> None:
    """Read with the module ``json`` of Python's standard library."""
    for block in blocks:
        for line in block.splitlines():
            json.loads(line)["text"]


def with_orjson(blocks: Sequence[bytes]) -> None:
    """Read with orjson."""
    import orjson  # noqa: PLC0415

    for block in blocks:
        for line in block.splitlines():
            orjson.loads(line)["text"]


def with_pyarrow(blocks: Sequence[bytes]) -> None:
    """Read with pyarrow, which parses only the fields of the schema."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import json as arrow_json  # noqa: PLC0415

    parse = arrow_json.ParseOptions(
        explicit_schema=pa.schema([("text", pa.string())]), unexpected_field_behavior="ignore"
    )
    read = arrow_json.ReadOptions(use_threads=False, block_size=4 * _BLOCK_BYTES)
    for block in blocks:
        arrow_json.read_json(io.BytesIO(block), read_options=read, parse_options=parse)


READERS: dict[str, Callable[[Sequence[bytes]], None]] = {
    "spmcompat": with_spmcompat,
    "json": with_json,
    "orjson": with_orjson,
    "pyarrow": with_pyarrow,
}


def seconds(read: Callable[[Sequence[bytes]], None], blocks: Sequence[bytes]) -> float:
    """Return the time of the fastest pass."""
    times = []
    for _ in range(_PASSES):
        begin = time.perf_counter()
        read(blocks)
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    """Print the speed of each reader in MB of JSON per second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("--megabytes", type=int, default=50, help="how much of the text to read")
    arguments = parser.parse_args()
    blocks = records(arguments.text, arguments.megabytes * 10**6)
    size = sum(map(len, blocks)) / 1e6
    print(f"| reader | MB/s of {size:.0f} MB |\n|---|--:|")
    for name, read in READERS.items():
        try:
            print(f"| {name} | {size / seconds(read, blocks):.0f} |")
        except ImportError as error:
            print(f"| {name} | {error} |")


if __name__ == "__main__":
    main()
