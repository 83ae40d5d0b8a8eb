"""Changes from a baseline in percent, their intervals, and a comparison with published changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.bootstrap import Bootstrap, draws

MARK = "*"
"""Follows the changes between two models that are smaller than the table says."""
_RESAMPLES = 1000
_WIDTH = 27


class Cell(NamedTuple):
    """The change of a number in percent, and half the width of its 95 % interval."""

    change: float
    half: float


NOTHING = Cell(math.nan, math.nan)
"""A change that cannot be computed."""

Pair = tuple[float, float]
"""Two changes in percent."""


def change(ours: npt.NDArray[np.float64], base: npt.NDArray[np.float64]) -> Cell:
    """Return the change, from `base` to `ours`, of the sum over the blocks of a text.

    Its interval comes from resampling the blocks. Each resample is used for both models.
    """
    drawn = draws(len(base), Bootstrap(_RESAMPLES))
    sampled = [100 * (ours[blocks].sum() / base[blocks].sum() - 1) for blocks in drawn]
    low, high = np.percentile(sampled, [2.5, 97.5])
    return Cell(100 * float(ours.sum() / base.sum() - 1), float(high - low) / 2)


def mean_change(cells: Sequence[Cell]) -> Cell:
    """Return the mean change. Its interval shows how much the change differs between texts.

    Changes that are NaN are left out. The mean is NaN if all changes are NaN.
    """
    found = [cell.change for cell in cells if not np.isnan(cell.change)]
    if len(found) < 2:
        return next((cell for cell in cells if not np.isnan(cell.change)), NOTHING)
    spread = float(np.std(found, ddof=1)) / len(found) ** 0.5
    return Cell(float(np.mean(found)), _STUDENT.get(len(found), 2.0) * spread)


# The 97.5 % quantiles of Student's t, by the number of values in the mean.
_STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def _show(first: Cell, second: Cell) -> str:
    """Format two changes with their intervals. Show a dash if a change cannot be computed."""
    return " / ".join(
        "-" if np.isnan(cell.change) else f"{cell.change:+.2f}±{cell.half:.2f}"
        for cell in (first, second)
    )


def _show_published(published: Pair | None) -> str:
    """Format two published changes. Return an empty text if there are none."""
    return "" if published is None else "{:+.2f} / {:+.2f}".format(*published)


def _signs(ours: Sequence[Cell], published: Pair | None) -> str:
    """Return whether our changes have the same signs as the published changes.

    A change of less than 0.05 percent has no sign. If the signs do not agree, but our interval
    contains the published change, the question is open: more texts are needed for a verdict.
    """
    if published is None:
        return ""
    return " / ".join(verdict(cell, theirs) for cell, theirs in zip(ours, published, strict=True))


def verdict(ours: Cell, published: float) -> str:
    """Compare the sign of our change with that of the published change, as in `_signs`."""
    if _sign(ours.change) == _sign(published):
        return "agree"
    return "open" if abs(ours.change - published) <= ours.half else "no"


def _sign(value: float) -> int:
    return 0 if abs(value) < 0.05 else (1 if value > 0 else -1)


def print_head(title: str, columns: Sequence[str]) -> None:
    """Print the head of a table of changes, with a column for each text."""
    texts = "".join(f"{column:>{_WIDTH}}" for column in columns)
    print(f"{title:22}{texts}{'mean':>{_WIDTH}}{'published':>16}{'signs':>16}")


def print_row(
    label: str,
    changes: Sequence[tuple[Cell, Cell]],
    published: Pair | None = None,
    marked: Sequence[bool] = (),
) -> None:
    """Print the two changes for each text, their means, and the published means.

    `marked` tells for each text whether its changes get a mark. The means get one if any text has
    one.
    """
    mean = (mean_change([first for first, _ in changes]), mean_change([s for _, s in changes]))
    marks = [MARK if one else "" for one in [*(marked or [False] * len(changes)), any(marked)]]
    shown = [_show(*both) + mark for both, mark in zip([*changes, mean], marks, strict=True)]
    cells = "".join(f"{one:>{_WIDTH}}" for one in shown)
    theirs = f"{_show_published(published):>16}{_signs(mean, published):>16}"
    print(f"{label:22}{cells}{theirs}".rstrip())
