"""Expands the paths, patterns and addresses that the user gives as input."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from spmcompat.errors import MissingFileError
from spmcompat.text import remote
from spmcompat.text.formats import AUTO, TEXT
from spmcompat.text.forms import COMPRESSIONS, format_of

STANDARD_INPUT = ""
"""The path of standard input, as in ``sentencepiece``."""

# The largest number of files that are examined to find the usual suffix in a folder.
_MOST_FILES = 10_000

_SENTENCE_ENDS = (".", "!", "?", "\u3002", "\uff01", "\uff1f", "\n")


def expand(inputs: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of the input files, in order.

    A path that exists stays as it is. Otherwise, ``-`` means standard input, and a path with ``*``,
    ``?`` or ``[`` is a pattern, which is replaced by the sorted paths that match it. In an address,
    only ``*`` is a pattern.

    Raises
    ------
    MissingFileError
        If no file matches a pattern.
    """
    given = tuple(inputs)
    found: list[str] = []
    for path in given:
        found += _expanded(path, given)
    return tuple(found)


def pattern_of_folder(folder: str) -> str:
    """Return a pattern for those files of a folder that the user probably means.

    Returns "" if there are no files. Subfolders are only searched if no file is directly in the
    folder.
    """
    import glob

    for below in ("", "**"):
        place = os.path.join(folder, below)
        paths = glob.iglob(os.path.join(glob.escape(folder), below, "*"), recursive=True)
        files = islice(filter(os.path.isfile, paths), _MOST_FILES)
        suffixes = Counter(_suffix_of(path) for path in files)
        if suffixes:
            found = max(sorted(suffixes), key=lambda one: (_is_usual(one), suffixes[one]))
            return os.path.join(place, f"*{found}")
    return ""


def hint_about_texts(inputs: Iterable[str]) -> str:
    """Return a sentence for a user who gave texts instead of paths, or "" for likely paths."""
    return " In Python, give texts as sentence_iterator." if any(map(_is_text, inputs)) else ""


def _is_text(path: str) -> bool:
    """Return whether a path is probably a text: it has spaces, or ends like a sentence."""
    if os.path.splitext(path)[1][1:].isalnum():
        return False
    return path.endswith(_SENTENCE_ENDS) or (" " in path and not os.path.dirname(path))


def _suffix_of(path: str) -> str:
    """Return the suffix of a path, such as ``.txt``, or ``.txt.gz`` if the file is compressed."""
    base, suffix = os.path.splitext(os.path.basename(path))
    return os.path.splitext(base)[1] + suffix if suffix.lower() in COMPRESSIONS else suffix


def _is_usual(suffix: str) -> bool:
    """Return whether files with this suffix usually contain text to train on."""
    return ".txt" in suffix or format_of(f"a{suffix}", AUTO, True) != TEXT


def _expanded(path: str, inputs: tuple[str, ...]) -> list[str]:
    is_pattern = any(mark in path for mark in "*?[")
    if path != "-" and not is_pattern:
        return [path]
    if "\0" in path or os.path.lexists(path):
        return [path]
    if path == "-":
        return [STANDARD_INPUT]
    if remote.is_address(path):
        if "*" not in path:
            return [path]
        found = remote.matches(path)
    else:
        import glob

        found = sorted(one for one in glob.glob(path, recursive=True) if not os.path.isdir(one))
    if not found:
        raise MissingFileError(
            f'"{path}": no file matches this pattern. Check the pattern given for input.'
            f"{hint_about_texts(inputs)}"
        )
    return found
