"""Runs commands on damaged input, and prints every case that ends badly.

``python -m tests.hostile models --cases 2000 --seed 1`` runs the cases one after another. A case
depends only on the kind, the seed and its number. A command may succeed or fail, but it must end
with one line and an exit status: without a traceback or a signal, within 30 seconds of processor
time and 1 GiB. The last line of the output counts the cases and names the slowest and largest ones.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

from tests import conftest  # noqa: F401 - an installed spmcompat is preferred to the checkout
from tests.hostile import forked
from tests.hostile.kinds import KINDS, kind_of


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases, and return 1 if any case ended badly, otherwise 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--cases", type=int, default=200, help="number of cases (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all cases (default: 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for the inputs of cases that end badly")
    arguments = parser.parse_args(argv)
    kind = kind_of(arguments.kind)
    statuses: Counter[int] = Counter()
    slowest, largest = (0.0, 0), (0, 0)
    faults = 0
    with tempfile.TemporaryDirectory() as temporary:
        valid, folder = Path(temporary, "valid"), Path(temporary, "case")
        valid.mkdir()
        os.chdir(valid)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            kind.prepare(valid)
        for number in range(arguments.first, arguments.first + arguments.cases):
            folder.mkdir()
            command = kind.command(
                Random(f"{arguments.kind} {arguments.seed} {number}"), valid, folder
            )
            outcome = forked.run(command, folder)
            statuses[outcome.status] += 1
            slowest = max(slowest, (outcome.seconds, number))
            largest = max(largest, (outcome.peak, number))
            if outcome.faults:
                faults += 1
                print(f"case {number}: {', '.join(outcome.faults)}: {command}")
                print("".join(f"    {line}\n" for line in outcome.stderr.split("\n")[-6:]))
                if arguments.keep:
                    shutil.copytree(
                        folder, arguments.keep / f"{arguments.kind}-{arguments.seed}-{number}"
                    )
            shutil.rmtree(folder)
    ended = ", ".join(f"{count} with {status}" for status, count in sorted(statuses.items()))
    (seconds, slow), (peak, large) = slowest, largest
    print(
        f"{arguments.kind}: {arguments.cases} cases ended: {ended}; {faults} badly; "
        f"at most {seconds:.1f} seconds (case {slow}) and {peak >> 20} MiB (case {large})"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
