"""If memory runs out, one line says so, every worker stops, and no file is left."""

import errno
import json
import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
import spmcompat.runtime.threads
from spmcompat.errors import OutOfMemoryError, is_out_of_memory
from spmcompat.runtime.workers import Workers
from tests.kinds import raises_kind
from tests.searches import LONG
from tests.unit.failing_runs import Outcome

HERE = Path(__file__).parent
INSTALLED = Path(spmcompat.__file__).parents[1]
"""The folder that contains the package under test, whether it is installed or not."""
RUNS = 1000 if LONG else 8
"""The largest number of runs of each case. In each run, another allocation fails.

With 1000, an allocation on every path through the code fails.
"""
LIMITS = 10
"""The number of runs with a limit on the address space."""
FILES = 3
"""The number of files. Each is one read buffer, so all workers count, and then merge counts."""

CASES = {
    "unigram": ["--vocab_size=400", "--hard_vocab_limit=false"],
    "sentences": ["--vocab_size=400", "--hard_vocab_limit=false", "--split_by_whitespace=false"],
    "pruned otherwise": [
        "--vocab_size=300",
        "--hard_vocab_limit=false",
        "--prune=exact",
        "--final_estimate=em:1",
    ],
    "sampled": ["--vocab_size=300", "--hard_vocab_limit=false", "--input_sentence_size=200"],
    "pruned sparsely": [
        "--vocab_size=300",
        "--hard_vocab_limit=false",
        "--use_sparse_pruning=true",
    ],
    "sizes": ["--vocab_size=300,400", "--hard_vocab_limit=false"],
    "bpe": ["--vocab_size=400", "--model_type=bpe"],
    "word": ["--vocab_size=400", "--model_type=word"],
    "char": ["--vocab_size=60", "--hard_vocab_limit=false", "--model_type=char"],
}


@pytest.fixture(scope="module")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile an allocator that fails on command."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    if not sys.platform.startswith("linux"):
        pytest.skip("needs LD_PRELOAD")
    library = tmp_path_factory.mktemp("allocator") / "failing_allocator.so"
    source = str(HERE / "failing_allocator.cpp")
    subprocess.run(
        [*compiler.split(), "-O1", "-shared", "-fPIC", "-o", str(library), source], check=True
    )
    return library


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write a text to several files, and return their paths as a value of --input."""
    folder = tmp_path_factory.mktemp("text")
    random_number = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyzäöü"
    words = ["".join(random_number.choices(letters, k=2 + i % 9)) for i in range(3000)]
    paths = []
    for number in range(FILES):
        lines = [" ".join(random_number.choices(words, k=8)) for _ in range(400)]
        paths.append(folder / f"{number}.txt")
        paths[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ",".join(map(str, paths))


def assert_told(status: int, lines: list[str]) -> None:
    """Fail unless a run ended with one line that says in which stage memory ran out."""
    assert status == 1, lines
    assert len(lines) == 1, lines
    assert "Memory ran out in the stage " in lines[0]
    assert "--input_sentence_size" in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "workers"), [("unigram", 1), *((case, 3) for case in CASES)])
def test_any_allocation_may_fail(
    case: str, workers: int, text: str, allocator: Path, tmp_path: Path
) -> None:
    arguments = [f"--input={text}", "--minloglevel=2", f"--workers={workers}", *CASES[case]]
    completed = subprocess.run(
        [
            sys.executable,
            str(HERE / "failing_runs.py"),
            json.dumps([str(tmp_path / "m"), arguments, RUNS]),
        ],
        env={**os.environ, "LD_PRELOAD": str(allocator), "PYTHONPATH": str(INSTALLED)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    whole, *outcomes = json.loads(completed.stdout)
    assert whole["status"] == 0, whole["lines"]
    expected = written(tmp_path, "m-whole")
    for run, outcome in enumerate(outcomes):
        if outcome["status"] == 0:
            assert written(tmp_path, f"m-{run}") == expected, describe(outcome)
        else:
            assert_told(outcome["status"], outcome["lines"])
    assert not list(tmp_path.iterdir())


def written(folder: Path, prefix: str) -> dict[str, bytes | None]:
    """Remove a run's files from a folder.

    Return the content of the vocabulary, and None for each other file, by the ending of the name.
    """
    files = {path.name.removeprefix(prefix): path for path in folder.glob(f"{prefix}[-.]*")}
    # A model stores its own --model_prefix, so models differ between runs.
    found = {end: path.read_bytes() if "vocab" in end else None for end, path in files.items()}
    for path in files.values():
        path.unlink()
    return found


def describe(outcome: Outcome) -> str:
    """Return which allocations failed in a run."""
    return f"allocations from {outcome['first']} to before {outcome['last']}"


MEASURE = """
import sys
from pathlib import Path
from spmcompat.cli import train
status = train.main(sys.argv[1:])
lines = Path("/proc/self/status").read_text().splitlines()
print([line.split()[1] for line in lines if line.startswith("VmPeak:")][0])
sys.exit(status)
"""


def peak(*arguments: str) -> int:
    """Run the trainer, and return the peak size of its address space in bytes."""
    completed = subprocess.run(
        [sys.executable, "-c", MEASURE, *arguments],
        cwd=INSTALLED,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(completed.stdout) << 10


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_limit_of_the_address_space(text: str, tmp_path: Path) -> None:
    """With a limit as set by `ulimit -v`, Python's allocations and new threads fail, too."""
    arguments = [f"--input={text}", "--minloglevel=2", "--workers=2", *CASES["unigram"]]
    largest = peak(*arguments, f"--model_prefix={tmp_path / 'm'}")
    expected = (tmp_path / "m.vocab").read_bytes()
    smallest = 40 << 20
    for number in range(LIMITS):
        limit = smallest + (largest - smallest) * number // LIMITS
        folder = tmp_path / str(number)
        folder.mkdir()
        completed = subprocess.run(
            [sys.executable, "-m", "spmcompat", "train", *arguments, f"--model_prefix={folder}/m"],
            cwd=INSTALLED,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            capture_output=True,
            text=True,
            check=False,
        )
        left = sorted(path.name for path in folder.iterdir())
        if completed.returncode == 0:
            assert left == ["m.model", "m.vocab"]
            assert (folder / "m.vocab").read_bytes() == expected
        else:
            assert_told(completed.returncode, completed.stderr.splitlines())
            assert left == []


def test_the_error_in_python(tmp_path: Path) -> None:
    """The error is a TrainingError and a MemoryError, and keeps no objects of the run alive."""

    def sentences() -> list[str]:
        raise MemoryError

    class Text:
        def __iter__(self):  # type: ignore[no-untyped-def]
            return iter(sentences())

    with raises_kind('out-of-memory "Reading"') as raised:
        spmcompat.train(
            sentence_iterator=Text(), model_prefix=tmp_path / "m", vocab_size=10, minloglevel=2
        )
    assert isinstance(raised.value, MemoryError)
    assert isinstance(raised.value, OutOfMemoryError)
    assert raised.value.__context__ is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error", [MemoryError("mine"), OSError(errno.ENOMEM, "mine")], ids=["MemoryError", "OSError"]
)
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_memory_that_on_round_needs(error: Exception, model_type: str, tmp_path: Path) -> None:
    def on_round(_: object) -> None:
        raise error

    with raises_kind("out-of-memory on_round") as caught:
        spmcompat.train(
            sentence_iterator=["the cat sat on the mat"] * 9,
            model_prefix=tmp_path / "m",
            vocab_size=16,
            model_type=model_type,  # type: ignore[arg-type]
            on_round=on_round,
            minloglevel=2,
        )
    assert caught.value.__cause__ is error
    assert "--input_sentence_size" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_modules_that_cannot_be_loaded() -> None:
    assert is_out_of_memory(ImportError("x.so: failed to map segment from shared object"))
    assert not is_out_of_memory(ImportError("No module named x"))
    assert is_out_of_memory(OSError(errno.ENOMEM, "Cannot allocate memory", "folder"))
    assert not is_out_of_memory(OSError(errno.EACCES, "Permission denied", "folder"))


def test_a_thread_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: object, __: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(spmcompat.runtime.threads, "start_new_thread", start)
    workers = Workers(2)
    with pytest.raises(RuntimeError) as raised:
        workers.feed(range(2), lambda _, __: None)
    assert is_out_of_memory(raised.value)
    assert workers.cancel.is_set()


def test_a_thread_that_ends_without_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller does not wait forever for a thread that ends without memory for an exception."""

    def fail() -> None:
        raise MemoryError

    monkeypatch.setattr(spmcompat.runtime.threads, "prepare_thread", fail)
    workers = Workers(2)
    with pytest.raises(MemoryError, match="ended without a report"):
        workers.feed(range(2), lambda _, __: None)
    assert workers.cancel.is_set()
