"""The kinds of errors, and how messages show text that comes from files."""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path

import pytest

import spmcompat
from spmcompat.errors import (
    NotUtf8Error,
    TrainingError,
    UsageError,
    printable,
    refuse_impossible,
)
from tests.kinds import raises_kind

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("▁naïve 猫 \\", "▁naïve 猫 \\"),
        ("\x1b[2J\a", r"\x1b[2J\x07"),
        ("a\nb\tc\x7f\x9b", r"a\nb\tc\x7f\x9b"),
        ("\u2028\u202e\ud800\U000e0001", r"\u2028\u202e\ud800\U000e0001"),
    ],
)
def test_a_file_sends_no_control_characters_to_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a" * 100_000, "File name too long"),
        ("\0" * 100_000, "the path contains a NUL character or a lone surrogate"),
        (b"\0\1" * 100_000, "the path contains a NUL character or a lone surrogate"),
    ],
)
def test_a_text_in_place_of_a_path_is_shortened(path: str, reason: str) -> None:
    with raises_kind(f"impossible-path ...: {reason}") as error:
        refuse_impossible(path, "Check it")
    assert len(str(error.value)) < 2000


def error_types() -> set[type[TrainingError]]:
    """Return all types of errors of the package."""
    package = Path(spmcompat.__file__).parent
    for path in package.rglob("*.py"):
        if re.search(r"^class \w+Error\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            importlib.import_module(name)
    found, todo = set(), [TrainingError]
    while todo:
        found.add(todo[-1])
        todo += todo.pop().__subclasses__()
    return found


def test_the_page_lists_each_kind_once() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    kinds = {error.kind for error in error_types()}
    assert sorted(re.findall(r"^#### (.*)$", page, re.MULTILINE)) == sorted(kinds)


def test_a_test_expects_each_kind() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    expected = {*re.findall(r"""["']([a-z0-9-]+)(?=[ "'])""", tests)}
    # If a test could produce an internal error, that would be a bug.
    assert {error.kind for error in error_types()} - expected == {TrainingError.kind}


def test_each_type_has_a_kind_and_survives_pickling() -> None:
    for error in error_types():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", vars(error)["kind"])
        back = pickle.loads(pickle.dumps(error("some text")))
        assert (type(back), str(back), back.kind) == (error, "some text", error.kind)


def test_an_error_of_the_command_line_keeps_its_kind() -> None:
    error = pickle.loads(pickle.dumps(UsageError.of(NotUtf8Error("some text"))))
    assert (type(error), str(error), error.kind) == (UsageError, "some text", "not-utf8")
    assert UsageError("some text").kind == "usage"
