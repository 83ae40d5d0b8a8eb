"""Searches with Atheris for files that commands do not handle, and prints a line for each target.

``python -m tests.fuzz model json_lines --seconds 60`` runs two targets; without names, all of them
run. The fuzzer begins with valid files and changes them; it keeps a change that reaches new code.
A finding is a command that ends with a traceback, a signal or more than one line of error, or that
exceeds the limits on time and memory. A finding ends the run of its target. The printed line names
the input, and ``--input`` runs this input again.

The fuzzer sees which Python code an input reaches. ``tests/sanitizers/run fuzz`` compiles the
package so that it also sees the C++ code.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from tests import conftest  # noqa: F401 - an installed spmcompat is preferred to the checkout
from tests.fuzz.targets import TARGETS
from tests.hostile.forked import SECONDS

# The limit of the whole process: four times the limit of `tests.hostile`, because of the sanitizers
# and because Python's own allocator is not used.
MEBIBYTES = 4096

# The limit of one allocation. For a damaged charsmap, `tokenizers` allocates 8 GiB but does not use
# them; unused memory does not count towards the limit of the process.
MEBIBYTES_AT_ONCE = 16384


def main(argv: Sequence[str] | None = None) -> int:
    """Run the targets and return 1 if there is a finding."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets run at a time")
    parser.add_argument("--seed", type=int, default=1, help="seed of the changes (default: 1)")
    parser.add_argument("--corpus", type=Path, help="keep inputs in this folder for later runs")
    parser.add_argument("--input", type=Path, help="run only this input")
    parser.add_argument(
        "--found",
        type=Path,
        default=Path("build/fuzz"),
        help="folder for logs and findings (default: build/fuzz)",
    )
    arguments = parser.parse_args(argv)
    for name in arguments.targets:
        if name not in TARGETS:
            parser.error(f"there is no target {name}; there are {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        parser.error("atheris is not installed: pip install atheris")
    arguments.found.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda name: run(name, arguments), arguments.targets or TARGETS)
        failed = sum([not is_good for is_good in results])
    return int(failed > 0)


def run(name: str, given: argparse.Namespace) -> bool:
    """Run the fuzzer on one target, and print a line. Return whether the fuzzer found nothing."""
    log = given.found / f"{name}.log"
    with tempfile.TemporaryDirectory() as temporary, open(log, "wb") as output:
        folder = Path(temporary, "files")
        corpus = Path(given.corpus or temporary, f"{name}-corpus").resolve()
        folder.mkdir()
        corpus.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "tests.fuzz.fuzzer", name, str(folder), str(corpus)]
        command += [
            f"-max_total_time={given.seconds}",
            f"-seed={given.seed}",
            f"-timeout={4 * SECONDS}",
            f"-rss_limit_mb={MEBIBYTES}",
            f"-malloc_limit_mb={MEBIBYTES_AT_ONCE}",
            f"-artifact_prefix={given.found.resolve()}/{name}-",
            "-print_final_stats=1",
            str(given.input.resolve() if given.input else corpus),
        ]
        # With a fixed hash seed, runs with the same -seed have the same findings.
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT, check=False, env=environment
        )
    text = log.read_text(encoding="utf-8", errors="replace")
    runs = "".join(re.findall(r"^stat::number_of_executed_units: +(\d+)", text, re.MULTILINE)[-1:])
    reached = "".join(re.findall(r" cov: (\d+)", text)[-1:])
    found = "".join(re.findall(r"Test unit written to (.+)", text)[-1:])
    ending = f"finding: {found}" if found else f"failed with {done.returncode}"
    print(
        f"{name}: {runs or 'no'} inputs, {reached or 'no'} places reached; "
        f"{f'{ending}, see {log}' if done.returncode else 'no finding'}",
        flush=True,
    )
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
