"""Suggestions for names that are misspelled."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a sentence that suggests the closest known names, or "" if there is no suggestion.

    If no known name is close, but exactly one begins with the given name, that one is suggested.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The names that exist.
    prefix : str
        What to write before each suggested name, such as ``--``.
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=3, cutoff=0.65)
    if close:
        ratios = [SequenceMatcher(None, one, name).ratio() for one in close]
        close = [one for one, ratio in zip(close, ratios, strict=True) if ratio > ratios[0] - 0.1]
    elif len(longer := [one for one in names if one.startswith(name)]) == 1:
        close = longer
    return f" Did you mean {' or '.join(prefix + one for one in close)}?" if close else ""
