"""Seed pieces from a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from spmcompat.errors import MissingFileError, TrainingError

_COUNT = re.compile(rb"[ \t-\r]*\+?([0-9]+)[ \t-\r]*")
_STREAMED_COUNT = re.compile(_COUNT.pattern + rb".*", re.DOTALL)


def read_seed_file(path: str, streamed: bool = False) -> Iterator[tuple[bytes, int]]:
    """Yield the pieces and counts of a file with ``piece<TAB>count`` a line.

    Fields behind the second are ignored, as the reference ignores them; if counts are `streamed`,
    so is what follows their digits.

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
                yield _parse(line.rstrip(b"\n"), f"{path}:{number}", streamed)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise MissingFileError(
            f'NOT_FOUND: "{path}": {reason}: check --seed_sentencepieces_file.'
        ) from error


def _parse(line: bytes, place: str, streamed: bool) -> tuple[bytes, int]:
    fields = line.split(b"\t")
    if len(fields) < 2:
        raise TrainingError(f"{place}: Format error: must be <piece> <tab> <freq>")
    match = (_STREAMED_COUNT if streamed else _COUNT).fullmatch(fields[1])
    count = int(match[1]) if match else 0
    if not 0 < count < 2**63:
        raise TrainingError(
            f"{place}: Could not parse the frequency: it must be a whole number above 0"
        )
    return fields[0], count
