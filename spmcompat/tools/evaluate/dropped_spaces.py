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


def without_spaces(kinds: TokenKinds, lines: _Lines) -> _Lines:
    """Return each line's ids without the tokens that are only space marks."""
    return [ids[~kinds.blank[ids]] for ids in lines]


def count_boundaries(kinds: TokenKinds, lines: _Lines, kept: _Lines) -> tuple[_Ints, _Ints]:
    """Count the boundaries between words in each line.

    Return the number of those that all tokens show, and of those that the tokens `kept` by
    `without_spaces` do not show.
    """
    words = words_by_marks(kinds, lines).words
    shown = words_by_marks(kinds, kept).words
    return words - (words > 0), words - shown
