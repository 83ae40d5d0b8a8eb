"""The parts that a BPE model merges into its pieces, and the order in which pieces are dropped."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spmcompat.model.encoding import BpeEncoder
from spmcompat.model.pieces import NORMAL, UNUSED, Piece


def parts_of_pieces(pieces: Sequence[Piece]) -> dict[str, tuple[str, str]]:
    """Return the two parts of each piece of several characters that merging can reach.

    The surrounding text does not change these parts: a merge across the ends of a piece would
    prevent the piece.
    """
    encoder = BpeEncoder(pieces)
    found = {
        piece.text: encoder.parts(piece.text)
        for piece in pieces
        if piece.type in (NORMAL, UNUSED) and len(piece.text) > 1
    }
    return {text: parts for text, parts in found.items() if parts is not None}


class Leaves(NamedTuple):
    """Orders the leaves of a BPE model for dropping. No other piece is merged from a leaf.

    Attributes
    ----------
    droppable : mapping of str to (bool, float)
        For each piece that may be dropped: whether it is in use, and its score.
    parts : mapping of str to (str, str)
        The two parts of each piece. They cannot be dropped before the piece.
    """

    droppable: Mapping[str, tuple[bool, float]]
    parts: Mapping[str, tuple[str, str]]

    def least_used_first(self, counts: Mapping[str, int]) -> Iterator[str]:
        """Yield pieces in the order in which to drop them.

        Unused leaves come first, then the leaf with the lowest count. The lowest score breaks ties.
        The count of a dropped piece is added to its two parts, which replace it in the text. A part
        may then become a leaf.

        Parameters
        ----------
        counts : mapping of str to int
            How often each piece occurs in the encoded text.
        """
        uses = Counter(counts)
        dependents = Counter(part for parts in self.parts.values() for part in parts)
        queue = [self._key(piece, uses[piece]) for piece in self.droppable if not dependents[piece]]
        heapq.heapify(queue)
        fallen = set()
        while queue:
            key = heapq.heappop(queue)
            piece = key[-1]
            if piece in fallen:
                continue
            if key[1] != uses[piece]:  # Its count grew when another piece was dropped.
                heapq.heappush(queue, self._key(piece, uses[piece]))
                continue
            yield piece
            fallen.add(piece)
            for part in self.parts.get(piece, ()):
                uses[part] += uses[piece]
                dependents[part] -= 1
                if not dependents[part] and part in self.droppable:
                    heapq.heappush(queue, self._key(part, uses[part]))

    def _key(self, piece: str, uses: int) -> tuple[bool, int, float, str]:
        in_use, score = self.droppable[piece]
        return in_use, uses, score, piece
