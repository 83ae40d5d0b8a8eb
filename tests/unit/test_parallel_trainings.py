"""Training runs in several threads of one program, with and without the GIL."""

import importlib
import os
import pkgutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from tests.waiting import LIMIT

TYPES = ("unigram", "bpe", "word", "char")
# The first pretokenizer is a Python function, which the workers call.
PRETOKENIZERS: dict[str, Any] = {
    "unigram": lambda text: text.replace("▁", " ▁").split(" "),
    "bpe": "script",
}
SENTENCES = [
    f"{word}{ending} {number} {word[::-1]}"
    for number, word in enumerate(("walk", "talk", "lehr", "große", "日本語", "naïve") * 20)
    for ending in ("", "s", "ing", "ed")
]


def trained(model_type: str) -> bytes:
    model = BytesIO()
    spmcompat.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type=model_type,
        vocab_size=60,
        hard_vocab_limit=False,
        pretokenizer=PRETOKENIZERS.get(model_type),
        workers=2,
        minloglevel=2,
    )
    return model.getvalue()


def in_threads(jobs: list[Callable[[], bytes]]) -> list[bytes]:
    """Call all functions at once, each in a thread, and return their results."""
    results = [b""] * len(jobs)
    start = threading.Barrier(len(jobs), timeout=LIMIT)

    def work(number: int) -> None:
        start.wait()
        results[number] = jobs[number]()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    return results


def test_trainings_at_once_give_the_bytes_of_each_alone() -> None:
    alone = [trained(model_type) for model_type in TYPES]
    jobs = [lambda model_type=model_type: trained(model_type) for model_type in TYPES * 2]
    assert in_threads(jobs) == alone * 2


def test_counts_of_one_table_are_trained_from_in_several_threads() -> None:
    pytest.importorskip("pyarrow")
    table = spmcompat.count(sentence_iterator=iter(SENTENCES), minloglevel=2)

    def train() -> bytes:
        model = BytesIO()
        spmcompat.train(
            counts=table, model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2
        )
        return model.getvalue()

    assert in_threads([train] * 4) == [train()] * 4


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the GIL"
)
def test_no_compiled_module_switches_the_gil_on() -> None:
    for module in pkgutil.walk_packages(spmcompat.__path__, "spmcompat."):
        if module.name.startswith(("spmcompat.spark", "spmcompat.tools", "spmcompat.__main__")):
            continue  # these modules import other libraries
        importlib.import_module(module.name)
        assert not sys._is_gil_enabled(), module.name


def test_a_subinterpreter_is_named_as_the_cause(tmp_path: Path) -> None:
    pytest.importorskip("_xxsubinterpreters")
    training = (
        "import spmcompat; "
        "spmcompat.train(sentence_iterator=['the cat sat'], model_prefix='m', vocab_size=11)"
    )
    program = (
        "import _xxsubinterpreters as interpreters\n"
        f"interpreters.run_string(interpreters.create(), {training!r})"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "subinterpreter" in done.stderr.splitlines()[-1]
    assert "signal" not in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())
