"""Trainings that differ only in the size of the vocabulary: first together, then separate."""

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
    """A training with its own vocabulary size."""

    @property
    def vocab_size(self) -> int:
        """The size."""


class Target(NamedTuple):
    """The number of pieces at which a training ends, and the size of its vocabulary."""

    vocab_size: int
    size: int


class Renumbering(NamedTuple):
    """A change of lattices to other pieces."""

    pieces: Pieces
    new_ids: NewIds

    def apply(self, lattices: Lattices, workers: Workers, *, copy: bool) -> Lattices:
        """Return lattices over the new pieces: the changed lattices, or a changed copy."""
        changed = lattices.copy() if copy else lattices
        changed.renumber(self.pieces, self.new_ids, workers)
        return changed


def label(runs: Sequence[Run], total: int) -> str:
    """Return the sizes of some runs for messages; empty if they are all of the `total` runs."""
    return ", ".join(f"{run.vocab_size}" for run in runs) if len(runs) < total else ""


@contextmanager
def stage_of(
    runs: Sequence[Run], total: int, name: str, report: Report, passes: int | None = None
) -> Iterator[Stage]:
    """Begin a stage of some runs. Unless they are all runs, its name and errors name the sizes."""
    sizes = label(runs, total)
    name = f"{name}, vocab_size {sizes}" if sizes else name
    with naming_sizes(sizes), report.stage(name, passes, "passes") as stage:
        yield stage
