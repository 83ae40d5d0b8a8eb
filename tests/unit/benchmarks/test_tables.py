"""The benchmark's stored results, its tables and its figure."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import ROOT, plot, rows, tables
from benchmarks.measure import Step
from benchmarks.results import Store, machine
from tests.unit.benchmarks import made


def test_results_survive_writing_and_reading(tmp_path: Path) -> None:
    run_with_steps = replace(made.run(), steps=(Step("Reading", 0.5, 1.0, 1000),))
    store = Store(tmp_path / "results.json")
    for result in [made.result("de", made.ours(run_with_steps)), *made.sizes(10, 30)]:
        store.add(result)
    again = Store(store.path).results
    assert [vars(result) for result in again] == [vars(result) for result in store.results]
    assert [result.name for result in again] == ["de", "en-books-10", "en-books-30"]


def test_a_new_result_replaces_the_old_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.json")
    store.add(made.result("de", made.ours(made.run(1.0))))
    store.add(made.result("de", made.ours(made.run(2.0))))
    assert [result.ours.seconds for result in store.results] == [2.0]


def test_results_of_different_machines_are_not_mixed(tmp_path: Path) -> None:
    store = Store(tmp_path / "results.json")
    store.add(made.result("de", made.ours(made.run())))
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
    text = tables.document(
        [*made.sizes(10, 30), made.result("en-books-x8", made.ours(made.run(3.0, 75)), mb=240)]
    )
    lines = [" ".join(line.replace("|", " ").split()) for line in text.splitlines()]
    assert "English books 30 MB 30.0 s 2.00 s 15.0 100 MiB 50 MiB 2.0" in lines
    assert "English books 30 MB 2.00 s, 50 MiB 30.0 s, 100 MiB 15.0 s, 100 MiB" in lines
    assert "num_threads=2" in text
    assert "a processor" in text
    assert "load 0.25 to 0.25" in text


def test_growth_compares_copies_with_the_text_itself() -> None:
    once = made.result("en-books", made.ours(made.run(2.0, 50)), made.reference(made.run()), mb=240)
    text = tables.growth([once, made.result("en-books-x8", made.ours(made.run(3.0, 75)), mb=1920)])
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
    results = [
        made.result(name, made.ours(made.run(2.0, 50)), made.reference(made.run(30.0)))
        for name in rows.ROWS
    ]
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
    store.add(made.result("de", made.ours(made.run()), made.reference(made.run())))
    page, readme = tmp_path / "page.md", tmp_path / "README.md"
    for path, name in ((page, "unigram"), (readme, tables.SHORT.format("unigram"))):
        path.write_text(f"{tables.BEGIN.format(name)}\n{tables.END}\n")
    tables.main([str(store.path), "--page", str(page), "--readme", str(readme)])
    for path in (page, readme):
        assert "German laws and documentation" in path.read_text()


@pytest.mark.slow
def test_the_figure_shows_every_side_at_every_size(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'bench'")
    results = made.sizes(10, 30, 60)
    found = plot.lines(results)
    assert list(found) == ["sentencepiece 0.2.3", "tokenizers 0.1", made.ours().label]
    assert all([size for size, _ in points] == [10, 30, 60] for _, points in found.values())
    figures = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for figure in figures:
        plot.draw_to(figure, results)
    assert figures[0].read_text().startswith("<?xml")
    assert figures[0].read_bytes() == figures[1].read_bytes()


def test_the_figure_leaves_out_a_side_that_lacks_a_size() -> None:
    results = made.sizes(10, 30)
    results[0].sides.remove(results[0].others[0])
    assert list(plot.lines(results)) == ["sentencepiece 0.2.3", made.ours().label]


def test_one_size_gives_no_figure(tmp_path: Path) -> None:
    plot.draw_to(tmp_path / "a.svg", made.sizes(10))
    assert not (tmp_path / "a.svg").exists()
