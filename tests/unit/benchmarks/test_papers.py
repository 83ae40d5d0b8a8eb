"""The papers' tables, run as their README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from benchmarks import ROOT
from benchmarks.papers.tables import SPACES_ROWS
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


@pytest.mark.slow
def test_the_table_of_boundaries_takes_further_gold_lists(tmp_path: Path) -> None:
    texts, work, gold = tmp_path / "texts", tmp_path / "work", tmp_path / "own.csv"
    texts.mkdir()
    (texts / "en-books.txt").write_text(corpora.words_text(5, 400, types=200))
    gold.write_text(",full_word,pt1,rest\n0,cats,cat,s\n1,it,it,\n")
    command = [sys.executable, "-m", "benchmarks.papers", "spaces", "--languages", "en"]
    command += ["--folder", str(texts), "--work", str(work), "--gold"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(path: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, str(path)], env=environment, capture_output=True, text=True, check=False
        )

    completed = run(gold)
    assert completed.returncode == 0, completed.stderr
    first, second = completed.stdout.split("\nSpaces: boundaries of ")[1:]
    assert first.startswith("english.tsv: 473 words")
    assert second.startswith("own.csv: 1 word; left out: 1 row with an empty part;")
    for table in (first, second):
        assert [line[:22].strip() for line in table.splitlines()[2:8]] == list(SPACES_ROWS)
    broken = run(tmp_path / "nowhere.csv")
    assert broken.returncode == 2
    assert "nowhere.csv: No such file" in broken.stderr.splitlines()[-1]
