"""What may name what: imports, cimports and includes run down the rooms and never in a circle.

CONTRIBUTING.md states the rooms from the top to the bottom. The tests read the sources as text,
so they hold for imports inside functions and for type checking too.
"""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "spmcompat"
GENERATED = {"model/sentencepiece_model_pb2"}

IMPORT = re.compile(r"^\s*(?:from|c?import) +(spmcompat[\w.]*)(?: +c?import +(.*))?", re.MULTILINE)
INCLUDE = re.compile(
    r'^\s*(?:#include|cdef extern from)[\s\\]+"(spmcompat/[\w/]+\.hpp)"', re.MULTILINE
)
ANY_INCLUDE = re.compile(r'^\s*(?:#include|cdef extern from)[\s\\]+"([\w/.]+)"', re.MULTILINE)


def sources() -> list[Path]:
    return [
        path for end in ("py", "pyx", "pxd", "hpp") for path in sorted(PACKAGE.rglob(f"*.{end}"))
    ]


def module_of(path: Path) -> str:
    """The path below the package without its suffix: one module may have several files."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


MODULES = {module_of(path) for path in sources()}


def targets(name: str, imported: str) -> Iterator[str]:
    """Yield the modules that `from name import imported` names."""
    folder = "/".join(name.split(".")[1:])
    if folder in MODULES:
        yield folder
        return
    names = re.findall(r"\w+", imported.split("#", maxsplit=1)[0].replace(" as ", " "))
    submodules = [f"{folder}/{one}".lstrip("/") for one in names]
    found = [module for module in submodules if module in MODULES]
    yield from found or [f"{folder}/__init__".lstrip("/")]


def named_by(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for match in IMPORT.finditer(text):
        yield from targets(match[1], match[2] or "")
    for match in INCLUDE.finditer(text):
        yield module_of(ROOT / match[1])


def arrows() -> set[tuple[str, str]]:
    found = {(module_of(path), name) for path in sources() for name in named_by(path)}
    return {(one, other) for one, other in found if one != other}


def room_of(module: str) -> str:
    """The room is the folder, or the module itself where it stands at the top."""
    return module.split("/", maxsplit=1)[0]


def stated_floors() -> list[set[str]]:
    """Read the rooms of CONTRIBUTING.md: a line is a floor, the first one is the top."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"```rooms\n(.*?)```", text, re.DOTALL)
    assert block is not None, "CONTRIBUTING.md has no block of rooms"
    return [set(line.split()) for line in block[1].splitlines()]


def test_every_room_stands_on_one_floor() -> None:
    rooms = [room for floor in stated_floors() for room in floor]
    assert sorted(rooms) == sorted({room_of(module) for module in MODULES})


def test_no_arrow_runs_up() -> None:
    floor_of = {room: i for i, floor in enumerate(stated_floors()) for room in floor}
    wrong = [
        f"{one} -> {other}"
        for one, other in sorted(arrows())
        if room_of(one) != room_of(other) and floor_of[room_of(one)] >= floor_of[room_of(other)]
    ]
    assert not wrong


def test_no_module_is_part_of_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for one, other in arrows():
        graph.setdefault(one, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_include_names_its_room() -> None:
    bare = [
        f"{path.relative_to(ROOT)}: {match[1]}"
        for path in sources()
        for match in ANY_INCLUDE.finditer(path.read_text(encoding="utf-8"))
        if not match[1].startswith("spmcompat/")
    ]
    assert not bare


def test_every_arrow_leads_to_a_file() -> None:
    lost = [f"{one} -> {other}" for one, other in sorted(arrows()) if other not in MODULES]
    assert not lost
