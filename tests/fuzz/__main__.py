"""Searches for input that a target does not handle, with Atheris (``pip install atheris``).

``python -m tests.fuzz model --seconds 60`` runs one target. Its inputs begin with valid files. An
input is a finding if the command ends with a traceback, a signal or more than one line of error, if
it takes more than 30 seconds, or if the process takes more than the limit of memory. The first
finding ends the run, with a status other than 0. The fuzzer writes the input to the folder of
``--found``; give its path as an argument to run it again.

The fuzzer sees which Python code an input reaches. `tests/fuzz/run` compiles the modules so that it
also sees the C++ code, and runs all targets.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["spmcompat"]):
    from tests import conftest  # noqa: F401 - an installed spmcompat is preferred to the checkout
    from tests.fuzz.running import Runner
    from tests.fuzz.targets import TARGETS
from tests.hostile.forked import SECONDS

MEBIBYTES = 2048


def main(argv: Sequence[str] | None = None) -> None:
    """Run a target. The fuzzer ends the process."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("inputs", nargs="*", type=Path, help="run only these inputs")
    parser.add_argument("--seconds", type=int, default=60, help="how long to run (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the changes (default: 1)")
    parser.add_argument("--corpus", type=Path, help="folder that keeps the inputs for later runs")
    parser.add_argument("--found", type=Path, default=Path(), help="folder for findings")
    arguments = parser.parse_args(argv)
    inputs = [str(path.resolve()) for path in arguments.inputs]
    found = arguments.found.resolve()
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        corpus = (arguments.corpus or Path(temporary, "corpus")).resolve()
        corpus.mkdir(parents=True, exist_ok=True)
        with atheris.instrument_imports(include=["spmcompat"]):
            runner = Runner(TARGETS[arguments.target], Path(temporary))
        for number, seed in enumerate(runner.seeds):
            (corpus / f"seed-{number}").write_bytes(seed)
        options = [
            f"-max_total_time={arguments.seconds}",
            f"-seed={arguments.seed}",
            f"-timeout={SECONDS}",
            f"-rss_limit_mb={MEBIBYTES}",
            f"-artifact_prefix={found}/{arguments.target}-",
            "-print_final_stats=1",
        ]
        atheris.Setup([sys.argv[0], *options, *(inputs or [str(corpus)])], runner.run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
