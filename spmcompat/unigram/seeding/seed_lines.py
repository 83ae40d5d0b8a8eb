"""Parses the lines of a seed file: seed pieces with their counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spmcompat.errors import BrokenRecordError
from spmcompat.releases import DEFAULT, Release

# A count has at most 19 digits after leading zeros, like every signed 64-bit integer. For thousands
# of digits, Python's int() would raise an error.
_COUNT = re.compile(rb"[ \t-\r]*([+-]?)0*([0-9]{1,19})(?![0-9])[ \t-\r]*")
_STREAMED_COUNT = re.compile(_COUNT.pattern + rb".*", re.DOTALL)


def parse_seed_lines(
    lines: Iterable[bytes], name: str, release: Release = DEFAULT
) -> Iterator[tuple[bytes, int]]:
    """Yield pieces and counts from lines ``piece<TAB>count``.

    Fields after the second are ignored, as in the reference. Releases differ in how they treat
    empty fields, and in the counts that they accept.

    Parameters
    ----------
    lines : iterable of bytes
        The lines, with or without their line ends.
    name : str
        The name of the file, for errors.
    release : Release
        The release to follow.

    Raises
    ------
    TrainingError
        If a line does not have this form. The message names the line.
    """
    for number, line in enumerate(lines, 1):
        yield _parse(line.rstrip(b"\n"), f"{name}:{number}", release)


def _parse(line: bytes, where: str, release: Release) -> tuple[bytes, int]:
    fields = line.split(b"\t")
    if release.skips_empty_fields:
        fields = [field for field in fields if field]
    if len(fields) < 2:
        raise BrokenRecordError(f"{where}: Format error: must be <piece> <tab> <freq>")
    match = (_STREAMED_COUNT if release.streams_numbers else _COUNT).fullmatch(fields[1])
    least = 1 if release.seed_counts_are_positive else -(2**63)
    if not match or not least <= (count := int(match[1] + match[2])) < 2**63:
        kind = "above 0" if release.seed_counts_are_positive else "that fits in 64 bits"
        raise BrokenRecordError(
            f"{where}: Could not parse the frequency: it must be a whole number {kind}"
        )
    return fields[0], count
