"""Sparse pruning: EM under an L1 penalty, which rises until few enough pieces are left."""

from __future__ import annotations

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.e_step import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
from spmcompat.unigram.pruning.sparse_step import ranked_count, sparse_step

# As in the reference: what a round keeps, at which multiple of the desired size the penalty stops
# rising, and how many rounds there are at most.
_SHRINKING_FACTOR = 0.75
_NEAR = 1.05
_MOST_ROUNDS = 51


def prune_sparsely(
    lattices: Lattices,
    desired_size: int,
    debias: bool,
    lanes: int,
    workers: Workers,
    report: Report,
) -> Pieces:
    """Train and prune until a round begins with few enough pieces.

    Parameters
    ----------
    lattices : Lattices
        Those of the corpus over the seeds.
    desired_size : int
        How many pieces are few enough; fewer may be left.
    debias : bool
        Whether scores are estimated once more in the end, without the penalty.
    lanes : int
        Parts of the corpus that are summed apart.
    workers : Workers
        Real threads.
    report : Report
        Told the rounds and their facts.

    Returns
    -------
    Pieces
        Those that are left, in the order of the seeds.

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
            # The last round finds that nothing is left to do.
            stage.expect(rounds_left(size, desired_size, _SHRINKING_FACTOR) + 1 + debias)
            report.step("E-step")
            counts = lattices.expected_counts(lanes, workers)
            if size > desired_size * _NEAR:
                kept = max(desired_size, shrunk(size, _SHRINKING_FACTOR))
                penalty = max(penalty, ranked_count(counts, kept))
            report.step("M-step")
            pieces, new_ids = sparse_step(pieces, counts, penalty)
            pieces.check()
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
            counts = lattices.expected_counts(lanes, workers)
            report.step("M-step")
            pieces, _ = sparse_step(pieces, counts, 0.0)
            pieces.check()
            stage.advance()
            report.info(f"Post-Lasso Refit size={len(pieces)} obj={counts.objective:g}")
    return pieces
