"""The two parts from which BPE merges each piece, and the order in which to drop pieces."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from spmcompat.model.encoding import BpeEncoder
from spmcompat.model.pieces import Piece, is_learned


def parts_of_pieces(pieces: Sequence[Piece]) -> dict[str, tuple[str, str]]:
    """Return the two parts of each piece that is merged from two parts.

    A piece has the same parts in every text. If some of its characters are merged with characters
    around them instead, the encoded text does not contain the piece there.
    """
    encoder = BpeEncoder(pieces)
    found = {
        piece.text: encoder.parts(piece.text)
        for piece in pieces
        if is_learned(piece) and len(piece.text) > 1
    }
    return {text: parts for text, parts in found.items() if parts is not None}


def least_used_first(
    droppable: Mapping[str, tuple[bool, float]],
    parts: Mapping[str, tuple[str, str]],
    counts: Mapping[str, int],
) -> Iterator[str]:
    """Yield the pieces of a BPE model in the order in which to drop them.

    A leaf is a piece from which no other piece is merged. Only leaves can be dropped. Leaves that
    are not in use come first, then the leaf with the lowest count. Of leaves with equal counts, the
    one with the lowest score comes first. When a piece is dropped, its two parts replace it in the
    text. So its count is added to the counts of both parts. A part may then become a leaf.

    Parameters
    ----------
    droppable : mapping of str to (bool, float)
        For each piece that may be dropped: whether it is in use, and its score.
    parts : mapping of str to (str, str)
        The two parts of each merged piece. A part cannot be dropped before the piece.
    counts : mapping of str to int
        How often each piece occurs in the encoded text.
    """
    uses = Counter(counts)
    dependents = Counter(part for both in parts.values() for part in both)

    def key(piece: str) -> tuple[bool, int, float, str]:
        in_use, score = droppable[piece]
        return in_use, uses[piece], score, piece

    queue = [key(piece) for piece in droppable if not dependents[piece]]
    heapq.heapify(queue)
    fallen = set()
    while queue:
        _, count, _, piece = heapq.heappop(queue)
        if piece in fallen:
            continue
        if count != uses[piece]:  # outdated: dropping another piece raised the count
            heapq.heappush(queue, key(piece))
            continue
        yield piece
        fallen.add(piece)
        for part in parts.get(piece, ()):
            uses[part] += uses[piece]
            dependents[part] -= 1
            if not dependents[part] and part in droppable:
                heapq.heappush(queue, key(part))
