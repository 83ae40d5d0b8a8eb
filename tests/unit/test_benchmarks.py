"""The benchmark: texts, rows, processes, checks of the results, comparisons, tables, figure."""

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import ROOT, against, builds, measure, plot, rows, run, sides, stages, tables
from benchmarks.builds import Build, BuildError
from benchmarks.corpora import Text, reordered, write
from benchmarks.measure import Run, Step
from benchmarks.results import Measured, Result, Store, machine, trouble
from benchmarks.sides import MissingSideError, Side
from spmcompat import training
from spmcompat.options.from_keywords import from_kwargs
from tests.parity import corpora

Patch = pytest.MonkeyPatch
Captured = pytest.CaptureFixture[str]
Order = list[tuple[str, set[int]]]

EQUAL, DIFFERENT = ("a" * 64, "b" * 64), ("c" * 64, "b" * 64)


def _run(seconds: float = 1.0, mib: float = 100.0, sha256: tuple[str, ...] = EQUAL) -> Run:
    return Run(seconds, seconds, int(mib * 1024), sha256)


def _ours(*runs: Run, workers: int = 2) -> Measured:
    return Measured("ours", f"spmcompat, {workers} workers", "0.1.0", workers, list(runs))


def _reference(*runs: Run) -> Measured:
    return Measured("reference", "sentencepiece 0.2.3", "0.2.3", 0, list(runs))


def _other(*runs: Run) -> Measured:
    return Measured("other", "tokenizers 0.1", "0.1", 0, list(runs))


def _result(name: str, *measured: Measured, mb: int = 10) -> Result:
    row = rows.ROWS.get(name)
    return Result(
        name=name,
        title=row.text.title if row and row.text else "",
        size=mb * 1_000_000,
        sha256="0" * 64,
        options={**rows.PIECES, "model_type": "unigram"},
        threads=2,
        scale=1.0,
        day="2026-01-02",
        machine={**machine(), "processor": "a processor", "load": [0.25, 0.0, 0.0]},
        sides=list(measured),
    )


def _sizes(*sizes: int) -> list[Result]:
    return [
        _result(name, _ours(_run(2.0, 50)), _reference(_run(mb)), _other(_run(mb / 2)), mb=mb)
        for name, mb in zip(rows.GROUPS["sizes"], sizes, strict=False)
    ]


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
    with pytest.raises(SystemExit, match="There are no texts"):
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
        ("import os; os.kill(os.getpid(), 9)", "exit code -9"),
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
    training.run(settings, report=watch)
    watch.step("Ending")
    # The times of the steps add up to the whole: no time is lost between two steps.
    assert sum(step["seconds"] for step in watch.steps.values()) == next(clock)
    assert {"Reading", "Seeding", "E-step", "M-step", "Pruning", "Writing"} <= set(watch.steps)


@pytest.mark.parametrize("name", ["sentencepiece", "sentencepiece==", "other==1"])
def test_the_error_for_an_unknown_side(name: str) -> None:
    with pytest.raises(MissingSideError, match="no such trainer"):
        sides.other(name, 2)


def test_equal_bytes_give_a_result() -> None:
    assert trouble([_ours(_run(), _run()), _reference(_run())]) == ""


@pytest.mark.parametrize(
    "measured",
    [
        [_ours(_run()), _reference(_run(sha256=DIFFERENT))],
        [_ours(_run(), _run(sha256=DIFFERENT)), _reference(_run())],
        [_ours(_run()), _ours(_run(sha256=DIFFERENT), workers=1), _reference(_run())],
        [_ours(_run()), _reference(_run(sha256=()))],
    ],
)
def test_different_bytes_give_no_result(measured: list[Measured]) -> None:
    assert trouble(measured) == "the bytes differ"


def test_a_failure_gives_no_result() -> None:
    failed = replace(_run(), failure="no memory")
    assert trouble([_ours(_run()), _reference(failed)]) == "sentencepiece 0.2.3 failed: no memory"


def test_bytes_and_failures_of_other_trainers_are_ignored() -> None:
    failed = replace(_run(sha256=()), failure="no memory")
    assert trouble([_ours(_run()), _reference(_run()), _other(failed)]) == ""
    assert _result("de", _ours(_run()), _other(failed)).others == []


def test_the_smallest_value_of_all_runs_counts() -> None:
    measured = _ours(_run(3.0, 10), _run(2.0, 30), _run(4.0, 20))
    assert (measured.seconds, measured.mib) == (2.0, 10)


def test_ours_is_the_side_with_as_many_workers_as_threads() -> None:
    one, two = _ours(_run(3.0), workers=1), _ours(_run(2.0))
    assert _result("de", one, two).ours is two


def _main(
    monkeypatch: Patch, folder: Path, digests: Iterable[tuple[str, ...]], *also: str
) -> tuple[int, list[str]]:
    """Run the command with fake sides; return its exit status and the order of the runs."""
    order: list[str] = []
    next_digests = iter(digests)

    def train(side: Side, *_: object) -> Run:
        order.append(side.role)
        return _run(len(order), sha256=next(next_digests))

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
    with pytest.raises(SystemExit, match="2"):
        run.arguments(["--type=bpe", "--also=tokenizers"])
    assert "only measured with --type unigram" in capsys.readouterr().err


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
        run.arguments(wrong)
    assert "--scale above 0 and at most 1" in capsys.readouterr().err


def test_worker_counts_go_up_to_the_cores(monkeypatch: Patch) -> None:
    for cores, counts in [(1, [1, 2]), (2, [1, 2]), (6, [1, 2, 4]), (8, [1, 2, 4, 8])]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert run.worker_counts(run.arguments([])) == counts


@pytest.mark.reference
def test_the_largest_row_runs_the_reference_only_on_request() -> None:
    row = rows.ROWS["en-books-x8"]
    assert [side.role for side in run.sides_of(row, run.arguments([]))] == ["ours"]
    checked = run.arguments(["--check"])
    both = run.sides_of(row, checked)
    assert [run.runs_of(row, side, checked) for side in both] == [3, 1]


def _against(patch: Patch, folder: Path, runs: Iterable[Run], *options: str) -> tuple[int, Order]:
    """Run the comparison with fake builds; return its exit status, and name and cores of runs."""
    order: Order = []
    next_run = {"new": iter(runs), "old": iter([_run()] * 9)}

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
        ([_run(1.02)] * 4, 0, "0 of 1 rows are slower or larger by more than 3 %, or failed."),
        ([_run(), _run(1.04), _run(1.04), _run(9)], 1, "- mine: wall time 1.040, CPU time 1.040"),
        ([_run(mib=104)] * 4, 1, "- mine: peak memory 1.040"),
        ([_run(), _run(sha256=DIFFERENT)], 1, "- mine: the bytes differ"),
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
    _, order = _against(monkeypatch, tmp_path, [_run()] * 4, "--side-by-side")
    assert Counter((name, *core) for name, core in order) == Counter(
        (name, core) for name in ("new", "old") for core in sorted(cores)[:2] * 2
    )
    assert os.sched_getaffinity(0) == cores


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the history")
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
    with pytest.raises(BuildError, match="There is no commit nothing"):
        builds.of_commit("nothing")


def test_results_survive_writing_and_reading(tmp_path: Path) -> None:
    run_with_steps = replace(_run(), steps=(Step("Reading", 0.5, 1.0, 1000),))
    store = Store(tmp_path / "results.json")
    for result in [_result("de", _ours(run_with_steps)), *_sizes(10, 30)]:
        store.add(result)
    again = Store(store.path).results
    assert [vars(result) for result in again] == [vars(result) for result in store.results]
    assert [result.name for result in again] == ["de", "en-books-10", "en-books-30"]


def test_a_new_result_replaces_the_old_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.json")
    store.add(_result("de", _ours(_run(1.0))))
    store.add(_result("de", _ours(_run(2.0))))
    assert [result.ours.seconds for result in store.results] == [2.0]


def test_results_of_different_machines_are_not_mixed(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.json")
    store.add(_result("de", _ours(_run())))
    here = {**machine(), "processor": "a processor"}
    store.check(here, 2, 1.0)
    for wrong in [(machine() | {"processor": "another"}, 2, 1.0), (here, 4, 1.0), (here, 2, 0.5)]:
        with pytest.raises(SystemExit, match="another machine"):
            store.check(*wrong)


def test_a_file_without_results_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"machine": {}}')
    with pytest.raises(SystemExit, match="move it away"):
        Store(path)


def test_tables_show_ratios() -> None:
    text = tables.document([*_sizes(10, 30), _result("en-books-x8", _ours(_run(3.0, 75)), mb=240)])
    lines = [" ".join(line.replace("|", " ").split()) for line in text.splitlines()]
    assert "English books 30 MB 30.0 s 2.00 s 15.0 100 MiB 50 MiB 2.0" in lines
    assert "English books 30 MB 2.00 s, 50 MiB 30.0 s, 100 MiB 15.0 s, 100 MiB" in lines
    assert "num_threads=2" in text
    assert "a processor" in text
    assert "load 0.25 to 0.25" in text


def test_growth_compares_copies_with_the_text_itself() -> None:
    once = _result("en-books", _ours(_run(2.0, 50)), _reference(_run()), mb=240)
    text = tables.growth([once, _result("en-books-x8", _ours(_run(3.0, 75)), mb=1920)])
    last = " ".join(text.splitlines()[-1].replace("|", " ").split())
    assert last.endswith("1,920 MB 3.00 s, 75 MiB 8.0 1.5 1.5 not compared")


def test_a_document_without_results() -> None:
    assert "Nothing was measured" in tables.document([])


def test_a_table_is_put_between_the_comments_of_its_type() -> None:
    begin, other = (tables.BEGIN.format(kind) for kind in ("bpe", "unigram"))
    of_other = f"{other}\nnot ours\n{tables.END}\n"
    readme = f"{of_other}before\n{begin}\nold\n{tables.END}\nafter\n"
    once = tables.put_into(readme, "bpe", "new")
    assert once == f"{of_other}before\n{begin}\n\nnew\n\n{tables.END}\nafter\n"
    assert tables.put_into(once, "bpe", "new") == once
    with pytest.raises(SystemExit, match="needs two comments"):
        tables.put_into("before after", "bpe", "new")
    for kind in ("unigram", "bpe"):
        assert tables.put_into((ROOT / "docs" / "speed.md").read_text(), kind, "new")
    name = tables.SHORT.format("unigram")
    assert tables.put_into((ROOT / "README.md").read_text(), name, "new")


def test_the_readme_shows_five_rows() -> None:
    results = [_result(name, _ours(_run(2.0, 50)), _reference(_run(30.0))) for name in rows.ROWS]
    lines = tables.five_rows(results).splitlines()
    assert len(lines) == 2 + 5
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "English books",
        "10 MB",
        "30.0 s, 100 MiB",
        "2.00 s, 50 MiB",
        "15.0",
        "2.0",
    ]


def test_results_go_into_the_page_and_into_the_readme(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.json")
    store.add(_result("de", _ours(_run()), _reference(_run())))
    page, readme = tmp_path / "page.md", tmp_path / "README.md"
    for path, name in ((page, "unigram"), (readme, tables.SHORT.format("unigram"))):
        path.write_text(f"{tables.BEGIN.format(name)}\n{tables.END}\n")
    tables.main([str(store.path), "--page", str(page), "--readme", str(readme)])
    for path in (page, readme):
        assert "German laws and documentation" in path.read_text()


@pytest.mark.slow
def test_the_figure_shows_every_side_at_every_size(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'bench' brings it")
    results = _sizes(10, 30, 60)
    found = plot.lines(results)
    assert list(found) == ["sentencepiece 0.2.3", "tokenizers 0.1", _ours().label]
    assert all([size for size, _ in points] == [10, 30, 60] for _, points in found.values())
    figures = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for figure in figures:
        plot.draw_to(figure, results)
    assert figures[0].read_text().startswith("<?xml")
    assert figures[0].read_bytes() == figures[1].read_bytes()


def test_one_size_gives_no_figure(tmp_path: Path) -> None:
    plot.draw_to(tmp_path / "a.svg", _sizes(10))
    assert not (tmp_path / "a.svg").exists()
