"""A command that replaces its input does not overwrite what another command wrote meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import spmcompat
from spmcompat.model.reading import read_model
from spmcompat.tools.edit import vocabulary
from tests.kinds import raises_kind
from tests.unit.tools.edit.growing_models import trained, words

TEXT = words(1, 200, types=300)
RUNS = 6


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("m.model", "other.model"):
        Path(name).write_bytes(trained(TEXT, vocab_size=200).SerializeToString())
    return tmp_path


def another_file() -> None:
    Path("new").write_bytes(b"another file")
    Path("new").replace("m.model")


def other_content() -> None:
    with Path("m.model").open("r+b") as file:
        file.truncate(1000)


def no_file() -> None:
    Path("m.model").unlink()


COMMANDS: dict[str, Callable[[str], object]] = {
    "edit": lambda output: spmcompat.edit("m.model", add_control=["<a>"], output=output),
    "merge": lambda output: spmcompat.merge(["m.model", "other.model"], output=output),
    "extend": lambda output: spmcompat.extend(
        "m.model", sentence_iterator=words(2), add=9, output=output, minloglevel=2
    ),
    "trim": lambda output: spmcompat.trim(
        "m.model", sentence_iterator=TEXT, keep=150, output=output, minloglevel=2
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("change", [another_file, other_content, no_file])
def test_an_input_that_changes_is_not_replaced(
    command: str, change: Callable[[], None], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    check = vocabulary.check_loads
    left: list[dict[str, bytes]] = []

    def change_and_check(model: object) -> None:
        change()
        left.append({one.name: one.read_bytes() for one in folder.iterdir()})
        check(model)  # type: ignore[arg-type]

    monkeypatch.setattr(vocabulary, "check_loads", change_and_check)
    with raises_kind("file-changed m.model"):
        COMMANDS[command]("m.model")
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == left[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_links_lead_to_the_same_file(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("link.model").symlink_to("m.model")
    check = vocabulary.check_loads
    monkeypatch.setattr(vocabulary, "check_loads", lambda model: (another_file(), check(model)))
    with raises_kind("file-changed m.model"):
        COMMANDS[command]("link.model")
    assert Path("m.model").read_bytes() == b"another file"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_input_that_is_not_replaced_may_change(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = vocabulary.check_loads
    monkeypatch.setattr(vocabulary, "check_loads", lambda model: (another_file(), check(model)))
    COMMANDS[command]("n.model")
    assert Path("m.model").read_bytes() == b"another file"
    read_model("n.model")


@pytest.mark.slow
def test_no_edit_of_several_at_once_is_lost() -> None:
    size = len(read_model("m.model").pieces)
    edit = [sys.executable, "-m", "spmcompat", "edit", "m.model", "--output=m.model", "--quiet"]
    started = [
        subprocess.Popen([*edit, f"--add_control=<{number}>"], stderr=subprocess.PIPE, text=True)
        for number in range(RUNS)
    ]
    errors = [process.communicate()[1] for process in started]
    done = [number for number, process in enumerate(started) if process.returncode == 0]
    pieces = [piece.piece for piece in read_model("m.model").pieces]
    assert done
    assert {*pieces[size:]} == {f"<{number}>" for number in done}
    assert all(bool(error) == (number not in done) for number, error in enumerate(errors))
    assert all(error.count("\n") <= 1 for error in errors)
    assert not any("Traceback" in error for error in errors)


def test_a_model_can_be_edited_again_and_again() -> None:
    for number in range(3):
        spmcompat.edit("m.model", add_control=[f"<{number}>"], output="m.model")
    assert [piece.piece for piece in read_model("m.model").pieces[-3:]] == ["<0>", "<1>", "<2>"]
