"""Drops the tokens that are only spaces, as in the models "without spaces" of a paper.

In these models (Gow-Smith et al. 2022), each space is a separate token. The text cannot be restored
from the tokens that are not dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.tokens import TokenKinds, ratio, words_by_marks

_Lines = Sequence[npt.NDArray[np.int32]]


class DroppedSpaces:
    """Drops tokens that are only space marks, and counts the word boundaries that this loses.

    Attributes
    ----------
    dropped : array of bool, one for each token of the vocabulary
        Whether the token is dropped.
    kinds : TokenKinds
        Properties of the other tokens.
    """

    def __init__(self, kinds: TokenKinds) -> None:
        self._all_kinds = kinds
        self.dropped = kinds.blank
        self.kinds = TokenKinds._make(values[~self.dropped] for values in kinds)
        self._numbers = (np.cumsum(~self.dropped) - 1).astype(np.int32)
        self._boundaries = 0
        self._lost = 0

    def without(self, lines: _Lines) -> _Lines:
        """Return the ids of each line without dropped tokens. Boundaries are not counted."""
        return [ids[~self.dropped[ids]] for ids in lines]

    def drop(self, lines: _Lines) -> _Lines:
        """Return the ids of each line without dropped tokens, and count the boundaries."""
        kept = self.without(lines)
        words = words_by_marks(self._all_kinds, lines).words
        shown = words_by_marks(self._all_kinds, kept).words
        self._boundaries += int((words - (words > 0)).sum())
        self._lost += int((words - shown).sum())
        return kept

    def renumber(self, lines: _Lines) -> _Lines:
        """Convert ids to those of a vocabulary without the dropped tokens."""
        return [self._numbers[ids] for ids in lines]

    @property
    def lost_boundaries(self) -> float:
        """The share of the boundaries between words that is lost with the dropped tokens.

        It is NaN if the tokens show no boundary.
        """
        return ratio(self._lost, self._boundaries)
