"""The benchmark of memory for Arrow data prints at least one row for each library."""

from pathlib import Path

import pytest

from benchmarks import arrow_memory
from tests.parity import corpora

ROWS = {"pyarrow": 3, "polars": 2, "pandas": 1, "duckdb": 1, "nanoarrow": 1, "datasets": 2}


@pytest.mark.slow
@pytest.mark.parametrize(("library", "rows"), ROWS.items())
def test_a_row_of_each_kind_of_data(
    library: str, rows: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip(library)
    text = tmp_path / "a.txt"
    text.write_text(corpora.words_text(4, lines=300))
    only = "DuckDB" if library == "duckdb" else f"{library}:"
    assert arrow_memory.main([str(text), "--only", only, "--type", "char"]) == 0
    head, _, plain, *others = capsys.readouterr().out.splitlines()
    assert head.count("|") == plain.count("|")
    assert plain.startswith("| the plain file |")
    assert [line.startswith(f"| {only}") for line in others] == [True] * rows
    numbers = [[float(one) for one in line.split("|")[2:6]] for line in others]
    assert all(training > 0 < reading for reading, training, _, _ in numbers)
    assert "DIFFERENT" not in "".join(others)
