"""Spark sessions, and the reasons why a session may be unavailable."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import spmcompat

_LEAST_JAVA = 17


def why_no_spark() -> str:
    """Return why Spark cannot run here, or an empty string if it can."""
    for module in ("pyspark", "pandas", "pyarrow"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed: pip install 'spmcompat[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java" if home else "java")
    if java is None:
        return "Java is not installed"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < _LEAST_JAVA:
        return f"Spark needs Java {_LEAST_JAVA} or later, and {java} is: {said.splitlines()[:1]}"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if item.path.parent == folder:
            # Spark warns about the version of pandas and leaves sockets open. Warnings must not be
            # errors.
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def can_run_spark() -> None:
    if reason := why_no_spark():
        pytest.skip(reason)


@pytest.fixture(scope="module")
def start(can_run_spark: None) -> Iterator[Callable[..., Any]]:
    """Return a function that starts a session, which ends after the tests of the module."""
    import pyspark
    from pyspark.sql import SparkSession

    # Add the package under test to the path of Spark's processes, even if it is not installed.
    package = str(Path(spmcompat.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    started = []

    def session(master: str, **options: str) -> Any:
        builder = SparkSession.builder.master(master)
        usual = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "3",
        }
        for name, value in {**usual, **options}.items():
            builder = builder.config(name, value)
        started.append(builder.getOrCreate())
        started[-1].sparkContext.setLogLevel("ERROR")
        return started[-1]

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield session
        for one in started:
            logs = Path(pyspark.__file__).parent / "work" / one.sparkContext.applicationId
            one.stop()
            shutil.rmtree(logs, ignore_errors=True)
