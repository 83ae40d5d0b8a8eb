"""Log lines and progress of a run: bars on a terminal or in a notebook, lines elsewhere.

A `Report` belongs to one run and does not change global state, so runs in several threads do not
disturb each other. The lines go to the given stream. Without a stream, they go to the logger
``spmcompat`` if the program has set up logging, and otherwise to standard error. Bars, and JSON for
programs, go to the stream or to standard error.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

from spmcompat.errors import printable
from spmcompat.runtime.messages import Messages
from spmcompat.runtime.terminal import fitted

if TYPE_CHECKING:
    import logging

    from tqdm import tqdm

# The levels of the module logging. The module is not imported here, because importing it would take
# longer than importing this package.
_INFO, _WARNING, _ERROR = 20, 30, 40
_LEVEL_NAMES = {_INFO: "INFO", _WARNING: "WARNING", _ERROR: "ERROR"}

# Seconds between two log lines about the progress of a stage, if there is no bar.
_INTERVAL = 10.0

# Steps that take less than this share of the whole time are added up in the last line of a run.
_SHORT = 0.05

# `_BAR` shows a stage whose number of steps is known, and `_COUNT` any other stage.
_BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}<{remaining}"
_COUNT = "{desc}: {n_fmt}{unit} in {elapsed}"


class Stage(Protocol):
    """A stage that is in progress."""

    def advance(self, count: int = 1) -> None:
        """Add `count` to the number of finished steps."""

    def expect(self, count: int) -> None:
        """Set the number of remaining steps, which may be an estimate."""


class _Progress:
    """Computes the share of a stage that is done.

    Progress is shown as a share of the stage, not as a number of steps, because the number of
    remaining steps may be an estimate that changes.

    Parameters
    ----------
    left : int, optional
        The number of steps, if it is known.
    """

    def __init__(self, left: int | None) -> None:
        self.done = 0
        self._left = left

    def advance(self, count: int) -> None:
        self.done += count
        if self._left is not None:
            self._left = max(self._left - count, 0)

    def expect(self, left: int) -> None:
        self._left = left

    @property
    def total(self) -> int | None:
        """The number of steps, or None if it is not known."""
        return None if self._left is None else self.done + self._left

    @property
    def share(self) -> float | None:
        """The share from 0 to 1, or None if the number of steps is not known."""
        if not self._left:
            return None if self._left is None else 1.0
        return self.done / (self.done + self._left)


class Report:
    """The log lines and the progress of one run.

    Parameters
    ----------
    min_log_level : int
        0 shows everything, 1 only warnings and errors, 2 only errors, 3 or more nothing.
    stream : text stream, optional
        Receives the lines and bars.
    progress : str
        How to show stages: ``bar``, or log lines where there is neither a terminal nor a notebook;
        or ``json``, whatever the log level is.

    Attributes
    ----------
    current : str
        The current step of the run.
    """

    def __init__(
        self, min_log_level: int = 0, stream: TextIO | None = None, progress: str = "bar"
    ) -> None:
        self._level = _INFO + 10 * min_log_level
        self._logger = _configured_logger() if stream is None else None
        messages = Messages(sys.stderr if stream is None else stream)
        self._json = progress == "json"
        # Kernels of notebooks have loaded this module.
        self._notebook = stream is None and "ipykernel.zmqshell" in sys.modules
        can_draw = self._notebook or messages.isatty()
        self._draws = can_draw and self._shows(_INFO) and not self._json
        self._stream = cast(TextIO, messages)
        self.current = "Starting"
        self._seconds: dict[str, float] = {}
        self._start = self._since = time.perf_counter()

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

        A subclass that measures runs overrides this method.
        """
        now = time.perf_counter()
        self._seconds[self.current] = self._seconds.get(self.current, 0.0) + now - self._since
        self.current, self._since = name, now

    def costs(self) -> None:
        """Log the time of the run and of its longest steps, and the peak memory of the process."""
        self.step("Ending")
        total = sum(self._seconds.values())
        digits = 1 if total >= 10 else 2
        longest = {n: s for n, s in self._seconds.items() if s >= _SHORT * total}
        steps = [f"{name} {seconds:.{digits}f}" for name, seconds in longest.items()]
        if len(longest) < len(self._seconds):
            steps.append(f"other steps {total - sum(longest.values()):.{digits}f}")
        peak = _peak_kib()
        memory = "" if peak is None else f"; peak memory {peak / 1024:,.0f} MiB"
        self.info(f"Took {total:.{digits}f} s: {', '.join(steps)}{memory}")

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
            bar_class = _bar_class(self._notebook)
            with closing(_BarStage(bar_class, name, total, unit, self._stream)) as bar:
                yield bar
                bar.finish()
            return
        stage = (_JsonStage if self._json else _LoggedStage)(self, name, total, unit)
        stage.begin()
        yield stage
        stage.end()

    def write_json(self, stage: str, done: int, total: int | None) -> None:
        """Write the state of a stage, in one piece, so that an interruption leaves no half line."""
        import json

        peak = _peak_kib()
        memory = None if peak is None else peak * 1024
        seconds = round(time.perf_counter() - self._start, 3)
        state = {"stage": stage, "done": done, "total": total, "seconds": seconds, "memory": memory}
        self._stream.write(json.dumps(state) + "\n")
        self._stream.flush()

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
        line = fitted(f"{_LEVEL_NAMES[level]} spmcompat: {message}", self._stream)
        if self._draws:
            from tqdm import tqdm

            # tqdm writes the line without breaking an open bar.
            tqdm.write(line, file=self._stream)
        else:
            self._stream.write(line + "\n")
            self._stream.flush()


def _configured_logger() -> logging.Logger | None:
    """Return the package's logger, if the program has set up logging."""
    if "logging" not in sys.modules:
        return None
    import logging

    logger = logging.getLogger("spmcompat")
    return logger if logger.hasHandlers() else None


def _peak_kib() -> int | None:
    """Return the peak memory of this process in KiB; None if the system does not report it.

    The peak that ``getrusage`` returns is not used. If a larger process has started this process,
    ``getrusage`` returns the peak of the larger process.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            lines = (line.split() for line in status)
            return next((int(words[1]) for words in lines if words[:1] == ["VmHWM:"]), None)
    except OSError:
        return None


def _bar_class(notebook: bool) -> type[tqdm[Any]]:
    """Return the bar of a terminal, or the one that tqdm chooses for the notebook."""
    if not notebook:
        from tqdm import tqdm

        return tqdm
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without ipywidgets, tqdm warns and draws with characters
        from tqdm.auto import tqdm as notebook_tqdm

    return notebook_tqdm


class _BarStage:
    """Shows a stage as a bar, or as a count if the number of its steps is not known."""

    def __init__(
        self, bar: type[tqdm[Any]], name: str, total: int | None, unit: str, stream: TextIO
    ) -> None:
        self._progress = _Progress(total)
        self._bar = bar(
            desc=name,
            total=None if total is None else 1.0,
            unit=f" {unit}" if unit else "",
            unit_scale=unit == "bytes",
            file=stream,
            dynamic_ncols=True,
            bar_format=_COUNT if total is None else _BAR,
        )

    def advance(self, count: int = 1) -> None:
        """Add `count` to the number of finished steps."""
        self._progress.advance(count)
        self._show()

    def expect(self, count: int) -> None:
        """Set the number of remaining steps, which may be an estimate."""
        self._progress.expect(count)
        self._show()

    def _show(self) -> None:
        share = self._progress.share
        if share is None:
            self._bar.update(self._progress.done - self._bar.n)
        else:
            self._bar.total, self._bar.bar_format = 1.0, _BAR
            self._bar.update(share - self._bar.n)

    def finish(self) -> None:
        """Show that every step was done."""
        self.expect(0)

    def close(self) -> None:
        """Close the bar. It stays on the screen."""
        self._bar.close()


class _LoggedStage:
    """A stage whose progress is shown as log lines. Workers may advance it at the same time."""

    _interval = _INTERVAL

    def __init__(self, report: Report, name: str, total: int | None, unit: str) -> None:
        self._report = report
        self._name = name
        self._total = total
        self._unit = f" {unit}" if unit else ""
        self._progress = _Progress(total)
        self._start = self._last = time.monotonic()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Log the beginning of the stage."""
        size = "" if self._total is None else f": {self._total:,}{self._unit}"
        self._report.info(f"{self._name}{size}")

    def advance(self, count: int = 1) -> None:
        """Add `count` to the number of finished steps."""
        with self._lock:
            self._progress.advance(count)
            now = time.monotonic()
            if now - self._last >= self._interval:
                self._last = now
                self._show(now)

    def expect(self, count: int) -> None:
        """Set the number of remaining steps, which may be an estimate."""
        self._progress.expect(count)

    def end(self) -> None:
        """Log the duration of the stage."""
        seconds = time.monotonic() - self._start
        done = self._progress.done
        count = f" {done:,}{self._unit}" if done else ""
        self._report.info(f"{self._name}: done{count} in {seconds:.1f} s")

    def _show(self, now: float) -> None:
        self._report.info(f"{self._name}: {self._state(now)}")

    def _state(self, now: float) -> str:
        """Describe the progress: share and time left, or steps done if the total is unknown."""
        share = self._progress.share
        if not share:
            return f"{self._progress.done:,}{self._unit}"
        seconds = (now - self._start) * (1 - share) / share
        return f"{share:.0%}, about {seconds:.0f} s left"


class _JsonStage(_LoggedStage):
    """A stage whose progress is shown as JSON: a line at its beginning and end, and in between."""

    _interval = 0.25

    def begin(self) -> None:
        """Write the first line."""
        self._show(self._start)

    def end(self) -> None:
        """Write the last line, whose total is the number of steps that were done."""
        self.expect(0)
        self._show(self._last)

    def _show(self, now: float) -> None:
        self._report.write_json(self._name, self._progress.done, self._progress.total)
