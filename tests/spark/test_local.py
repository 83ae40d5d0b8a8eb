"""Counts from Spark do not depend on the partitions, and yield the same models as the text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat import spark as counting
from spmcompat.cli import train
from tests.kinds import raises_kind
from tests.oracle import counting as oracle
from tests.parity import corpora, reference
from tests.parity.case import WRITER, Case

from .training import EXPECTED, FILES, LINES, OPTIONS, rows_of, trained, write_text


@pytest.fixture(scope="module")
def spark(start: Callable[..., Any]) -> Any:
    return start("local[2]")


@pytest.fixture(scope="module")
def text(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = write_text(tmp_path_factory.mktemp("text") / "files")
    return spark.read.option("lineSep", "\n").text(str(folder))


@pytest.fixture(scope="module")
def folder(text: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of counts that Spark wrote for the text."""
    path = tmp_path_factory.mktemp("counts") / "c"
    counting.count(text, "value").write.parquet(str(path))
    return path


@pytest.mark.parametrize("partitions", [1, 8, FILES])
def test_the_counts_are_equal_for_all_partitionings(
    text: Any, tmp_path: Path, partitions: int
) -> None:
    divided = text.repartition(partitions)
    for run in ("first", "second"):
        counting.count(divided, "value").write.parquet(str(tmp_path / run))
        assert rows_of(tmp_path / run) == EXPECTED


def test_small_tables_and_batches_give_the_same_counts(
    spark: Any, text: Any, tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "7")
    try:
        counting.count(text, "value", table_bytes=1).write.parquet(str(tmp_path / "c"))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert rows_of(tmp_path / "c") == EXPECTED


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
def test_training_gives_the_bytes_of_both_trainers_on_lines_in_one_order(
    folder: Path, model_type: str
) -> None:
    in_order = oracle.in_that_order(LINES)
    model = trained(counts=folder, model_type=model_type)
    assert model == trained(sentence_iterator=in_order, model_type=model_type)
    options = {**OPTIONS, "model_type": model_type}
    case = Case(options, sentences=[line.encode() for line in in_order], writer=True)
    assert model == reference.train(case)[WRITER]


def test_the_command_line_takes_the_folder(folder: Path, tmp_path: Path) -> None:
    flags = [f"--counts={folder}", f"--model_prefix={tmp_path}/m", "--vocab_size=90"]
    assert train.main([*flags, "--hard_vocab_limit=false", "--minloglevel=2"]) == 0
    assert (tmp_path / "m.model").stat().st_size > 0


def test_messy_text_with_options_is_counted_as_without_spark(spark: Any, tmp_path: Path) -> None:
    lines = [*corpora.mixed_text(seed=6).split("\n"), "a▅", "y" * 90, "line end\r\n"]
    options: dict[str, Any] = {
        "user_defined_symbols": ["the", "0"],
        "max_sentence_length": 80,
        "normalization_rule_name": "nfkc_cf",
        "minloglevel": 2,
    }
    frame = spark.createDataFrame([(line,) for line in [*lines, None, None]], "`a.b` string")
    counting.count(frame, "a.b", **options).write.parquet(str(tmp_path / "c"))
    expected = spmcompat.count(sentence_iterator=lines, **options)
    expected.save(tmp_path / "expected")
    ordered = oracle.Counter(rows_of(tmp_path / "expected"))
    assert rows_of(tmp_path / "c") == oracle.without_order(ordered)
    origin = spmcompat.load_counts(tmp_path / "c").origin
    assert origin.nulls == 2
    assert origin._replace(nulls=0) == expected.origin


def test_rules_from_a_file_are_read_on_the_driver(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.tsv").write_text("61\t62\n")
    frame = spark.createDataFrame([("aaa",)], "text string")
    rows = counting.count(frame, normalization_rule_tsv="rules.tsv")
    Path("rules.tsv").unlink()
    assert "\u2581bbb" in {row.pretoken for row in rows.collect()}


def test_the_types_of_the_columns(text: Any) -> None:
    found = counting.count(text, "value").schema.simpleString()
    assert found == "struct<pretoken:string,place:tinyint,next:int,count:bigint>"


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ("words", {}, "wrong-column 'words' value, n, value2"),
        ("n", {}, "wrong-column 'n' int"),
        (5, {}, "wrong-column 5"),
        ("value", {"input_sentence_size": 5}, "conflicting-options input_sentence_size"),
        ("value", {"add_dummy_prefix": False}, "needs-sentences add_dummy_prefix=false"),
        ("value", {"workers": 5}, "conflicting-options workers"),
    ],
)
def test_mistakes_are_found_before_anything_is_read(
    spark: Any, column: Any, options: dict[str, Any], message: str
) -> None:
    frame = spark.createDataFrame([("a", 1, "b")], "value string, n int, value2 string")
    with raises_kind(message):
        counting.count(frame, column, minloglevel=2, **options)


def test_what_is_no_text_is_refused(spark: Any) -> None:
    with raises_kind("wrong-type df list"):
        counting.count([], "text")  # type: ignore[arg-type]
    twice = spark.sql("select 'a' as text, 'b' as text")
    with raises_kind("wrong-column 'text'"):
        counting.count(twice, "text")
    stream = spark.readStream.format("rate").load().selectExpr("string(value) as text")
    with raises_kind("wrong-type df"):
        counting.count(stream, "text")
