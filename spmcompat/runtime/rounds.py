"""What a trainer reports about each of its steps, for research: `Step` and `PieceRow`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias


class PieceRow(NamedTuple):
    """The effect of one step on one piece.

    Attributes
    ----------
    piece : str
        The text, with U+2581 for spaces.
    kept : bool
        Whether the step kept the piece.
    reason : str
        Why the piece was dropped, or why it was kept although its count or score is low: one of the
        texts below. Empty for a piece that was kept without a special reason.
    score : float or None
        The score before the step; None if the piece had no score.
    count : float or None
        The count that the step determined: the expected count in an EM step, the count in the best
        segmentations before pruning by likelihood, the count of a seed, or the count of the pair
        that a merge joined.
    loss : float or None
        The loss that pruning computed; infinite if the text cannot be segmented without the piece;
        None if pruning did not compute it.
    new_score : float or None
        The score after the step; None if the piece was dropped.
    left, right : str or None
        The two pieces that a merge of BPE joined.
    """

    piece: str
    kept: bool
    reason: str = ""
    score: float | None = None
    count: float | None = None  # type: ignore[assignment]  # hides tuple.count
    loss: float | None = None
    new_score: float | None = None
    left: str | None = None
    right: str | None = None


# The reasons that a row may have. A piece was dropped because:
LOW_COUNT = "low count"  # its count is below the threshold of the step
UNUSED = "unused"  # no best segmentation of the text uses it
SPLIT = "split"  # the best segmentation of its own text has several pieces
LOW_LOSS = "low loss"  # the losses of enough other pieces are larger
LOW_SCORE = "low score"  # the scores of enough other pieces are higher
UNREACHABLE = "unreachable"  # another segmentation of its own text has a higher score
FINAL_CUT = "final cut"  # the vocabulary is full
# A piece was kept because:
NO_ALTERNATIVE = "no alternative"  # without it, some text has no segmentation
REQUIRED = "required"  # it is a required character, although its count or score is too low
# A required character that was dropped before was added with the lowest score:
ADDED_BACK = "added back"


@dataclass(frozen=True)
class Step:
    """One step of a round of training.

    Attributes
    ----------
    round : int
        0 for the seeds. Every later round has several EM steps and one pruning step. The final
        steps have the number of the last round.
    step : str
        ``seeds``, ``em``, ``prune``, ``unreachable``, ``final`` or ``renormalize``; for BPE
        ``merges``.
    size_before, size_after : int
        The number of pieces before and after the step.
    objective : float or None
        The negative log likelihood per pretoken in an EM step, as the log shows it.
    tokens : float or None
        The expected number of tokens in the text. If the step used the best segmentations, the
        number of tokens in these.
    threshold : float or None
        The smallest count that a piece must have to be kept by the step.
    """

    round: int
    step: str
    size_before: int
    size_after: int
    objective: float | None = None
    tokens: float | None = None
    threshold: float | None = None
    _rows: Callable[[], list[PieceRow]] = field(default=list, repr=False, compare=False)

    @cached_property
    def pieces(self) -> list[PieceRow]:
        """All pieces before the step, in order, then the pieces that the step added.

        The list is created when it is first used. Until then, this object keeps the data of the
        step in memory.
        """
        return self._rows()

    @property
    def dropped(self) -> list[PieceRow]:
        """The pieces that the step dropped."""
        return [row for row in self.pieces if not row.kept]


OnRound: TypeAlias = Callable[[Step], object]
"""A function that is called after each step."""
