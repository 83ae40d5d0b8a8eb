"""The command ``spmcompat view``: its formats, its output, and colours."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from tests.kinds import assert_error

pytest.importorskip("sentencepiece")
pytestmark = pytest.mark.reference


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with two models and a text."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    Path("t.txt").write_text("".join(f"the cat sat on mat {n}\n" for n in range(20)))
    for name in ("a", "b,c"):
        spmcompat.train(
            input="t.txt", model_prefix=name, vocab_size=19, model_type="char", minloglevel=2,
            hard_vocab_limit=False,
        )  # fmt: skip


def view(*arguments: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert (main(["view", *arguments], out, err), err.getvalue()) == (0, "")
    return out.getvalue()


def test_models_and_texts_in_order() -> None:
    shown = view('a.model,"b,c.model"', "the cat", "猫", "--ids")
    assert [line.split(":")[0].strip() for line in shown.splitlines() if ": " in line] == [
        *("a.model", "b,c.model"),
        *("a.model", "b,c.model"),
    ]
    assert "<unk:猫>/0" in shown


def test_the_first_lines_of_a_text() -> None:
    assert view("a.model", "--text=t.txt").count("line ") == 10
    assert view("a.model", "--text=t.txt", "--lines=50").count("line ") == 20


def test_colours_only_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in view("a.model", "cat")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in view("a.model", "cat")
    for form in ("html", "json"):
        assert "\x1b" not in view("a.model", "cat", f"--format={form}")
    view("a.model", "cat", "-o", "out.txt")
    assert "\x1b" not in Path("out.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["text", "html", "json"])
def test_a_file_has_what_standard_output_has(form: str) -> None:
    printed = view("a.model", "<b>猫", f"--format={form}")
    assert view("a.model", "<b>猫", f"--format={form}", "--output=out") == ""
    assert Path("out").read_text(encoding="utf-8") == printed
    assert ("<b>" in printed) == (form != "html")
    if form == "json":
        assert json.loads(printed)["lines"] == ["<b>猫"]


@pytest.mark.parametrize("output", ["a.model", "t.txt"])
def test_an_input_is_not_replaced(output: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert main(["view", "a.model", "--text=t.txt", f"--output={output}"], out, err) == 1
    assert_error(err.getvalue(), f"would-overwrite --output {output}")
