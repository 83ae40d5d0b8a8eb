"""Sparse pruning: EM under an L1 penalty that rises until few enough pieces are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.e_step import expected_counts
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
from spmcompat.unigram.pruning.sparse_step import ranked_count, sparse_step

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds

# Constants of the reference.
_SHRINKING_FACTOR = 0.75  # share of the pieces that a round keeps
_NEAR = 1.05  # up to this multiple of the desired size, the penalty does not rise
_MOST_ROUNDS = 51


def prune_sparsely(
    lattices: Lattices,
    desired_size: int,
    debias: bool,
    lanes: int,
    workers: Workers,
    report: Report,
    rounds: Rounds | None = None,
) -> Pieces:
    """Train and prune until a round begins with few enough pieces.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds.
    desired_size : int
        How many pieces are few enough; fewer may be left.
    debias : bool
        Whether the scores are estimated once more at the end, without the penalty.
    lanes : int
        Number of reduction lanes; it fixes the order of the float sums.
    workers : Workers
        Real threads.
    report : Report
        Receives progress and log lines.
    rounds : Rounds, optional
        Is told each step.

    Returns
    -------
    Pieces
        The pieces that are left, in the order of the seeds.

    Raises
    ------
    TrainingError
        If a score is not finite.
    """
    pieces = lattices.pieces
    penalty = 0.0
    with report.stage("EM and sparse pruning", unit="passes") as stage:
        for epoch in range(_MOST_ROUNDS):
            size = len(pieces)
            # One round more: the last one only finds that the size is reached.
            stage.expect(rounds_left(size, desired_size, _SHRINKING_FACTOR) + 1 + debias)
            report.step("E-step")
            counts = expected_counts(lattices, lanes, workers)
            if size > desired_size * _NEAR:
                kept = max(desired_size, shrunk(size, _SHRINKING_FACTOR))
                penalty = max(penalty, ranked_count(counts, kept))
            report.step("M-step")
            before = pieces
            pieces, new_ids = sparse_step(before, counts, penalty)
            pieces.check()
            if rounds is not None:
                rounds.begin()
                rounds.em(before, counts, pieces, new_ids, penalty, counts.objective)
            del before
            report.step("Renumbering")
            lattices.renumber(pieces, new_ids, workers)
            stage.advance()
            report.info(
                f"Sparse epoch={epoch} active={size} lambda={penalty:g} obj={counts.objective:g}"
            )
            if size <= desired_size:
                break
        if debias:
            report.step("E-step")
            counts = expected_counts(lattices, lanes, workers)
            report.step("M-step")
            before = pieces
            pieces, new_ids = sparse_step(before, counts, 0.0)
            pieces.check()
            if rounds is not None:
                rounds.begin()
                rounds.em(before, counts, pieces, new_ids, None, counts.objective)
            stage.advance()
            report.info(f"Post-Lasso Refit size={len(pieces)} obj={counts.objective:g}")
    return pieces
