"""Platforms and compiler flags that would change bytes are refused with one sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A program that executes statements that imitate another platform (`change`), and then setup.py.
SETUP = """
import runpy, sys
sys.argv = ["setup.py", "-q", "build_ext"]
{change}
sys.path.insert(0, "")
runpy.run_path("setup.py", run_name="__main__")
"""


def run_setup(change: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the statements `change`, and then setup.py, in a folder with a package of one module."""
    pytest.importorskip("Cython")
    (folder / "spmcompat").mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder)
    # Add a module, because Cython refuses an empty list of modules.
    (folder / "spmcompat" / "one.pyx").write_text("", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-c", SETUP.format(change=change)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


PLATFORM = "spmcompat needs a 64-bit little-endian platform, such as x86-64 or aarch64."
COMPILER = (
    "spmcompat needs GCC 11 or later, or Clang 14 or later: use WSL, or put clang-cl in PATH, "
    "which is then used instead of Microsoft's compiler."
)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("sys.maxsize = 2**31 - 1", PLATFORM),
        ("sys.byteorder = 'big'", PLATFORM),
        (
            "import shutil; shutil.which = lambda name: None; sys.argv += ['--compiler=msvc']",
            COMPILER,
        ),
    ],
)
def test_setup_refuses_a_platform_in_one_sentence(change: str, sentence: str, tmp_path: Path):
    run = run_setup(change, tmp_path)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == sentence
    assert "Traceback" not in run.stderr
    assert not list(tmp_path.rglob("*.so"))


def preprocessed(*flags: str) -> subprocess.CompletedProcess[str]:
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    header = str(ROOT / "spmcompat" / "platform.hpp")
    command = [*compiler.split(), "-x", "c++", "-E", *flags, header]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_header_accepts_this_platform():
    assert preprocessed().returncode == 0


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["-m32"], "needs a 64-bit little-endian platform"),
        (
            ["-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"],
            "needs a 64-bit little-endian platform",
        ),
        (["-U__GNUC__", "-U__clang__"], "needs GCC 11 or later, or Clang 14 or later"),
        (["-ffast-math"], "must be compiled without -ffast-math"),
        (["-Ofast"], "must be compiled without -ffast-math"),
    ],
)
def test_the_header_refuses_others(flags: list[str], sentence: str):
    run = preprocessed(*flags)
    assert run.returncode != 0
    assert sentence in run.stderr


# Statements that imitate a build with Microsoft's compiler, but only print the compiler and flags.
MSVC = """
import shutil, types
from setuptools.command.build_ext import build_ext
def run(self):
    self.compiler = types.SimpleNamespace(
        compiler_type="msvc", initialized=False, initialize=lambda: None)
    self.build_extensions()
def build_extensions(self):
    print(self.compiler.cc, *self.extensions[0].extra_compile_args)
build_ext.run, build_ext.build_extensions = run, build_extensions
shutil.which = "/{}".format
"""


def test_clang_cl_compiles_instead_of_microsofts_compiler(tmp_path: Path):
    run = run_setup(MSVC, tmp_path)
    assert run.returncode == 0, run.stderr
    compiler, *flags = run.stdout.splitlines()[-1].split()
    assert compiler == "/clang-cl"
    assert {"/clang:-ffp-contract=off", "/clang:-O3", "/clang:-std=c++17"} < set(flags)
