"""Tests of log lines, progress bars and log levels."""

import fcntl
import io
import json
import logging
import os
import struct
import subprocess
import sys
import termios
import textwrap
from contextlib import suppress
from pathlib import Path

import pytest

from spmcompat.runtime import progress
from spmcompat.runtime.progress import Report


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0, ["INFO spmcompat: a", "WARNING spmcompat: b", "ERROR spmcompat: c"]),
        (1, ["WARNING spmcompat: b", "ERROR spmcompat: c"]),
        (2, ["ERROR spmcompat: c"]),
        (3, []),
    ],
)
def test_levels(level: int, expected: list[str]) -> None:
    stream = io.StringIO()
    report = Report(level, stream)
    report.info("a")
    report.warning("b")
    report.error("c")
    assert stream.getvalue().splitlines() == expected


def test_stage_in_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 4.0, 20.0, 50.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Report(0, stream).stage("Counting", 1000, "words") as stage:
        stage.advance(100)
        stage.advance(300)
    assert stream.getvalue().splitlines() == [
        "INFO spmcompat: Counting: 1,000 words",
        "INFO spmcompat: Counting: 40%, about 30 s left",
        "INFO spmcompat: Counting: done 400 words in 50.0 s",
    ]


def test_an_estimate_of_the_steps_left_changes_the_share_and_not_a_total(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 20.0, 40.0, 60.0, 61.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with Report(0, stream).stage("EM", unit="passes") as stage:
        stage.advance(1)
        stage.expect(7)
        stage.advance(1)
        stage.expect(2)
        stage.advance(1)
    assert stream.getvalue().splitlines()[1:] == [
        "INFO spmcompat: EM: 1 passes",
        "INFO spmcompat: EM: 25%, about 120 s left",
        "INFO spmcompat: EM: 75%, about 20 s left",
        "INFO spmcompat: EM: done 3 passes in 61.0 s",
    ]


def everything(terminal: int) -> bytes:
    """Read everything that was written. A terminal reports the end of its input as an error."""
    found = b""
    with suppress(OSError), open(terminal, "rb", buffering=0) as file:
        while part := file.read(4096):
            found += part
    return found


@pytest.mark.parametrize("columns", [40, 200])
def test_a_bar_fits_every_terminal(columns: int) -> None:
    reader, writer = os.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with (
        os.fdopen(writer, "w") as stream,
        Report(0, stream).stage("EM and pruning", unit="passes") as stage,
    ):
        stage.advance(3)
        stage.expect(9)
        stage.advance(3)
        stage.expect(2)
    shown = everything(reader).decode().replace("\n", "\r")
    lines = [line.strip() for line in shown.split("\r")]
    assert all(len(line) <= columns for line in lines)
    assert "EM and pruning: 100%" in shown
    shares = [int(line.partition("%")[0][-3:]) for line in lines if "%" in line]
    assert shares == sorted(shares)


def test_the_costs_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 3.0, 7.0, 9.0, 10.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(progress, "_peak_kib", lambda: 2048)
    stream = io.StringIO()
    report = Report(0, stream)
    for name in ("Reading", "E-step", "M-step", "E-step"):
        report.step(name)
    report.costs()
    assert stream.getvalue() == (
        "INFO spmcompat: Took 10.0 s: Reading 2.9, E-step 5.0, M-step 2.0, other steps 0.1; "
        "peak memory 2 MiB\n"
    )


def test_the_peak_memory_is_that_of_this_process() -> None:
    peak = progress._peak_kib()
    assert peak is None or 1 << 12 < peak < 1 << 26


def test_stage_on_a_terminal() -> None:
    stream = _Terminal()
    report = Report(0, stream)
    with report.stage("Counting", 10) as stage:
        stage.advance(10)
        report.info("a fact")
    assert "Counting: 100%" in stream.getvalue()
    assert "INFO spmcompat: a fact\n" in stream.getvalue()


def test_no_bar_above_the_log_level_of_facts() -> None:
    stream = _Terminal()
    with Report(1, stream).stage("Counting", 10) as stage:
        stage.advance(10)
    assert stream.getvalue() == ""


def test_a_bar_is_closed_by_an_error() -> None:
    stream = _Terminal()
    with pytest.raises(ValueError, match="stop"), Report(0, stream).stage("Counting", 10):
        raise ValueError("stop")
    assert stream.getvalue().endswith("\n")


def test_configured_logging_gets_the_lines(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="spmcompat"):
        Report().info("a fact")
    assert caplog.record_tuples == [("spmcompat", logging.INFO, "a fact")]


def test_a_given_stream_gets_the_lines_instead_of_logging(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.StringIO()
    with caplog.at_level(logging.INFO, logger="spmcompat"):
        Report(0, stream).info("a fact")
    assert caplog.records == []
    assert "a fact" in stream.getvalue()


class _Writes(_Terminal):
    """A terminal that keeps what each call writes."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)


def test_a_stage_in_lines_of_json(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.1, 0.3, 0.4, 0.6])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(progress, "_peak_kib", lambda: 2)
    stream = _Writes()
    with Report(3, stream, "json").stage("EM", unit="passes") as stage:
        stage.advance(1)
        stage.expect(3)
        for _ in range(3):
            stage.advance(1)
    states = [json.loads(line) for line in stream.writes]
    assert all(line.endswith("}\n") for line in stream.writes)
    assert [(one["done"], one["total"]) for one in states] == [(0, None), (2, 4), (4, 4), (4, 4)]
    assert {(one["stage"], one["memory"]) for one in states} == {("EM", 2048)}


def test_json_that_ends_early_ends_at_what_was_done() -> None:
    stream = io.StringIO()
    with Report(0, stream, "json").stage("Merging", 10) as stage:
        stage.advance(4)
    states = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(one["done"], one["total"]) for one in states] == [(0, 10), (4, 4)]


def test_json_does_not_go_to_the_logging_of_the_program(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        caplog.at_level(logging.INFO, logger="spmcompat"),
        Report(progress="json").stage("Counting", 10) as stage,
    ):
        stage.advance(10)
    assert caplog.records == []
    assert len(capsys.readouterr().err.splitlines()) == 2


# The modules that tqdm finds in the kernel of a notebook. The widgets print what they show.
_KERNEL = {
    "ipykernel/__init__.py": "",
    "ipykernel/zmqshell.py": "",
    "IPython/__init__.py": """
        class ZMQInteractiveShell:
            config = {"IPKernelApp": {}}
        def get_ipython():
            return ZMQInteractiveShell()
    """,
    "IPython/display.py": """
        def display(widget):
            print("shown")
    """,
}
_WIDGETS = {
    "ipywidgets/__init__.py": """
        from types import SimpleNamespace
        class HTML:
            value = ""
        class FloatProgress:
            def __init__(self, min, max):
                self.layout, self.style = SimpleNamespace(), SimpleNamespace(bar_color=None)
                self.bar_style = ""
            def __setattr__(self, name, value):
                if name in ("value", "bar_style"):
                    print(name, value)
                object.__setattr__(self, name, value)
        class HBox:
            def __init__(self, children):
                self.children, self.layout = children, SimpleNamespace()
    """
}
_RUN = """
    import sys
    {kernel}
    from spmcompat.runtime.progress import Report
    with Report().stage("Counting", 10) as stage:
        stage.advance(4)
        Report().info("a fact")
    assert kernel == ("IPython" in sys.modules)
"""


def _in_kernel(folder: Path, modules: dict[str, str], kernel: bool) -> tuple[str, str]:
    """Run a stage in a process that is the kernel of a notebook. Return what it prints."""
    for name, source in modules.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(textwrap.dedent(source))
    imports = "import ipykernel.zmqshell, IPython; kernel = True" if kernel else "kernel = False"
    code = textwrap.dedent(_RUN).format(kernel=imports)
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


def test_a_notebook_shows_its_own_bar(tmp_path: Path) -> None:
    out, err = _in_kernel(tmp_path, _KERNEL | _WIDGETS, kernel=True)
    assert "shown\n" in out
    assert out.endswith("value 1.0\nbar_style success\n")
    assert err == "INFO spmcompat: a fact\n"


def test_without_widgets_a_notebook_shows_characters_and_no_warning(tmp_path: Path) -> None:
    out, err = _in_kernel(tmp_path, _KERNEL | {"ipywidgets.py": "raise ImportError"}, kernel=True)
    assert out == ""
    assert "Counting: 100%" in err
    assert "Warning" not in err


def test_other_programs_get_lines_and_do_not_import_the_notebook(tmp_path: Path) -> None:
    out, err = _in_kernel(tmp_path, _KERNEL | _WIDGETS, kernel=False)
    assert out == ""
    assert err.splitlines()[0] == "INFO spmcompat: Counting: 10"
