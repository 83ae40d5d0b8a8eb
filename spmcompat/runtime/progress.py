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
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

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

# Steps that take less than this share of the whole time are added up in the last line of a run.
_SHORT = 0.05

# `_BAR` shows a stage whose number of steps is known, and `_COUNT` any other stage.
_BAR = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}<{remaining}"
_COUNT = "{desc}: {n_fmt}{unit} in {elapsed}"


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
        kind = _BarStage if self._draws else _JsonStage if self._json else _LoggedStage
        with kind(self, name, total, unit).shown() as stage:
            yield stage

    def new_bar(self, **arguments: Any) -> tqdm[Any]:
        """Return a bar of tqdm, for a terminal or the one that tqdm chooses for the notebook."""
        if not self._notebook:
            from tqdm import tqdm

            return tqdm(file=self._stream, **arguments)
        import warnings

        with warnings.catch_warnings():
            # Without ipywidgets, tqdm warns and draws with characters.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm as notebook_tqdm

        return notebook_tqdm(file=self._stream, **arguments)

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


class Stage:
    """A stage that is in progress. Workers may advance it at the same time.

    Progress is shown as a share of the stage, not as a number of steps, because the number of
    remaining steps may be an estimate that changes.

    Parameters
    ----------
    report : Report
        Where the stage is shown.
    name : str
        The name of the stage.
    left : int, optional
        The number of steps, if it is known.
    unit : str
        The name of the steps in the plural.
    """

    _interval = 0.0  # the least seconds between two updates

    def __init__(self, report: Report, name: str, left: int | None, unit: str) -> None:
        self._report = report
        self._name = name
        self._left = left
        self._unit = f" {unit}" if unit else ""
        self._done = 0
        self._start = self._last = time.monotonic()
        self._lock = threading.Lock()

    def advance(self, count: int = 1) -> None:
        """Add `count` to the number of finished steps."""
        with self._lock:
            self._done += count
            if self._left is not None:
                self._left = max(self._left - count, 0)
            now = time.monotonic()
            if now - self._last >= self._interval:
                self._last = now
                self._show()

    def expect(self, count: int) -> None:
        """Set the number of remaining steps, which may be an estimate."""
        self._left = count

    def shown(self) -> AbstractContextManager[Stage]:
        """Return a context in which the stage is shown."""
        raise NotImplementedError

    def _show(self) -> None:
        """Show the present state."""
        raise NotImplementedError

    @property
    def _share(self) -> float | None:
        """The share from 0 to 1 that is done, or None if the number of steps is not known."""
        if not self._left:
            return None if self._left is None else 1.0
        return self._done / (self._done + self._left)


class _BarStage(Stage):
    """Shows a stage as a bar, or as a count if the number of its steps is not known."""

    @contextmanager
    def shown(self) -> Iterator[Stage]:
        self._bar = self._report.new_bar(
            desc=self._name,
            total=None if self._left is None else 1.0,
            unit=self._unit,
            unit_scale=self._unit == " bytes",
            dynamic_ncols=True,
            bar_format=_COUNT if self._left is None else _BAR,
        )
        with closing(self._bar):  # It stays on the screen.
            yield self
            self._left = 0
            self._show()

    def _show(self) -> None:
        if self._share is None:
            self._bar.update(self._done - self._bar.n)
        else:
            self._bar.total, self._bar.bar_format = 1.0, _BAR
            self._bar.update(self._share - self._bar.n)


class _LoggedStage(Stage):
    """Shows a stage as log lines: at its beginning and end, and in between if it takes long."""

    _interval = 10.0

    @contextmanager
    def shown(self) -> Iterator[Stage]:
        size = "" if self._left is None else f": {self._left:,}{self._unit}"
        self._report.info(f"{self._name}{size}")
        yield self
        seconds = time.monotonic() - self._start
        count = f" {self._done:,}{self._unit}" if self._done else ""
        self._report.info(f"{self._name}: done{count} in {seconds:.1f} s")

    def _show(self) -> None:
        share = self._share
        state = f"{self._done:,}{self._unit}"
        if share:
            seconds = (self._last - self._start) * (1 - share) / share
            state = f"{share:.0%}, about {seconds:.0f} s left"
        self._report.info(f"{self._name}: {state}")


class _JsonStage(Stage):
    """Shows a stage as lines of JSON for programs: at its beginning and end, and in between."""

    _interval = 0.25

    @contextmanager
    def shown(self) -> Iterator[Stage]:
        self._show()
        yield self
        self._left = 0
        self._show()

    def _show(self) -> None:
        total = None if self._left is None else self._done + self._left
        self._report.write_json(self._name, self._done, total)
