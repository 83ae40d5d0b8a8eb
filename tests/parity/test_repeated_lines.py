"""Texts whose lines repeat, as boilerplate does: many frequent pieces have nearly equal counts."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spmcompat
from spmcompat.model.reading import parse
from spmcompat.releases import RELEASES
from tests.searches import examples

from .case import Option
from .harness import Trainers

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KINDS: dict[str, dict[str, Option]] = {
    "unigram": {"seed_sentencepiece_size": 3000},
    "bpe": {},
    "word": {},
    "char": {},
}


def repeated(seed: int, counts: list[int], lines: int, length: int) -> dict[str, int]:
    """Return random lines with the number of their repetitions."""
    dice = random.Random(seed)
    return {"".join(dice.choices(LETTERS, k=length)): dice.choice(counts) for _ in range(lines)}


def as_text(lines: dict[str, int]) -> str:
    return "".join(f"{line}\n" * count for line, count in lines.items())


def as_rows(lines: dict[str, int]) -> str:
    return "".join(f"{line}\t{count}\n" for line, count in lines.items())


MANY = [f"{line[:20]} {line[20:]}" for line in repeated(9, [1], 600, 40)]

# Seeds and vocabulary sizes. The count of a pair falls below the floor, but stays in the same class
# of the queue; another pair with the same count and a smaller text was not recorded.
NEARLY_EQUAL = [(6, 230), (27, 130), (231, 130)]


@pytest.mark.parametrize(("seed", "size"), NEARLY_EQUAL)
@pytest.mark.parametrize("release", RELEASES)
def test_pairs_with_nearly_equal_counts(
    trainers: Trainers, seed: int, size: int, release: str
) -> None:
    lines = repeated(seed, [1, 2, 7, 300, 300], 12, 400)
    options: dict[str, Option] = {"vocab_size": size, "hard_vocab_limit": False}
    options |= {"model_type": "bpe"}
    trainers.check(options, as_text(lines), release=release)
    trainers.check({**options, "input_format": "tsv"}, as_rows(lines), release=release)


RUN = "".join(random.Random(7).choices(LETTERS, k=300))
OTHER = "".join(random.Random(8).choices(LETTERS, k=300))
ENDS = {
    "one run": [RUN] * 2000,
    "a run after other lines": [*MANY, *[RUN] * 2000],
    # sentencepiece 0.2.2 takes seconds for a run of 40 lines that is not the only one.
    "two runs": [*[RUN] * 30, OTHER, *[RUN] * 40],
    "the longer run first": [*[RUN] * 40, OTHER, *[RUN] * 30],
    "a period": [RUN, OTHER, OTHER] * 700,
    "an open period": [*[RUN, OTHER, OTHER] * 700, RUN],
    "in the middle of lines": [f"{OTHER[:40]} {RUN}", f"{MANY[0][:9]} {RUN}"] * 1000,
    "the text twice": MANY * 2,
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1", "0.2.2"])
def test_a_text_whose_end_recurs_thousands_of_times(
    trainers: Trainers, end: str, release: str
) -> None:
    options: dict[str, Option] = {"vocab_size": 300, "hard_vocab_limit": False}
    text = "".join(f"{line}\n" for line in ENDS[end])
    trainers.check(options, text, release=release)


@st.composite
def repetitions(draw: st.DrawFn) -> dict[str, int]:
    counts = draw(st.sampled_from([[1, 300], [1, 2, 7, 300], [300], [40, 41, 42], [1, 2]]))
    lines = draw(st.sampled_from([1, 3, 12]))
    return repeated(draw(st.integers(0, 2**32)), counts, lines, draw(st.sampled_from([3, 30, 300])))


@pytest.mark.parametrize("kind", KINDS)
def test_text_rows_and_weighted_counts(trainers: Trainers, kind: str, tmp_path: Path) -> None:
    @settings(max_examples=examples(60), deadline=None)
    @given(lines=repetitions(), more=st.sampled_from([10, 100, 300]))
    def every_form(lines: dict[str, int], more: int) -> None:
        size = len(set("".join(lines))) + 4 + more
        options: dict[str, Option] = {"vocab_size": size, "hard_vocab_limit": False}
        options |= {"model_type": kind, **KINDS[kind]}
        trainers.check({**options, "input_format": "tsv"}, as_rows(lines))
        by_weight = {
            weight: [line for line in lines if lines[line] == weight]
            for weight in sorted(set(lines.values()))
        }
        text = "".join("".join(f"{one}\n" for one in by_weight[n]) * n for n in by_weight)
        expected = trainers.check(options, text).reference.output(".model")
        assert expected is not None
        assert pieces(from_weighted_counts(by_weight, options, tmp_path)) == pieces(expected)

    every_form()


def from_weighted_counts(
    lines: dict[int, list[str]], options: dict[str, Option], folder: Path
) -> bytes:
    """Train from counts of the lines, weighted by their keys."""
    pytest.importorskip("pyarrow")
    parts = [spmcompat.count(sentence_iterator=part, minloglevel=2) for part in lines.values()]
    spmcompat.merge_counts(parts, weights=[*lines], output=folder / "all.counts")
    model = io.BytesIO()
    training: dict[str, Any] = {"counts": folder / "all.counts", "model_writer": model, **options}
    spmcompat.train(minloglevel=2, **training)
    return model.getvalue()


def pieces(model: bytes) -> list[tuple[str, float, int]]:
    return [(one.piece, one.score, one.type) for one in parse(model).pieces]
