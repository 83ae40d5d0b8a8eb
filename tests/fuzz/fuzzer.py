"""Runs the fuzzer on one target; `tests.fuzz` starts it as a process.

``python -m tests.fuzz.fuzzer TARGET FOLDER CORPUS OPTION...`` passes the options to libFuzzer.
FOLDER is an empty folder for files. The first inputs of the target are added to the folder CORPUS.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["spmcompat"]):
    from tests import conftest  # noqa: F401 - an installed spmcompat is preferred to the checkout
    from tests.fuzz.running import Runner
    from tests.fuzz.targets import TARGETS


def main(argv: Sequence[str]) -> None:
    """Run the fuzzer, which ends the process."""
    name, folder, corpus, *options = argv
    # Commands import modules only when they need them. Creating a Runner runs most commands once,
    # so that the modules they import are instrumented, too.
    with atheris.instrument_imports(include=["spmcompat"]):
        runner = Runner(TARGETS[name], Path(folder))
    for number, seed in enumerate(runner.seeds):
        Path(corpus, f"seed-{number}").write_bytes(seed)

    def run(data: bytes) -> None:
        runner.run(data)

    atheris.Setup([sys.argv[0], *options], run)
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ["RUST_BACKTRACE"] = "0"  # no backtrace for refused files
    main(sys.argv[1:])
