"""Log lines, bars and log levels."""

import io
import logging

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
        "INFO spmcompat: Counting: 400 of 1,000 words, about 30 s left",
        "INFO spmcompat: Counting: done 400 words in 50.0 s",
    ]


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
