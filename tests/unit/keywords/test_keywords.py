"""The types of keywords and the docstrings agree with the table of options and with the flags."""

import inspect
import re
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

import spmcompat
from spmcompat.cli.flags import Command
from spmcompat.counts import _OF_PARTS
from spmcompat.engine import TEXT_OPTIONS
from spmcompat.options import keywords
from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
from spmcompat.options.table import OPTIONS
from spmcompat.tools.compare import command as compare
from spmcompat.tools.counts import command as counts
from spmcompat.tools.evaluate import command as evaluate
from spmcompat.tools.export.targets import TARGETS


def _hints(options: type) -> dict[str, Any]:
    # Only type checkers can evaluate the string `Sentences`, so it counts as `Any` here.
    return get_type_hints(options, localns={"Sentences": Any})


def _parameters(function: Callable[..., object]) -> set[str]:
    return set(inspect.signature(function).parameters)


def test_functions_for_texts_take_the_options_for_texts() -> None:
    named = {"input", "counts", "character_coverage"}
    options = set(_hints(keywords.TextOptions))
    assert options | named == {*TEXT_OPTIONS, "character_coverage"}
    assert named <= _parameters(spmcompat.extend) & _parameters(spmcompat.trim)


def test_functions_that_count_take_the_options_for_counting() -> None:
    more = {"column", "strict", "workers", "minloglevel", "progress", "model_type", "normalizer"}
    wanted = {name for name in OPTIONS_OF_COUNTING if OPTIONS[name].keyword}
    assert set(_hints(keywords.CountOptions)) | {"input"} == wanted | more | {"input"}
    of_parts = {name for name in _OF_PARTS if OPTIONS[name].keyword}
    assert set(_hints(keywords.PartOptions)) == of_parts


def test_targets_of_export_are_known() -> None:
    annotation = inspect.signature(spmcompat.export).parameters["to"].annotation
    assert set(re.findall(r"'(.*?)'", annotation)) == set(TARGETS)


def _entries(function: Callable[..., object]) -> dict[str, str]:
    """Return the parameters that a docstring describes, with their descriptions."""
    section = re.split(r"\n(\w+)\n-+\n", inspect.getdoc(function) or "")
    text = section[section.index("Parameters") + 1]
    found = re.finditer(r"^(\S.*?)(?: : .*)?\n((?:    .*\n?)+)", text, re.MULTILINE)
    return {
        name.lstrip("*"): " ".join(match[2].split())
        for match in found
        for name in match[1].split(", ")
    }


@pytest.mark.parametrize("name", [n for n in spmcompat.__all__ if n.islower() and n[0] != "_"])
def test_docstrings_describe_every_parameter(name: str) -> None:
    function = getattr(spmcompat, name)
    assert [*_entries(function)] == [*inspect.signature(function).parameters]
    assert "Raises\n------\nTrainingError\n" in inspect.getdoc(function)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("command", "function", "only_command", "only_python"),
    [
        (
            evaluate.command(),
            spmcompat.evaluate,
            {"json", "csv", "tsv", "html", "quiet"},
            {"models", "minloglevel", "logstream"},
        ),
        (
            counts.merging(),
            spmcompat.merge_counts,
            {"quiet", "bytes"},
            {"counts", "minloglevel", "logstream"},
        ),
        (
            counts.merging(),
            spmcompat.merge_words,
            {"quiet"},
            {"words", "minloglevel", "logstream"},
        ),
        (compare.command(), spmcompat.compare, {"json", "quiet"}, {"minloglevel", "logstream"}),
    ],
)
def test_functions_take_the_flags_of_their_commands(
    command: Command,
    function: Callable[..., object],
    only_command: set[str],
    only_python: set[str],
) -> None:
    flags = {flag.name for flag in command.flags}
    assert flags - only_command == _parameters(function) - only_python
