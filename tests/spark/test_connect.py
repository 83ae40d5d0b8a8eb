"""Counting through Spark Connect, whose client has no JVM."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat

from .training import EXPECTED, rows_of, write_text

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from spmcompat import spark as counting

spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__
text = spark.read.option("lineSep", "\\n").text(sys.argv[1])
counting.count(text, "value").write.parquet(sys.argv[2])
spark.stop()
"""


def test_counting_works_through_connect(can_run_spark: None, tmp_path: Path) -> None:
    if importlib.util.find_spec("grpc") is None:
        pytest.skip("Spark Connect is not installed: pip install 'pyspark[connect]'")
    package = str(Path(spmcompat.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run(
        [sys.executable, "-c", PROGRAM, write_text(tmp_path / "text"), tmp_path / "c"],
        cwd=tmp_path,
        env={**environment, "PYSPARK_PYTHON": sys.executable},
        check=True,
    )
    assert rows_of(tmp_path / "c") == EXPECTED
