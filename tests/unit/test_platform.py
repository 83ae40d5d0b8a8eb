"""Platforms and compiler flags that would change bytes are refused with one sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# A build on another platform, as far as setup.py sees it.
SETUP = """
import runpy, sys
{change}
sys.argv = ["setup.py", "-q", "build_ext"]
sys.path.insert(0, "")
runpy.run_path("setup.py", run_name="__main__")
"""


@pytest.mark.parametrize("change", ["sys.maxsize = 2**31 - 1", "sys.byteorder = 'big'"])
def test_setup_refuses_a_platform_in_one_sentence(change: str, tmp_path: Path):
    pytest.importorskip("Cython")
    (tmp_path / "spmcompat").mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    # Cython refuses a list without a module.
    (tmp_path / "spmcompat" / "one.pyx").write_text("", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", SETUP.format(change=change)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        "spmcompat needs a 64-bit little-endian platform, such as x86-64 or aarch64."
    )
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
