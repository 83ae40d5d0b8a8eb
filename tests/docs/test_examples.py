"""Every example in the documentation does what its page shows."""

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import spmcompat
from tests.docs.examples import (
    LANGUAGES,
    ROOT,
    SILENT,
    Different,
    Page,
    examples,
    fences,
    pip_targets,
)
from tests.searches import LONG

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
_KNOWN = {
    ".",
    "spmcompat",
    "sentencepiece==0.2.3",
    "dask[dataframe]",
    "ray[data]",
    "wheels/spmcompat-*.whl",
    "datasets",
    "pandas",
    "polars",
    "gguf",
    "jinja2",
    "llama-cpp-python",
    "sentencepiece",
    "tokenizers",
    "transformers",
    "tiktoken",
    "Cython>=3.1",
    "setuptools>=77",
}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processes of Spark and the commands import the package under test."""
    package = str(Path(spmcompat.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")


def _is_here(name: str) -> bool:
    if name == "time":
        return LONG
    if name == "java":
        return shutil.which(name) is not None
    return importlib.util.find_spec(name) is not None


def _page(path: Path) -> object:
    # On this page, warnings are not errors: Spark and Dask warn about the version of pandas, and
    # about sockets that they leave open.
    marks = [pytest.mark.filterwarnings("default")] if path.stem == "spark" else []
    return pytest.param(path, marks=marks, id=_name(path))


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("path", [_page(path) for path in PAGES])
def test_examples(path: Path, tmp_path: Path) -> None:
    page = Page(tmp_path)
    left_out = set()
    for example in examples(path.read_text(encoding="utf-8")):
        missing = {name for name in example.needs if not _is_here(name)}
        left_out |= missing - {"time"}
        if not missing:
            try:
                page.run(example)
            except Exception as error:
                raise Different(f"{_name(path)}, line {example.line}: {error!r}") from error
    if left_out:
        pytest.skip(f"some examples need more, not installed: {', '.join(sorted(left_out))}")


def test_every_function_has_an_example() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    programs = [one.code for one in examples(page) if one.language in ("python", "pycon")]
    for name in spmcompat.__all__:
        if name.islower() and not name.startswith("_"):
            assert any(f"spmcompat.{name}(" in program for program in programs), name
            assert f".. autofunction:: {name}" in page


def test_every_extra_is_described() -> None:
    _, _, section = _PROJECT.partition("[project.optional-dependencies]\n")
    extras = set(re.findall(r"^(\w+) = \[", section.partition("\n[")[0], re.MULTILINE))
    page = (ROOT / "docs" / "installing.md").read_text(encoding="utf-8")
    named = re.findall(r"spmcompat\[([\w,]+)\]", page)
    assert {extra for names in named for extra in names.split(",")} == extras


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_every_fence_has_a_language(path: Path) -> None:
    for line, language in fences(path.read_text(encoding="utf-8")):
        assert language.startswith("{") or language in LANGUAGES | SILENT, f"line {line}"


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_what_pip_installs_exists(path: Path) -> None:
    for target in pip_targets(path.read_text(encoding="utf-8")):
        extras = re.fullmatch(r"(?:spmcompat|\.)\[([\w,]+)\]", target)
        for extra in extras[1].split(",") if extras else []:
            assert re.search(rf"^{extra} = \[", _PROJECT, re.MULTILINE), target
        assert extras or target in _KNOWN, target
