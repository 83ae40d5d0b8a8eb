"""The recipe for Dask in the documentation, as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import spmcompat

from .training import EXPECTED, LINES, rows_of

pq = pytest.importorskip("pyarrow.parquet")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "spark.md"


def recipe() -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if "dask" in block)


def test_the_recipe_gives_the_counts_of_the_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask.dataframe", reason="pip install 'dask[dataframe]'")
    import pyarrow as pa  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    Path("texts").mkdir()
    for file in range(5):
        lines = pa.array([*LINES[file::5], None])
        table = pa.table({"other": range(len(lines)), "text": lines})
        pq.write_table(table, f"texts/{file}.parquet")
    exec(compile(recipe(), str(PAGE), "exec"), {})
    assert rows_of(Path("corpus.counts")) == EXPECTED
    assert spmcompat.load_counts("corpus.counts").origin.nulls == 5


def test_the_recipe_has_ten_lines() -> None:
    lines = [line for line in recipe().splitlines() if line and not line.startswith("import")]
    assert len(lines) <= 10
