"""Training that keeps required characters in every round, compared with the oracle."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest

import spmcompat
from spmcompat.model.reading import parse
from tests.oracle.characters import SPACE, Options, cover, normalized
from tests.oracle.training import train
from tests.parity import corpora

PLAIN: dict[str, Any] = {
    "hard_vocab_limit": False,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
}


def trained(lines: list[str], **options: Any) -> list[tuple[str, float]]:
    model = io.BytesIO()
    spmcompat.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, **PLAIN, **options
    )
    return [(p.piece, p.score) for p in parse(model.getvalue()).pieces if p.type == 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "extension",
    [
        {"prune": "flat"},
        {"prune": "flat", "early_prune_threshold": 4.0},
        {"prune": "flat", "early_prune_threshold": 0.1},
        {"early_prune_threshold": 3.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("number", range(5))
def test_required_characters_stay_in_every_round(number: int, extension: dict[str, Any]) -> None:
    dice = random.Random(f"required/{number}")
    script = dice.choice(["han", "kana", "hangul"])
    text = corpora.words_text(dice.randrange(1 << 30), 40, script, 40)
    lines = [line for line in text.split("\n") if line]
    sentences = [(normalized(line, Options(), True), 1) for line in lines]
    size = len(cover(sentences, Options())[1]) + dice.choice([5, 20, 60])
    given: dict[str, Any] = {"vocab_size": size, "num_threads": 3, "shrinking_factor": 0.6}
    rounds: list[set[str]] = []

    def report(stage: str, value: Any) -> None:
        if stage == "m_step":
            rounds.append({piece for piece, _ in value})

    expected = train(
        sentences,
        Options(**given),
        report=report,
        threshold=extension.get("early_prune_threshold", 0.5),
        flat=extension.get("prune") == "flat",
    )
    required = set(cover(sentences, Options())[1])
    assert SPACE in required
    assert all(required <= pieces for pieces in rounds) or "prune" not in extension
    found = trained(lines, **given, **extension)
    assert found == [(piece, float(score)) for piece, score in expected]
