"""The BPE trainer, which always merges the most frequent pair (Sennrich et al. 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.bpe.merges import find_merges
from spmcompat.bpe.selection import choose_pieces
from spmcompat.releases import DEFAULT, Release
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.segments.corpus import SegmentCounts


class BpeOptions(NamedTuple):
    """The options of the trainer.

    Attributes
    ----------
    final_sizes : sequence of int
        The size of each vocabulary without its meta pieces.
    choose_characters : bool
        Whether characters compete with merges (``auto_character_coverage``). Otherwise, all
        characters of the alphabet become pieces.
    release : Release
        The release to follow.
    """

    final_sizes: Sequence[int] = (7997,)
    choose_characters: bool = False
    release: Release = DEFAULT


def train(
    alphabet: Sequence[tuple[int, int]],
    segments: SegmentCounts,
    options: BpeOptions,
    context: Context,
) -> list[list[tuple[bytes, float]]]:
    """Train a BPE model for each size.

    A merge depends on the text and the earlier merges, never on the number of wanted merges. So a
    smaller model has the first merges of the largest model. This is also true for old releases:
    they choose merges from an active set of pairs, which is renewed after fixed numbers of merges.

    Parameters
    ----------
    alphabet : sequence of (int, int)
        Characters (code points) with their counts, by count descending.
    segments : SegmentCounts
        The text, as distinct segments with counts.
    options : BpeOptions
        The options of the trainer.
    context : Context
        The worker threads, whose number never changes the result, and the report. Its `on_round`
        is called once, after all merges.

    Returns
    -------
    list of list of (bytes, float)
        The final pieces for each size: merges in their order, then characters. The score of a piece
        is its negated rank.

    Raises
    ------
    TrainingError
        If the text is too large.
    """
    characters = 0 if options.choose_characters else len(alphabet)
    wanted = max(options.final_sizes) - characters
    active_set = options.release.bpe_active_set
    merges = make_merges(segments, wanted, context, active_set)
    models = [
        _model(merges, size - characters, alphabet, size, options, context.report)
        for size in options.final_sizes
    ]
    if context.on_round is not None:
        from spmcompat.bpe.rounds import report_merges  # noqa: PLC0415

        report_merges(context.on_round, merges, alphabet, models[0])
    return models


def _model(
    merges: Sequence[tuple[bytes, int, int]],
    wanted: int,
    alphabet: Sequence[tuple[int, int]],
    size: int,
    options: BpeOptions,
    report: Report,
) -> list[tuple[bytes, float]]:
    """Return the final pieces of a model with `size` pieces and at most `wanted` merges."""
    chosen = merges[: max(wanted, 0)]
    if options.choose_characters:
        pieces = choose_pieces(chosen, alphabet, size)
        report.info(f"Chose {len(pieces)} pieces from {len(chosen)} merges and all characters")
        return ranked(pieces)
    return ranked([piece for piece, *_ in chosen], alphabet)


def ranked(
    pieces: Sequence[bytes], alphabet: Sequence[tuple[int, int]] = ()
) -> list[tuple[bytes, float]]:
    """Return the pieces, then the characters, each with its score, which is the negated rank."""
    characters = [chr(c).encode() for c, _ in alphabet]
    return [(piece, -float(rank)) for rank, piece in enumerate([*pieces, *characters])]


def make_merges(
    segments: SegmentCounts,
    wanted: int,
    context: Context,
    active_set: bool = False,
    initial: Sequence[tuple[bytes, float]] | None = None,
) -> list[tuple[bytes, int, int]]:
    """Make `wanted` merges, or fewer if no pair is left. `find_merges` describes the result."""
    context.report.info(f"Done! preprocessed {len(segments)} distinct segments.")
    with context.report.stage("Merging", wanted, "merges") as stage:
        merges = find_merges(
            segments, wanted, context.workers, active_set=active_set, initial=initial, stage=stage
        )
    if len(merges) < wanted:
        context.report.warning("No valid symbol found: nothing is left to merge.")
    return_freed_memory()
    return merges
