"""The papers' tables, run as their README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from benchmarks import ROOT
from tests.parity import corpora


@pytest.mark.slow
def test_an_installed_package_wins_over_a_checkout_that_is_not_compiled(tmp_path: Path) -> None:
    checkout, texts, work = tmp_path / "checkout", tmp_path / "texts", tmp_path / "work"
    for name in ("benchmarks", "spmcompat"):
        no_binaries = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "results")
        shutil.copytree(ROOT / name, checkout / name, ignore=no_binaries)
    texts.mkdir()
    (texts / "en-books.txt").write_text(corpora.words_text(5, 400, types=200))
    arguments = ["--folder", str(texts), "--work", str(work), "--languages", "en"]
    completed = subprocess.run(
        [sys.executable, "-m", "benchmarks.papers", "exact", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert "Exact losses" in completed.stdout
