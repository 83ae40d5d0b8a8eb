"""The texts of tokens, with every character visible."""

from __future__ import annotations

from unicodedata import category

from spmcompat.engine import SPACE_MARK
from spmcompat.errors import printable

_JOINERS = "\u200c\u200d"
_CIRCLE = "\u25cc"  # stands for the character that a combining mark belongs to


def visible(text: str) -> str:
    """Return the text of a token so that every character can be seen.

    Spaces become marks, and characters that are not printable become escapes, except joiners inside
    the token. A combining mark at the beginning gets a circle, so that it is not drawn on the token
    before.
    """
    text = text.replace(" ", SPACE_MARK)
    begin, end = len(text) - len(text.lstrip(_JOINERS)), len(text.rstrip(_JOINERS))
    circle = _CIRCLE if category(text[:1] or " ").startswith("M") else ""
    return circle + "".join(
        c if c in _JOINERS and begin < i < end else printable(c) for i, c in enumerate(text)
    )
