"""Records that are too long to be sentences need little memory, whatever their length.

``SPMCOMPAT_RECORD_BYTES`` is the size of a record (default: 300 MB).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest

import spmcompat
from spmcompat.text import line_buffers

BYTES = int(os.environ.get("SPMCOMPAT_RECORD_BYTES", "300_000_000"))
MOST_BYTES = 250 << 20
PIECE = b"abcdefg " * 100_000

PEAK = """
import sys
import spmcompat

def peak():
    # getrusage is no alternative: it can return the peak of the parent process.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
"""
READ = f"""{PEAK}
spmcompat.train(
    input=sys.argv[1], model_prefix=sys.argv[2], model_type="char", hard_vocab_limit=False,
    minloglevel=2,
)
print(peak())
"""
READ_ITEMS = f"""{PEAK}
text = sys.argv[1].encode() * (int(sys.argv[2]) // len(sys.argv[1]))
data = [b"a short sentence", text]
if sys.argv[3] == "arrow":
    import pyarrow
    data = pyarrow.array(data)
    del text
before = peak()
spmcompat.train(
    sentence_iterator=data, model_prefix=sys.argv[4], model_type="char", hard_vocab_limit=False,
    minloglevel=2,
)
print(peak() - before)
"""


pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc"
)


def record(write: Callable[[bytes], object]) -> None:
    """Write a short record, and one that is too long."""
    write(b'{"text": "a short sentence"}\n{"text": "')
    for _ in range(BYTES // len(PIECE)):
        write(PIECE)
    write(b'"}\n')


def peak(*arguments: str | Path) -> int:
    done = run_python(*arguments)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def run_python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a new process, with the spmcompat package that this test imports."""
    return subprocess.run(
        [sys.executable, "-c", *map(str, arguments)],
        cwd=tempfile.gettempdir(),  # outside the checkout, which may lack compiled modules
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_record_of_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        record(file.write)
    assert peak(READ, path, tmp_path / "m") < MOST_BYTES


def test_a_compressed_record_of_json_lines(tmp_path: Path) -> None:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    pytest.importorskip(name)
    path = tmp_path / "a.jsonl.zst"
    with import_module(name).open(path, "wb") as file:
        record(file.write)
    assert peak(READ, path, tmp_path / "m") < MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["items", "arrow"])
def test_records_in_memory(kind: str, tmp_path: Path) -> None:
    if kind == "arrow":
        pytest.importorskip("pyarrow")
    # Arrow arrays of binary data hold at most 2 GB.
    size = min(BYTES, 2_000_000_000)
    added = peak(READ_ITEMS, "abcdefg " * 1000, str(size), kind, tmp_path / "m")
    assert added < 100 << 20


@pytest.mark.slow
def test_equal_long_cells_of_parquet_files(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    rows = ["abcdefg " * 1_000_000] * 100 + ["a short sentence"]
    pq.write_table(pa.table({"text": pa.array(rows)}), path)
    assert peak(READ, path, tmp_path / "m") < MOST_BYTES


@pytest.mark.slow
def test_a_large_cell_of_a_parquet_file_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["abcdefg " * 10_000_000]}), path)
    done = run_python(READ, path, tmp_path / "m")
    assert "row group 0 of 'text' has 80,0" in done.stderr


def test_a_long_record_is_skipped_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_buffers, "LONGEST_RECORD", 100_000)
    lines = [json.dumps({"text": f"sentence {n}", "more": "x" * 90_000}) for n in range(5)]
    lines.insert(3, json.dumps({"text": "short", "more": "x" * 200_000}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    log = StringIO()
    spmcompat.train(
        input=tmp_path / "a.jsonl",
        model_prefix=str(tmp_path / "m"),
        model_type="char",
        hard_vocab_limit=False,
        logstream=log,
    )
    assert "Loaded all 5 sentences" in log.getvalue()
    assert "Of 6 lines: 5 used, 1 too long." in log.getvalue()
    assert "too long sentences" not in log.getvalue()
    assert (
        "Skipped 1 records of more than 100000 bytes, the larger of 16 MiB and 8 times "
        f"--max_sentence_length (raise it to train on them; the first: {tmp_path}/a.jsonl:4)."
    ) in log.getvalue()
