"""Training for the fewest tokens (MinGram): hard EM from the seeds, and one pruning by score.

A text is segmented into as few pieces as possible. If several segmentations have the same number of
pieces, the most probable one wins. If several are equally probable, the one with the longest last
piece wins. If their last pieces are equally long, the second-to-last pieces decide, and so on.

The scores of the model make every Unigram encoder find this segmentation, because encoders look for
the highest sum of scores. The cost of a piece is its score times -1. It is `PRICE` plus the
negative log probability of the piece, which is rounded to a multiple of `GRID` and is at most 63
times `GRID`. Therefore, of two segmentations of up to 63 pieces, the one with fewer pieces always
costs less: 63 * 63 steps of `GRID` are less than the price of one more piece. Longer texts are
segmented in this way, too, if each of their segments has at most 63 pieces, because no piece
crosses the ends of a segment.

All sums are multiples of `GRID`. Float32 represents such multiples exactly up to 2**24 steps. The
sum of up to 4,096 pieces cannot exceed this limit. From 0.2.2 on, sentencepiece resets sums above
100,000 to 0, so its sums are exact for lines of any length.

Source: "MinGram: A Minimalist Unigram Tokenizer with High Compression and Competitive Morphological
Alignment", arXiv 2606.27019. The scores of the paper cannot be represented in float32.
docs/research.md lists the other differences from the published code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Stage
from spmcompat.runtime.runs import Runs
from spmcompat.unigram.em.steps import ExpectedCounts, best_path_counts, m_step
from spmcompat.unigram.lattice.lattices import Lattices, NewIds
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces, finalize
from spmcompat.unigram.pruning.pruning import prune_flat
from spmcompat.unigram.renumbering import Renumbering

if TYPE_CHECKING:
    from spmcompat.unigram.rounds import Rounds

GRID = 0.25
"""The step of all scores, in nats."""

STEPS = 63
"""The largest negative log probability of a piece, in steps of `GRID`."""

PRICE = 1008.0
"""The price of a piece in nats: 4,032 steps of `GRID`.

The cost of a piece, which includes its negative log probability, is at most 4,095 steps.
"""

ONE_USE = 1.0
"""The smallest count of a piece that a best segmentation uses."""


def train_fewest_tokens(
    lattices: Lattices,
    alphabet: list[tuple[int, int]],
    runs: Runs[UnigramOptions],
    context: Context,
    rounds: Rounds | None = None,
) -> dict[int, list[tuple[bytes, float]]]:
    """Run hard EM. Then, for each run, prune once to the final size and run hard EM again.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds. Training changes them.
    alphabet : list of (int, int)
        Required characters with their counts, by descending count. They are never dropped.
    runs : Runs of UnigramOptions
        The runs. There are `num_sub_iterations` EM steps before the pruning, and as many after it.
        With `drop_unused`, each EM step drops the pieces that no best segmentation uses, except
        required characters. If this leaves no more pieces than `final_size` before the pruning,
        training ends there, and the vocabulary may be smaller.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    rounds : Rounds, optional
        Receives each step. Requires that there is only one run.

    Returns
    -------
    dict of int to list of (bytes, float)
        The final pieces and their scores for each size of the vocabulary, by descending score, then
        by bytes.
    """
    required = frozenset(chr(character).encode() for character, _ in alphabet)
    models = {}
    passes = (1 + len(runs)) * runs.common.num_sub_iterations
    with runs.stage(context.report, "Hard EM", passes) as stage:
        hard_em = _HardEm(required, runs.common, context, stage, rounds)
        seeds = lattices.pieces
        lattices.rescore(Pieces(priced(seeds)))
        estimated = hard_em.estimate(lattices, seeds)
        del seeds
        for number, run in enumerate(runs, 1):
            if len(runs) > 1:
                context.report.info(f"vocab_size {run.vocab_size}: Hard EM")
            pieces, new_ids = hard_em.prune(estimated, run.final_size)
            is_copy = number < len(runs)
            if not is_copy:
                del estimated
            if new_ids is not None:
                renumbering = Renumbering(Pieces(priced(pieces)), new_ids)
                own = renumbering.apply(lattices, context.workers, copy=is_copy)
                del renumbering, new_ids
                pieces = hard_em.estimate(own, pieces)
                del own
            final = finalize(pieces, alphabet, run.final_size)
            by_price = sorted(priced(final), key=lambda item: (-item[1], item[0]))
            if rounds is not None:
                rounds.final(pieces, by_price, required)
            models[run.vocab_size] = by_price
    return models


def priced(pieces: Iterable[tuple[bytes, float]]) -> Sequence[tuple[bytes, float]]:
    """Convert log probabilities to the scores of the model, which are negative costs.

    A log probability is minus infinity if a seed file of an old release has a count of 0.
    """
    return [(piece, -PRICE - GRID * round(min(-score / GRID, STEPS))) for piece, score in pieces]


class _HardEm(NamedTuple):
    """The data that all rounds of hard EM share."""

    required: frozenset[bytes]
    options: UnigramOptions
    context: Context
    stage: Stage
    rounds: Rounds | None

    def prune(self, pieces: Pieces, size: int) -> tuple[Pieces, NewIds | None]:
        """Return the pieces that stay, and the new ids of the old pieces.

        The new ids are None if no piece has to be dropped.
        """
        if self.options.drop_unused and len(pieces) <= size:
            return pieces, None
        self.context.report.step("Pruning")
        left, new_ids = prune_flat(pieces, size, keep_first=self.required)
        if self.rounds is not None:
            self.rounds.prune_flat(pieces, left, new_ids, self.required)
        return left, new_ids

    def estimate(self, lattices: Lattices, pieces: Pieces) -> Pieces:
        """Run one round of hard EM. Return the pieces with maximum likelihood log probabilities.

        `lattices` must contain the same pieces as `pieces`, with the scores that `priced` computes.
        Afterwards, it contains the returned pieces, again with the scores that `priced` computes.
        """
        options, rounds = self.options, self.rounds
        if rounds is not None:
            rounds.begin()
        for _ in range(options.num_sub_iterations):
            self.context.report.step("Counting best paths")
            counts = best_path_counts(lattices, options.partial_sums, self.context.workers)
            before = pieces
            pieces, new_ids = self._m_step(before, counts)
            if rounds is not None:
                least = ONE_USE if options.drop_unused else None
                rounds.em(before, counts, pieces, new_ids, least)
            del before  # Frees memory for the renumbering, which needs more than any other step.
            lattices.renumber(Pieces(priced(pieces)), new_ids, self.context.workers)
            self.stage.advance()
            tokens = math.fsum(counts[piece] for piece in range(len(counts)))
            self.context.report.info(f"Hard EM size={len(pieces)} num_tokens={tokens:.0f}")
        return pieces

    def _m_step(self, pieces: Pieces, counts: ExpectedCounts) -> tuple[Pieces, NewIds]:
        """Return the new pieces, without unused pieces if the options drop them."""
        if not self.options.drop_unused:
            return m_step(pieces, counts, self.context.workers, ml=True, keep=True)
        return m_step(
            pieces, counts, self.context.workers, threshold=ONE_USE, ml=True, required=self.required
        )
