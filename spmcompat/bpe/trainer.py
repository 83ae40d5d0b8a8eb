"""The BPE trainer: merges, the most frequent pair first (Sennrich et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.bpe.merges import Merges
from spmcompat.bpe.selection import choose_pieces
from spmcompat.releases import DEFAULT, Release
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts

if TYPE_CHECKING:
    from spmcompat.runtime.rounds import OnRound

_STEP = 1000  # merges


class BpeOptions(NamedTuple):
    """The options of the trainer.

    Attributes
    ----------
    final_size : int
        The size of the vocabulary without its meta pieces.
    choose_characters : bool
        Whether characters compete with merges (``auto_character_coverage``). Otherwise all of them
        become pieces.
    release : Release
        The release to train as.
    """

    final_size: int = 7997
    choose_characters: bool = False
    release: Release = DEFAULT


def train(
    alphabet: Sequence[tuple[int, int]],
    segments: SegmentCounts,
    options: BpeOptions,
    workers: Workers,
    report: Report,
    on_round: OnRound | None = None,
) -> list[tuple[bytes, float]]:
    """Train a BPE model.

    Parameters
    ----------
    alphabet : sequence of (int, int)
        Characters (code points) with their counts, by count descending.
    segments : SegmentCounts
        The text, as distinct segments with counts.
    options : BpeOptions
        The options of the trainer.
    workers : Workers
        Real threads; they never change the result.
    report : Report
        Takes the log lines and the progress.
    on_round : callable, optional
        Is called with a `Round` when all merges are made.

    Returns
    -------
    list of (bytes, float)
        The final pieces: merges in their order, then characters. The score of a piece is its
        negated rank.

    Raises
    ------
    TrainingError
        If the text is too large.
    """
    characters = 0 if options.choose_characters else len(alphabet)
    merges = make_merges(
        segments, options.final_size - characters, workers, report, options.release.bpe_active_set
    )
    if options.choose_characters:
        pieces = choose_pieces(list(merges), alphabet, options.final_size)
        report.info(f"Chose {len(pieces)} pieces from {len(merges)} merges and all characters")
    else:
        pieces = [piece for piece, _ in merges] + [chr(c).encode() for c, _ in alphabet]
    final = [(piece, -float(rank)) for rank, piece in enumerate(pieces)]
    if on_round is not None:
        from spmcompat.bpe.rounds import tell_merges  # noqa: PLC0415

        tell_merges(on_round, merges, alphabet, final)
    return final


def make_merges(
    segments: SegmentCounts,
    wanted: int,
    workers: Workers,
    report: Report,
    active_set: bool = False,
) -> Merges:
    """Make `wanted` merges, or as many as the text has."""
    report.info(f"Done! preprocessed {len(segments)} distinct segments.")
    merges = workers.call(lambda: Merges(segments, wanted, active_set))
    with report.stage("Merging", wanted, "merges") as stage:
        while len(merges) < wanted:
            step = min(_STEP, wanted - len(merges))
            made = workers.call(partial(merges.make, step, workers.cancel))
            stage.advance(made)
            if made < step:
                report.warning("No valid symbol found: nothing is left to merge.")
                break
    return merges
