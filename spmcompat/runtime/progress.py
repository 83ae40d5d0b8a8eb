"""Log lines and progress of a run: bars on a terminal, plain lines elsewhere.

A `Report` belongs to one run and does not change global state, so runs in several threads do not
disturb each other. The lines go to the given stream. Without a stream, they go to the logger
``spmcompat`` if the program has set up logging, and otherwise to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO, cast

from spmcompat.errors import printable
from spmcompat.runtime.messages import Messages

if TYPE_CHECKING:
    import logging

# The levels of the module logging, which is not imported because its import takes longer than that
# of this package.
_INFO, _WARNING, _ERROR = 20, 30, 40
_LEVEL_NAMES = {_INFO: "INFO", _WARNING: "WARNING", _ERROR: "ERROR"}

# Seconds between two log lines about the progress of a stage, if there is no bar.
_INTERVAL = 10.0


class Stage(Protocol):
    """A stage that is in progress."""

    def advance(self, count: int = 1) -> None:
        """Add the number of steps that were done."""

    def expect(self, count: int) -> None:
        """Set the number of steps that are left, or an estimate of it."""


class Report:
    """The log lines and the progress of one run.

    Parameters
    ----------
    min_log_level : int
        0 shows everything, 1 only warnings and errors, 2 only errors, 3 or more nothing.
    stream : text stream, optional
        Receives the lines and bars.

    Attributes
    ----------
    current : str
        The current step of the run.
    """

    def __init__(self, min_log_level: int = 0, stream: TextIO | None = None) -> None:
        self._level = _INFO + 10 * min_log_level
        self._logger = _configured_logger() if stream is None else None
        messages = Messages(sys.stderr if stream is None else stream)
        self._draws = self._shows(_INFO) and messages.isatty()
        self._stream = cast(TextIO, messages)
        self.current = "Starting"

    def info(self, message: str) -> None:
        """Log a fact."""
        self._log(_INFO, message)

    def warning(self, message: str) -> None:
        """Log something that the user should check."""
        self._log(_WARNING, message)

    def error(self, message: str) -> None:
        """Log the reason why the run ends."""
        self._log(_ERROR, message)

    def step(self, name: str) -> None:
        """Record the beginning of a step, which ends the previous one. This does not log anything.

        A subclass that measures runs overrides it.
        """
        self.current = name

    @contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Stage]:
        """Show the progress of a stage: ``with report.stage("Seeding", total) as s: s.advance(n)``.

        Parameters
        ----------
        name : str
            The name of the stage.
        total : int, optional
            The number of steps, if it is known.
        unit : str
            The name of the steps in the plural, such as "merges".
        """
        self.step(name)
        if self._draws:
            with _bar(name, total, unit, self._stream) as bar:
                yield bar
            return
        stage = _LoggedStage(self, name, total, unit)
        stage.begin()
        yield stage
        stage.end()

    def _shows(self, level: int) -> bool:
        """Return whether lines of this level are shown."""
        return level >= self._level

    def _log(self, level: int, message: str) -> None:
        if not self._shows(level):
            return
        message = printable(message)
        if self._logger is not None:
            self._logger.log(level, message)
            return
        line = f"{_LEVEL_NAMES[level]} spmcompat: {message}"
        if self._draws:
            from tqdm import tqdm  # noqa: PLC0415

            # tqdm writes the line without breaking an open bar.
            tqdm.write(line, file=self._stream)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()


def _configured_logger() -> logging.Logger | None:
    """Return the package's logger, if the program has set up logging."""
    if "logging" not in sys.modules:
        return None
    import logging  # noqa: PLC0415

    logger = logging.getLogger("spmcompat")
    return logger if logger.hasHandlers() else None


class _BarStage:
    """A stage whose progress is shown as a bar."""

    def __init__(self, name: str, total: int | None, unit: str, stream: TextIO) -> None:
        from tqdm import tqdm  # noqa: PLC0415

        self._bar = tqdm(
            desc=name,
            total=total,
            unit=f" {unit}" if unit else "",
            unit_scale=True,
            file=stream,
            dynamic_ncols=True,
        )

    def advance(self, count: int = 1) -> None:
        """Add the number of steps that were done."""
        self._bar.update(count)

    def expect(self, count: int) -> None:
        """Set the number of steps that are left, or an estimate of it."""
        self._bar.total = self._bar.n + count
        self._bar.refresh()

    def close(self) -> None:
        """Finish the bar. It stays on the screen."""
        self._bar.close()


@contextmanager
def _bar(name: str, total: int | None, unit: str, stream: TextIO) -> Iterator[Stage]:
    """Show a bar until the stage ends."""
    bar = _BarStage(name, total, unit, stream)
    try:
        yield bar
    finally:
        bar.close()


class _LoggedStage:
    """A stage whose progress is shown as log lines."""

    def __init__(self, report: Report, name: str, total: int | None, unit: str) -> None:
        self._report = report
        self._name = name
        self._total = total
        self._unit = f" {unit}" if unit else ""
        self._done = 0
        self._start = self._last = time.monotonic()

    def begin(self) -> None:
        """Log the beginning of the stage."""
        size = "" if self._total is None else f": {self._total:,}{self._unit}"
        self._report.info(f"{self._name}{size}")

    def advance(self, count: int = 1) -> None:
        """Add the number of steps that were done."""
        self._done += count
        now = time.monotonic()
        if now - self._last >= _INTERVAL:
            self._last = now
            self._report.info(f"{self._name}: {self._done:,}{self._left(now)}")

    def expect(self, count: int) -> None:
        """Set the number of steps that are left, or an estimate of it."""
        self._total = self._done + count

    def end(self) -> None:
        """Log the duration of the stage."""
        seconds = time.monotonic() - self._start
        count = f" {self._done:,}{self._unit}" if self._done else ""
        self._report.info(f"{self._name}: done{count} in {seconds:.1f} s")

    def _left(self, now: float) -> str:
        """Return the total and the time that is left, if they are known."""
        if not self._total or not self._done:
            return self._unit
        seconds = (now - self._start) * max(self._total - self._done, 0) / self._done
        return f" of {self._total:,}{self._unit}, about {seconds:.0f} s left"
