"""Writes a case as a test into the folder of parity tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from tests.parity.case import Case

FOLDER = Path(__file__).resolve().parents[1] / "parity" / "found"
_WIDTH = 76


def save(case: Case, name: str, command: str, folder: Path) -> Path:
    """Write the test and return its path.

    Parameters
    ----------
    case
        The case that the test trains on both sides.
    name
        Name of the test, without ``test_``.
    command
        The command that found the case, for the docstring.
    folder
        Folder of the new file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_{name}.py"
    path.write_text("\n".join(_lines(case, name, command)) + "\n")
    return path


def _lines(case: Case, name: str, command: str) -> Iterator[str]:
    yield f'"""Found by {command}."""'
    yield ""
    yield "from tests.parity.case import Case"
    yield "from tests.parity.harness import Trainers"
    yield ""
    yield ""
    yield f"def test_{name}(trainers: Trainers) -> None:"
    yield "    case = Case("
    plain = Case({})
    for field in fields(case):
        value = getattr(case, field.name)
        if value != getattr(plain, field.name):
            yield from _argument(field.name, value)
    yield "    )"
    yield "    comparison = trainers.run(case)"
    yield "    assert comparison.equal, comparison.report()"


def _argument(name: str, value: object) -> Iterator[str]:
    """Yield the source lines of an argument. Each item of a mapping or list starts a new line."""
    if isinstance(value, dict):
        yield f"        {name}={{"
        for key, item in value.items():
            yield from _item(f"            {key!r}: ", item)
        yield "        },"
    elif isinstance(value, list):
        yield f"        {name}=["
        for item in value:
            yield from _item("            ", item)
        yield "        ],"
    else:
        yield f"        {name}={value!r},"


def _item(head: str, value: object) -> Iterator[str]:
    """Yield the source lines of a value. A long text is cut at line ends and at a maximum width."""
    if not isinstance(value, str | bytes) or len(repr(value)) <= _WIDTH:
        yield f"{head}{value!r},"
        return
    yield f"{head}("
    for line in value.splitlines(keepends=True):
        at = 0
        while at < len(line):
            size = _WIDTH
            while len(repr(line[at : at + size])) > _WIDTH:
                size //= 2
            yield f"                {line[at : at + size]!r}"
            at += size
    yield "            ),"
