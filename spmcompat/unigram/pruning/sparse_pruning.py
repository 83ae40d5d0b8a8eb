"""Sparse pruning: EM under an L1 penalty that rises until few enough pieces are left."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Stage
from spmcompat.runtime.runs import Runs
from spmcompat.unigram.em.steps import expected_counts, ranked_count, sparse_step
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
from spmcompat.unigram.renumbering import Renumbering

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds

# Constants of the reference.
_SHRINKING_FACTOR = 0.75  # share of the pieces that a round keeps
_NEAR = 1.05  # up to this multiple of the desired size, the penalty does not rise
_MOST_ROUNDS = 51


def prune_sparsely(
    lattices: Lattices,
    runs: Runs[UnigramOptions],
    context: Context,
    rounds: Rounds | None = None,
) -> dict[int, Pieces]:
    """Train and prune until a round begins with few enough pieces.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds. Training changes them.
    runs : Runs of UnigramOptions
        The runs. A run ends when at most `loop_size` pieces are left, and possibly fewer.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    rounds : Rounds, optional
        Receives each step.

    Returns
    -------
    dict of int to Pieces
        Maps each vocabulary size to the remaining pieces, in the order of the seeds.

    Raises
    ------
    TrainingError
        If a score is not finite.
    """
    return _Epochs(context, rounds).train(lattices, runs, None)


class _PenalizedStep(NamedTuple):
    """The M-step of a round, for the runs that share its penalty.

    `size_before` is the number of pieces before the step.
    """

    runs: Runs[UnigramOptions]
    epoch: int
    penalty: float
    size_before: int
    objective: float
    renumbering: Renumbering


class _Epochs(NamedTuple):
    """Runs the rounds of sparse pruning. The fields are parameters of `prune_sparsely`."""

    context: Context
    rounds: Rounds | None

    def train(
        self, lattices: Lattices, runs: Runs[UnigramOptions], step: _PenalizedStep | None
    ) -> dict[int, Pieces]:
        """Return the pieces of each run, by the size of its vocabulary.

        `step` is the step that has just changed the lattices, or None before the first step.
        """
        trained: dict[int, Pieces] = {}
        branches = self._until_they_part(lattices, runs, step, trained)
        for branch in branches:
            is_copy = branch is not branches[-1]
            trained |= self._train_from(lattices, branch, is_copy)
        return trained

    def _train_from(
        self, lattices: Lattices, step: _PenalizedStep, is_copy: bool
    ) -> dict[int, Pieces]:
        """Apply `step` to the lattices or to a copy. Return the pieces of the step's runs."""
        self.context.report.step("Renumbering")
        own = step.renumbering.apply(lattices, self.context.workers, copy=is_copy)
        return self.train(own, step.runs, step)

    def _until_they_part(
        self,
        lattices: Lattices,
        runs: Runs[UnigramOptions],
        step: _PenalizedStep | None,
        trained: dict[int, Pieces],
    ) -> list[_PenalizedStep]:
        """Run rounds as long as all runs have the same penalty.

        Return the steps of the first round in which the penalties differ, one for each penalty.
        Return no steps if all runs end before. Add the pieces of runs that end to `trained`.
        """
        report = self.context.report
        with runs.stage(report, "EM and sparse pruning") as stage:
            while True:
                if step is not None:
                    stage.advance()
                    report.info(
                        f"Sparse epoch={step.epoch} active={step.size_before} "
                        f"lambda={step.penalty:g} obj={step.objective:g}"
                    )
                    runs = self._end(lattices, runs, step, stage, trained)
                    if len(runs) == 0:
                        return []
                stage.expect(self._passes_left(len(lattices.pieces), runs))
                steps = self._steps(lattices, runs, step)
                if len(steps) > 1:
                    return steps
                step = steps[0]
                report.step("Renumbering")
                step.renumbering.apply(lattices, self.context.workers, copy=False)

    def _steps(
        self, lattices: Lattices, runs: Runs[UnigramOptions], last: _PenalizedStep | None
    ) -> list[_PenalizedStep]:
        """Return the steps of the next round, one for each penalty."""
        report = self.context.report
        size = len(lattices.pieces)
        report.step("E-step")
        counts = expected_counts(lattices, runs.common.partial_sums, self.context.workers)
        epoch = 0 if last is None else last.epoch + 1
        by_penalty: dict[float, list[UnigramOptions]] = {}
        for run in runs:
            penalty = 0.0 if last is None else last.penalty
            if size > run.loop_size * _NEAR:
                kept = max(run.loop_size, shrunk(size, _SHRINKING_FACTOR))
                penalty = max(penalty, ranked_count(counts, kept))
            by_penalty.setdefault(penalty, []).append(run)
        report.step("M-step")
        steps = []
        # Runs with the same penalty share a step. Only the runs with the highest penalty can
        # still get different penalties in a later round, which needs copies of the lattices. Their
        # step comes last: it changes the lattices in place, after the copies for the other steps
        # have been freed. So there is at most one copy at a time.
        for penalty, same in sorted(by_penalty.items(), key=itemgetter(0)):
            sharing = runs.part(same)
            renumbering = Renumbering(*sparse_step(lattices.pieces, counts, penalty))
            with sharing.naming_errors():
                renumbering.pieces.check()
            if self.rounds is not None:
                self.rounds.begin()
                self.rounds.em(lattices.pieces, counts, *renumbering, penalty, counts.objective)
            steps.append(
                _PenalizedStep(sharing, epoch, penalty, size, counts.objective, renumbering)
            )
        return steps

    def _end(
        self,
        lattices: Lattices,
        runs: Runs[UnigramOptions],
        step: _PenalizedStep,
        stage: Stage,
        trained: dict[int, Pieces],
    ) -> Runs[UnigramOptions]:
        """Store the pieces of the runs that end here, and return the other runs."""
        is_last = step.epoch == _MOST_ROUNDS - 1
        ending = [run for run in runs if is_last or step.size_before <= run.loop_size]
        if ending:
            pieces = lattices.pieces
            if runs.common.post_l1_debias:
                pieces = self._without_penalty(lattices, runs.common.partial_sums, stage)
            for run in runs.part(ending).alone():
                trained[run.common.vocab_size] = pieces
                if run.sizes:
                    message = f"sparse pruning ends with {len(pieces)} pieces"
                    self.context.report.info(run.about(message))
        return runs.part([run for run in runs if run not in ending])

    def _without_penalty(self, lattices: Lattices, partial_sums: int, stage: Stage) -> Pieces:
        """Return the pieces with scores that are estimated without the penalty."""
        report = self.context.report
        report.step("E-step")
        counts = expected_counts(lattices, partial_sums, self.context.workers)
        report.step("M-step")
        pieces, new_ids = sparse_step(lattices.pieces, counts, 0.0)
        pieces.check()
        if self.rounds is not None:
            self.rounds.begin()
            self.rounds.em(lattices.pieces, counts, pieces, new_ids, None, counts.objective)
        stage.advance()
        report.info(f"Post-Lasso Refit size={len(pieces)} obj={counts.objective:g}")
        return pieces

    def _passes_left(self, size: int, runs: Runs[UnigramOptions]) -> int:
        """Estimate the number of passes over the corpus until the smallest size is reached."""
        smallest = min(run.loop_size for run in runs)
        # One more round is needed, because the last round only detects that the size was reached.
        return rounds_left(size, smallest, _SHRINKING_FACTOR) + 1 + runs.common.post_l1_debias
