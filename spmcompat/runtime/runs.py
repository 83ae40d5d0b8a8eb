"""Runs that differ only in the size of the vocabulary.

Such runs share all steps before the first one that depends on the size. Then each continues alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from spmcompat.errors import OutOfMemoryError, TrainingError

if TYPE_CHECKING:
    from spmcompat.runtime.progress import Report, Stage


class _Run(Protocol):
    @property
    def vocab_size(self) -> int: ...


Run = TypeVar("Run", bound=_Run)


class Runs(Generic[Run]):
    """Runs that take a step together: all runs of a training, or a part of them.

    Parameters
    ----------
    runs : sequence
        The options of each run, which differ only in what depends on their `vocab_size`.
    sizes : str
        The sizes of the runs, for messages; empty if these are all runs of the training.
    """

    def __init__(self, runs: Sequence[Run], sizes: str = "") -> None:
        self._runs = runs
        self.sizes = sizes

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def common(self) -> Run:
        """The options of one of the runs, for those that are the same for all of them."""
        return self._runs[0]

    def part(self, runs: Sequence[Run]) -> Runs[Run]:
        """Return some of these runs, or all of them."""
        if len(runs) == len(self):
            return self
        return Runs(runs, ", ".join(str(run.vocab_size) for run in runs))

    def alone(self) -> Iterator[Runs[Run]]:
        """Yield each run as a part of its own."""
        return (self.part([run]) for run in self)

    def about(self, message: str) -> str:
        """Return a message, which names the sizes unless it is about all runs."""
        return f"vocab_size {self.sizes}: {message}" if self.sizes else message

    def named(self, step: str) -> str:
        """Return the name of a step, with the sizes unless all runs take it."""
        return f"{step}, vocab_size {self.sizes}" if self.sizes else step

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Return a context in which errors name the sizes, unless an inner context named them."""
        try:
            yield
        except TrainingError as error:
            if not self.sizes or error.names_sizes or isinstance(error, OutOfMemoryError):
                raise
            named = type(error)(self.about(str(error)))
            named.names_sizes = True
            raise named from error

    @contextmanager
    def stage(self, report: Report, name: str, passes: int | None = None) -> Iterator[Stage]:
        """Begin a stage of these runs. Its name and its errors name the sizes, as above."""
        with self.naming_errors(), report.stage(self.named(name), passes, "passes") as stage:
            yield stage
