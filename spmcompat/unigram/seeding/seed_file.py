"""Seed pieces from a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from spmcompat.errors import MissingFileError, TrainingError
from spmcompat.options.values import to_int
from spmcompat.releases import DEFAULT, Release

_COUNT = re.compile(rb"[ \t-\r]*([+-]?[0-9]+)[ \t-\r]*")
_STREAMED_COUNT = re.compile(_COUNT.pattern + rb".*", re.DOTALL)


def read_seed_file(path: str, release: Release = DEFAULT) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces and counts of a file with ``piece<TAB>count`` a line.

    Fields behind the second are ignored, as the reference ignores them; the release tells what
    else, and which counts there may be.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    TrainingError
        For a line of another form; the message names the line.
    """
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                yield _parse(line.rstrip(b"\n"), f"{path}:{number}", release)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise MissingFileError(
            f'NOT_FOUND: "{path}": {reason}: check --seed_sentencepieces_file.'
        ) from error


def _parse(line: bytes, place: str, release: Release) -> tuple[bytes, int]:
    fields = line.split(b"\t")
    if release.skips_empty_fields:
        fields = [field for field in fields if field]
    if len(fields) < 2:
        raise TrainingError(f"{place}: Format error: must be <piece> <tab> <freq>")
    match = (_STREAMED_COUNT if release.streams_numbers else _COUNT).fullmatch(fields[1])
    least = 1 if release.seed_counts_are_positive else -(2**63)
    if not match or not least <= (count := to_int(match[1])) < 2**63:
        kind = "above 0" if release.seed_counts_are_positive else "of 64 bits"
        raise TrainingError(
            f"{place}: Could not parse the frequency: it must be a whole number {kind}"
        )
    return fields[0], count
