"""A naive bootstrap: the units are lists of lines, and are drawn one at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

_MASK = (1 << 64) - 1


def random_numbers(seed: int) -> Iterator[int]:
    """Yield the stream of SplitMix64: 64-bit numbers (Steele, Lea and Flood 2014)."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        yield z ^ (z >> 31)


def resamples(units: int, times: int, seed: int) -> list[list[int]]:
    """Return, for each resample, the indexes of the units that are drawn."""
    numbers = random_numbers(seed)
    return [[(next(numbers) >> 32) * units >> 32 for _ in range(units)] for _ in range(times)]


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile, interpolated between two values."""
    ranked = sorted(values)
    position = Fraction(percent) / 100 * (len(ranked) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * float(position - below)


def interval_of(
    units: Sequence[object],
    statistic: Callable[[list[object]], float],
    times: int,
    seed: int,
    confidence: float,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a statistic, by resampling the units."""
    values = [statistic([units[i] for i in drawn]) for drawn in resamples(len(units), times, seed)]
    tail = (100 - confidence) / 2
    return percentile(values, tail), percentile(values, 100 - tail)


def lines_as_units(files: Sequence[Sequence[str]]) -> list[list[str]]:
    """Make each line a unit; a blank line belongs to the unit before it."""
    lines = [line for file in files for line in file]
    return _slices(lines, [i for i, line in enumerate(lines) if line.strip()])


def documents_as_units(files: Sequence[Sequence[str]]) -> list[list[str]]:
    """Group the lines of files into documents, which end at blank lines and at file ends."""
    lines = [line for file in files for line in file]
    begins = []
    for i, line in enumerate(lines):
        begins_file = i in accumulate(map(len, files), initial=0)
        if line.strip() and (begins_file or not lines[i - 1].strip()):
            begins.append(i)
    return _slices(lines, begins)


def _slices(lines: list[str], begins: list[int]) -> list[list[str]]:
    """Return slices that begin at the indexes `begins`, except that the first begins at line 0."""
    return [lines[a:b] for a, b in pairwise([0, *begins[1:], len(lines)])]


def in_blocks(units: Sequence[list[str]], most: int) -> list[list[str]]:
    """Join consecutive units into at most `most` blocks of 2**n units, with the smallest n."""
    size = 1
    while -(-len(units) // size) > most:
        size *= 2
    blocks = [units[i : i + size] for i in range(0, len(units), size)]
    return [[line for unit in block for line in unit] for block in blocks]
