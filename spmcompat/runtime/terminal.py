"""The width of the terminal, and messages that fit it."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would take long
if TYPE_CHECKING:
    from typing import TextIO

_UNKNOWN = (80, 24)
_LEAST = 40


def columns() -> int:
    """Return the width of the terminal: ``COLUMNS`` if it is set, and 80 if it is not known."""
    from shutil import get_terminal_size

    return max(get_terminal_size(_UNKNOWN).columns, _LEAST)


def fitted(message: str, stream: TextIO) -> str:
    """Return a message in lines that fit the terminal; in one line if it goes elsewhere."""
    if not stream.isatty() or len(message) < columns():
        return message
    import textwrap

    return textwrap.fill(
        message,
        columns() - 1,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def has_colour(stream: TextIO) -> bool:
    """Return whether to colour what goes to a stream.

    ``NO_COLOR`` and ``FORCE_COLOR`` decide if they are set. Otherwise, a terminal gets colours.
    """
    import os

    if os.environ.get("NO_COLOR"):
        return False
    if forced := os.environ.get("FORCE_COLOR"):
        return forced != "0"
    return stream.isatty() and os.environ.get("TERM") != "dumb"
