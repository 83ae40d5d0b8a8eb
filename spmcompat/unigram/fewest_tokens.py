"""Training for the fewest tokens: hard EM from the seeds, and one pruning by use (MinGram).

A text is segmented into as few pieces as possible. If several segmentations have as few pieces, the
most probable one wins. If several are equally probable, the one with the longest last piece wins;
if these are equal too, the piece before the last decides, and so on.

The scores are such that every encoder that looks for the highest sum does this. A piece costs
`PRICE` plus its improbability in steps of `GRID`. Up to 63 pieces, fewer pieces always cost less,
since 63 * 63 steps are less than the price of one more piece. This holds for every slice of text
whose ends no piece may cross.

All sums are multiples of the step. Float32 holds these exactly up to 2**22 steps, which 4,096
pieces may reach. sentencepiece from 0.2.2 on subtracts sums above 100,000, so it is exact for lines
of any length.

Source: "MinGram: A Minimalist Unigram Tokenizer with High Compression and Competitive Morphological
Alignment", arXiv 2606.27019, whose own scores float32 does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.e_step import best_path_counts
from spmcompat.unigram.em.m_step import m_step
from spmcompat.unigram.final import finalize
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import prune_flat

GRID = 0.25
"""The step of all scores, in nats."""

STEPS = 63
"""Cap of the improbability, in grid steps."""

PRICE = 1008.0
"""The price of a piece in nats: 4,032 steps, or up to 4,095 with its improbability."""


def train_fewest_tokens(
    lattices: Lattices,
    alphabet: list[tuple[int, int]],
    size: int,
    steps: int,
    lanes: int,
    workers: Workers,
    report: Report,
) -> list[tuple[bytes, float]]:
    """Estimate, prune once to the final size, and estimate again.

    Parameters
    ----------
    lattices : Lattices
        The lattices of the corpus over the seeds.
    alphabet : list of (int, int)
        Required characters with their counts, by count descending; they always stay.
    size : int
        The number of final pieces.
    steps : int
        EM steps before the pruning, and again after it.
    lanes : int
        Number of reduction lanes; it fixes the order of the float sums.
    workers : Workers
        Real threads; the result is the same for any number of them.
    report : Report
        Receives progress and log lines.

    Returns
    -------
    list of (bytes, float)
        The final pieces and their scores, by score descending, bytes ascending.
    """
    required = frozenset(chr(character).encode() for character, _ in alphabet)
    lattices.rescore(Pieces(priced(lattices.pieces)))
    with report.stage("Hard EM", 2 * steps, "passes") as stage:
        pieces = _estimate(lattices, steps, lanes, workers, report, stage)
        report.step("Pruning")
        pieces, new_ids = prune_flat(pieces, size, keep_first=required)
        lattices.renumber(Pieces(priced(pieces)), new_ids, workers)
        pieces = _estimate(lattices, steps, lanes, workers, report, stage)
    final = priced(finalize(pieces, alphabet, size))
    return sorted(final, key=lambda item: (-item[1], item[0]))


def priced(pieces: Iterable[tuple[bytes, float]]) -> Sequence[tuple[bytes, float]]:
    """Turn log probabilities into the scores of the model."""
    return [(piece, -PRICE - GRID * min(round(-score / GRID), STEPS)) for piece, score in pieces]


def _estimate(
    lattices: Lattices, steps: int, lanes: int, workers: Workers, report: Report, stage: Stage
) -> Pieces:
    """Return all pieces with maximum likelihood log probabilities."""
    for _ in range(steps):
        report.step("Counting best paths")
        counts = best_path_counts(lattices, lanes, workers)
        pieces, _ = m_step(lattices.pieces, counts, workers, ml=True, keep=True)
        lattices.rescore(Pieces(priced(pieces)))
        stage.advance()
        tokens = math.fsum(counts[piece] for piece in range(len(counts)))
        report.info(f"Hard EM size={len(pieces)} num_tokens={tokens:.0f}")
    return pieces
