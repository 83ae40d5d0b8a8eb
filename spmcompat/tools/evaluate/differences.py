"""Compares the figures of models with those of a baseline, resample by resample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.tools.evaluate.bootstrap import interval
from spmcompat.tools.evaluate.evaluation import Evaluation

_Floats = npt.NDArray[np.float64]


class FigureDifference(NamedTuple):
    """The difference between a model's figure and the baseline's, with a confidence interval.

    The difference is relative (the model's value divided by the baseline's, minus 1), except for
    the gold scores, which are between 0 and 1: for these, it is the model's value minus the
    baseline's. `excludes_zero` says whether 0 is outside the interval.
    """

    model: str
    baseline: str
    figure: str
    is_relative: bool
    difference: float
    low: float
    high: float
    excludes_zero: bool


def differences(results: Sequence[Evaluation], baseline: Evaluation) -> list[FigureDifference]:
    """Compare each result with the baseline, resample by resample.

    All results must come from the same text and the same bootstrap. A figure is compared only if
    both models have it, and if its difference has a confidence interval.
    """
    return [
        found
        for result in results
        if result is not baseline
        for figure in (baseline.resampled.samples if baseline.resampled else ())
        if (found := difference(result, baseline, figure)) is not None
    ]


def difference(result: Evaluation, baseline: Evaluation, figure: str) -> FigureDifference | None:
    """Compare one figure of a result with the baseline, as `differences` does."""
    if result.resampled is None or baseline.resampled is None:
        return None
    own = result.resampled.samples.get(figure)
    other = baseline.resampled.samples.get(figure)
    if own is None or other is None:
        return None
    is_relative = not figure.startswith("gold_")
    change = _relative_change if is_relative else np.subtract
    with np.errstate(divide="ignore", invalid="ignore"):
        both = interval(
            change(np.array(own), np.array(other)), result.resampled.settings.confidence
        )
        whole = change(result.flat()[figure], baseline.flat()[figure])
    if both is None or not all(map(math.isfinite, (*both, whole))):
        return None
    return FigureDifference(
        model=result.model,
        baseline=baseline.model,
        figure=figure,
        is_relative=is_relative,
        difference=float(whole),
        low=both.low,
        high=both.high,
        excludes_zero=both.low > 0 or both.high < 0,
    )


def _relative_change(value: npt.ArrayLike, base: npt.ArrayLike) -> _Floats:
    return np.divide(value, base) - 1
