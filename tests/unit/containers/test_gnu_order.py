"""The heap, the partial sort and the hash map order their elements as the GNU C++ library does."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]


@pytest.mark.slow
def test_heaps_and_hash_maps_have_the_order_of_the_gnu_library(tmp_path: Path):
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    command = compiler.split()
    program = str(tmp_path / "gnu_order")
    source = str(HERE / "gnu_order.cpp")
    library = subprocess.run(
        [*command, "-x", "c++", "-dM", "-E", "-include", "cstddef", os.devnull],
        capture_output=True,
        text=True,
        check=True,
    )
    if "__GLIBCXX__" not in library.stdout:
        pytest.skip("needs the GNU C++ library")
    subprocess.run(
        [*command, "-std=c++17", "-O1", "-Wall", "-Werror", f"-I{ROOT}", "-o", program, source],
        check=True,
    )
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "")
