"""Which pieces of a BPE model are merged from which, and the order in which they can be dropped."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spmcompat.tools.edit.reach import Merges
from spmcompat.tools.edit.vocabulary import NORMAL, UNUSED, Piece


def parts_of_pieces(pieces: Sequence[Piece]) -> dict[str, tuple[str, str]]:
    """Return the two parts of each piece of several characters that merging reaches.

    Whatever stands around a piece in a text, it is merged from these parts: a merge across its ends
    would have kept it from being formed.
    """
    merges = Merges(pieces)
    found = {
        piece.text: merges.parts(piece.text)
        for piece in pieces
        if piece.type in (NORMAL, UNUSED) and len(piece.text) > 1
    }
    return {text: parts for text, parts in found.items() if parts is not None}


class Leaves(NamedTuple):
    """The pieces of a BPE model from which no other piece is merged, as they can be dropped.

    Attributes
    ----------
    droppable : mapping of str to (bool, float)
        The pieces that may be dropped: whether each is in use, and its score.
    parts : mapping of str to (str, str)
        The parts of each piece that stays as long as the pieces merged from it.
    """

    droppable: Mapping[str, tuple[bool, float]]
    parts: Mapping[str, tuple[str, str]]

    def least_used_first(self, counts: Mapping[str, int]) -> Iterator[str]:
        """Yield pieces in the order in which they fall.

        Of all leaves, pieces that are not in use fall first, then the one with the lowest count,
        and of equals the one with the lowest score. The count of a piece that falls goes to its two
        parts, which stand in its place then. A part may become a leaf in this way.

        Parameters
        ----------
        counts : mapping of str to int
            How often each piece stands in the encoded text.
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
            if key[1] != uses[piece]:  # It got the uses of a piece that fell.
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
