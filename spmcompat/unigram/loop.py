"""The loop of a Unigram training: EM and pruning alternate until few enough pieces are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Stage
from spmcompat.runtime.runs import Runs
from spmcompat.unigram.em.steps import ExpectedCounts, best_path_counts, expected_counts, m_step
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import Losses, find_exact_losses, find_losses, prune_flat
from spmcompat.unigram.pruning.sizes import rounds_left, shrunk
from spmcompat.unigram.renumbering import Renumbering

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds


class Branch(NamedTuple):
    """Runs that keep the same pieces in a pruning, and continue together.

    Attributes
    ----------
    runs : Runs of UnigramOptions
        The runs.
    renumbering : Renumbering
        The pieces that stay, and their new ids.
    is_last : bool
        Whether only the last EM steps follow. Otherwise the loop continues.
    """

    runs: Runs[UnigramOptions]
    renumbering: Renumbering
    is_last: bool


class Loop(NamedTuple):
    """Alternates EM and pruning, for one run or for runs that differ only in the vocabulary size.

    Runs stay together until they keep different numbers of pieces in a pruning.

    Attributes
    ----------
    required : frozenset of bytes
        Pieces that are never dropped.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    rounds : Rounds, optional
        Receives each step.
    """

    required: frozenset[bytes]
    context: Context
    rounds: Rounds | None

    def train(self, lattices: Lattices, runs: Runs[UnigramOptions]) -> dict[int, Pieces]:
        """Train the runs, and return the final pieces of each run by its vocabulary size.

        All runs begin with the pieces in `lattices`. Training changes these lattices.
        """
        trained: dict[int, Pieces] = {}
        branches = self._until_they_part(lattices, runs, trained)
        for branch in branches:
            is_copy = branch is not branches[-1]
            trained |= self._train_branch(lattices, branch, is_copy)
        return trained

    def _train_branch(self, lattices: Lattices, branch: Branch, is_copy: bool) -> dict[int, Pieces]:
        """Train a branch to its end, and return the final pieces of each of its runs."""
        self.context.report.step("Renumbering")
        own = branch.renumbering.apply(lattices, self.context.workers, copy=is_copy)
        if not branch.is_last:
            return self.train(own, branch.runs)
        with branch.runs.stage(self.context.report, "Last EM steps") as stage:
            self.train_round(own, branch.runs.common, stage, keep=True)
        return dict.fromkeys([run.vocab_size for run in branch.runs], own.pieces)

    def _until_they_part(
        self, lattices: Lattices, runs: Runs[UnigramOptions], trained: dict[int, Pieces]
    ) -> list[Branch]:
        """Train the runs together until one of them ends or they keep different pieces.

        Return the branches in which the other runs continue. Add the pieces of the runs that end to
        `trained`.
        """
        options = runs.common  # EM only uses options that are the same for all runs.
        with runs.stage(self.context.report, "EM and pruning") as stage:
            while True:
                stage.expect(self._passes_left(len(lattices.pieces), runs))
                if self.rounds is not None:
                    self.rounds.begin()
                self.train_round(lattices, options, stage)
                before = len(lattices.pieces)
                going = [run for run in runs if not _stops_before_pruning(before, run)]
                self._end(runs, going, lattices.pieces, trained)
                if not going:
                    return []
                branches = self._pruned(lattices, runs.part(going), trained)
                stage.advance()
                if len(branches) != 1 or len(branches[0].runs) < len(runs):
                    return branches
                self.context.report.step("Renumbering")
                is_last = branches[0].is_last
                branches[0].renumbering.apply(lattices, self.context.workers, copy=False)
                del branches  # Frees memory before the next round.
                if is_last:
                    self.train_round(lattices, options, stage, keep=True)
                    self._end(runs, [], lattices.pieces, trained)
                    return []

    def _pruned(
        self,
        lattices: Lattices,
        runs: Runs[UnigramOptions],
        trained: dict[int, Pieces],
    ) -> list[Branch]:
        """Prune for each run, and return the branches in which training continues.

        The pieces of runs that end with this pruning are added to `trained`.
        """
        before = len(lattices.pieces)
        by_size: dict[int, list[UnigramOptions]] = {}
        for run in runs:
            size = max(run.loop_size, shrunk(before, run.shrinking_factor))
            by_size.setdefault(size, []).append(run)
        renumberings = self._renumberings(lattices, list(by_size), runs.common)
        branches = []
        for renumbering, same_size in zip(renumberings, by_size.values(), strict=True):
            pieces = renumbering.pieces
            with runs.part(same_size).naming_errors():
                pieces.check()
            last = [run for run in same_size if _ends_with_pruning(pieces, before, run)]
            going = [run for run in same_size if run not in last]
            with_em = [run for run in last if run.loop_size <= run.final_size]
            self._end(runs.part(last), with_em, pieces, trained)
            if with_em:
                branches.append(Branch(runs.part(with_em), renumbering, is_last=True))
            if going:
                branches.append(Branch(runs.part(going), renumbering, is_last=False))
        # The last branch changes the lattices themselves; the branches before it change copies.
        # Only the runs of the last branch may later be divided into branches again, so at most two
        # lattices exist at a time.
        return sorted(branches, key=lambda branch: (not branch.is_last, len(branch.runs)))

    def _end(
        self,
        runs: Runs[UnigramOptions],
        going: Sequence[UnigramOptions],
        pieces: Pieces,
        trained: dict[int, Pieces],
    ) -> None:
        """Store `pieces` as the result of each run that ends here, because it is not in `going`."""
        for run in runs.alone():
            if run.common not in going:
                trained[run.common.vocab_size] = pieces
                if run.sizes:
                    message = f"EM and pruning end with {len(pieces)} pieces"
                    self.context.report.info(run.about(message))

    def train_round(
        self, lattices: Lattices, options: UnigramOptions, stage: Stage, *, keep: bool = False
    ) -> None:
        """Run the EM steps of one round. Required pieces and, with `keep`, all pieces are kept."""
        report, workers, rounds = self.context.report, self.context.workers, self.rounds
        required = frozenset() if keep else self.required
        for iteration in range(options.num_sub_iterations):
            report.step("E-step")
            counts = expected_counts(lattices, options.partial_sums, workers)
            report.step("M-step")
            threshold, ml = options.early_prune_threshold, options.m_step == "ml"
            pieces, new_ids = m_step(
                lattices.pieces, counts, workers, threshold, ml, keep, required
            )
            pieces.check()
            objective = counts.objective
            if rounds is not None:
                least = None if keep else threshold
                rounds.em(lattices.pieces, counts, pieces, new_ids, least, objective)
            del counts  # Frees memory, because the renumbering needs more than any other step.
            report.step("Renumbering")
            lattices.renumber(pieces, new_ids, workers)
            stage.advance()
            report.info(f"EM sub_iter={iteration} size={len(pieces)} obj={objective:g}")

    def _renumberings(
        self, lattices: Lattices, sizes: Sequence[int], options: UnigramOptions
    ) -> list[Renumbering]:
        """Return, for each size, the pieces that the pruning criterion of the options keeps."""
        before, rounds = lattices.pieces, self.rounds
        if options.prune == "flat":
            self.context.report.step("Pruning")
            renumberings = [Renumbering(*prune_flat(before, size, self.required)) for size in sizes]
            if rounds is not None:
                rounds.prune_flat(before, *renumberings[0], self.required)
            return renumberings
        losses, counts = self._losses(lattices, options)
        renumberings = [Renumbering(*losses.select(size)) for size in sizes]
        if rounds is not None:
            rounds.prune_by_loss(before, losses.as_list(), counts, *renumberings[0])
        return renumberings

    def _losses(
        self, lattices: Lattices, options: UnigramOptions
    ) -> tuple[Losses, ExpectedCounts | None]:
        """Return the losses of the pieces and, if they are needed, the counts in the best paths."""
        if options.prune != "exact":
            return likelihood_losses(lattices, options, self.context)
        self.context.report.step("Pruning")
        return find_exact_losses(lattices, self.context.workers), None

    def _passes_left(self, size: int, runs: Runs[UnigramOptions]) -> int:
        """Estimate how many passes over the corpus are needed to reach the smallest size."""
        smallest = min(run.loop_size for run in runs)
        rounds = rounds_left(size, smallest, runs.common.shrinking_factor)
        return rounds * (runs.common.num_sub_iterations + 1)


def likelihood_losses(
    lattices: Lattices, options: UnigramOptions, context: Context
) -> tuple[Losses, ExpectedCounts]:
    """Return the losses of the pieces, and how often each piece is in the best paths."""
    context.report.step("Counting best paths")
    counts = best_path_counts(lattices, options.partial_sums, context.workers)
    context.report.step("Pruning")
    sums, release = options.partial_sums, options.release
    return find_losses(lattices, counts, sums, context.workers, release), counts


def _stops_before_pruning(size: int, run: UnigramOptions) -> bool:
    """Return whether a run ends because few enough pieces are left after EM."""
    return run.release.stops_before_pruning and size <= run.loop_size


def _ends_with_pruning(pieces: Pieces, before: int, run: UnigramOptions) -> bool:
    """Return whether a pruning is the last pruning of a run.

    A pruning is the last one if few enough pieces are left. (Releases with the fact
    `stops_before_pruning` check this before the pruning instead.)

    An exact pruning is also the last one if it dropped no piece, because it keeps all pieces that
    the text needs, even if these are too many. If a pruning by likelihood drops no piece, the
    search for alternatives gave up, and training continues, as in the reference.
    """
    if not run.release.stops_before_pruning and len(pieces) <= run.loop_size:
        return True
    return run.prune == "exact" and len(pieces) == before
