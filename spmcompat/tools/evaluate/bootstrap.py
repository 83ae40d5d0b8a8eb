"""Confidence intervals by bootstrap.

The text consists of units: lines or documents. A resample draws as many units as the text has, with
replacement. All models are measured on the same resamples. So in each resample, the figures of two
models can be compared (a paired bootstrap).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# If there are more units than this, consecutive units are joined into blocks, to limit memory and
# time.
MOST_UNITS = 1 << 17
_LEAST_ROWS = 1 << 10
_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
# To turn its state into a random number, SplitMix64 (Steele et al.) applies these pairs of a shift
# and a factor.
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))

# The figures for which each model is compared with the baseline, resample by resample.
COMPARED = (
    "loss_per_character",
    "renormalized_loss_per_character",
    "tokens",
    "gold_f1",
    "gold_morph_score",
    "gold_morph_score_with_single_tokens",
)

_Floats = npt.NDArray[np.float64]
_Flags = npt.NDArray[np.bool_]


class Bootstrap(NamedTuple):
    """The settings of a bootstrap.

    Attributes
    ----------
    resamples : int
        Number of resamples.
    seed : int
        Seed of the random numbers, from 0 to 2**64 - 1.
    confidence : float
        Confidence level in percent.
    units : str
        What a unit is: ``lines`` for each line that is not blank, or ``documents`` for each group
        of lines between blank lines. A new file also begins a new document.
    """

    resamples: int
    seed: int = 0
    confidence: float = 95.0
    units: str = "lines"


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Resampled(NamedTuple):
    """The results of a bootstrap for the figures of one model.

    Attributes
    ----------
    settings : Bootstrap
        The settings of the bootstrap.
    units, block : int
        The number of resampled units, and the number of lines or documents that each of them
        contains. The last one may contain fewer.
    intervals : mapping of str to Interval
        The confidence interval of each figure that has one, by the name of the figure.
    samples : mapping of str to tuple of float
        The values of each figure in all resamples, by the name of the figure. Only the figures that
        are compared with the baseline are stored.
    """

    settings: Bootstrap
    units: int
    block: int
    intervals: Mapping[str, Interval]
    samples: Mapping[str, tuple[float, ...]]

    @property
    def summary(self) -> str:
        """One line that describes how the intervals were computed."""
        kind = self.settings.units
        blocks = f"blocks of {self.block:,} {kind}" if self.block > 1 else kind
        return (
            f"{self.settings.confidence:g} % intervals from {self.settings.resamples:,} resamples "
            f"of {self.units:,} {blocks} (seed {self.settings.seed})"
        )


class UnitSums:
    """Adds up the rows of the lines that belong to the same unit, in limited memory.

    Parameters
    ----------
    columns : int
        The length of a row.
    units : str
        See `Bootstrap`.
    most : int
        The largest number of sums to keep. If there are more units, consecutive units are joined
        into blocks of 2, 4, 8 ... units.
    """

    def __init__(self, columns: int, units: str, most: int = MOST_UNITS) -> None:
        self._by_line = units == "lines"
        self._most = most
        self._sums = np.zeros((min(most, _LEAST_ROWS), columns))
        self._units = 0
        self._after_blank = True
        self.block = 1

    def add(self, rows: _Floats, blank: _Flags, file_begins: Sequence[int]) -> None:
        """Add the rows of the next lines of the text.

        Parameters
        ----------
        rows : array of float64
            One row for each line. The row of a blank line is added to the unit before the line.
        blank : array of bool
            Whether the line is only white space.
        file_begins : sequence of int
            The indices of the lines that are the first of a file.
        """
        begins = ~blank
        if not self._by_line:
            separated = np.concatenate([[self._after_blank], blank[:-1]])
            separated[list(file_begins)] = True
            # If a file begins with blank lines, its first document still begins a new unit, because
            # the document follows a blank line.
            begins &= separated
            self._after_blank = bool(blank[-1])
        unit_of = np.maximum(self._units + np.cumsum(begins) - 1, 0)
        self._units = int(self._units + begins.sum())
        while unit_of[-1] // self.block >= self._most:
            self._join_pairs()
        row_of = unit_of // self.block
        self._reserve(int(row_of[-1]) + 1)
        changes = np.flatnonzero(np.diff(row_of, prepend=-1))
        self._sums[row_of[changes]] += np.add.reduceat(rows, changes, axis=0)

    @property
    def sums(self) -> _Floats:
        """The sums, one row for each block."""
        return self._sums[: -(-max(self._units, 1) // self.block)]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._sums):
            more = min(max(rows, 2 * len(self._sums)), self._most) - len(self._sums)
            self._sums = np.pad(self._sums, ((0, more), (0, 0)))

    def _join_pairs(self) -> None:
        if len(self._sums) % 2:
            self._sums = np.pad(self._sums, ((0, 1), (0, 0)))
        joined = self._sums[::2] + self._sums[1::2]
        self._sums[:] = 0
        self._sums[: len(joined)] = joined
        self.block *= 2


def draws(units: int, bootstrap: Bootstrap) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the indices of the units that each resample draws.

    SplitMix64 generates the random numbers, starting from the seed. The index of a unit is (upper
    32 bits of a random number) * (number of units) // 2**32. The random numbers do not depend on
    numpy, so a seed draws the same units with every release of numpy.
    """
    steps = np.arange(1, units + 1, dtype=np.uint64) * _GOLDEN_GAMMA
    # The state is an array, because numpy warns if a scalar overflows.
    state = np.array([bootstrap.seed], dtype=np.uint64)
    for _ in range(bootstrap.resamples):
        mixed = state + steps
        state = mixed[-1:]
        for shift, factor in _MIXING:
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
        upper = mixed >> np.uint64(32)
        yield ((upper * np.uint64(units)) >> np.uint64(32)).astype(np.int64)


def resample(sums: _Floats, bootstrap: Bootstrap) -> _Floats:
    """Add up the sums of the units in each resample, and return one row for each resample."""
    totals = np.empty((bootstrap.resamples, sums.shape[1]))
    for i, drawn in enumerate(draws(len(sums), bootstrap)):
        totals[i] = np.bincount(drawn, minlength=len(sums)) @ sums
    return totals


def interval(values: npt.ArrayLike, confidence: float) -> Interval | None:
    """Return the percentile interval of resampled values; None if one of them is NaN.

    A percentile that falls between two values is interpolated.
    """
    samples = np.asarray(values, dtype=np.float64)
    if np.isnan(samples).any():
        return None
    tail = (100 - confidence) / 2
    low, high = np.percentile(samples, [tail, 100 - tail]).tolist()
    return Interval(low, high)


def intervals(samples: Mapping[str, npt.ArrayLike], confidence: float) -> dict[str, Interval]:
    """Return the intervals of the figures, without the figures that are NaN in some resample."""
    found = {name: interval(values, confidence) for name, values in samples.items()}
    return {name: both for name, both in found.items() if both is not None}
