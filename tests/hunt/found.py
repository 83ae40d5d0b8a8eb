"""Writes a case as a test that can stand among those of parity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from tests.parity.case import Case

FOLDER = Path(__file__).resolve().parents[1] / "parity" / "found"
_WIDTH = 76


def save(case: Case, name: str, told: str, folder: Path) -> Path:
    """Write the test and return its path.

    Parameters
    ----------
    case
        What both sides are trained with.
    name
        Of the test, without ``test_``.
    told
        How the case was found, for the docstring.
    folder
        Where to write.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"test_{name}.py"
    path.write_text("\n".join(_lines(case, name, told)) + "\n")
    return path


def _lines(case: Case, name: str, told: str) -> Iterator[str]:
    yield f'"""Found by {told}."""'
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
    """Yield the lines of one field; of a mapping or a list, each item stands on its own."""
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
    """Yield a value; a long text is cut after its line ends and into parts that fit."""
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
