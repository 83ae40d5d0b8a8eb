"""The programs that make the papers' tables, run as their README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spmcompat
from benchmarks import ROOT
from benchmarks.papers import transfer
from benchmarks.papers.__main__ import Run
from benchmarks.papers.changes import NOTHING, Cell, change, mean_change, verdict
from benchmarks.papers.markdown import as_tables, without_tables
from benchmarks.papers.measure import MeasuredText, count_pieces, measure
from benchmarks.papers.picture import FOLDER, draw_to, points
from benchmarks.papers.tables import (
    PAPER,
    SPACES_ROWS,
    TABLES,
    TRANSFER,
    Change,
    Table,
    Variant,
)
from benchmarks.papers.texts import write_pair, write_parts
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.evaluation import evaluate
from spmcompat.tools.evaluate.gold_lists import read_gold_lists
from spmcompat.tools.evaluate.models import load_model
from tests.parity import corpora


@pytest.mark.slow
def test_an_installed_package_wins_over_a_checkout_that_is_not_compiled(tmp_path: Path) -> None:
    checkout, texts, work = tmp_path / "checkout", tmp_path / "texts", tmp_path / "work"
    for name in ("benchmarks", "spmcompat"):
        no_binaries = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "results")
        shutil.copytree(ROOT / name, checkout / name, ignore=no_binaries)
    texts.mkdir()
    (texts / "en-books.txt").write_text(corpora.words_text(5, 400, types=200))
    arguments = ["--folder", str(texts), "--work", str(work), "--languages", "en"]
    completed = subprocess.run(
        [sys.executable, "-m", "benchmarks.papers", "exact", *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert "Exact losses" in completed.stdout


@pytest.mark.slow
def test_the_table_of_boundaries_takes_further_gold_lists(tmp_path: Path) -> None:
    texts, work, gold = tmp_path / "texts", tmp_path / "work", tmp_path / "own.csv"
    texts.mkdir()
    (texts / "en-books.txt").write_text(corpora.words_text(5, 400, types=200))
    gold.write_text(",full_word,pt1,rest\n0,cats,cat,s\n1,it,it,\n")
    command = [sys.executable, "-m", "benchmarks.papers", "spaces", "--languages", "en"]
    command += ["--folder", str(texts), "--work", str(work), "--gold"]
    # The checkout may lack the compiled modules, so the folder of the tested package comes first.
    folders = [str(Path(spmcompat.__file__).parents[1]), str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}

    def run(path: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, str(path)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    completed = run(gold)
    assert completed.returncode == 0, completed.stderr
    first, second = completed.stdout.split("\nSpaces: boundaries of ")[1:]
    assert first.startswith("english.tsv: 473 words")
    assert second.startswith("own.csv: 1 word; left out: 1 row with an empty part;")
    for table in (first, second):
        assert [line[:22].strip() for line in table.splitlines()[2:8]] == list(SPACES_ROWS)
    broken = run(tmp_path / "nowhere.csv")
    assert broken.returncode == 2
    assert 'nowhere.csv": No such file' in broken.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_measurements_are_those_of_evaluate_on_pretokens(tmp_path: Path, kind: str) -> None:
    text = tmp_path / "text.txt"
    text.write_text(
        corpora.mixed_text(3, lines=700) + "\u200b\n" + "too long " * 600 + "\n" + "▅\n"
    )
    prefix = str(tmp_path / "m")
    spmcompat.SentencePieceTrainer.train(
        input=str(text),
        model_prefix=prefix,
        model_type=kind,
        vocab_size=600,
        hard_vocab_limit=False,
        pretokenizer="script",
        minloglevel=2,
    )
    measured = MeasuredText(text, Workers(2))
    loss, tokens = measured.measure(Path(f"{prefix}.model"))
    short = tmp_path / "short.txt"
    lines = text.read_bytes().splitlines(keepends=True)
    short.write_bytes(
        b"".join(line for line in lines if len(line) < 4000 and "▅".encode() not in line)
    )
    model = load_model(f"{prefix}.model", Workers(1), pretokenizer="script")
    (expected,) = evaluate([model], [str(short)], [], Report(min_log_level=2))
    assert tokens.sum() == expected.tokens
    assert len(tokens) > 200
    if kind == "unigram":
        characters = sum(
            len(line.decode().rstrip("\n")) for line in short.read_bytes().splitlines()
        )
        total = expected.loss_per_character * characters
        assert loss.sum() == pytest.approx(total, rel=1e-5)
    else:
        assert np.isnan(loss).all()


def test_parts_of_a_text_follow_each_other(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_bytes(b"".join(b"line %03d\n" % number for number in range(100)))
    parts = write_parts("en", [source, source], 450, 9, tmp_path)
    assert [path.name for path in parts] == [
        "en.txt",
        "en-part2.txt",
        "en-part3.txt",
        "en-part4.txt",
    ]
    assert b"".join(path.read_bytes() for path in parts) == source.read_bytes() * 2
    (whole,) = write_parts("en", [source], None, 3, tmp_path)
    assert (whole.name, whole.read_bytes()) == ("en-whole.txt", source.read_bytes())


def test_intervals_of_changes() -> None:
    base = np.full(50, 100.0)
    assert change(base * 1.02, base) == (
        pytest.approx(2.0),
        pytest.approx(0.0, abs=1e-9),
    )
    noisy = base + np.arange(50) % 5
    found, half = change(noisy, base)
    assert found == pytest.approx(2.0)
    assert half == pytest.approx(1.96 * np.std(np.arange(5)) / 50**0.5, rel=0.2)


@pytest.mark.parametrize(
    ("ours", "half", "published", "expected"),
    [
        (0.2, 0.1, 0.4, "agree"),
        (0.04, 0.0, -0.03, "agree"),
        (0.2, 0.1, -0.1, "no"),
        (0.2, 0.4, -0.1, "open"),
    ],
)
def test_verdicts(ours: float, half: float, published: float, expected: str) -> None:
    assert verdict(Cell(ours, half), published) == expected


def test_the_mean_leaves_out_texts_without_a_change() -> None:
    assert mean_change([NOTHING, Cell(1.0, 0.5), NOTHING]) == Cell(1.0, 0.5)
    mean, half = mean_change([Cell(1.0, 0.1), NOTHING, Cell(3.0, 0.1)])
    assert mean == 2.0
    assert half == pytest.approx(12.71 * np.std([1, 3], ddof=1) / 2**0.5)
    assert np.isnan(mean_change([NOTHING]).change)


def test_lines_of_tables_are_recognized() -> None:
    table = [b"| a | b |\n", b" |---|---|  \r\n", b"a | b | c\n"]
    other = [b"|\n", b"a | b\n", b"| a\n", b"\n"]
    assert [*without_tables([*table, *other])] == other


def test_the_words_of_a_text_become_tables() -> None:
    sentence = "私は今日も図書館へ行って本を読みながら静かに過ごしましたとさ。\n"
    lines = [b"one two three|four five\n", b"\n", sentence.encode()]
    assert b"".join(as_tables(lines)).decode().splitlines() == [
        "| one two | three four | five | 私は今日も図書館 |",
        "| --- | --- | --- | --- |",
        "| へ行って本を読み | ながら静かに過ご | しましたとさ。 |  |",
    ]
    rows = [*as_tables([b"%d " % n * 8 for n in range(25)])]
    heads = [number for number, row in enumerate(rows) if b"---" in row]
    assert heads == [1, 13, 25]
    assert len(rows) == 25 + 3


def test_a_text_to_train_on_and_another_text(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes(b"".join(b"line %03d\n" % number for number in range(90)))
    second.write_bytes(b"other\n" * 9)
    train, other = write_pair("en", first, second, 450, tmp_path)
    assert train.read_bytes() == first.read_bytes()[:450]
    assert other.read_bytes() == second.read_bytes()
    train, other = write_pair("ar", first, first, None, tmp_path)
    assert train.read_bytes() == first.read_bytes()[:540]
    assert other.read_bytes() == first.read_bytes()[540:]
    train, other = write_pair("ar", first, first, 90, tmp_path)
    assert (train.read_bytes(), other.read_bytes()) == (
        first.read_bytes()[:90],
        first.read_bytes()[90:180],
    )


PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_picture_has_a_point_for_each_published_row_of_the_page() -> None:
    found = points(PAGE)
    published = {
        table.title: {v.label: v.published for v in table.variants if v.published is not None}
        for table in TABLES.values()
    }
    assert {title: [row.label for row in rows] for title, rows in found.items()} == {
        title: [*rows] for title, rows in published.items() if rows
    }
    for title, rows in found.items():
        for row in rows:
            assert (row.published_loss, row.published_tokens) == published[title][row.label]
    (row,) = (row for row in found["Overshoot k"] if row.label == "k 2.0")
    assert row[1:5] == (1.96, 1.15, 0.06, 0.28)


@pytest.mark.slow
def test_the_picture_depends_on_the_page_only(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'bench'")
    pictures = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for picture in pictures:
        draw_to(picture, points(PAGE))
    assert pictures[0].read_text().startswith("<?xml")
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


@pytest.mark.slow
def test_a_smaller_model_is_marked_and_compared_with_a_baseline_of_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.txt"
    path.write_text(corpora.words_text(5, 400, types=200))
    text, pieces = MeasuredText(path, Workers(2)), 100
    rows = {"many": {"m_step": "ml"}, "few": {"early_prune_threshold": "60"}}
    variants = tuple(Variant(label, flags, Change(0.0, 0.0)) for label, flags in rows.items())
    Run(tmp_path, pieces).print_table(Table("Title", "", PAPER, variants), {"en": [text]})
    lines = capsys.readouterr().out.splitlines()
    (few,) = (line for line in lines if line.startswith("few"))
    assert not any("*" in line for line in lines if line.startswith("many"))
    ours = measure(text, {**PAPER, **rows["few"]}, pieces, tmp_path)
    size = count_pieces(ours.model)
    assert size < pieces
    assert lines[-1].startswith("* :")
    assert lines[-1].endswith(f"few: text {size}")
    base = measure(text, PAPER, size, tmp_path)
    assert count_pieces(base.model) == size
    found = change(ours.loss, base.loss), change(ours.tokens, base.tokens)
    shown = " / ".join(f"{cell.change:+.2f}±{cell.half:.2f}" for cell in found)
    assert few.count(f" {shown}*") == 2


@pytest.mark.slow
def test_a_model_is_measured_on_another_text(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text(corpora.words_text(5, 400, types=200))
    second.write_text(corpora.words_text(6, 300, types=150))
    workers = Workers(2)
    own, other = MeasuredText(first, workers), MeasuredText(second, workers)
    for text, on in ((first, None), (second, other)):
        found = measure(own, PAPER, 100, tmp_path, on)
        model = load_model(str(found.model), Workers(1), pretokenizer="script")
        (expected,) = evaluate([model], [str(text)], [], Report(min_log_level=2))
        assert found.tokens.sum() == expected.tokens
    assert len([*tmp_path.glob("*.model")]) == 1


@pytest.mark.slow
def test_the_table_of_another_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, work = tmp_path / "texts", tmp_path / "work"
    texts.mkdir()
    work.mkdir()
    (texts / "en-books.txt").write_text(corpora.words_text(5, 400, types=200))
    (texts / "en-docs.txt").write_text(corpora.words_text(6, 300, types=150) + "a | b | c\n")
    monkeypatch.setattr(transfer, "TRANSFER", (TRANSFER[0]._replace(pieces=100),))
    gold = read_gold_lists([str(FOLDER / "english.tsv")])
    languages, workers = ("en", "ko"), Workers(2)
    assert transfer.print_transfer("transfer", texts, None, languages, gold, work, workers) > 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line.startswith("100 pieces")]
    assert [head.split()[2:4] for head in heads] == [["en", "mean"]] * 2
    for method in ("FSP", "BPE"):
        assert [line[:3] for line in lines].count(method) == 3
    assert any(line.startswith("MorphScore of english.tsv: 473 words") for line in lines)
    assert (work / "en-other-no-tables.txt").read_text() == corpora.words_text(6, 300, types=150)
    assert transfer.print_transfer("transfer", texts, None, ["ko"], gold, work, workers) == 0
    assert "needs the texts of our benchmarks" in capsys.readouterr().out
