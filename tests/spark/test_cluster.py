"""Counting in a cluster of real worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spmcompat import spark as counting
from tests.oracle import counting as oracle

from .training import EXPECTED, LINES, rows_of, trained, write_text


@pytest.fixture(scope="module")
def spark(start: Callable[..., Any]) -> Any:
    return start("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g"})


@pytest.mark.parametrize("partitions", [8])
def test_the_counts_and_the_model_are_those_of_one_process(
    spark: Any, tmp_path: Path, partitions: int
) -> None:
    text = spark.read.option("lineSep", "\n").text(str(write_text(tmp_path / "text")))
    counting.count(text.repartition(partitions), "value").write.parquet(str(tmp_path / "c"))
    assert rows_of(tmp_path / "c") == EXPECTED
    model = trained(counts=tmp_path / "c")
    assert model == trained(sentence_iterator=oracle.in_that_order(LINES))


def test_the_text_is_counted_in_other_processes(spark: Any) -> None:
    def process(batches: Any) -> Any:
        import pyarrow as pa

        for _ in batches:
            yield pa.record_batch({"id": [os.getppid()]})

    frame = spark.range(8).repartition(8)
    found = {row.id for row in frame.mapInArrow(process, "id long").collect()}
    assert os.getpid() not in found
