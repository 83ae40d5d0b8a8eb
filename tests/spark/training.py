"""Code that the Spark tests share: text files, trained models, and rows of counts."""

import io
from pathlib import Path
from typing import Any

import spmcompat
from tests.oracle import counting as oracle
from tests.parity import corpora

LINES = [*corpora.words_text(seed=8, lines=900, types=300).splitlines(), "", "  ", "a", "\u00e9"]
FILES = 64
OPTIONS: dict[str, Any] = {"vocab_size": 90, "hard_vocab_limit": False, "minloglevel": 2}


def write_text(folder: Path) -> Path:
    """Write the lines into `FILES` files."""
    folder.mkdir()
    for file in range(FILES):
        lines = LINES[file::FILES]
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{file:02}.txt").write_text(text, encoding="utf-8")
    return folder


def trained(**options: Any) -> bytes:
    """Train with spmcompat."""
    written = io.BytesIO()
    spmcompat.train(model_writer=written, **{**OPTIONS, **options})
    return written.getvalue()


def rows_of(path: Path) -> dict[oracle.Row, int]:
    """Return the rows of a file of counts."""
    columns = spmcompat.load_counts(path).to_arrow().to_pydict()
    keys = zip(columns["pretoken"], columns["place"], columns["next"], strict=True)
    return dict(zip(keys, columns["count"], strict=True))


EXPECTED = oracle.without_order(oracle.rows(LINES))
