"""Suggestions for names that are misspelled."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a sentence that suggests the closest known names; empty if none is close.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The names that exist.
    prefix : str
        What to write before each suggested name, such as ``--``.
    """
    close = get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(prefix + one for one in close)}?" if close else ""
