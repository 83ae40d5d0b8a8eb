"""The bootstrap, compared with plain Python: units, draws, intervals, and their coverage."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.bootstrap import Bootstrap, UnitSums, draws, interval, resample
from spmcompat.tools.evaluate.differences import differences
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate
from spmcompat.tools.evaluate.gold import GoldWord, score_boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.models import load_model
from tests.oracle import resampling

from .conftest import Train, load
from .test_loss import by_hand

LINES = st.sampled_from(["a", "bb", "", "  ", "ccc d"])
GROUPS = {"lines": resampling.lines_as_units, "documents": resampling.documents_as_units}


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=12), min_size=1, max_size=4),
    st.sampled_from(["lines", "documents"]),
    st.integers(1, 9),
    st.integers(1, 7),
)
def test_sums_by_unit_are_those_of_grouped_lines(
    files: list[list[str]], kind: str, most: int, batch: int
) -> None:
    lines = [line for file in files for line in file]
    begins = np.cumsum([0, *map(len, files[:-1])])
    sums = UnitSums(2, kind, most)
    for first in range(0, len(lines), batch):
        part = lines[first : first + batch]
        rows = np.array([[1.0, len(line)] for line in part])
        blank = np.array([not line.strip() for line in part])
        inside = begins[(begins >= first) & (begins < first + len(part))] - first
        sums.add(rows, blank, inside.tolist())
    expected = resampling.in_blocks(GROUPS[kind](files), most)
    assert sums.sums.tolist() == [[len(unit), sum(map(len, unit))] for unit in expected]


@given(st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_draws_are_the_stream_of_splitmix64(units: int, seed: int) -> None:
    found = [drawn.tolist() for drawn in draws(units, Bootstrap(3, seed))]
    assert found == resampling.resamples(units, 3, seed)


def test_the_first_random_numbers_are_the_published_ones() -> None:
    # The first output of SplitMix64 for the seed 1234567, from the reference code.
    numbers = resampling.random_numbers(1234567)
    assert [next(numbers) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.sampled_from([50.0, 90.0, 95.0]))
def test_percentiles_are_interpolated(values: list[float], confidence: float) -> None:
    found = interval(values, confidence)
    tail = (100 - confidence) / 2
    expected = [resampling.percentile(values, percent) for percent in (tail, 100 - tail)]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_a_figure_that_is_not_always_defined_has_no_interval() -> None:
    assert interval([1.0, float("nan")], 95) is None


@pytest.mark.slow
def test_intervals_contain_the_true_ratio_as_often_as_they_say() -> None:
    # Lines have 1 to 30 words, and each word has 1 token and sometimes more: 1.5 on average. The
    # seeds are fixed, so the test always gives the same result.
    contained = 0
    for seed in range(400):
        generator = random.Random(seed)
        words = [generator.randint(1, 30) for _ in range(80)]
        tokens = [sum(generator.choice((1, 2)) for _ in range(count)) for count in words]
        sums = np.array([tokens, words], dtype=np.float64).T
        drawn = resample(sums, Bootstrap(300, seed))
        low, high = interval(drawn[:, 0] / drawn[:, 1], 95) or (0.0, 0.0)
        contained += low <= 1.5 <= high
    assert 0.92 <= contained / 400 <= 0.97


SETTINGS = Bootstrap(100, 7, 90.0)
GOLD = GoldList(
    "gold",
    tuple(GoldWord(text, frozenset({2})) for text in ("cats", "undo", "redo", "walks", "maps")),
    {},
)


def run(paths: list[Path], text: Path, bootstrap: Bootstrap, **options: Any) -> list[Evaluation]:
    models = [load_model(str(path), Workers(2), options.get("pretokenizer")) for path in paths]
    return evaluate(models, [str(text)], [GOLD], Report(3), bootstrap=bootstrap)


def check(result: Evaluation, name: str, expected: tuple[float, float], rel: float = 1e-9) -> None:
    assert result.resampled is not None
    assert result.resampled.intervals[name] == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize("units", ["lines", "documents"])
def test_intervals_are_those_of_plain_python(
    units: str, text: Path, train: Train, tmp_path: Path
) -> None:
    lines = [*text.read_text(encoding="utf-8").split("\n")[:30], "", "one more 漢字", " ", "end"]
    lines[7:7] = lines[15:15] = [""]
    sample = tmp_path / "sample.txt"
    sample.write_text("\n".join(lines), encoding="utf-8")
    path = train("m")
    (result,) = run([path], sample, SETTINGS._replace(units=units))
    model, encoder = load(path), SentencePieceProcessor(model_file=str(path))
    groups = GROUPS[units]([lines])

    def ratio(part: Callable[[str], float], whole: Callable[[str], float]) -> tuple[float, float]:
        sums = [(sum(map(part, unit)), sum(map(whole, unit))) for unit in groups]
        return resampling.interval_of(
            sums,
            lambda drawn: sum(a for a, _ in drawn) / sum(b for _, b in drawn),
            100,
            7,
            90.0,
        )

    def tokens(line: str) -> int:
        return len(encoder.encode(line))

    check(result, "tokens_per_word", ratio(tokens, lambda line: len(line.split())))
    check(result, "characters_per_token", ratio(len, tokens))
    check(result, "bytes_per_token", ratio(lambda line: len(line.encode()), tokens))
    check(result, "unknown_rate", ratio(lambda line: encoder.encode(line).count(0), tokens))
    loss = ratio(lambda line: by_hand(model, [line]), len)
    check(result, "loss_per_character", loss, rel=1e-5)
    check(
        result,
        "lost_characters",
        ratio(lambda line: line.count("漢字") * 2, lambda line: len("".join(line.split()))),
    )


def test_intervals_of_gold_scores_resample_words(text: Path, train: Train) -> None:
    path = train("m")
    (result,) = run([path], text, SETTINGS)
    cuts = load_model(str(path), Workers(1)).cut([word.text for word in GOLD.words])
    pairs = list(zip(GOLD.words, cuts, strict=True))
    for figure in ("precision", "recall", "f1", "mean_length"):
        expected = resampling.interval_of(
            pairs,
            lambda drawn, figure=figure: getattr(
                score_boundaries(*zip(*drawn, strict=True)), figure
            ),
            100,
            7,
            90.0,
        )
        check(result, f"gold_{figure}", expected)


def test_differences_are_paired(text: Path, train: Train) -> None:
    paths = [train("a"), train("b", vocab_size=80), train("c", model_type="bpe")]
    results = run(paths, text, SETTINGS)
    found = {(d.model, d.figure): d for d in differences(results, results[0])}
    encoders = [SentencePieceProcessor(model_file=str(path)) for path in paths]
    lines = [line for line in text.read_text(encoding="utf-8").split("\n") if line.strip()]
    for path, result, encoder in zip(paths[1:], results[1:], encoders[1:], strict=True):
        counts = [(len(encoder.encode(line)), len(encoders[0].encode(line))) for line in lines]
        low, high = resampling.interval_of(
            counts,
            lambda drawn: sum(a for a, _ in drawn) / sum(b for _, b in drawn) - 1,
            100,
            7,
            90.0,
        )
        tokens = found[str(path), "tokens"]
        assert (tokens.low, tokens.high) == pytest.approx((low, high))
        assert tokens.difference == pytest.approx(result.tokens / results[0].tokens - 1)
        assert tokens.excludes_zero == (low > 0 or high < 0)
        assert tokens.is_relative
        assert not found[str(path), "gold_f1"].is_relative
    assert found[str(paths[1]), "tokens"].excludes_zero
    assert (str(paths[1]), "loss_per_character") in found
    assert (str(paths[2]), "loss_per_character") not in found


def test_a_model_does_not_differ_from_itself(text: Path, train: Train) -> None:
    path = train("m")
    results = run([path, path], text, SETTINGS)
    for difference in differences(results, results[0]):
        assert (difference.low, difference.high, difference.excludes_zero) == (0, 0, False)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split_by_whitespace": False},
        {"treat_whitespace_as_suffix": True},
        {"space_pieces": "separate"},
        {"model_type": "bpe"},
        {"byte_fallback": True, "vocab_size": 400},
    ],
    ids=str,
)
def test_a_bootstrap_does_not_change_the_figures(
    options: dict[str, object], text: Path, train: Train
) -> None:
    path = train("m", **options)
    (with_intervals,) = run([path], text, SETTINGS)
    (without,) = evaluate([load_model(str(path), Workers(2))], [str(text)], [GOLD], Report(3))
    for name, value in without.flat().items():
        found = with_intervals.flat()[name]
        assert found == (
            pytest.approx(value, rel=1e-6, nan_ok=True) if isinstance(value, float) else value
        )
    assert with_intervals.uses == without.uses
    assert without.resampled is None
