"""The table of file formats: every format can be written, and read for training."""

from pathlib import Path

import pytest

from benchmarks import formats
from tests.parity import corpora


@pytest.mark.slow
def test_a_row_of_each_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    text = tmp_path / "a.txt"
    text.write_text(corpora.words_text(4, lines=300))
    assert formats.main([str(text), "--type", "char", "--runs", "1"]) == 0
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split("|")[1].strip() for row in rows] == [one.name for one in formats.FORMATS]
    assert "DIFFERENT" not in "".join(rows)
