"""Helpers for runs that differ only in the size of the vocabulary.

Such runs share all steps before the first one that depends on the size. Then each continues alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from spmcompat.runtime.naming import naming_sizes
from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.pieces import Pieces


class Run(Protocol):
    """A training run with its own vocabulary size."""

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary."""


class Target(NamedTuple):
    """The vocabulary size of a run, and the number of pieces (`size`) that pruning aims at."""

    vocab_size: int
    size: int


class Renumbering(NamedTuple):
    """New pieces for lattices, and for each old piece its id among the new pieces."""

    pieces: Pieces
    new_ids: NewIds

    def apply(self, lattices: Lattices, workers: Workers, *, copy: bool) -> Lattices:
        """Replace the pieces of the lattices, or of a copy of them if `copy` is true."""
        changed = lattices.copy() if copy else lattices
        changed.renumber(self.pieces, self.new_ids, workers)
        return changed


def label(runs: Sequence[Run], total: int) -> str:
    """List the vocabulary sizes of `runs` for messages. Return "" if `runs` contains all runs."""
    return ", ".join(f"{run.vocab_size}" for run in runs) if len(runs) < total else ""


@contextmanager
def stage_of(
    runs: Sequence[Run], total: int, name: str, report: Report, passes: int | None = None
) -> Iterator[Stage]:
    """Begin a stage for some runs.

    If `runs` has fewer than `total` runs, their vocabulary sizes are added to the name of the stage
    and to its errors.
    """
    sizes = label(runs, total)
    name = f"{name}, vocab_size {sizes}" if sizes else name
    with naming_sizes(sizes), report.stage(name, passes, "passes") as stage:
        yield stage
