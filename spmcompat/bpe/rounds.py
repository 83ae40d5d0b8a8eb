"""Reports the merges of BPE, for research."""

from __future__ import annotations

from collections.abc import Sequence

from spmcompat.runtime.rounds import FINAL_CUT, OnRound, PieceRow, Step


def report_merges(
    on_round: OnRound,
    merges: Sequence[tuple[bytes, int, int]],
    alphabet: Sequence[tuple[int, int]],
    final: Sequence[tuple[bytes, float]],
) -> None:
    """Report all merges in their order, then all characters.

    Parameters
    ----------
    on_round : callable
        Takes a `Step`.
    merges : sequence of (bytes, int, int)
        The merges, as `find_merges` returns them.
    alphabet : sequence of (int, int)
        Characters (code points) with their counts.
    final : sequence of (bytes, float)
        The pieces that were chosen, and their scores.
    """

    def make_rows() -> list[PieceRow]:
        scores = dict(final)
        rows = []
        for utf8, count, size in merges:
            piece = utf8.decode()
            rows.append(_row(piece, count, scores.get(utf8), piece[:size], piece[size:]))
        for character, count in alphabet:
            rows.append(_row(chr(character), count, scores.get(chr(character).encode())))
        return rows

    size = len(merges) + len(alphabet)
    on_round(Step(1, "merges", size, len(final), _rows=make_rows))


def _row(
    piece: str, count: int, score: float | None, left: str | None = None, right: str | None = None
) -> PieceRow:
    kept = score is not None
    reason = "" if kept else FINAL_CUT
    return PieceRow(piece, kept, reason, count=count, new_score=score, left=left, right=right)
