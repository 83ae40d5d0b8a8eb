"""A search for floats where the fast functions of kernels.hpp differ from the exact ones.

``SPMCOMPAT_PAIRS`` sets the total number of arguments to try (2 million by default).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from spmcompat.unigram.lattice.lattices import (
    add_exp,
    add_exp_exact,
    has_avx2,
    log_sum_exp,
    log_sum_exp_exact,
)

Floats = NDArray[np.float32]
Source = Callable[[np.random.Generator, int], tuple[Floats, ...]]

PAIRS = int(os.environ.get("SPMCOMPAT_PAIRS", "2000000"))
BATCH = 250_000
# Differences at which the method of computation changes: the ends of the table, and -50, below
# which the reference ignores the smaller argument.
CUTS = np.float32([0, -24, -49, -50, -51])
DENORMAL = np.float32(1e-45)
INFINITY = np.float32(np.inf)


def single(values: NDArray[np.floating]) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float32)


def neighbours(dice: np.random.Generator, values: Floats, steps: int = 4) -> Floats:
    """Move each value up or down by at most `steps` units in the last place."""
    for _ in range(steps):
        toward = dice.choice(single(np.array([-np.inf, np.inf])), values.size)
        values = np.where(dice.random(values.size) < 0.5, np.nextafter(values, toward), values)
    return values


def below(dice: np.random.Generator, high: Floats, difference: Floats) -> tuple[Floats, Floats]:
    """Pair each `high` with a float near `high + difference`. Swap the two at random."""
    low = neighbours(dice, single(high + difference))
    swap = dice.random(high.size) < 0.5
    return single(np.where(swap, low, high)), single(np.where(swap, high, low))


def highs(dice: np.random.Generator, size: int) -> Floats:
    """Draw scores of paths, from single pieces to very long lines."""
    return single(-(10 ** dice.uniform(-8, 7, size)))


def trained_scores(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    return single(dice.uniform(-80, 0, size)), single(dice.uniform(-80, 0, size))


def any_difference(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    return below(dice, highs(dice, size), single(dice.uniform(-52, 0, size)))


def edges_of_cells(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    return below(
        dice, single(-dice.integers(0, 64, size)), single(-dice.integers(0, 400, size) / 16)
    )


def cuts(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    return below(dice, highs(dice, size), dice.choice(CUTS, size))


def sums_near_zero(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Larger arguments so near 0 that even a very low smaller argument changes the sum."""
    high = single(dice.choice([0, -0.0, DENORMAL, -DENORMAL, 1e-30, -1e-20, -1e-14, 1e-9], size))
    return below(dice, high, single(dice.uniform(-52, 0, size)))


def equal_arguments(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    x = highs(dice, size)
    return x, x.copy()


def sums_that_cancel(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Sums near 0, where a unit in the last place is far smaller than the error bound."""
    share = dice.uniform(1e-9, 1, size)
    x, y = single(np.log(share)), single(np.log1p(-share))
    return neighbours(dice, x), neighbours(dice, y)


def midpoints(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Sums near the midpoint of two floats: the larger argument plus an odd number of half ulps."""
    high = highs(dice, size)
    half = np.spacing(np.abs(high)).astype(np.float64) * (dice.integers(0, 8, size) + 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.log(np.expm1(np.clip(half, 1e-22, 0.69)))
    return below(dice, high, single(difference))


def empty_sums(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    return np.full(size, -INFINITY), highs(dice, size)


LOG_SUM_EXP: list[Source] = [
    trained_scores,
    any_difference,
    edges_of_cells,
    cuts,
    sums_near_zero,
    equal_arguments,
    sums_that_cancel,
    midpoints,
    empty_sums,
]


def frequencies(dice: np.random.Generator, size: int) -> Floats:
    return single(2 ** dice.choice([0.0, 1.0, 10.0, 24.0, 62.0, 63.9], size))


def marginals_of_words(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    sums = single(10 ** dice.uniform(-6, 9, size))
    return sums, single(dice.integers(1, 100_000, size)), single(dice.uniform(-40, 0, size))


def every_magnitude(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    sums = single(10 ** dice.uniform(-45, 38, size))
    return sums, single(2 ** dice.uniform(0, 63.9, size)), single(dice.uniform(-210, 80, size))


def odd_sums(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    sums = single(dice.choice([0, DENORMAL, 1e-40, 1e-38, 0.5, 1, 2**24, 1e20], size))
    return sums, frequencies(dice, size), single(dice.uniform(-200, 0, size))


def denormal_results(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    frequency = frequencies(dice, size)
    x = single(dice.uniform(-105, -85, size) - np.log(frequency))
    return np.zeros(size, np.float32), frequency, neighbours(dice, x)


def edges_of_powers(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Exponents near multiples of (ln 2) / 32, or halfway between two neighbouring multiples."""
    x = single((dice.integers(-9300, 1, size) + dice.choice([0, 0.5], size)) * np.log(2) / 32)
    return single(10 ** dice.uniform(-10, 10, size)), frequencies(dice, size), neighbours(dice, x)


def smallest_marginals(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Exponents of -200 and far less: the marginals are smaller than the smallest float."""
    x = dice.choice([neighbours(dice, np.full(size, np.float32(-200))), -highs(dice, size) * -1e3])
    sums = single(dice.choice([0, DENORMAL, 1e-30, 1.0], size))
    return sums, frequencies(dice, size), np.ascontiguousarray(x)


def midpoints_of_sums(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Terms near an odd multiple of half a unit in the last place of the sum."""
    sums = single(10 ** dice.uniform(-3, 9, size))
    half = np.spacing(sums).astype(np.float64) * (dice.integers(0, 64, size) + 0.5)
    frequency = single(dice.integers(1, 1000, size))
    return sums, frequency, neighbours(dice, single(np.log(half / frequency)))


def sums_that_overflow(dice: np.random.Generator, size: int) -> tuple[Floats, ...]:
    """Marginals far above 1, up to infinity. Rounding in very long lines can yield such values."""
    sums = single(10 ** dice.uniform(0, 38, size))
    return sums, frequencies(dice, size), single(dice.uniform(40, 1000, size))


ADD_EXP: list[Source] = [
    marginals_of_words,
    every_magnitude,
    odd_sums,
    denormal_results,
    edges_of_powers,
    smallest_marginals,
    midpoints_of_sums,
    sums_that_overflow,
]


def search_for_a_difference(
    source: Source,
    fast: Callable[..., Floats],
    exact: Callable[..., Floats],
    avx2: bool,
    share: int,
) -> None:
    if avx2 and not has_avx2():
        pytest.skip("this processor has no AVX2")
    dice = np.random.default_rng(sum(map(ord, source.__name__)))
    left = share
    while left > 0:
        arguments = source(dice, min(left, BATCH))
        left -= BATCH
        found, expected = fast(*arguments, avx2), exact(*arguments)
        assert not np.isnan(expected).any()
        for at in np.flatnonzero(found.view(np.int32) != expected.view(np.int32))[:1]:
            values = [float(argument[at]).hex() for argument in arguments]
            pytest.fail(f"{values}: {float(found[at]).hex()}, not {float(expected[at]).hex()}")


@pytest.mark.parametrize("with_log1p", [False, True])
@pytest.mark.parametrize("avx2", [False, True])
@pytest.mark.parametrize("source", LOG_SUM_EXP, ids=lambda source: source.__name__)
def test_log_sum_exp_equals_the_exact_expression(
    source: Source, avx2: bool, with_log1p: bool
) -> None:
    fast = partial(log_sum_exp, with_log1p=with_log1p)
    exact = partial(log_sum_exp_exact, with_log1p=with_log1p)
    search_for_a_difference(source, fast, exact, avx2, PAIRS // 4 // len(LOG_SUM_EXP))


@pytest.mark.parametrize("avx2", [False, True])
@pytest.mark.parametrize("source", ADD_EXP, ids=lambda source: source.__name__)
def test_add_exp_equals_the_exact_expression(source: Source, avx2: bool) -> None:
    search_for_a_difference(source, add_exp, add_exp_exact, avx2, PAIRS // 2 // len(ADD_EXP))


@pytest.mark.parametrize("avx2", [False, True])
def test_a_sum_without_terms_is_not_a_number(avx2: bool) -> None:
    """The difference of two infinite arguments is NaN, which must not be used as a table index."""
    if avx2 and not has_avx2():
        pytest.skip("this processor has no AVX2")
    empty = np.full(5, -INFINITY)
    assert np.isnan(log_sum_exp_exact(empty, empty)).all()
    assert np.isnan(log_sum_exp(empty, empty, avx2)).all()


def test_exact_expressions_agree_with_numpy() -> None:
    """numpy computes in double. Its exp may differ in the last bit from that of the C library."""
    dice = np.random.default_rng(1)
    x, y = any_difference(dice, 10_000)
    low, high = np.minimum(x, y), np.maximum(x, y)
    expected = single(high + np.log1p(np.exp((low - high).astype(np.float64))))
    expected = np.where(high > low + np.float32(50), high, expected)
    np.testing.assert_array_max_ulp(log_sum_exp_exact(x, y), expected, maxulp=1)
    expected = single(high + np.log(np.exp((low - high).astype(np.float64)) + 1.0))
    expected = np.where(high > low + np.float32(50), high, expected)
    np.testing.assert_array_max_ulp(log_sum_exp_exact(x, y, with_log1p=False), expected, maxulp=1)

    sums, frequency, x = marginals_of_words(dice, 10_000)
    total = sums + frequency.astype(np.float64) * np.exp(x.astype(np.float64))
    np.testing.assert_array_max_ulp(add_exp_exact(sums, frequency, x), single(total), maxulp=1)


def test_arrays_of_different_sizes_are_refused() -> None:
    one, two = np.zeros(1, np.float32), np.zeros(2, np.float32)
    with pytest.raises(ValueError, match="different sizes: 1 and 2"):
        log_sum_exp(one, two, False)
    with pytest.raises(ValueError, match="different sizes: 2 and 1"):
        add_exp(two, two, one, False)
