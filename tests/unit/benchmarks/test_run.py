"""Tests of running the benchmark: its texts, rows and processes, and which runs give a result."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import measure, rows, run, sides, stages
from benchmarks.corpora import Text, reordered, write
from benchmarks.measure import Run
from benchmarks.results import Measured, Store, trouble
from benchmarks.sides import MissingSideError, Side
from spmcompat import training
from spmcompat.options.from_keywords import from_kwargs
from spmcompat.options.job import make_job
from tests.parity import corpora
from tests.unit.benchmarks import made
from tests.unit.benchmarks.made import DIFFERENT, EQUAL, Captured, Patch


def test_parts_are_joined_and_cut_after_a_whole_line(tmp_path: Path) -> None:
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    files[0].write_text("one\ntwo\n")
    files[1].write_text("drei\nvier\n")
    made = tmp_path / "made.txt"
    for size, kept in [(12, 8), (17, 13), (18, 18)]:
        write(files, size, 1, made)
        assert made.read_text() == "one\ntwo\ndrei\nvier\n"[:kept]


def test_copies_have_the_same_lines_in_different_orders() -> None:
    data = b"".join(b"line %d\n" % i for i in range(50))
    copies = list(reordered(data, 3))
    assert len({data, *copies}) == 4
    assert all(Counter(copy.split(b"\n")) == Counter(data.split(b"\n")) for copy in copies)
    assert copies == list(reordered(data, 3))


def test_a_whole_file_is_not_copied(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"x\n" * 400_000)
    found = {"a": file}
    assert Text("a", ("a",)).make(found, tmp_path) == file
    assert Text("a", ("a",), size=500_001).make(found, tmp_path).stat().st_size == 500_000
    assert Text("a", ("a",)).make(found, tmp_path, 0.5).stat().st_size == 400_000
    assert Text("a", ("a",), copies=2).make(found, tmp_path).stat().st_size == 1_600_000


def test_names_choose_groups_rows_files_and_paths(tmp_path: Path) -> None:
    for name in ("en-books", "mine"):
        (tmp_path / f"{name}.txt").write_text("text\n")
    path = str(tmp_path / "mine.txt")
    chosen, files = rows.chosen(["sizes", "mine"], corpora.large(tmp_path))
    assert [row.name for row in chosen] == [*rows.GROUPS["sizes"], "mine"]
    chosen, files = rows.chosen([path], {})
    assert [row.name for row in chosen] == ["mine"]
    assert files == {path: Path(path)}


def test_without_names_all_rows_with_a_text_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "zh-laws.txt").write_text("text\n")
    chosen, _ = rows.chosen([], corpora.large(tmp_path))
    assert {row.name for row in chosen} == {"zh-laws", "imports"}
    with pytest.raises(SystemExit, match="No text is found"):
        rows.chosen([], {})


@pytest.mark.parametrize("name", ["de", "no-such-row"])
def test_the_error_names_a_missing_text(tmp_path: Path, name: str) -> None:
    (tmp_path / "de-docs.txt").write_text("text\n")
    with pytest.raises(SystemExit, match=rf"{name}: .*txt is missing\. Give --folder"):
        rows.chosen([name], corpora.large(tmp_path))


def _command(code: str) -> Side:
    return Side("ours", "Python", "3", lambda _: [sides.sys.executable, "-c", code])


def test_time_memory_and_output_of_a_process_are_measured(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("abc")
    code = "x = b'x' * (64 << 20); open('m.model', 'w').write(open('text.txt').read())"
    done = measure.train(_command(code), text, {})
    assert done.failure == ""
    assert done.cpu_seconds > 0
    assert 64 << 10 < done.peak_kib < 128 << 10
    assert len(done.sha256) == 1


def test_memory_of_the_benchmark_itself_does_not_count() -> None:
    large = b"x" * (256 << 20)
    assert measure.train(_command("pass"), None, {}).peak_kib < len(large) >> 10


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("import os; os._exit(3)", "exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9 (Killed)"),
    ],
)
def test_a_failure_is_reported_in_one_line(code: str, failure: str) -> None:
    assert measure.train(_command(code), None, {}).failure == failure


@pytest.mark.reference
@pytest.mark.slow
def test_python_and_command_of_both_sides_write_the_same_bytes(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text(corpora.words_text(1))
    options = {**rows.FEW_PIECES, "num_threads": 2}
    for as_command in (False, True):
        both = [sides.ours(1, as_command), sides.reference(as_command)]
        if not as_command:
            both.append(sides.stages(2))
        runs = [measure.train(side, text, options) for side in both]
        assert [done.failure for done in runs] == [""] * len(both)
        assert len({done.sha256 for done in runs}) == 1
        assert [bool(done.steps) for done in runs] == [side.role == "stages" for side in both]


def test_every_step_of_a_run_is_timed(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(corpora.words_text(1))
    clock = iter(range(10**6))
    monkeypatch.setattr(stages, "BEGUN", (-1, 0))
    monkeypatch.setattr(stages.time, "perf_counter", lambda: next(clock))
    watch = stages.Stopwatch()
    settings = from_kwargs({"input": "a.txt", "model_prefix": "m", **rows.FEW_PIECES})
    training.run(make_job(settings), watch)
    watch.step("Ending")
    # The times of the steps add up to the total time: no time is lost between two steps.
    assert sum(step["seconds"] for step in watch.steps.values()) == next(clock)
    assert {"Reading", "Seeding", "E-step", "M-step", "Pruning", "Writing"} <= set(watch.steps)


@pytest.mark.parametrize("name", ["sentencepiece", "sentencepiece==", "other==1"])
def test_the_error_for_an_unknown_side(name: str) -> None:
    with pytest.raises(MissingSideError, match="unknown trainer"):
        sides.other(name, "unigram", 2)


def test_a_package_is_measured_only_with_the_model_types_that_it_trains() -> None:
    with pytest.raises(MissingSideError, match="bpeasy is only measured with --type bpe"):
        sides.other("bpeasy", "unigram", 2)


def test_equal_bytes_give_a_result() -> None:
    assert trouble([made.ours(made.run(), made.run()), made.reference(made.run())]) == ""


@pytest.mark.parametrize(
    "measured",
    [
        [made.ours(made.run()), made.reference(made.run(sha256=DIFFERENT))],
        [made.ours(made.run(), made.run(sha256=DIFFERENT)), made.reference(made.run())],
        [
            made.ours(made.run()),
            made.ours(made.run(sha256=DIFFERENT), workers=1),
            made.reference(made.run()),
        ],
        [made.ours(made.run()), made.reference(made.run(sha256=()))],
    ],
)
def test_different_bytes_give_no_result(measured: list[Measured]) -> None:
    assert trouble(measured) == "the bytes differ"


def test_a_failure_gives_no_result() -> None:
    failed = replace(made.run(), failure="no memory")
    assert (
        trouble([made.ours(made.run()), made.reference(failed)])
        == "sentencepiece 0.2.3 failed: no memory"
    )


def test_bytes_and_failures_of_other_trainers_are_ignored() -> None:
    failed = replace(made.run(sha256=()), failure="no memory")
    assert trouble([made.ours(made.run()), made.reference(made.run()), made.other(failed)]) == ""
    assert made.result("de", made.ours(made.run()), made.other(failed)).others == []


def test_the_smallest_value_of_all_runs_counts() -> None:
    measured = made.ours(made.run(3.0, 10), made.run(2.0, 30), made.run(4.0, 20))
    assert (measured.seconds, measured.mib) == (2.0, 10)


def test_ours_is_the_side_with_as_many_workers_as_threads() -> None:
    one, two = made.ours(made.run(3.0), workers=1), made.ours(made.run(2.0))
    assert made.result("de", one, two).ours is two


def _main(
    monkeypatch: Patch, folder: Path, digests: Iterable[tuple[str, ...]], *also: str
) -> tuple[int, list[str]]:
    """Run the command with fake trainings; return its exit status and the order of the runs."""
    order: list[str] = []
    next_digests = iter(digests)

    def train(side: Side, *_: object) -> Run:
        order.append(side.role)
        return made.run(len(order), sha256=next(next_digests))

    both = [
        Side("ours", "spmcompat", "0.1.0", lambda _: [], workers=2),
        Side("reference", "sentencepiece", "0.2.3", lambda _: []),
    ]
    monkeypatch.setattr(measure, "train", train)
    monkeypatch.setattr(run, "sides_of", lambda *_: both)
    (folder / "mine.txt").write_text("some text\n")
    return run.main(["mine", f"--folder={folder}", f"--results={folder}", *also]), order


def test_sides_take_turns(monkeypatch: Patch, tmp_path: Path, capsys: Captured) -> None:
    status, order = _main(monkeypatch, tmp_path, [EQUAL] * 6)
    assert status == 0
    assert order == ["ours", "reference"] * 3
    (result,) = Store(tmp_path / "unigram-0.1.0.json").results
    assert (result.name, result.size, result.ours.seconds) == ("mine", 10, 1.0)
    assert [len(side.runs) for side in result.sides] == [3, 3]
    printed = capsys.readouterr()
    assert "| mine | 0.0 MB |" in printed.out
    assert "[6/6] mine: sentencepiece 0.2.3 ... 6.00 s, 100 MiB\n" in printed.err


def test_each_model_type_has_its_own_results(
    monkeypatch: Patch, tmp_path: Path, capsys: Captured
) -> None:
    _main(monkeypatch, tmp_path, [EQUAL] * 6)
    assert _main(monkeypatch, tmp_path, [EQUAL] * 6, "--type=bpe")[0] == 0
    assert "# Training bpe models" in capsys.readouterr().out
    for model_type in ("unigram", "bpe"):
        (result,) = Store(tmp_path / f"{model_type}-0.1.0.json").results
        assert result.model_type == model_type


def test_different_bytes_are_not_kept(monkeypatch: Patch, tmp_path: Path, capsys: Captured) -> None:
    _main(monkeypatch, tmp_path, [EQUAL] * 6)
    status, order = _main(monkeypatch, tmp_path, [EQUAL, EQUAL, DIFFERENT])
    assert status == 1
    assert order == ["ours", "reference", "ours"]
    assert Store(tmp_path / "unigram-0.1.0.json").results == []
    assert "mine has no result: the bytes differ" in capsys.readouterr().out
    assert "mine" not in (tmp_path / "unigram-0.1.0.md").read_text()


@pytest.mark.parametrize("wrong", [["--runs=0"], ["--scale=0"], ["--scale=2"], ["--workers", "0"]])
def test_the_error_for_bad_arguments(wrong: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        run.parse_arguments(wrong)
    assert "--scale above 0 and at most 1" in capsys.readouterr().err


def test_worker_counts_go_up_to_the_cores(monkeypatch: Patch) -> None:
    for cores, counts in [(1, [1, 2]), (2, [1, 2]), (6, [1, 2, 4]), (8, [1, 2, 4, 8])]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert run.worker_counts(run.parse_arguments([])) == counts


@pytest.mark.reference
def test_the_largest_row_runs_the_reference_only_on_request() -> None:
    row = rows.ROWS["en-books-x8"]
    assert [side.role for side in run.sides_of(row, run.parse_arguments([]))] == ["ours"]
    checked = run.parse_arguments(["--check"])
    both = run.sides_of(row, checked)
    assert [run.runs_of(row, side, checked) for side in both] == [3, 1]
