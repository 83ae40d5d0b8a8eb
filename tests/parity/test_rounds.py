"""Reports about the steps of training are consistent, and agree with the model and the text."""

from __future__ import annotations

import csv
import io
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.dump import Dump
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.outputs import outputs
from spmcompat.runtime.rounds import PieceRow, Step
from tests.kinds import assert_error, raises_kind
from tests.parity import corpora, reference

TEXT = corpora.topics_text()
SPACE = "\u2581"
READ = {"sep": "\t", "dtype": {"piece": str}, "keep_default_na": False, "na_values": ""}
"""The arguments with which the documentation reads a table with pandas."""

CONFIGURATIONS: list[dict[str, object]] = [
    {},
    {"recipe": "paper"},
    {"recipe": "fsp"},
    {"recipe": "mingram"},
    {"recipe": "mingram", "drop_unused": False},
    {"prune": "exact"},
    {"early_prune_threshold": 3},
    {"prune_overshoot": 1},
    {"prune_overshoot": 2, "final_estimate": "em:2"},
    {"final_estimate": "renormalize"},
    {"use_sparse_pruning": True},
    {"use_sparse_pruning": True, "post_l1_debias": False},
    {"compat": "0.2.0"},
    {"model_type": "bpe"},
    {"model_type": "bpe", "byte_fallback": True, "auto_character_coverage": True},
    {"space_pieces": "dropped"},
]

DROPPED = {
    *("low count", "unused", "split", "low loss", "low score", "unreachable", "final cut"),
}
KEPT = {"no alternative", "required", "added back"}


def train(options: dict[str, object], **others: object) -> bytes:
    written = io.BytesIO()
    chosen: dict[str, Any] = {"vocab_size": 400, "character_coverage": 1, "minloglevel": 2}
    chosen |= {"sentence_iterator": iter(TEXT.split("\n")), "hard_vocab_limit": False}
    chosen |= {**options, **others}
    spmcompat.SentencePieceTrainer.train(model_writer=written, **chosen)
    return written.getvalue()


def rounds_of(options: dict[str, object], **others: object) -> tuple[list[Step], bytes]:
    heard: list[Step] = []
    return heard, train(options, on_round=heard.append, **others)


def learned(model: bytes) -> dict[str, float]:
    pieces = ModelProto.FromString(model).pieces
    return {piece.piece: piece.score for piece in pieces if piece.type == piece.NORMAL}


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_listening_changes_no_byte(options: dict[str, object], tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    assert train(options) == train(options, on_round=lambda done: done.pieces, dump=str(dump))
    assert sorted(os.listdir(tmp_path)) == ["dump"]


SILENT = """
import sys
from spmcompat.__main__ import main
main(sys.argv[1:])
print([name for name in sys.modules if name.startswith("spmcompat.") and "rounds" in name])
"""


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_without_a_listener_nothing_is_loaded(model_type: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    flags = ["--input=text", "--model_prefix=m", "--vocab_size=400", f"--model_type={model_type}"]
    command = [sys.executable, "-c", SILENT, "train", *flags]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_each_step_begins_with_the_pieces_of_the_one_before(options: dict[str, object]) -> None:
    heard, model = rounds_of(options)
    for done in heard:
        rows = done.pieces
        assert len({row.piece for row in rows}) == len(rows)
        assert sum(row.kept for row in rows) == done.size_after
        added = [row for row in rows if row.reason == "added back"]
        assert len(rows) - len(added) == done.size_before
        assert done.dropped == [row for row in rows if not row.kept]
        for row in rows:
            assert (row.new_score is not None) == row.kept
            assert row.reason in ({"", *KEPT} if row.kept else DROPPED)
    for before, after in pairwise(heard):
        left = {row.piece: row.new_score for row in before.pieces if row.kept}
        known = {row.piece: row.score for row in after.pieces if row.reason != "added back"}
        assert left == known
    final = {row.piece: row.new_score for row in heard[-1].pieces if row.kept}
    assert final == learned(model)
    assert [done.round for done in heard] == sorted(done.round for done in heard)


@pytest.mark.parametrize("options", CONFIGURATIONS[:13], ids=str)
def test_reasons_follow_from_the_numbers(options: dict[str, object]) -> None:
    heard, _ = rounds_of(options)
    assert [heard[0].round, heard[0].step] == [0, "seeds"]
    assert {done.step for done in heard} <= {
        *("seeds", "em", "prune", "unreachable", "final", "renormalize")
    }
    required = {row.piece for row in heard[0].pieces if len(row.piece) == 1}
    for done in heard:
        by_reason: dict[str, list[PieceRow]] = {reason: [] for reason in ["", *DROPPED, *KEPT]}
        for row in done.pieces:
            by_reason[row.reason].append(row)
        assert {row.piece for row in by_reason["required"] + by_reason["added back"]} <= required
        if done.step == "em":
            check_em(done)
        if done.step == "prune":
            check_pruning(done, by_reason)
        if done.step == "final":
            cut = [row.score for row in by_reason["final cut"] if row.score is not None]
            stayed = [row.score for row in by_reason[""] if row.score is not None]
            assert max(cut, default=-math.inf) <= min(stayed)


def check_em(done: Step) -> None:
    counts = [row.count for row in done.pieces if row.count is not None]
    assert done.tokens == pytest.approx(sum(counts))
    for row in done.pieces:
        is_low = done.threshold is not None and (row.count or 0) < done.threshold
        assert row.reason == ("" if not is_low else "required" if row.kept else "low count")


def check_pruning(done: Step, by_reason: dict[str, list[PieceRow]]) -> None:
    assert all(row.loss == math.inf for row in by_reason["no alternative"])
    assert not any(row.count for row in by_reason["unused"])
    assert all(row.count for row in by_reason["split"])
    assert all(row.loss is None for row in by_reason["unused"] + by_reason["split"])
    for reason, number in (("low loss", "loss"), ("low score", "score")):
        dropped = [getattr(row, number) for row in by_reason[reason]]
        kept = [getattr(row, number) for row in by_reason[""]]
        assert not dropped or max(dropped) <= min(kept, default=math.inf)
    assert done.size_before > done.size_after


def test_every_reason_occurs() -> None:
    seen = {
        row.reason
        for options in [*CONFIGURATIONS, {"prune_overshoot": 4, "shrinking_factor": 0.5}]
        for done in rounds_of(options)[0]
        for row in done.pieces
    }
    assert seen - {""} >= (DROPPED | KEPT) - {"split", "unreachable"}
    assert {"unreachable"} <= seen


def test_seeds_have_the_counts_of_the_text() -> None:
    lines = corpora.words_text(seed=3, lines=400, types=300).split("\n")
    lines += ["they are they", "they"]
    sentences = reference.normalize(lines, rule_name="nmt_nfkc")
    words = Counter(
        SPACE + word for sentence in sentences for word in sentence.split(SPACE) if word
    )
    occurrences: Counter[str] = Counter()
    for word, count in words.items():
        for begin in range(len(word)):
            for end in range(begin + 1, min(begin + 16, len(word)) + 1):
                occurrences[word[begin:end]] += count
    different: list[PieceRow] = []
    for options in ({}, {"compat": "0.2.0"}, {"seed_mode": "pretokens"}):
        heard, _ = rounds_of(options, sentence_iterator=iter(lines))
        assert len(heard[0].pieces) > 500
        different += [row for row in heard[0].pieces if row.count != occurrences[row.piece]]
    # Two sentences end with these pieces. Another sentence follows the first of the two, and the
    # end of the text follows the second. Therefore 0.2.3 counts both occurrences twice.
    assert {row.piece for row in different} == {"ey", "hey", "they", f"{SPACE}they"}
    assert all((row.count or 0) > occurrences[row.piece] for row in different)


def test_the_seeds_of_a_file_have_its_counts(tmp_path: Path) -> None:
    file = tmp_path / "seeds.tsv"
    file.write_text("the\t70\nand\t50000000001\nof\t3\n")
    heard, _ = rounds_of({"seed_sentencepieces_file": str(file)}, vocab_size=100)
    counts = {row.piece: row.count for row in heard[0].pieces if len(row.piece) > 1}
    assert counts == {"the": 70, "and": 50_000_000_001, "of": 3}


def test_bpe_reports_its_merges_in_order() -> None:
    heard, model = rounds_of({"model_type": "bpe"})
    (done,) = heard
    assert done.step == "merges"
    merged = [row.piece for row in done.pieces if len(row.piece) > 1]
    assert merged == [piece for piece in learned(model) if len(piece) > 1]
    counts = [row.count for row in done.pieces if len(row.piece) > 1]
    assert counts == sorted(counts, key=lambda count: -(count or 0))


@pytest.mark.parametrize("compat", ["0.2.3", "0.2.0"])
def test_the_merges_of_bpe_segment_the_text(compat: str) -> None:
    """Each merge joins two earlier pieces, and its count is that of the pair before the merge."""
    heard, _ = rounds_of({"model_type": "bpe", "compat": compat}, vocab_size=250)
    rules = [row for row in heard[0].pieces if row.left is not None]
    assert len(rules) > 100
    sentences = reference.normalize(TEXT.split("\n"), rule_name="nmt_nfkc")
    words = Counter(
        SPACE + word for sentence in sentences for word in sentence.split(SPACE) if word
    )
    text = [(list(word), count) for word, count in words.items()]
    for row in rules:
        assert row.piece == f"{row.left}{row.right}"
        joined = [(join(symbols, row.left, row.right), count) for symbols, count in text]
        if row.left != row.right:
            saved = sum(
                (len(before) - len(after)) * count
                for (before, count), (after, _) in zip(text, joined, strict=True)
            )
            assert row.count == saved
        text = joined


def join(symbols: list[str], left: str | None, right: str | None) -> list[str]:
    joined: list[str] = []
    for symbol in symbols:
        if joined and joined[-1] == left and symbol == right:
            joined[-1:] = [f"{left}{right}"]
        else:
            joined.append(symbol)
    return joined


def test_the_dump_of_bpe_names_the_parts_of_each_merge(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    heard, _ = rounds_of({"model_type": "bpe"}, dump=str(folder))
    with open(folder / "0000-merges.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    expected = [(row.piece, row.left or "", row.right or "") for row in heard[0].pieces]
    assert [(row["piece"], row["left"], row["right"]) for row in rows] == expected
    assert [row["count"] for row in rows] == [str(row.count) for row in heard[0].pieces]


class EnoughError(Exception):
    """An exception that an `on_round` function raises to end the run."""


@pytest.mark.parametrize("error", [EnoughError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("options", [{}, {"model_type": "bpe"}], ids=str)
def test_an_exception_of_the_function_ends_training(
    options: dict[str, object], error: type[BaseException], tmp_path: Path
) -> None:
    def stop(done: Step) -> None:
        if done.step in ("prune", "merges"):
            raise error(done.step)

    dump, prefix = tmp_path / "dump", tmp_path / "m"
    file = tmp_path / "text"
    file.write_text(TEXT)
    with pytest.raises(error):
        spmcompat.train(
            input=file,
            model_prefix=prefix,
            vocab_size=400,
            minloglevel=2,
            dump=dump,
            on_round=stop,
            **options,  # type: ignore[arg-type]
        )
    assert os.listdir(tmp_path) == ["text"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_round": 3}, "wrong-type on_round"),
        ({"on_round": print, "model_type": "char"}, "conflicting-options on_round"),
        ({"dump": "d", "model_type": "word"}, "conflicting-options dump"),
        ({"dump_format": "parquet"}, "conflicting-options dump_format dump"),
        ({"dump": "a/b"}, "cannot-write a/b No such file or directory"),
        ({"dump": "file"}, "cannot-write dump Not a directory"),
        ({"dump": "full"}, "cannot-write full Directory not empty"),
        ({"dump": "x\0y"}, "impossible-path"),
        ({"dump": "x" * 300}, "cannot-write File name too long"),
        ({"drop_unused": True}, "conflicting-options drop_unused objective=fewest_tokens"),
    ],
    ids=str,
)
def test_wrong_values_are_refused_before_training(
    options: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("full/inner").mkdir(parents=True)
    with raises_kind(message):
        train(options)
    assert sorted(os.listdir()) == ["file", "full"]


def test_parquet_without_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with raises_kind("missing-library dump_format=parquet pyarrow 'spmcompat[parquet]'"):
        train({"dump": str(tmp_path / "d"), "dump_format": "parquet"})


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # the limit would truncate it
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
from spmcompat.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_dump_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    flags = ["--input=text", "--model_prefix=m", "--vocab_size=400", "--dump=d", "--minloglevel=2"]
    command = [sys.executable, "-c", LIMITED, "train", *flags]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert_error(done.stderr, 'cannot-write dump "d": File too large')
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == ["text"]


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    train({"dump": str(tmp_path)})
    assert "rounds.tsv" in os.listdir(tmp_path)


ODD = ["\t", '"', '""', 'a"b', "\n", "\r", "\r\n", "NA", "nan", "null", "None", "1.5", "002", "\\"]
ODD += ["\\n", "'", "\u2028", "\x85", "\ufeff", "#", "True", "\x1a", f"{SPACE}a", "-inf"]

ROUNDS = [
    Step(0, "seeds", 3, 3, _rows=lambda: list(odd_rows())),
    Step(1, "em", 9, 8, 7.25, 3e9 + 0.5, 0.5, _rows=lambda: [PieceRow("002", True)]),
    Step(1, "final", 0, 0),
]


def odd_rows() -> Iterator[PieceRow]:
    for number, piece in enumerate(ODD):
        score = -1 / (number + 3)
        loss = [None, math.inf, score, 1e-300][number % 4]
        yield PieceRow(piece, number % 2 == 0, "low loss", score, 2.0**40 + number, loss)


def write_rounds(folder: Path, table_format: str) -> list[str]:
    with outputs("dump") as files:
        dump = Dump(str(folder), table_format, files)
        for done in ROUNDS:
            dump(done)
    assert dump.steps == 3
    return sorted(os.listdir(folder))


def test_tables_are_read_by_csv(tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    files = write_rounds(folder, "tsv")
    assert files == ["0000-seeds.tsv", "0001-em.tsv", "0002-final.tsv", "rounds.tsv"]
    with open(folder / files[0], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["piece"] for row in rows] == ODD
    for found, row in zip(rows, odd_rows(), strict=True):
        assert (found["kept"], found["reason"]) == (str(row.kept), row.reason)
        assert float(found["score"]) == pytest.approx(row.score, rel=1e-8)
        assert found["loss"] == ("" if row.loss is None else str(row.loss))
        assert found["new_score"] == ""
    with open(folder / "rounds.tsv", encoding="utf-8", newline="") as file:
        steps = list(csv.DictReader(file, delimiter="\t"))
    assert [step["file"] for step in steps] == files[:3]
    assert [step["objective"] for step in steps] == ["", "7.25", ""]
    assert steps[1]["tokens"] == "3000000000.5"


@pytest.mark.parametrize("table_format", ["tsv", "parquet"])
def test_tables_are_read_by_pandas(table_format: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    if table_format == "parquet":
        pytest.importorskip("pyarrow")
    folder = tmp_path / "dump"
    files = write_rounds(folder, table_format)

    def read(name: str) -> Any:
        if table_format == "parquet":
            return pandas.read_parquet(folder / name)
        return pandas.read_csv(folder / name, **READ)

    table = read(files[0])
    rows = list(odd_rows())
    assert list(table.columns) == list(PieceRow._fields[:-2])
    assert list(table.piece) == ODD
    assert list(table.kept) == [row.kept for row in rows]
    expected = pandas.DataFrame(rows)
    assert (table.score.astype("float32") == expected.score.astype("float32")).all()
    assert list(table["loss"].fillna(-1)) == list(expected["loss"].astype(float).fillna(-1))
    assert list(read(files[1]).piece) == ["002"]
    assert len(read(files[2])) == 0
    steps = read(files[3])
    assert list(steps.step) == ["seeds", "em", "final"]
    assert steps.objective.isna().tolist() == [True, False, True]


@pytest.mark.parametrize("options", [{}, {"recipe": "mingram"}, {"prune": "exact"}], ids=str)
def test_the_dump_equals_the_rounds_of_the_function(
    options: dict[str, object], tmp_path: Path
) -> None:
    folder = tmp_path / "dump"
    heard, _ = rounds_of(options, dump=str(folder))
    with open(folder / "rounds.tsv", encoding="utf-8", newline="") as file:
        steps = list(csv.DictReader(file, delimiter="\t"))
    assert [step["file"] for step in steps] == sorted(os.listdir(folder))[:-1]
    for step, done in zip(steps, heard, strict=True):
        assert (step["round"], step["step"]) == (str(done.round), done.step)
        with open(folder / step["file"], encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert [row["piece"] for row in rows] == [row.piece for row in done.pieces]
        for found, row in zip(rows, done.pieces, strict=True):
            assert found["reason"] == row.reason
            for name in ("score", "count", "new_score"):
                value = getattr(row, name)
                assert found[name] == ("" if value is None else format(value, ".9g")) or (
                    isinstance(value, int) and found[name] == str(value)
                )


def test_the_command_line_writes_a_dump(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT)
    flags = ["--input=text", "--model_prefix=m", "--vocab_size=400", "--dump=d"]
    command = [sys.executable, "-m", "spmcompat", "train", *flags]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Saved the dump of 18 steps: d" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["d", "m.model", "m.vocab", "text"]
