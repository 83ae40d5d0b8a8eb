"""How a command starts and ends as a process: signals, and missing standard streams."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import spmcompat
from spmcompat.cli.process import run_command
from spmcompat.errors import TrainingError
from tests.processes import start_python
from tests.waiting import LIMIT

SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

AT_IMPORT = """
import os, sys
number, module, *arguments = sys.argv[1:]
def send(event, given):
    if event == "import" and given[0] == module:
        os.kill(os.getpid(), int(number))
sys.addaudithook(send)
sys.argv = ["spmcompat", *arguments]
from spmcompat.__main__ import entry_point
entry_point()
"""


def run_python(
    program: str, *arguments: str, redirection: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    if redirection:
        command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        cwd=tempfile.gettempdir(),  # not the checkout, which may not contain compiled modules
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
    )


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
@pytest.mark.parametrize(
    "module",
    ["spmcompat.cli.process", "spmcompat.cli.flags", "spmcompat.model.reading", "math"],
)
def test_a_signal_while_modules_are_imported(number: signal.Signals, module: str) -> None:
    run = run_python(AT_IMPORT, str(int(number)), module, "diff", "a.model", "b.model")
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (128 + number, "", 1)
    assert run.stderr.startswith("spmcompat")
    assert SIGNALS[number] in run.stderr


def test_the_entry_modules_import_only_what_is_there() -> None:
    """Other imports would be slow, and until signals are handled, Ctrl-C prints a traceback."""
    program = """
import __future__
import sys
import tempfile
before = {*sys.modules}
import spmcompat.__main__, spmcompat.cli.train
print(*sorted({*sys.modules} - before))
"""
    ours = ["spmcompat", "spmcompat.__main__", "spmcompat.cli", "spmcompat.cli.start"]
    expected = [*ours, "spmcompat.cli.train", "spmcompat.version"]
    assert run_python(program).stdout.split() == expected


IN_MAIN = """
import os, signal, sys, time
from spmcompat.cli import start
class Finalizer:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        for _ in range(1000):
            pass
def main(_):
    {}
start.run("name", main)
"""


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_signal_during_a_finalizer_is_not_lost(number: signal.Signals) -> None:
    run = run_python(IN_MAIN.format("Finalizer(); time.sleep(600)"), str(int(number)))
    assert run.returncode == 128 + number
    assert run.stderr == f"name: {SIGNALS[number]}; no file was written.\n"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_signal_that_a_library_turns_into_another_error(number: signal.Signals) -> None:
    program = """try:
        os.kill(os.getpid(), int(sys.argv[1])); time.sleep(600)
    except BaseException:
        raise SyntaxError from None"""
    run = run_python(IN_MAIN.format(program), str(int(number)))
    assert run.returncode == 128 + number
    assert run.stderr == f"name: {SIGNALS[number]}; no file was written.\n"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_signal_at_the_end_changes_nothing(number: signal.Signals) -> None:
    program = "import atexit; atexit.register(os.kill, os.getpid(), int(sys.argv[1])); return 3"
    run = run_python(IN_MAIN.format(program), str(int(number)))
    assert (run.returncode, run.stdout, run.stderr) == (3, "", "")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_signal_that_the_parent_ignores_is_ignored(number: signal.Signals) -> None:
    program = "signal.signal(int(sys.argv[1]), signal.SIG_IGN)\n" + IN_MAIN.format(
        "os.kill(os.getpid(), int(sys.argv[1])); print('done')"
    )
    run = run_python(f"import signal, sys\n{program}", str(int(number)))
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


def test_the_message_says_that_files_were_written(tmp_path: Path) -> None:
    target = str(tmp_path / "x")
    program = IN_MAIN.format(
        "from spmcompat.runtime.outputs import write_files\n"
        "    write_files({sys.argv[2]: [b'1']}, 'option')\n"
        "    raise KeyboardInterrupt"
    )
    run = run_python(program, "0", target)
    assert (run.returncode, run.stderr) == (
        130,
        "name: interrupted after the files were written.\n",
    )


@pytest.mark.parametrize(
    ("redirection", "status", "error"),
    [
        ("1>&-", 5, "name: standard output: Bad file descriptor."),
        ("1>/dev/full", 5, "No space left on device."),
        ("1>&- 2>&-", 5, ""),
        ("1>/dev/full 2>/dev/full", 5, ""),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        ("0<&-", 0, "message\n"),
    ],
)
def test_streams_that_cannot_be_written(redirection: str, status: int, error: str) -> None:
    program = """
import sys
import tempfile
from spmcompat.cli import start
from spmcompat.cli.process import run_command
def work():
    print("message", file=sys.stderr)
    print("result")
def main(_):
    return run_command("name", work, sys.stderr, failure=5)
start.run("outer", main)
"""
    run = run_python(program, redirection=redirection)
    assert run.returncode == status
    assert run.stdout == ("" if "1>" in redirection else "result\n")
    assert error in run.stderr
    assert run.stderr.count("\n") <= 2
    assert "Traceback" not in run.stderr


def test_a_new_file_never_gets_the_number_of_a_missing_stream(tmp_path: Path) -> None:
    target = tmp_path / "file"
    program = IN_MAIN.format(
        "file = open(sys.argv[1], 'w'); print('message', file=sys.stderr); os.write(2, b'more')\n"
        "    sys.stderr.flush(); print(file.fileno(), file=file)"
    )
    assert run_python(program, str(target), redirection="0<&- 1>&- 2>&-").returncode == 0
    assert int(target.read_text()) > 2


def test_standard_input_that_is_missing(tmp_path: Path) -> None:
    arguments = "train --input=- --model_prefix=m --quiet"
    program = "from spmcompat.__main__ import entry_point; entry_point()"
    run = run_python(program, *arguments.split(), redirection="0<&-")
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)
    assert "Bad file descriptor" in run.stderr


def test_nobody_reads_the_output() -> None:
    """The exit status is 2, an error: for ``diff``, 1 would mean that the files differ."""
    reader, writer = os.pipe()
    os.close(reader)
    program = "import sys; from spmcompat.__main__ import main; from spmcompat.cli import start\n"
    program += "sys.argv[1:] = ['diff', '--help']; start.run('spmcompat', main)"
    with start_python(["-c", program], Path(), stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(LIMIT) == 2


@pytest.mark.parametrize("error", [TrainingError("a\nb"), OSError(28, "No space left", "file")])
def test_an_error_is_one_line(error: Exception) -> None:
    def fail() -> None:
        raise error

    stderr = io.StringIO()
    assert run_command("name", fail, stderr, failure=4) == 4
    assert stderr.getvalue().count("\n") == 1
