"""Tests of the scaling model, which predicts training times on more cores from recorded times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import scaling
from benchmarks.scaling import Call, Step, call_seconds, predict, schedule, step_seconds


def test_each_worker_takes_the_next_task_when_it_is_free() -> None:
    assert schedule([3, 1, 1, 1], 1) == 6
    assert schedule([3, 1, 1, 1], 2) == 3
    assert schedule([1, 1, 1, 3], 2) == 4
    assert schedule([2, 2], 8) == 2
    assert schedule([], 4) == 0


def test_a_single_task_is_never_divided() -> None:
    assert [call_seconds(Call([4.0]), workers) for workers in (1, 2, 64)] == [4, 4, 4]


def test_work_from_one_list_is_divided() -> None:
    assert call_seconds(Call([5.0, 3.0]), 2) == 5
    assert call_seconds(Call([5.0, 3.0]), 2, is_shared=True) == 4


def test_tasks_are_handed_out_by_one_thread() -> None:
    call = Call([1.0] * 8, handing=3.0)
    assert [call_seconds(call, workers) for workers in (1, 2, 8)] == [8, 4, 3]


def test_lanes_limit_how_many_workers_add() -> None:
    call = Call([1.0] * 64)
    assert call_seconds(call, 16, is_shared=True, in_turn=0.5) == 4
    assert call_seconds(call, 64, is_shared=True, in_turn=0.5) == 2
    assert call_seconds(call, 64, is_shared=True, in_turn=0.1) == 1


def test_one_worker_tells_which_calls_are_shared() -> None:
    one = Step("Cutting", 0, 1.0, [Call([8.0]), Call([2.0, 2.0])])
    two = Step("Cutting", 0, 1.0, [Call([5.0, 3.0]), Call([1.0, 2.0]), Call([0.5])])
    assert step_seconds(one, one, 1) == 1 + 8 + 4
    assert step_seconds(two, one, 2) == 1 + 4 + 2 + 0.5


def test_steps_of_the_same_name_are_added_up() -> None:
    steps = [Step(name, 0, 1.0, []) for name in ("E-step", "M-step", "E-step")]
    assert predict({1: steps, 2: steps}) == {"E-step": [2, 2], "M-step": [1, 1]}


def test_other_steps_are_an_error() -> None:
    with pytest.raises(SystemExit, match="different steps"):
        predict({1: [Step("E-step", 0, 1.0, [])], 2: []})


def test_a_training_is_recorded_and_its_tables_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling, "CORES", (1, 2, 16))
    (tmp_path / "tiny.txt").write_text("the cat sat on the mat\na dog and the end\n" * 200)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{scaling._BEGIN}\nold\n{scaling._END}\nafter\n")
    given = ["--folder", str(tmp_path), "--results", str(tmp_path), "--page", str(page)]
    assert scaling.main(["tiny", "--runs=1", "--vocab_size=60", *given]) == 0
    stored = json.loads(next(tmp_path.glob("scaling-*.json")).read_text())
    assert [row["type"] for row in stored["rows"]] == ["unigram", "bpe"]
    steps = stored["rows"][0]["predicted"]
    assert {"Starting", "Reading", "E-step", "Pruning"} <= steps.keys()
    assert all(len(seconds) == len(scaling.CORES) for seconds in steps.values())
    assert steps["E-step"][0] > 0
    written = page.read_text()
    assert written.startswith("before\n")
    assert written.endswith("after\n")
    assert "old" not in written
    assert "| `tiny`, unigram |" in written
    assert "tiny unigram: 1: " in capsys.readouterr().err


def test_a_page_without_marks_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(SystemExit, match="has no lines"):
        scaling.write_into(page, "tables")
    assert page.read_text() == "nothing"
