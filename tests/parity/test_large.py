"""Texts of several seeding chunks: the reference searches for seeds in 500 MiB at a time.

The reference needs minutes and 7 GB for each text, so the tests run only if the environment
variable ``SPMCOMPAT_LARGE`` is set.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from .case import Case, Option
from .harness import Trainers

VARIABLE = "SPMCOMPAT_LARGE"
pytestmark = pytest.mark.skipif(VARIABLE not in os.environ, reason=f"set {VARIABLE} to run it")

OPTIONS: dict[str, Option] = {"vocab_size": 2000, "hard_vocab_limit": False, "num_threads": 2}


@pytest.fixture
def patient() -> Iterator[Trainers]:
    with Trainers(timeout=3600.0) as trainers:
        yield trainers


def random_words(dice: random.Random) -> list[str]:
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(1, 6))) for _ in range(20_000)]
    return words + ["漢字", "あいう", "naïve", "日本", "мир"] * 20


def test_a_text_of_several_seeding_chunks(patient: Trainers, tmp_path: Path) -> None:
    """The last sentences of the text replace lines of spaces, even those in the first chunk."""
    dice = random.Random(7)
    words = random_words(dice)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    lines = [
        " ".join(dice.choices(words, weights, k=dice.randint(0, 24))) or "  "
        for _ in range(200_000)
    ]
    text = tmp_path / "text.txt"
    with text.open("w", encoding="utf-8") as file:
        while file.tell() < 450_000_000:  # 650 MB after each space becomes U+2581
            dice.shuffle(lines)
            file.write("\n".join(lines) + "\n")
    options = {**OPTIONS, "input": text.name, "model_prefix": "m"}
    comparison = patient.run(Case(options, links={text.name: text}))
    assert comparison.equal, comparison.report()
    assert comparison.ours.failure is None, comparison.report()


def test_counts_that_fill_several_seeding_chunks(patient: Trainers) -> None:
    """When a chunk becomes full, the reference loses the remaining copies of the current line."""
    dice = random.Random(8)
    words = list(dict.fromkeys(random_words(dice)))
    lines = [f"{word}\t{8_000_000 // rank}\n" for rank, word in enumerate(words, 1)]
    dice.shuffle(lines)
    patient.check({**OPTIONS, "input_format": "tsv"}, "".join(lines))
