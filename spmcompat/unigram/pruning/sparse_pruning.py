"""Sparse pruning: EM under an L1 penalty that rises until few enough pieces are left."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.runtime.naming import naming_sizes
from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import expected_counts, ranked_count, sparse_step
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.parting import Renumbering, Target, label, stage_of
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds

# Constants of the reference.
_SHRINKING_FACTOR = 0.75  # share of the pieces that a round keeps
_NEAR = 1.05  # up to this multiple of the desired size, the penalty does not rise
_MOST_ROUNDS = 51


def prune_sparsely(
    lattices: Lattices,
    targets: Sequence[Target],
    debias: bool,
    partial_sums: int,
    workers: Workers,
    report: Report,
    rounds: Rounds | None = None,
    total: int = 1,
) -> dict[int, Pieces]:
    """Train and prune until a round begins with few enough pieces.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds. Training changes them.
    targets : sequence of Target
        For each vocabulary size, the number of pieces at which training ends. Training may end with
        fewer pieces.
    debias : bool
        Whether the scores are estimated once more at the end, without the penalty.
    partial_sums : int
        Number of partial sums, which determines the order of the float sums.
    workers : Workers
        The worker threads.
    report : Report
        Receives progress and log lines.
    rounds : Rounds, optional
        Receives each step.
    total : int
        The number of vocabulary sizes that the run trains, including those not in `targets`.

    Returns
    -------
    dict of int to Pieces
        Maps each vocabulary size to the remaining pieces, in the order of the seeds.

    Raises
    ------
    TrainingError
        If a score is not finite.
    """
    epochs = _Epochs(debias, partial_sums, total, workers, report, rounds)
    return epochs.train(lattices, targets, None)


class _Step(NamedTuple):
    """The M-step of a round, for the targets that share its penalty.

    `size_before` is the number of pieces before the step.
    """

    targets: Sequence[Target]
    epoch: int
    penalty: float
    size_before: int
    objective: float
    renumbering: Renumbering


class _Epochs(NamedTuple):
    """Runs the rounds of sparse pruning. The fields are parameters of `prune_sparsely`."""

    debias: bool
    partial_sums: int
    total: int
    workers: Workers
    report: Report
    rounds: Rounds | None

    def train(
        self, lattices: Lattices, targets: Sequence[Target], step: _Step | None
    ) -> dict[int, Pieces]:
        """Return the pieces of each target.

        `step` is the step that has just changed the lattices, or None before the first step.
        """
        trained: dict[int, Pieces] = {}
        branches = self._until_they_part(lattices, targets, step, trained)
        for branch in branches:
            is_copy = branch is not branches[-1]
            trained |= self._train_from(lattices, branch, is_copy)
        return trained

    def _train_from(self, lattices: Lattices, step: _Step, is_copy: bool) -> dict[int, Pieces]:
        """Apply `step` to the lattices or to a copy. Return the pieces of the step's targets."""
        self.report.step("Renumbering")
        own = step.renumbering.apply(lattices, self.workers, copy=is_copy)
        return self.train(own, step.targets, step)

    def _until_they_part(
        self,
        lattices: Lattices,
        targets: Sequence[Target],
        step: _Step | None,
        trained: dict[int, Pieces],
    ) -> list[_Step]:
        """Run rounds as long as all targets have the same penalty.

        Return the steps of the first round in which the penalties differ, one for each penalty.
        Return no steps if all targets are reached before. Add the pieces of targets that are
        reached to `trained`.
        """
        report = self.report
        with stage_of(targets, self.total, "EM and sparse pruning", report) as stage:
            while True:
                if step is not None:
                    stage.advance()
                    report.info(
                        f"Sparse epoch={step.epoch} active={step.size_before} "
                        f"lambda={step.penalty:g} obj={step.objective:g}"
                    )
                    targets = self._end(lattices, targets, step, stage, trained)
                    if not targets:
                        return []
                stage.expect(self._passes_left(len(lattices.pieces), targets))
                steps = self._steps(lattices, targets, step)
                if len(steps) > 1:
                    return steps
                step = steps[0]
                report.step("Renumbering")
                step.renumbering.apply(lattices, self.workers, copy=False)

    def _steps(
        self, lattices: Lattices, targets: Sequence[Target], last: _Step | None
    ) -> list[_Step]:
        """Return the steps of the next round, one for each penalty."""
        report = self.report
        size = len(lattices.pieces)
        report.step("E-step")
        counts = expected_counts(lattices, self.partial_sums, self.workers)
        epoch = 0 if last is None else last.epoch + 1
        by_penalty: dict[float, list[Target]] = {}
        for target in targets:
            penalty = 0.0 if last is None else last.penalty
            if size > target.size * _NEAR:
                kept = max(target.size, shrunk(size, _SHRINKING_FACTOR))
                penalty = max(penalty, ranked_count(counts, kept))
            by_penalty.setdefault(penalty, []).append(target)
        report.step("M-step")
        steps = []
        # Targets with the same penalty share a step. Only the targets with the highest penalty can
        # still get different penalties in a later round, which needs copies of the lattices. Their
        # step comes last: it changes the lattices in place, after the copies for the other steps
        # have been freed. So there is at most one copy at a time.
        for penalty, same in sorted(by_penalty.items(), key=itemgetter(0)):
            renumbering = Renumbering(*sparse_step(lattices.pieces, counts, penalty))
            with naming_sizes(label(same, self.total)):
                renumbering.pieces.check()
            if self.rounds is not None:
                self.rounds.begin()
                self.rounds.em(lattices.pieces, counts, *renumbering, penalty, counts.objective)
            steps.append(_Step(same, epoch, penalty, size, counts.objective, renumbering))
        return steps

    def _end(
        self,
        lattices: Lattices,
        targets: Sequence[Target],
        step: _Step,
        stage: Stage,
        trained: dict[int, Pieces],
    ) -> list[Target]:
        """Store the pieces of targets that have been reached, and return the other targets."""
        is_last = step.epoch == _MOST_ROUNDS - 1
        reached = [target for target in targets if is_last or step.size_before <= target.size]
        if reached:
            pieces = self._without_penalty(lattices, stage) if self.debias else lattices.pieces
            trained.update((target.vocab_size, pieces) for target in reached)
            for target in reached if self.total > 1 else ():
                self.report.info(
                    f"vocab_size {target.vocab_size}: sparse pruning ends with {len(pieces)} pieces"
                )
        return [target for target in targets if target not in reached]

    def _without_penalty(self, lattices: Lattices, stage: Stage) -> Pieces:
        """Return the pieces with scores that are estimated without the penalty."""
        report = self.report
        report.step("E-step")
        counts = expected_counts(lattices, self.partial_sums, self.workers)
        report.step("M-step")
        pieces, new_ids = sparse_step(lattices.pieces, counts, 0.0)
        pieces.check()
        if self.rounds is not None:
            self.rounds.begin()
            self.rounds.em(lattices.pieces, counts, pieces, new_ids, None, counts.objective)
        stage.advance()
        report.info(f"Post-Lasso Refit size={len(pieces)} obj={counts.objective:g}")
        return pieces

    def _passes_left(self, size: int, targets: Sequence[Target]) -> int:
        """Estimate the number of passes over the corpus until the smallest target is reached."""
        smallest = min(target.size for target in targets)
        # One more round is needed, because the last round only detects that the size was reached.
        return rounds_left(size, smallest, _SHRINKING_FACTOR) + 1 + self.debias
