"""What the steps of a training share besides their data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spmcompat.runtime.progress import Report
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.runtime.workers import Workers


class Context(NamedTuple):
    """The threads of a training, and what receives its messages. It never changes a result.

    Attributes
    ----------
    workers : Workers
        The worker threads.
    report : Report
        Receives log lines and progress.
    on_round : callable, optional
        A function that is called with a `Step` after each step. There must be only one run.
    """

    workers: Workers
    report: Report
    on_round: OnRound | None = None
