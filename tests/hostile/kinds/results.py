"""Damaged files of results, in the folder of a report that ``spmcompat compare`` continues."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spmcompat.__main__ import main
from tests.hostile.mutations import damage_bytes, damage_document, to_json

GOLD = "cats\tcat s\ndogs\tdog s\n"


def prepare(folder: Path) -> None:
    """Compare two models, and keep the folder of the report."""
    (folder / "text.txt").write_text("The cat sat on the mat.\n" * 40)
    (folder / "gold.tsv").write_text(GOLD)
    assert main(_command(folder, Path("out"))) == 0


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Damage one of the results, as bytes or value by value."""
    report = folder / "out"
    shutil.copytree(valid / "out", report)
    damaged = chance.choice(sorted((report / "results").iterdir()))
    if chance.random() < 0.3:
        damaged.write_bytes(damage_bytes(damaged.read_bytes(), chance))
    else:
        document = json.loads(damaged.read_text(encoding="utf-8"))
        place = document["run"] if chance.random() < 0.8 else document
        changed = damage_document(place, chance)
        document = document | {"run": changed} if place is document["run"] else changed
        damaged.write_text(to_json(document), encoding="utf-8", errors="surrogatepass")
    return partial(main, _command(valid, Path("out")))


def _command(valid: Path, report: Path) -> list[str]:
    text, gold = valid / "text.txt", valid / "gold.tsv"
    flags = ["--configs=bpe,unigram", "--vocab_size=40", "--bootstrap=20", "--quiet"]
    return ["compare", f"--text={text}", f"--gold={gold}", f"--report={report}", *flags]
