"""Counting on workers that lack spmcompat, with and without the archive from the documentation."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

import spmcompat
from spmcompat import spark

from .training import EXPECTED, rows_of, write_text

PROGRAM = """
import sys
from pyspark.sql import SparkSession
from spmcompat import spark as counting

archive, text, counts = sys.argv[1:]
builder = SparkSession.builder.master("local-cluster[2,1,1024]")
options = {"spark.executor.memory": "1g", "spark.ui.enabled": "false"}
options["spark.task.maxFailures"] = "1"
if archive:
    options["spark.archives"] = archive + "#packages"
    options["spark.executorEnv.PYTHONPATH"] = "packages"
for name, value in options.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
rows = spark.read.option("lineSep", "\\n").text(text)
counting.count(rows, "value").write.parquet(counts)
"""
PACKAGE = Path(spmcompat.__file__).parent


@pytest.fixture(scope="module")
def python_of_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python that has this Python's packages for counting, but not spmcompat."""
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    command = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout[:-1])
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.name.startswith(("numpy", "pyarrow", "pandas", "dateutil", "six", "pytz")):
            (packages / package.name).symlink_to(package)
    return python


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an archive with the unpacked contents of a spmcompat wheel."""
    path = tmp_path / "packages.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for file in PACKAGE.rglob("*"):
            if file.suffix in {".py", ".so"} or file.parent.name == "data":
                packed.add(file, Path("spmcompat", file.relative_to(PACKAGE)), recursive=False)
    return path


def run(python: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    # The driver's program adds spmcompat to `sys.path`. If PYTHONPATH were used for this, the
    # workers would inherit it.
    program = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\n{PROGRAM}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_archive_brings_spmcompat_to_the_workers(
    can_run_spark: None, python_of_workers: Path, archive: Path, tmp_path: Path
) -> None:
    done = run(python_of_workers, archive, write_text(tmp_path / "text"), tmp_path / "c")
    assert done.returncode == 0, done.stderr[-3000:]
    assert rows_of(tmp_path / "c") == EXPECTED


def test_a_worker_without_spmcompat_says_so_in_one_line(
    can_run_spark: None, python_of_workers: Path, tmp_path: Path
) -> None:
    done = run(python_of_workers, "", write_text(tmp_path / "text"), tmp_path / "c")
    assert done.returncode == 1
    line = (
        f"spmcompat is not installed on this Spark worker, whose Python is {python_of_workers}. "
        "See 'The package on the workers' in docs/spark.md."
    )
    assert line in done.stderr


def test_a_worker_with_another_release_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    count = spark._counting(spmcompat.arrow_counter("text"))
    monkeypatch.setattr(spmcompat, "__version__", "0.0.9")
    with pytest.raises(RuntimeError, match=r"has spmcompat 0\.0\.9, but the driver has"):
        list(count([]))
