"""Writing results to the folder of a report, and reading them again."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from spmcompat.tools.compare.results import Result, read_result, write_result
from spmcompat.tools.evaluate.bootstrap import Bootstrap, Interval, Resampled
from spmcompat.tools.evaluate.gold import GoldScores
from tests.unit.tools.compare.test_report import result

SETTINGS = {"command": ["train", "m\udcff"], "gold": ["a.tsv"]}
BOOTSTRAP = Bootstrap(2, 2**64 - 1, 90.0)
SCORES = GoldScores(4, 0.5, 0.5, 0.5, 1.5, 0.5, 0.5, 0.5, 3, math.nan, 0)


def full_result() -> Result:
    plain = result(
        "one", 10, 1.25, gold={"a.tsv": SCORES}, gold_cuts={"a.tsv": ((), (2,), (2, 5), (1,))}
    )
    intervals = {"tokens": Interval(8.0, 12.0)}
    resampled = Resampled(BOOTSTRAP, 8, 1, intervals, {"tokens": (9.0, 11.0)})
    return plain._replace(evaluation=plain.evaluation._replace(resampled=resampled))


def test_a_result_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    write_result(path, full_result(), SETTINGS)
    found = read_result(path, {"gold": ["a.tsv"]})
    # The results are compared as text, because NaN is not equal to itself.
    assert repr(found) == repr(full_result())
    assert read_result(path, SETTINGS) is not None
    assert read_result(path, {"gold": []}) is None
    assert read_result(path, {"other": None}) is None
    assert read_result(tmp_path / "two.json", SETTINGS) is None


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ((), []),
        ((), None),
        (("made_from",), 5),
        (("run",), []),
        (("run", "tokens"), "word"),
        (("run", "tokens"), [["a", 5]]),
        (("run", "tokens"), [[{"id": 1}]]),
        (("run", "seconds"), "1.0"),
        (("run", "seconds"), math.inf),
        (("run", "seconds"), 10**400),
        (("run", "vocab_size"), 1.5),
        (("run", "vocab_size"), True),
        (("run", "vocab_size"), -1),
        (("run", "vocab_size"), 2**64),
        (("run", "more"), 1),
        (("run", "gold_cuts"), {"a.tsv": [2]}),
        (("run", "gold_cuts"), {"a.tsv": [[-1]]}),
        (("run", "evaluation"), None),
        (("run", "evaluation", "gold"), []),
        (("run", "evaluation", "gold"), {"a.tsv": {}}),
        (("run", "evaluation", "drops_spaces"), 0),
        (("run", "evaluation", "resampled", "settings"), None),
        (("run", "evaluation", "resampled", "intervals"), {"tokens": [1.0, 2.0, 3.0]}),
        (("run", "evaluation", "uses"), {"0": 1}),
    ],
    ids=str,
)
def test_a_damaged_result_is_not_read(tmp_path: Path, keys: tuple[str, ...], value: Any) -> None:
    path = tmp_path / "one.json"
    write_result(path, full_result(), SETTINGS)
    document = [json.loads(path.read_text(errors="surrogateescape"))]
    place, last = document, 0
    for key in keys:
        place, last = place[last], key  # type: ignore[call-overload,assignment]
    place[last] = value
    path.write_text(json.dumps(document[0]))
    assert read_result(path, SETTINGS) is None


@pytest.mark.parametrize("text", ["", "{", "\0", "[" * 100_000, '{"a":' * 100_000, "1" * 5_000])
def test_a_file_that_is_not_a_document_is_not_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.json"
    path.write_text(text)
    assert read_result(path, {}) is None


def test_a_result_fits_the_lines_gold_lists_and_bootstrap_of_a_report() -> None:
    stored = full_result()
    lines = ["undo", "<b>"]
    assert stored.fits(lines, ["a.tsv"], BOOTSTRAP)
    assert not stored.fits(lines[:1], ["a.tsv"], BOOTSTRAP)
    assert not stored.fits(lines, [], BOOTSTRAP)
    assert not stored._replace(gold_cuts={}).fits(lines, ["a.tsv"], BOOTSTRAP)
    assert not stored._replace(gold_cuts={"a.tsv": ((), ())}).fits(lines, ["a.tsv"], BOOTSTRAP)
    assert not stored.fits(lines, ["a.tsv"], None)
    assert not stored.fits(lines, ["a.tsv"], BOOTSTRAP._replace(resamples=3))
    assert not result("one", 10).fits(lines, [], BOOTSTRAP)
    assert result("one", 10).fits(lines, [], None)
    for samples in ({"tokens": (9.0,)}, {"other": (9.0, 11.0)}):
        resampled = stored.evaluation.resampled
        assert resampled is not None
        evaluation = stored.evaluation._replace(resampled=resampled._replace(samples=samples))
        assert not stored._replace(evaluation=evaluation).fits(lines, ["a.tsv"], BOOTSTRAP)
