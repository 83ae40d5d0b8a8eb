"""Training from counts imports few modules and does not copy rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.stored_counts import arrow

pa = pytest.importorskip("pyarrow")

TEXT = ["the cat sat on the mat", "a dog", "the end"] * 20


def run_python(script: str, folder: Path) -> str:
    """Run Python outside the checkout, which may not contain compiled modules."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_command_imports_no_large_library_besides_pyarrow(
    tmp_path: Path,
) -> None:
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save(tmp_path / "a.counts")
    script = (
        "import sys\n"
        "from spmcompat.cli.train import main\n"
        "main(['--counts=a.counts', '--model_prefix=m', '--vocab_size=30', '--minloglevel=2',"
        " '--hard_vocab_limit=false'])\n"
        "large = {'numpy', 'pandas', 'pyarrow.compute', 'pyarrow.dataset'}\n"
        "print(sorted(large & sys.modules.keys()))\n"
        "import numpy\n"
        "print(numpy.zeros(2).sum())\n"
    )
    assert run_python(script, tmp_path).splitlines() == ["[]", "0.0"]
    assert (tmp_path / "m.model").stat().st_size > 0


def test_a_library_leaves_numpy_to_pyarrow(tmp_path: Path) -> None:
    path = tmp_path / "a.counts"
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save(path)
    script = (
        "import spmcompat, pyarrow\n"
        f"spmcompat.train(counts={str(path)!r}, model_prefix={str(tmp_path / 'm')!r},"
        " vocab_size=30, hard_vocab_limit=False, minloglevel=2)\n"
        "print(pyarrow.array([1, 2]).to_numpy().sum())\n"
    )
    assert run_python(script, tmp_path).splitlines() == ["3"]


def test_an_old_pyarrow_gets_its_numpy(tmp_path: Path) -> None:
    package = tmp_path / "pyarrow"
    package.mkdir()
    (package / "__init__.py").write_text("import numpy\n")
    (tmp_path / "pyarrow-17.0.0.dist-info").mkdir()
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from spmcompat.stored_counts.arrow import import_without_numpy\n"
        "import_without_numpy()\n"
        "import pyarrow\n"
        "print('numpy' in sys.modules)\n"
    )
    assert run_python(script, tmp_path).splitlines() == ["True"]


def test_columns_of_a_slice_are_those_of_its_rows() -> None:
    rows = [
        {"pretoken": f"w{i}" * (i % 3 + 1), "place": i % 2, "next": i + 1, "count": i + 1}
        for i in range(20)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow.schema())
    for begin, length in ((0, 20), (5, 9), (19, 1), (20, 0)):
        part = batch.slice(begin, length)
        columns = arrow.to_columns(part)
        back = arrow.to_batch(columns)
        assert back.to_pylist() == rows[begin : begin + length]
        arrow.check(part, "x")
