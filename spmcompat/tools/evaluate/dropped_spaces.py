"""Drops the tokens that are only spaces, as Gow-Smith et al. (2022) do in models "without spaces".

In these models, each space is a separate token. Without these tokens, the spaces of the text cannot
be restored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.tokens import TokenKinds, words_by_marks

_Ints = npt.NDArray[np.int64]
_Lines = Sequence[npt.NDArray[np.int32]]


class DroppedSpaces:
    """Drops tokens that are only space marks, and counts the lost boundaries between words.

    Attributes
    ----------
    dropped : array of bool, one for each token of the vocabulary
        Whether the token is dropped.
    kinds : TokenKinds
        Properties of the tokens that are not dropped.
    """

    def __init__(self, kinds: TokenKinds) -> None:
        self._all_kinds = kinds
        self.dropped = kinds.blank
        self.kinds = TokenKinds._make(values[~self.dropped] for values in kinds)
        self._numbers = (np.cumsum(~self.dropped) - 1).astype(np.int32)

    def drop(self, lines: _Lines) -> _Lines:
        """Return each line's ids without the dropped tokens."""
        return [ids[~self.dropped[ids]] for ids in lines]

    def boundaries(self, lines: _Lines, kept: _Lines) -> tuple[_Ints, _Ints]:
        """Count the boundaries between words in each line.

        Return the number of those that all tokens show, and of those that the tokens `kept` by
        `drop` do not show.
        """
        words = words_by_marks(self._all_kinds, lines).words
        shown = words_by_marks(self._all_kinds, kept).words
        return words - (words > 0), words - shown

    def renumber(self, lines: _Lines) -> _Lines:
        """Convert the ids of kept tokens to ids in a vocabulary that lacks the dropped tokens."""
        return [self._numbers[ids] for ids in lines]
