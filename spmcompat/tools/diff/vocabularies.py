"""Counts the pieces that two models share if space marks are ignored."""

from __future__ import annotations

from typing import NamedTuple

from spmcompat.model.reading import parse_unchecked
from spmcompat.tools.diff.contents import pieces_by_text
from spmcompat.tools.evaluate.vocabularies import (
    Affixes,
    SharedTexts,
    VocabularyCounts,
    count_vocabulary,
    share_texts,
    texts_of_pieces,
)


class Vocabularies(NamedTuple):
    """The counts of two vocabularies, and the texts of pieces that they share."""

    left: VocabularyCounts
    right: VocabularyCounts
    texts: SharedTexts

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the counts as rows of a table."""
        right = self.right.known()
        return [
            *(
                (k.replace("_", " "), f"{v:,}", f"{right[k]:,}")
                for k, v in self.left.known().items()
            ),
            ("texts in both models", f"{self.texts.shared:,}", f"{self.texts.shared:,}"),
            ("other texts", f"{self.texts.only_first:,}", f"{self.texts.only_second:,}"),
        ]


def compare_vocabularies(left: bytes, right: bytes, affixes: Affixes | None) -> Vocabularies:
    """Compare the normal pieces of two models without space marks.

    Parameters
    ----------
    left, right : bytes
        The contents of two ``.model`` files.
    affixes : Affixes, optional
        The affixes to count.

    Raises
    ------
    BadValueError
        If one of them is not a model.
    """
    a, b = _normal_pieces(left), _normal_pieces(right)
    a_texts, b_texts = texts_of_pieces(a), texts_of_pieces(b)
    return Vocabularies(
        count_vocabulary(a, a_texts, affixes),
        count_vocabulary(b, b_texts, affixes),
        share_texts(a_texts, b_texts),
    )


def _normal_pieces(content: bytes) -> set[str]:
    pieces = pieces_by_text(parse_unchecked(content)).values()
    return {piece.piece for piece in pieces if piece.type == "NORMAL"}
