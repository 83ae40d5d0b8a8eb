"""The crew: its threads and its loops, in C++, and how Python waits for its stages."""

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from spmcompat.runtime.threads import CancelFlag
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import expected_counts
from spmcompat.unigram.lattice.lattices import Lattices
from tests.unit import stages
from tests.waiting import LIMIT

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
SOURCE = HERE / "crew_checks.cpp"
CHECKS = re.findall(r'^    \{"(\w+)", \1\},$', SOURCE.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the checks."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    if not sys.platform.startswith("linux"):
        pytest.skip("needs limits of the address space")
    program = tmp_path_factory.mktemp("crew") / "checks"
    flags = ["-std=c++17", "-O1", "-pthread", f"-I{ROOT}"]
    subprocess.run([*compiler.split(), *flags, "-o", str(program), str(SOURCE)], check=True)
    return program


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_in_cpp(check: str, checks: Path) -> None:
    # Drop LD_PRELOAD: a sanitizer that is preloaded into Python allows no new threads after a fork.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    completed = subprocess.run(
        [str(checks), check],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert (completed.returncode, completed.stderr) == (0, "")


def test_the_program_has_no_other_checks(checks: Path) -> None:
    listed = subprocess.run([str(checks)], capture_output=True, text=True, check=True)
    assert sorted(listed.stdout.split()) == sorted(CHECKS)


def lattices_of(workers: Workers) -> Lattices:
    case = stages.random_case("stages/1")
    return Lattices(case.corpus, stages.ours(case.pieces), workers)


def test_a_stage_that_is_cancelled_raises() -> None:
    cancel = CancelFlag()
    workers = Workers(2, cancel)
    lattices = lattices_of(workers)
    cancel.set()
    with pytest.raises(RuntimeError, match="cancelled"):
        expected_counts(lattices, 3, workers)


def test_stages_of_several_threads() -> None:
    together: list[list[float]] = []

    def work() -> None:
        workers = Workers(2)
        lattices = lattices_of(workers)
        together.extend(list(expected_counts(lattices, 3, workers)) for _ in range(10))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert len(together) == 30
    assert all(counts == together[0] for counts in together)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_its_own_threads(tmp_path: Path) -> None:
    """The crew of the child process starts new threads and does not wait for the parent's."""
    program = """
import os
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import expected_counts
from tests.unit.runtime.test_crew import lattices_of

workers = Workers(2)
lattices = lattices_of(workers)
alone = list(expected_counts(lattices, 3, workers))
child = os.fork()
assert list(expected_counts(lattices, 3, workers)) == alone
del workers
if child != 0:
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""
    completed = subprocess.run(
        # Python warns about a fork while other threads run.
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        cwd=tmp_path,  # not the checkout: its spmcompat may lack the compiled modules
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            # By default, the thread sanitizer ends a forked process that starts threads.
            "TSAN_OPTIONS": f"{os.environ.get('TSAN_OPTIONS', '')}:die_after_fork=0",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == "done\ndone\n"
