"""Comparing two builds of spmcompat."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks import ROOT, against, builds, measure, run
from benchmarks.builds import Build, BuildError
from benchmarks.measure import Run
from benchmarks.sides import Side
from tests.unit.benchmarks import made
from tests.unit.benchmarks.made import DIFFERENT, Order, Patch


def _against(patch: Patch, folder: Path, runs: Iterable[Run], *options: str) -> tuple[int, Order]:
    """Run the comparison with fake builds; return its status, and each run's name and cores."""
    order: Order = []
    next_run = {"new": iter(runs), "old": iter([made.run()] * 9)}

    def train(side: Side, **_: object) -> Run:
        order.append((side.name, os.sched_getaffinity(0)))
        return next(next_run[side.name])

    both = [Side("ours", name, "0.1.0", lambda _: []) for name in ("new", "old")]
    patch.setattr(builds, "of_checkout", lambda: Build("new", folder))
    patch.setattr(builds, "of_commit", lambda commit: Build(commit, folder))
    patch.setattr(against, "sides_of", lambda *_: both)
    patch.setattr(measure, "train", train)
    (folder / "mine.txt").write_text("some text\n")
    return run.main(["mine", f"--folder={folder}", "--against=old", *options]), order


@pytest.mark.parametrize(
    ("new", "status", "line"),
    [
        ([made.run(1.02)] * 4, 0, "0 of 1 rows are slower or larger by more than 3 %, or failed."),
        (
            [made.run(), made.run(1.04), made.run(1.04), made.run(9)],
            1,
            "- mine: wall time 1.040, CPU time 1.040",
        ),
        ([made.run(mib=104)] * 4, 1, "- mine: peak memory 1.040"),
        ([made.run(), made.run(sha256=DIFFERENT)], 1, "- mine: the bytes differ"),
    ],
)
def test_the_median_of_paired_ratios_is_limited(
    monkeypatch: Patch, tmp_path: Path, new: list[Run], status: int, line: str
) -> None:
    output = tmp_path / "table.md"
    found, order = _against(monkeypatch, tmp_path, new, f"--output={output}")
    assert found == status
    assert [name for name, _ in order] == ["new", "old", "old", "new"] * (len(new) // 2)
    assert line in output.read_text().splitlines()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_side_by_side_runs_swap_cores(monkeypatch: Patch, tmp_path: Path) -> None:
    cores = os.sched_getaffinity(0)
    _, order = _against(monkeypatch, tmp_path, [made.run()] * 4, "--side-by-side")
    assert Counter((name, *core) for name, core in order) == Counter(
        (name, core) for name in ("new", "old") for core in sorted(cores)[:2] * 2
    )
    assert os.sched_getaffinity(0) == cores


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the Git history")
def test_a_build_is_made_once(monkeypatch: Patch, tmp_path: Path) -> None:
    compiled: list[Path] = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(builds, "_compile", compiled.append)
    first = builds.of_commit("HEAD")
    assert builds.of_commit("HEAD") == first
    assert (first.folder / "spmcompat" / "__init__.py").is_file()
    assert len(compiled) == 1
    checkout = builds.of_checkout()
    assert (checkout.folder == first.folder) == (checkout.name == first.name)
    with pytest.raises(BuildError, match="has no commit nothing"):
        builds.of_commit("nothing")
