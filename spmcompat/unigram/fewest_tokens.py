"""Training for the fewest tokens: hard EM from the seeds, and one pruning by use (MinGram).

A text is segmented into as few pieces as possible. If several segmentations have the same number of
pieces, the most probable one wins. If several are equally probable, the one with the longest last
piece wins. If these are also equal, the second-to-last piece decides, and so on.

With these scores, every encoder that looks for the highest sum finds this segmentation. A piece
costs `PRICE` plus its improbability in steps of `GRID`. Up to 63 pieces, fewer pieces always cost
less, since 63 * 63 steps are less than the price of another piece. This is true for every slice of
text whose ends no piece may cross.

All sums are multiples of the step. Float32 represents them exactly up to 2**22 steps, which 4,096
pieces may reach. sentencepiece from 0.2.2 on subtracts sums above 100,000, so it is exact for lines
of any length.

Source: "MinGram: A Minimalist Unigram Tokenizer with High Compression and Competitive Morphological
Alignment", arXiv 2606.27019. Its own scores cannot be represented in float32. docs/research.md
lists the other differences from its published code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import ExpectedCounts, best_path_counts, m_step
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.parting import Renumbering, Target, stage_of
from spmcompat.unigram.pieces import Pieces, finalize
from spmcompat.unigram.pruning.pruning import prune_flat

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds

GRID = 0.25
"""The step of all scores, in nats."""

STEPS = 63
"""Cap of the improbability, in grid steps."""

PRICE = 1008.0
"""The price of a piece in nats: 4,032 steps, or up to 4,095 with its improbability."""

ONE_USE = 1.0
"""The count of a piece that a best segmentation uses once."""


class FewestTokensOptions(NamedTuple):
    """The options of the trainer.

    Attributes
    ----------
    targets : sequence of Target
        The number of final pieces, for each size of the vocabulary.
    steps : int
        The number of EM steps before the pruning, and also after it.
    partial_sums : int
        Number of partial sums. It decides the order of the float sums.
    drop_unused : bool
        Whether each step drops the pieces that no best segmentation uses, except required
        characters. If few enough pieces are left before the pruning, training ends, and there may
        be fewer final pieces than the target.
    """

    targets: Sequence[Target]
    steps: int
    partial_sums: int
    drop_unused: bool = False


def train_fewest_tokens(
    lattices: Lattices,
    alphabet: list[tuple[int, int]],
    options: FewestTokensOptions,
    workers: Workers,
    report: Report,
    rounds: Rounds | None = None,
    total: int = 1,
) -> dict[int, list[tuple[bytes, float]]]:
    """Estimate; then, for each target, prune once to the final size and estimate again.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds. They are used up.
    alphabet : list of (int, int)
        Required characters with their counts, by descending count; they always stay.
    options : FewestTokensOptions
        The options of the trainer.
    workers : Workers
        Real threads; the result is the same for any number of them.
    report : Report
        Receives progress and log lines.
    rounds : Rounds, optional
        Receives each step; only for a single target.
    total : int
        The number of all sizes that are trained, including sizes that are not in `options`.

    Returns
    -------
    dict of int to list of (bytes, float)
        The final pieces and their scores for each size of the vocabulary, by descending score, then
        by bytes.
    """
    required = frozenset(chr(character).encode() for character, _ in alphabet)
    targets = options.targets
    models = {}
    passes = (1 + len(targets)) * options.steps
    with stage_of(targets, total, "Hard EM", report, passes) as stage:
        training = _Training(required, options, workers, report, stage, rounds)
        seeds = lattices.pieces
        lattices.rescore(Pieces(priced(seeds)))
        estimated = training.estimate(lattices, seeds)
        del seeds
        for target in targets:
            if len(targets) > 1:
                report.info(f"vocab_size {target.vocab_size}: Hard EM")
            pieces, new_ids = training.prune(estimated, target)
            is_copy = target is not targets[-1]
            if not is_copy:
                del estimated
            if new_ids is not None:
                renumbering = Renumbering(Pieces(priced(pieces)), new_ids)
                own = renumbering.apply(lattices, workers, copy=is_copy)
                del renumbering, new_ids
                pieces = training.estimate(own, pieces)
                del own
            final = finalize(pieces, alphabet, target.size)
            by_price = sorted(priced(final), key=lambda item: (-item[1], item[0]))
            if rounds is not None:
                rounds.final(pieces, by_price, required)
            models[target.vocab_size] = by_price
    return models


def priced(pieces: Iterable[tuple[bytes, float]]) -> Sequence[tuple[bytes, float]]:
    """Convert log probabilities to the scores of the model."""
    return [(piece, -PRICE - GRID * min(round(-score / GRID), STEPS)) for piece, score in pieces]


class _Training(NamedTuple):
    """The common data of all rounds of hard EM."""

    required: frozenset[bytes]
    options: FewestTokensOptions
    workers: Workers
    report: Report
    stage: Stage
    rounds: Rounds | None

    def prune(self, pieces: Pieces, target: Target) -> tuple[Pieces, NewIds | None]:
        """Return the pieces that stay, and their new ids; None if no piece has to be dropped."""
        if self.options.drop_unused and len(pieces) <= target.size:
            return pieces, None
        self.report.step("Pruning")
        left, new_ids = prune_flat(pieces, target.size, keep_first=self.required)
        if self.rounds is not None:
            self.rounds.prune_flat(pieces, left, new_ids, self.required)
        return left, new_ids

    def estimate(self, lattices: Lattices, pieces: Pieces) -> Pieces:
        """Run one round of hard EM. Return the pieces with maximum likelihood log probabilities.

        At first, the lattices are over `pieces`; afterwards, over the returned pieces with prices.
        """
        options, rounds = self.options, self.rounds
        if rounds is not None:
            rounds.begin()
        for _ in range(options.steps):
            self.report.step("Counting best paths")
            counts = best_path_counts(lattices, options.partial_sums, self.workers)
            before = pieces
            pieces, new_ids = self._m_step(before, counts)
            if rounds is not None:
                least = ONE_USE if options.drop_unused else None
                rounds.em(before, counts, pieces, new_ids, least)
            del before  # Renumbering needs most memory.
            lattices.renumber(Pieces(priced(pieces)), new_ids, self.workers)
            self.stage.advance()
            tokens = math.fsum(counts[piece] for piece in range(len(counts)))
            self.report.info(f"Hard EM size={len(pieces)} num_tokens={tokens:.0f}")
        return pieces

    def _m_step(self, pieces: Pieces, counts: ExpectedCounts) -> tuple[Pieces, NewIds]:
        """Return the new pieces, without unused pieces if the options drop them."""
        if not self.options.drop_unused:
            return m_step(pieces, counts, self.workers, ml=True, keep=True)
        return m_step(
            pieces, counts, self.workers, threshold=ONE_USE, ml=True, required=self.required
        )
