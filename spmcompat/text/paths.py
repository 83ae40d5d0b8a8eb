"""Expands the paths, patterns and addresses that the user gives as input."""

from __future__ import annotations

import os
from collections.abc import Iterable

from spmcompat.errors import MissingFileError
from spmcompat.text import remote

STANDARD_INPUT = ""
"""The path of standard input, as in ``sentencepiece``."""


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
    found: list[str] = []
    for path in inputs:
        found += _expanded(path)
    return tuple(found)


def _expanded(path: str) -> list[str]:
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
        import glob  # noqa: PLC0415

        found = sorted(one for one in glob.glob(path, recursive=True) if not os.path.isdir(one))
    if not found:
        raise MissingFileError(f'NOT_FOUND: "{path}": no file matches this pattern. Check input.')
    return found
