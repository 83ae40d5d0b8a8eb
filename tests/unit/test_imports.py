"""Which package may import which: only packages of lower layers, and never in a cycle.

CONTRIBUTING.md lists the layers from the top to the bottom. The tests read the sources as text, so
they cover cimports, includes, imports inside functions and imports for type checking, too.
"""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from spmcompat import engine

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
    """Return the path of a file without its suffix. All files of a module share this path."""
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


def imports() -> set[tuple[str, str]]:
    """Return the pairs of a module and a module that it imports."""
    found = {(module_of(path), name) for path in sources() for name in named_by(path)}
    return {(one, other) for one, other in found if one != other}


def package_of(module: str) -> str:
    """Return the top folder of a module, or for a tool its two top folders."""
    parts = module.split("/")
    return "/".join(parts[:2]) if parts[0] == "tools" else parts[0]


def stated_layers() -> list[set[str]]:
    """Read the packages from CONTRIBUTING.md: each line is a layer, beginning with the top one."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"```packages\n(.*?)```", text, re.DOTALL)
    assert block is not None, "CONTRIBUTING.md has no block of packages"
    return [set(line.split()) for line in block[1].splitlines()]


def test_every_package_is_in_one_layer() -> None:
    packages = [package for layer in stated_layers() for package in layer]
    assert sorted(packages) == sorted({package_of(module) for module in MODULES})


def test_packages_import_only_lower_layers() -> None:
    layer_of = {package: i for i, layer in enumerate(stated_layers()) for package in layer}
    wrong = [
        f"{one} -> {other}"
        for one, other in sorted(imports())
        if package_of(one) != package_of(other)
        and layer_of[package_of(one)] >= layer_of[package_of(other)]
    ]
    assert not wrong


def test_the_trainer_imports_no_tool() -> None:
    layers = stated_layers()
    lowest_tool = max(i for i, layer in enumerate(layers) if any("tools/" in one for one in layer))
    trainer = {package for layer in layers[lowest_tool + 1 :] for package in layer}
    assert {"training", "cli", "unigram", "bpe", "model"} <= trainer
    wrong = [
        f"{one} -> {other}"
        for one, other in sorted(imports())
        if package_of(one) in trainer and other.startswith("tools/")
    ]
    assert not wrong


DOOR = {
    "engine/__init__",
    "errors",
    "model/encoding",
    "model/loading",
    "model/meta_pieces",
    "model/pieces",
    "model/reading",
    "model/sentencepiece_model_pb2",
    "model/vocabulary",
    "runtime/inputs",
    "runtime/libraries",
    "runtime/measure",
    "runtime/outputs",
    "runtime/progress",
    "runtime/workers",
}
"""What tools see of the trainer."""


def test_tools_see_the_trainer_through_the_engine() -> None:
    wrong = [
        f"{one} -> {other}"
        for one, other in sorted(imports())
        if one.startswith("tools/")
        and not other.startswith(("tools/", "cli/"))
        and other not in DOOR
    ]
    assert not wrong


def test_only_options_see_settings() -> None:
    seeing = {one for one, other in imports() if other == "options/settings"}
    assert {package_of(one) for one in seeing} == {"options"}


def test_the_engine_names_each_module_of_its_names() -> None:
    tree = ast.parse((PACKAGE / "engine/__init__.py").read_text(encoding="utf-8"))
    stated = {
        (name.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spmcompat.")
        for name in node.names
    }
    assert stated == {(name, f"spmcompat.{module}") for name, module in engine._MODULES.items()}


def test_no_module_is_part_of_a_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for one, other in imports():
        graph.setdefault(one, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_includes_give_the_path_from_the_root() -> None:
    bare = [
        f"{path.relative_to(ROOT)}: {match[1]}"
        for path in sources()
        for match in ANY_INCLUDE.finditer(path.read_text(encoding="utf-8"))
        if not match[1].startswith("spmcompat/")
    ]
    assert not bare


def test_every_import_leads_to_a_file() -> None:
    lost = [f"{one} -> {other}" for one, other in sorted(imports()) if other not in MODULES]
    assert not lost
