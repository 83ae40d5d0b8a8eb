"""Training from counts imports few modules and does not copy rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime import libraries
from spmcompat.stored_counts import arrow
from tests.kinds import raises_kind

pa = pytest.importorskip("pyarrow")

TEXT = ["the cat sat on the mat", "a dog", "the end"] * 20


def run_python(script: str, folder: Path) -> str:
    """Run Python outside the checkout, because the checkout may lack compiled modules."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_training_from_counts_imports_no_large_library_that_it_does_not_use(tmp_path: Path) -> None:
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save(tmp_path / "a.counts")
    script = (
        "import sys\n"
        "from spmcompat.cli.train import main\n"
        "main(['--counts=a.counts', '--model_prefix=m', '--vocab_size=30', '--minloglevel=2',"
        " '--hard_vocab_limit=false'])\n"
        "large = {'pandas', 'pyarrow.compute', 'pyarrow.dataset'}\n"
        "print(sorted(large & sys.modules.keys()))\n"
    )
    assert run_python(script, tmp_path).splitlines() == ["[]"]
    assert (tmp_path / "m.model").stat().st_size > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "from spmcompat.cli.train import main; main(['--counts=a.counts', '--model_prefix=m',"
        " '--vocab_size=30', '--minloglevel=2', '--hard_vocab_limit=false'])",
        "import spmcompat; spmcompat.train(counts='a.counts', model_prefix='m', vocab_size=30,"
        " hard_vocab_limit=False, minloglevel=2)",
    ],
    ids=["command", "function"],
)
def test_counting_leaves_numpy_to_pyarrow(command: str, tmp_path: Path) -> None:
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save(tmp_path / "a.counts")
    script = f"{command}\nimport pyarrow\nprint(pyarrow.array([1, 2]).to_numpy().sum())"
    assert run_python(script, tmp_path).splitlines() == ["3"]


def test_too_little_memory_for_pyarrow_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "pyarrow")
    monkeypatch.setitem(libraries._MIB_OF_IMPORT, "pyarrow", 1 << 40)
    with raises_kind("out-of-memory Loading pyarrow"):
        arrow.require_pyarrow()


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
