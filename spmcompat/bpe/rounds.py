"""Tells a caller the merges of BPE."""

from __future__ import annotations

from collections.abc import Sequence

from spmcompat.bpe.merges import Merges
from spmcompat.runtime.rounds import FINAL_CUT, OnRound, PieceRow, Round


def tell_merges(
    on_round: OnRound,
    merges: Merges,
    alphabet: Sequence[tuple[int, int]],
    final: Sequence[tuple[bytes, float]],
) -> None:
    """Tell all merges in their order, then all characters.

    Parameters
    ----------
    on_round : callable
        Takes a `Round`.
    merges : Merges
        The merges. The count of each is that of its pair when it was merged.
    alphabet : sequence of (int, int)
        Characters (code points) with their counts.
    final : sequence of (bytes, float)
        The pieces that were chosen, and their scores.
    """

    def rows() -> list[PieceRow]:
        scores = dict(final)
        counted = [*merges, *((chr(character).encode(), count) for character, count in alphabet)]
        return [
            PieceRow(piece.decode(), True, count=count, new_score=scores[piece])
            if piece in scores
            else PieceRow(piece.decode(), False, FINAL_CUT, count=count)
            for piece, count in counted
        ]

    size = len(merges) + len(alphabet)
    on_round(Round(1, "merges", size, len(final), _rows=rows))
