"""Runs cases on one side, the reference or spmcompat, in a process.

One process runs many cases. If it dies or hangs, a new process replaces it.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import MappingProxyType

from .case import Case, Failure, Outcome

REFERENCE = "tests.parity.reference"
OURS = "tests.parity.ours"
NORMALIZER = "tests.parity.serialized_normalizer"

# The environment variables of a side, by its module. The reference does not run our code, so a
# preloaded sanitizer would only slow it down and find errors that are not ours.
_WITHOUT_SANITIZER = {"LD_PRELOAD": ""}
_VARIABLES = {REFERENCE: _WITHOUT_SANITIZER, NORMALIZER: _WITHOUT_SANITIZER}

# The program that a child process runs. Its arguments are the root folder of the project, the name
# of a module, and the file descriptor of a pipe.
_CHILD = """\
import sys
sys.path.remove("")
sys.path.append(sys.argv[1])
from tests.parity.sides import serve
serve(sys.argv[2], int(sys.argv[3]))
"""
_ROOT = Path(__file__).resolve().parents[2]


def run_here(side: str, case: Case) -> Outcome:
    """Run one side of a case in this process, in a fresh folder."""
    module = importlib.import_module(side)
    with tempfile.TemporaryDirectory() as name, _working_in(Path(name)) as folder:
        _lay_out(folder, case)
        before = _listing(folder)
        failure = None
        outputs: dict[str, bytes] = {}
        with tempfile.TemporaryFile() as log:
            started = time.perf_counter()
            with _descriptors_to(log.fileno()):
                try:
                    outputs = module.train(case)
                except (Exception, SystemExit, KeyboardInterrupt) as error:
                    failure = _describe(error)
            seconds = time.perf_counter() - started
            log.seek(0)
            text = log.read().decode(errors="replace")
        new = _listing(folder) - before
        outputs.update((str(path), (folder / path).read_bytes()) for path in sorted(new))
    return Outcome(outputs, failure, seconds, text)


class Side:
    """Runs cases of one side in a child process.

    Parameters
    ----------
    module
        `REFERENCE`, `OURS`, or the name of another module with ``train(case)``.
    timeout
        Seconds after which a case counts as hanging and the child is replaced.
    python
        The interpreter of the child.
    environment
        Variables to set for the child.
    """

    def __init__(
        self,
        module: str,
        timeout: float = 600.0,
        python: str | Path = sys.executable,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.module = module
        self.timeout = timeout
        self.python = python
        self.environment = environment
        self._child: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None

    def start(self, case: Case) -> None:
        """Send a case to the child; `finish` returns its outcome."""
        if self._child is None or self._child.poll() is not None:
            self._pipe, end = Pipe()
            arguments = [str(_ROOT), self.module, str(end.fileno())]
            variables = {**_VARIABLES.get(self.module, {}), **self.environment}
            self._child = subprocess.Popen(
                [self.python, "-c", _CHILD, *arguments],
                stdin=subprocess.DEVNULL,
                pass_fds=[end.fileno()],
                env={**os.environ, **variables},
            )
            end.close()
        assert self._pipe is not None
        self._pipe.send(case)

    def finish(self) -> Outcome:
        """Wait for the outcome of the last case that was sent."""
        assert self._pipe is not None
        assert self._child is not None
        try:
            if self._pipe.poll(self.timeout):
                outcome: Outcome = self._pipe.recv()
                return outcome
            failure = Failure(("Timeout",), f"no answer after {self.timeout:g} s")
        except (EOFError, ConnectionError):
            code = self._child.wait()
            failure = Failure(("Crash",), f"the process ended with code {code}")
        self.close()
        return Outcome({}, failure, 0.0)

    def run(self, case: Case) -> Outcome:
        self.start(case)
        return self.finish()

    def close(self) -> None:
        """Kill the child; the next case starts a new one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


def serve(module: str, descriptor: int) -> None:
    """Run the cases from a pipe until the pipe is closed."""
    os.fsync = lambda _: None  # waiting for the disk would take longer than many cases
    pipe = Connection(descriptor)
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(run_here(module, case))


def _lay_out(folder: Path, case: Case) -> None:
    for name, data in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for name, target in case.links.items():
        (folder / name).symlink_to(target.resolve())


def _listing(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def _describe(error: BaseException) -> Failure:
    return Failure(tuple(kind.__name__ for kind in type(error).__mro__), str(error))


@contextmanager
def _working_in(folder: Path) -> Iterator[Path]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)


@contextmanager
def _descriptors_to(target: int) -> Iterator[None]:
    """Redirect standard output and error to a file, for C++ code too."""
    saved = [os.dup(1), os.dup(2)]
    try:
        os.dup2(target, 1)
        os.dup2(target, 2)
        yield
    finally:
        for descriptor, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, descriptor)
            os.close(copy)
