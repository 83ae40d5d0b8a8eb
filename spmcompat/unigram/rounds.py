"""Reports the effect of each step of a Unigram training on each piece, for research."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from spmcompat.runtime.rounding import to_float32
from spmcompat.runtime.rounds import (
    ADDED_BACK,
    FINAL_CUT,
    LOW_COUNT,
    LOW_LOSS,
    LOW_SCORE,
    NO_ALTERNATIVE,
    REQUIRED,
    SPLIT,
    UNREACHABLE,
    UNUSED,
    OnRound,
    PieceRow,
    Step,
)
from spmcompat.unigram.em.steps import ExpectedCounts
from spmcompat.unigram.lattice.lattices import NewIds
from spmcompat.unigram.pieces import Pieces

Scored = Sequence[tuple[bytes, float]]


class Rounds:
    """Reports each step of the training to a function. Each method reports one kind of step.

    Parameters
    ----------
    on_round : callable
        Takes a `Step`.
    """

    def __init__(self, on_round: OnRound) -> None:
        self._on_round = on_round
        self._round = 0

    def begin(self) -> None:
        """Begin the next round."""
        self._round += 1

    def seeds(self, seeds: Pieces, counts: list[int]) -> None:
        """Report the seeds and how often each occurs."""

        def rows() -> list[PieceRow]:
            counted = zip(seeds, counts, strict=True)
            return [
                PieceRow(_text(piece), True, count=count, new_score=score)
                for (piece, score), count in counted
            ]

        size = len(seeds)
        self._on_round(Step(self._round, "seeds", size, size, _rows=rows))

    def em(
        self,
        before: Pieces,
        counts: ExpectedCounts,
        after: Pieces,
        new_ids: NewIds,
        threshold: float | None,
        objective: float | None = None,
    ) -> None:
        """Report an E-step and an M-step. `threshold` is None if the M-step kept all pieces."""

        def rows() -> list[PieceRow]:
            scores = [score for _, score in after]
            found = []
            for old_id, (piece, score) in enumerate(before):
                count, new_id = counts[old_id], new_ids[old_id]
                is_low = threshold is not None and count < threshold
                kept = new_id is not None
                reason = (REQUIRED if kept else LOW_COUNT) if is_low else ""
                new_score = None if new_id is None else scores[new_id]
                found.append(PieceRow(_text(piece), kept, reason, score, count, None, new_score))
            return found

        tokens = _total(counts)
        sizes = len(before), len(after)
        self._on_round(Step(self._round, "em", *sizes, objective, tokens, threshold, rows))

    def prune_by_loss(
        self,
        before: Pieces,
        losses: Sequence[float | None],
        counts: ExpectedCounts | None,
        after: Pieces,
        new_ids: NewIds,
    ) -> None:
        """Report which pieces a pruning by loss dropped.

        A loss is None if no best segmentation uses the piece, or if the piece is not the best
        segmentation of its own text. `counts` distinguishes these two cases. It is None for exact
        pruning, where only the first case occurs.
        """

        def rows() -> list[PieceRow]:
            found = []
            for old_id, (piece, score) in enumerate(before):
                loss, kept = losses[old_id], new_ids[old_id] is not None
                count = None if counts is None else counts[old_id]
                if kept:
                    reason = NO_ALTERNATIVE if loss == math.inf else ""
                elif loss is None:
                    reason = SPLIT if count else UNUSED
                else:
                    reason = LOW_LOSS
                new_score = score if kept else None
                found.append(PieceRow(_text(piece), kept, reason, score, count, loss, new_score))
            return found

        tokens = None if counts is None else _total(counts)
        sizes = len(before), len(after)
        self._on_round(Step(self._round, "prune", *sizes, tokens=tokens, _rows=rows))

    def prune_flat(
        self, before: Pieces, after: Pieces, new_ids: NewIds, required: frozenset[bytes]
    ) -> None:
        """Report which pieces a pruning by score dropped."""

        def rows() -> list[PieceRow]:
            scores = [
                score if new_ids[old_id] is not None else None
                for old_id, (_, score) in enumerate(before)
            ]
            return _rows_by_score(before, scores, required, LOW_SCORE)

        self._on_round(Step(self._round, "prune", len(before), len(after), _rows=rows))

    def unreachable(self, before: Pieces, after: Pieces) -> None:
        """Report which pieces were dropped because their text has a better segmentation."""

        def rows() -> list[PieceRow]:
            left = {piece for piece, _ in after}
            return [
                PieceRow(_text(piece), True, "", score, new_score=score)
                if piece in left
                else PieceRow(_text(piece), False, UNREACHABLE, score)
                for piece, score in before
            ]

        self._on_round(Step(self._round, "unreachable", len(before), len(after), _rows=rows))

    def final(self, before: Pieces, final: Scored, required: Iterable[bytes]) -> None:
        """Report the choice of the final pieces."""

        def rows() -> list[PieceRow]:
            left = dict(final)
            scores = [left.get(piece) for piece, _ in before]
            known = {piece for piece, _ in before}
            added = [
                PieceRow(_text(piece), True, ADDED_BACK, new_score=score)
                for piece, score in final
                if piece not in known
            ]
            return _rows_by_score(before, scores, frozenset(required), FINAL_CUT) + added

        self._on_round(Step(self._round, "final", len(before), len(final), _rows=rows))

    def rescored(self, step: str, before: Scored, after: Scored) -> None:
        """Report a step that only changes scores. New scores are float32, as in the model."""

        def rows() -> list[PieceRow]:
            scores = {piece: to_float32(score) for piece, score in after}
            return [
                PieceRow(_text(piece), True, "", score, new_score=scores[piece])
                for piece, score in before
            ]

        self._on_round(Step(self._round, step, len(before), len(after), _rows=rows))


def _rows_by_score(
    before: Pieces, scores: Sequence[float | None], required: frozenset[bytes], reason: str
) -> list[PieceRow]:
    """Return the rows that describe a pruning by score. This pruning keeps all required pieces.

    `scores` contains the new score of each piece, or None for a dropped piece.
    """
    cut = [score for (_, score), new in zip(before, scores, strict=True) if new is None]
    highest_cut = max(cut, default=-math.inf)
    rows = []
    for (piece, score), new in zip(before, scores, strict=True):
        if new is None:
            rows.append(PieceRow(_text(piece), False, reason, score))
            continue
        saved = piece in required and score < highest_cut
        rows.append(PieceRow(_text(piece), True, REQUIRED if saved else "", score, new_score=new))
    return rows


def _total(counts: ExpectedCounts) -> float:
    return math.fsum(counts[piece] for piece in range(len(counts)))


def _text(piece: bytes) -> str:
    """Return a piece as text.

    A piece from an invalid seed file may not be valid UTF-8. Training with such a file fails at a
    later step.
    """
    return piece.decode(errors="replace")
