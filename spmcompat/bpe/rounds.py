"""Tells a caller the merges of BPE."""

from __future__ import annotations

from collections.abc import Sequence

from spmcompat.bpe.merges import Merges
from spmcompat.runtime.rounds import FINAL_CUT, OnRound, PieceRow, Step


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
        Takes a `Step`.
    merges : Merges
        The merges. The count of each is that of its pair when it was merged.
    alphabet : sequence of (int, int)
        Characters (code points) with their counts.
    final : sequence of (bytes, float)
        The pieces that were chosen, and their scores.
    """

    def rows() -> list[PieceRow]:
        scores = dict(final)
        found = []
        for merge, (utf8, count) in enumerate(merges):
            piece, size = utf8.decode(), merges.left_length(merge)
            found.append(_row(piece, count, scores.get(utf8), piece[:size], piece[size:]))
        for character, count in alphabet:
            found.append(_row(chr(character), count, scores.get(chr(character).encode())))
        return found

    size = len(merges) + len(alphabet)
    on_round(Step(1, "merges", size, len(final), _rows=rows))


def _row(
    piece: str, count: int, score: float | None, left: str | None = None, right: str | None = None
) -> PieceRow:
    kept = score is not None
    reason = "" if kept else FINAL_CUT
    return PieceRow(piece, kept, reason, count=count, new_score=score, left=left, right=right)
