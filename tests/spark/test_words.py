"""The words that Spark counts, and those that a counter of parts counts, are those of the text."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat import spark as counting
from tests.kinds import raises_kind

from .training import LINES

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def expected(like: str) -> Any:
    return spmcompat.count_words(like, sentence_iterator=LINES).to_arrow()


def sorted_rows(folder: Path) -> Any:
    return spmcompat.load_words(folder).to_arrow().sort_by("word")


@pytest.fixture(scope="module")
def spark(start: Callable[..., Any]) -> Any:
    return start("local[2]")


@pytest.mark.parametrize("partitions", [1, 5])
def test_spark(spark: Any, partitions: int, tmp_path: Path) -> None:
    text = spark.createDataFrame([(line,) for line in [*LINES, None]], "value string")
    words = counting.count(text.repartition(partitions), "value", like="gpt2")
    words.write.parquet(str(tmp_path / "words"))
    assert sorted_rows(tmp_path / "words") == expected("gpt2")
    trained = spmcompat.train_tokenizer("gpt2", counts=tmp_path / "words", vocab_size=500)
    whole = spmcompat.train_tokenizer("gpt2", sentence_iterator=LINES, vocab_size=500)
    assert trained.document == whole.document  # type: ignore[union-attr]


@pytest.mark.parametrize("like", ["llama3", "qwen2"])
def test_parts(like: str, tmp_path: Path) -> None:
    counter = pickle.loads(pickle.dumps(spmcompat.arrow_counter("text", like=like)))
    lines = LINES[:]
    random.Random(1).shuffle(lines)
    for part in range(4):
        batch = pa.record_batch({"text": pa.array([*lines[part::4], None])})
        rows = pa.Table.from_batches([*counter.count([batch])], schema=counter.schema)
        rows = rows.replace_schema_metadata(counter.metadata)
        pq.write_table(rows, tmp_path / f"{part}.parquet")
    merged = spmcompat.merge_words([tmp_path], output=tmp_path / "all", minloglevel=2)
    assert merged.to_arrow() == expected(like)


def test_a_missing_file_is_noticed(tmp_path: Path) -> None:
    counter = spmcompat.arrow_counter("text", like="gpt2")
    batch = pa.record_batch({"text": pa.array(LINES)})
    rows = pa.Table.from_batches([*counter.count([batch])], schema=counter.schema)
    rows = rows.replace_schema_metadata(counter.metadata)
    half = rows.num_rows // 2
    pq.write_table(rows[:half], tmp_path / "0.parquet")
    pq.write_table(rows[half:], tmp_path / "1.parquet")
    words = spmcompat.load_words(tmp_path)
    assert len(words) == rows.num_rows - 1
    assert words.to_arrow() == expected("gpt2")
    words.save(tmp_path / "saved")
    assert spmcompat.load_words(tmp_path / "saved").to_arrow() == expected("gpt2")
    for missing in ("0.parquet", "1.parquet"):
        kept = (tmp_path / missing).rename(tmp_path / "kept")
        with raises_kind(f"bad-counts {tmp_path.name}"):
            spmcompat.train_tokenizer("gpt2", counts=tmp_path)
        kept.rename(tmp_path / missing)


def test_a_part_without_words(tmp_path: Path) -> None:
    counter = spmcompat.arrow_counter("text", like="gpt2")
    batch = pa.record_batch({"text": pa.array(["", None])})
    rows = pa.Table.from_batches([*counter.count([batch])], schema=counter.schema)
    pq.write_table(rows.replace_schema_metadata(counter.metadata), tmp_path / "0.parquet")
    words = spmcompat.load_words(tmp_path)
    assert (len(words), words.to_arrow().num_rows) == (0, 0)


def test_options_of_sentences_are_refused() -> None:
    with raises_kind("conflicting-options byte_fallback like"):
        spmcompat.arrow_counter("text", like="gpt2", byte_fallback=True)
