"""Tables, help and messages fit the width of the terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest

from spmcompat.__main__ import COMMANDS, main
from spmcompat.cli.process import run_command
from spmcompat.cli.tables import Table, table, text_of_tables
from spmcompat.errors import TrainingError
from spmcompat.runtime.progress import Report

HEAD = [
    "model",
    "tokens",
    "parity",
    "pieces that are never used",
    "longest piece",
    "worst language",
]
ROWS = [(f"model-{n}", n * 1000, n / 7, n, "▁piece" * n, "en") for n in range(1, 9)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*arguments: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert main(arguments, out, err) == 0
    return out.getvalue()


def widest(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.fixture(params=[44, 60, 80, 200])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


@pytest.mark.parametrize("name", [*COMMANDS, "counts", ""])
@pytest.mark.parametrize("width", [60, 80, 200], indirect=True)
def test_help(name: str, width: int) -> None:
    lines = run(*name.split(), "--help").splitlines()
    examples = [line for line in lines if re.match(r"  spmcompat \S+ \S+ --", line)]
    assert widest("\n".join(line for line in lines if line not in examples)) <= min(width, 98)


def test_a_width_that_is_not_known_is_80(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise OSError

    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", unknown)
    assert 70 < widest(run("evaluate", "--help")) <= 80


def test_a_wide_table_is_transposed(width: int) -> None:
    lines = [*table(HEAD, ROWS)]
    assert widest("\n".join(lines)) <= width
    assert (lines[0].split()[:2] == ["model", "tokens"]) == (width == 200)
    shown = " ".join("\n".join(lines).split())
    for name, tokens, *_ in ROWS:
        assert shown.count(f"{name} ") == shown.count(f" {tokens} ") == 1
    if width in (60, 80):  # the cells of a row are below each other
        cells = [re.split("  +", line.strip()) for line in lines[: len(HEAD)]]
        assert [row[0] for row in cells] == HEAD
        assert [row[1] for row in cells] == ["model-1", "1000", str(1 / 7), "1", "▁piece", "en"]


def test_a_table_that_fits_is_not_transposed(width: int) -> None:
    assert [*table(["a", "b", "c"], [("x", 1, 2)])] == ["  a  b  c", "  x  1  2"]


@pytest.mark.parametrize("text", ["many words " * 30, "x" * 300, "語" * 100], ids=["a", "b", "c"])
def test_a_long_text_in_the_last_column_is_divided(text: str, width: int) -> None:
    lines = [*table(["name", "value"], [("key", text.strip()), ("other", "1")], left=2)]
    columns = max(len(line) + line.count("語") for line in lines)
    assert columns <= width
    assert "".join(line[7:] for line in lines[1:-1]).replace(" ", "") == text.replace(" ", "")


def test_notes_are_wrapped(width: int) -> None:
    shown = text_of_tables([Table(["a", "b", "c"], [("x", "1", "2")], 1, ["a long note " * 30])])
    assert widest(shown) <= width
    assert " ".join(shown.split()).count("a long note") == 30


def _warn(stream: io.StringIO) -> None:
    Report(0, stream).warning("a long message " * 20)


def _fail(stream: io.StringIO) -> None:
    def work() -> None:
        raise TrainingError("a long message " * 20)

    run_command("spm_train", work, stream)


@pytest.mark.parametrize("write", [_warn, _fail])
def test_messages_are_wrapped_on_a_terminal_only(
    write: Callable[[io.StringIO], None], width: int
) -> None:
    terminal, file = Terminal(), io.StringIO()
    write(terminal)
    write(file)
    assert widest(terminal.getvalue()) < width
    assert file.getvalue().count("\n") == 1
    assert terminal.getvalue().split() == file.getvalue().split()
