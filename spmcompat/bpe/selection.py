"""The choice between merges and characters, where they compete (``auto_character_coverage``).

With byte fallback, the vocabulary need not contain all characters. The last merges are dropped if
characters save more tokens. A merge is kept only together with its characters.
"""

from __future__ import annotations

from collections.abc import Sequence


def choose_pieces(
    merges: Sequence[tuple[bytes, int, int]], characters: Sequence[tuple[int, int]], size: int
) -> list[bytes]:
    """Choose the first merges, all of their characters, and the best of the other characters.

    Parameters
    ----------
    merges : sequence of (bytes, int, int)
        Merges in their order, as `find_merges` returns them. The count of a merge is the number of
        tokens that it saves.
    characters : sequence of (int, int)
        Characters (code points) of the text with their counts.
    size : int
        The largest number of pieces.

    Returns
    -------
    list of bytes
        The chosen merges, then their characters by code point, then other characters by gain.

    Notes
    -----
    Chooses the same pieces as ``PrunePiecesWithGlobalSearch`` of sentencepiece 0.2.3. A character
    of n bytes that is a piece saves n - 1 tokens each time it occurs. So a character of one byte
    saves nothing, and is only taken if a merge needs it. If two choices save the same number of
    tokens, the choice with more merges wins.
    """
    ranked = _by_gain(characters)
    taken = _Taken([gain for _, gain in ranked])
    rank = {character: i for i, (character, _) in enumerate(ranked)}
    needed: set[str] = set()
    saved = 0
    best = (-1, 0, 0)
    for kept in range(len(merges) + 1):
        room = size - kept - len(needed)
        if room < 0:
            break
        taken.shrink(room)
        best = max(best, (saved + taken.gain, kept, len(taken)))
        if kept == len(merges):
            break
        piece, count, _ = merges[kept]
        saved += count
        for character in set(piece.decode()) - needed:
            needed.add(character)
            if character in rank:
                saved += ranked[rank[character]][1]
                taken.remove(rank[character])
    _, kept, others = best
    pieces = [piece for piece, *_ in merges[:kept]]
    closure = set().union(*(piece.decode() for piece in pieces))
    rest = [character for character, _ in ranked if character not in closure]
    return pieces + [character.encode() for character in [*sorted(closure), *rest[:others]]]


def _by_gain(characters: Sequence[tuple[int, int]]) -> list[tuple[str, int]]:
    """Return the characters that save tokens, with the number of saved tokens, best first."""
    gains = [(count * (len(chr(c).encode()) - 1), count, c) for c, count in characters]
    gains.sort(key=lambda item: (-item[0], -item[1], item[2]))
    return [(chr(c), gain) for gain, _, c in gains if gain > 0]


class _Taken:
    """A set of characters that no chosen merge needs: those that save the most tokens.

    At first, the set contains all characters. `shrink` removes the characters that save the fewest
    tokens; `remove` removes a character that a merge needs.

    Parameters
    ----------
    gains : list of int
        The number of tokens that each character saves, in descending order.
    """

    def __init__(self, gains: list[int]) -> None:
        self._gains = gains
        self._removed = [False] * len(gains)
        self._end = len(gains)
        self._size = len(gains)
        self.gain = sum(gains)

    def __len__(self) -> int:
        return self._size

    def remove(self, rank: int) -> None:
        """Remove a character, because a merge needs it."""
        self._removed[rank] = True
        if rank < self._end:
            self._size -= 1
            self.gain -= self._gains[rank]

    def shrink(self, size: int) -> None:
        """Keep the best `size` characters."""
        while self._size > size:
            self._end -= 1
            if not self._removed[self._end]:
                self._size -= 1
                self.gain -= self._gains[self._end]
