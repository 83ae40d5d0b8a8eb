"""What a run tells while it works: bars on a terminal, plain lines elsewhere.

A `Report` belongs to one run and changes nothing global, so two runs in two threads do not
disturb each other. Lines go to the stream that was given; without one, to the logger
``spmcompat`` if the program has set up logging, else to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    import logging

# Numbers and names of logging, which takes longer to import than this package.
_INFO, _WARNING, _ERROR = 20, 30, 40
_LEVEL_NAMES = {_INFO: "INFO", _WARNING: "WARNING", _ERROR: "ERROR"}

# Seconds between two lines about one stage, where no bar can be drawn.
_INTERVAL = 10.0


class Stage(Protocol):
    """A stage that is under way."""

    def advance(self, count: int = 1) -> None:
        """Tell that `count` more steps are done."""

    def expect(self, count: int) -> None:
        """Tell that about `count` steps are left."""


class Report:
    """The voice of one run.

    Parameters
    ----------
    min_log_level : int
        0 tells everything, 1 warnings and errors, 2 errors only, more nothing.
    stream : text stream, optional
        Where lines and bars go.

    Attributes
    ----------
    current : str
        The step that the run is in.
    """

    def __init__(self, min_log_level: int = 0, stream: TextIO | None = None) -> None:
        self._level = _INFO + 10 * min_log_level
        self._logger = _configured_logger() if stream is None else None
        self._stream = sys.stderr if stream is None else stream
        isatty = getattr(self._stream, "isatty", None)
        self._draws = self._tells(_INFO) and isatty is not None and bool(isatty())
        self.current = "Starting"

    def info(self, message: str) -> None:
        """Tell a fact."""
        self._tell(_INFO, message)

    def warning(self, message: str) -> None:
        """Tell something that the user should look at."""
        self._tell(_WARNING, message)

    def error(self, message: str) -> None:
        """Tell why the run ends."""
        self._tell(_ERROR, message)

    def step(self, name: str) -> None:
        """Hear that the step `name` begins; the one before it has ended.

        Nothing is told. A subclass that measures a run extends this.
        """
        self.current = name

    @contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Stage]:
        """Follow one stage: ``with report.stage("Seeding", total) as s: s.advance(n)``.

        Parameters
        ----------
        name : str
            What is done.
        total : int, optional
            How many steps there are, if it is known.
        unit : str
            What one step is.
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

    def _tells(self, level: int) -> bool:
        """Tell whether a line of this level is wanted."""
        return level >= self._level

    def _tell(self, level: int, message: str) -> None:
        if not self._tells(level):
            return
        if self._logger is not None:
            self._logger.log(level, message)
            return
        line = f"{_LEVEL_NAMES[level]} spmcompat: {message}"
        if self._draws:
            from tqdm import tqdm  # noqa: PLC0415

            # Through tqdm, so that a line does not cut an open bar.
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
    """A stage shown as a bar."""

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
        """Tell that `count` more steps are done."""
        self._bar.update(count)

    def expect(self, count: int) -> None:
        """Tell that about `count` steps are left."""
        self._bar.total = self._bar.n + count
        self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.close()


@contextmanager
def _bar(name: str, total: int | None, unit: str, stream: TextIO) -> Iterator[Stage]:
    """Show a bar for as long as the stage lasts."""
    bar = _BarStage(name, total, unit, stream)
    try:
        yield bar
    finally:
        bar.close()


class _LoggedStage:
    """A stage told in lines."""

    def __init__(self, report: Report, name: str, total: int | None, unit: str) -> None:
        self._report = report
        self._name = name
        self._total = total
        self._unit = f" {unit}" if unit else ""
        self._done = 0
        self._start = self._last = time.monotonic()

    def begin(self) -> None:
        """Tell what begins."""
        size = "" if self._total is None else f": {self._total:,}{self._unit}"
        self._report.info(f"{self._name}{size}")

    def advance(self, count: int = 1) -> None:
        """Tell that `count` more steps are done."""
        self._done += count
        now = time.monotonic()
        if now - self._last >= _INTERVAL:
            self._last = now
            self._report.info(f"{self._name}: {self._done:,}{self._left(now)}")

    def expect(self, count: int) -> None:
        """Tell that about `count` steps are left."""
        self._total = self._done + count

    def end(self) -> None:
        """Tell how long it took."""
        seconds = time.monotonic() - self._start
        count = f" {self._done:,}{self._unit}" if self._done else ""
        self._report.info(f"{self._name}: done{count} in {seconds:.1f} s")

    def _left(self, now: float) -> str:
        """Return the total and the time that is left, as far as they are known."""
        if not self._total or not self._done:
            return self._unit
        seconds = (now - self._start) * max(self._total - self._done, 0) / self._done
        return f" of {self._total:,}{self._unit}, about {seconds:.0f} s left"
