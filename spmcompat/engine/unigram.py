"""The steps of Unigram training on one object: EM, losses, and keeping some of the pieces."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import nullcontext

from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Stage
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.em.steps import expected_counts, log_likelihood, segment_log_likelihoods
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.loop import Loop, likelihood_losses
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import select_pieces


class Unigram:
    """A Unigram model in training: pieces with scores, and the lattices of a text.

    The id of a piece is its index in `pieces`.

    Parameters
    ----------
    corpus : Corpus
        The text.
    pieces : iterable of (bytes, float)
        The pieces, and their log probabilities.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    options : UnigramOptions, optional
        The options of the steps; by default those of training.
    required : collection of bytes, optional
        Pieces that EM never drops.
    """

    def __init__(
        self,
        corpus: Corpus,
        pieces: Iterable[tuple[bytes, float]],
        context: Context,
        options: UnigramOptions | None = None,
        required: Collection[bytes] = (),
    ) -> None:
        self._options = options or UnigramOptions()
        self._context = context
        self._loop = Loop(frozenset(required), context, None)
        context.report.step("Building lattices")
        given = pieces if isinstance(pieces, Pieces) else Pieces(pieces)
        with_log1p = self._options.release.log_sum_exp_with_log1p
        self._lattices = Lattices(corpus, given, context.workers, with_log1p)

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._lattices.pieces)

    @property
    def pieces(self) -> Pieces:
        """The pieces and their scores."""
        return self._lattices.pieces

    def em_round(self, stage: Stage | None = None) -> None:
        """Run the EM steps of one round: `num_sub_iterations` times an E-step and an M-step.

        The M-step drops the pieces that occur too rarely.

        Parameters
        ----------
        stage : Stage, optional
            Counts each step as progress.

        Raises
        ------
        TrainingError
            If no piece is left.
        """
        steps = self._options.num_sub_iterations
        report = self._context.report
        own = report.stage("EM", steps, "passes") if stage is None else nullcontext(stage)
        with own as counted:
            self._loop.train_round(self._lattices, self._options, counted)

    def expected_counts(self) -> list[float]:
        """Return how often each piece is expected in the text (the E-step)."""
        counts = expected_counts(self._lattices, self._options.partial_sums, self._context.workers)
        return [counts[piece] for piece in range(len(counts))]

    def log_likelihood(self) -> float:
        """Return the log likelihood of the text over all its segmentations."""
        return log_likelihood(self._lattices, self._context.workers)

    def segment_log_likelihoods(self) -> list[float]:
        """Return the log likelihood of each distinct segment over all its segmentations."""
        return segment_log_likelihoods(self._lattices, self._context.workers)

    def losses(self) -> list[float | None]:
        """Return what removing each piece would cost the best paths of the text.

        The loss is None for a piece that is on no best path, or is not the best path of its own
        text.
        """
        losses, _ = likelihood_losses(self._lattices, self._options, self._context)
        return losses.as_list()

    def keep(self, ids: Iterable[int]) -> None:
        """Keep only the pieces with these ids, in this order. Their ids change."""
        pieces, new_ids = select_pieces(self.pieces, ids)
        self._context.report.step("Renumbering")
        self._lattices.renumber(pieces, new_ids, self._context.workers)

    def rescore(self, pieces: Pieces) -> None:
        """Replace the scores by those of the same pieces in `pieces`."""
        self._lattices.rescore(pieces)
