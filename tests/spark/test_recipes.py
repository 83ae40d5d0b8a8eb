"""The recipes for other engines, as the documentation shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import spmcompat

from .training import EXPECTED, LINES, rows_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "spark.md"
ENGINES = {"dask": "dask.dataframe", "ray": "ray.data"}


def recipe(engine: str) -> str:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return next(block for block in blocks if f"import {engine}" in block)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def engine(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """Start the engine. Its processes also have `folder` as their working folder."""
    name: str = request.param
    pytest.importorskip(ENGINES[name], reason=f"{name} is not installed")
    if name == "dask":
        yield name
        return
    import ray

    ray.init(num_cpus=2, include_dashboard=False)
    yield name
    ray.shutdown()


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_recipe_gives_the_counts_of_the_definition(
    engine: str,
) -> None:
    Path("texts.parquet").mkdir()
    for file in range(5):
        lines = pa.array([*LINES[file::5], None])
        table = pa.table({"other": range(len(lines)), "text": lines})
        pq.write_table(table, f"texts.parquet/{file}.parquet")
    exec(compile(recipe(engine), str(PAGE), "exec"), {})
    assert rows_of(Path(f"{engine}.counts")) == EXPECTED
    assert spmcompat.load_counts(f"{engine}.counts").origin.nulls == 5


@pytest.mark.parametrize("engine", ENGINES)
def test_a_recipe_is_short(engine: str) -> None:
    lines = [line for line in recipe(engine).splitlines() if line]
    assert sum(not line.startswith("import") for line in lines) <= 13
