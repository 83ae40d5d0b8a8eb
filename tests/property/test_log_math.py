"""A search for floats where the fast functions of kernels.hpp differ from the exact ones.

The functions are compiled from log_math.cpp, with the flags of the product. ``SPMCOMPAT_SOURCE`` is
the folder of the sources, if the tests are not in it.
``SPMCOMPAT_PAIRS`` sets the total number of arguments to try (2 million by default).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
ROOT = os.environ.get("SPMCOMPAT_SOURCE") or HERE.parents[1]

pytestmark = pytest.mark.slow

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


class Functions:
    """The functions of log_math.cpp, as functions on arrays."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def log_sum_exp(self, x: Floats, y: Floats, with_log1p: bool) -> Floats:
        return self._call("log_sum_exp", x, y, with_log1p)

    def log_sum_exp_exact(self, x: Floats, y: Floats, with_log1p: bool) -> Floats:
        return self._call("log_sum_exp_exact", x, y, with_log1p)

    def add_exp(self, sums: Floats, frequencies: Floats, x: Floats) -> Floats:
        return self._call("add_exp", sums, frequencies, x)

    def add_exp_exact(self, sums: Floats, frequencies: Floats, x: Floats) -> Floats:
        return self._call("add_exp_exact", sums, frequencies, x)

    def _call(self, name: str, *arguments: Floats | bool) -> Floats:
        arrays = [argument for argument in arguments if not isinstance(argument, bool)]
        assert {(array.dtype, array.size) for array in arrays} == {
            (np.dtype(np.float32), arrays[0].size)
        }
        result = np.empty(arrays[0].size, np.float32)
        self._library[name](*map(_in_c, [*arguments, result]), ctypes.c_size_t(result.size))
        return result


def _in_c(argument: Floats | bool) -> object:
    if isinstance(argument, bool):
        return ctypes.c_bool(argument)
    assert argument.flags["C_CONTIGUOUS"]
    return ctypes.c_void_p(argument.ctypes.data)


@pytest.fixture(scope="module", params=["any_processor", "avx2"])
def functions(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Functions:
    """Compile the functions for any processor, and for processors with AVX2."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("log_math")

    def library(processor: str, *flags: str) -> ctypes.CDLL:
        flags += "-std=c++17", "-O3", "-ffp-contract=off", "-shared", "-fPIC"
        flags += f"-I{ROOT}", f"-DSPMCOMPAT_TESTED={processor}"
        made = folder / f"{processor}.so"
        source = HERE / "log_math.cpp"
        subprocess.run([*compiler.split(), *flags, "-o", str(made), str(source)], check=True)
        return ctypes.CDLL(str(made))

    portable = library("any_processor")
    if request.param == "any_processor":
        return Functions(portable)
    portable.has_avx2.restype = ctypes.c_bool
    if not portable.has_avx2():
        pytest.skip("this processor has no AVX2")
    return Functions(library("avx2", "-mavx2"))


def search_for_a_difference(
    source: Source, fast: Callable[..., Floats], exact: Callable[..., Floats], share: int
) -> None:
    dice = np.random.default_rng(sum(map(ord, source.__name__)))
    left = share
    while left > 0:
        arguments = source(dice, min(left, BATCH))
        left -= BATCH
        found, expected = fast(*arguments), exact(*arguments)
        assert not np.isnan(expected).any()
        for at in np.flatnonzero(found.view(np.int32) != expected.view(np.int32))[:1]:
            values = [float(argument[at]).hex() for argument in arguments]
            pytest.fail(f"{values}: {float(found[at]).hex()}, not {float(expected[at]).hex()}")


@pytest.mark.parametrize("with_log1p", [False, True])
@pytest.mark.parametrize("source", LOG_SUM_EXP, ids=lambda source: source.__name__)
def test_log_sum_exp_equals_the_exact_expression(
    source: Source, functions: Functions, with_log1p: bool
) -> None:
    fast = partial(functions.log_sum_exp, with_log1p=with_log1p)
    exact = partial(functions.log_sum_exp_exact, with_log1p=with_log1p)
    search_for_a_difference(source, fast, exact, PAIRS // 4 // len(LOG_SUM_EXP))


@pytest.mark.parametrize("source", ADD_EXP, ids=lambda source: source.__name__)
def test_add_exp_equals_the_exact_expression(source: Source, functions: Functions) -> None:
    share = PAIRS // 2 // len(ADD_EXP)
    search_for_a_difference(source, functions.add_exp, functions.add_exp_exact, share)


def test_a_sum_without_terms_is_not_a_number(functions: Functions) -> None:
    """The difference of two infinite arguments is NaN, which must not be used as a table index."""
    empty = np.full(5, -INFINITY)
    assert np.isnan(functions.log_sum_exp_exact(empty, empty, True)).all()
    assert np.isnan(functions.log_sum_exp(empty, empty, True)).all()


def test_exact_expressions_agree_with_numpy(functions: Functions) -> None:
    """numpy computes in double. Its exp may differ in the last bit from that of the C library."""
    dice = np.random.default_rng(1)
    x, y = any_difference(dice, 10_000)
    low, high = np.minimum(x, y), np.maximum(x, y)
    expected = single(high + np.log1p(np.exp((low - high).astype(np.float64))))
    expected = np.where(high > low + np.float32(50), high, expected)
    found = functions.log_sum_exp_exact(x, y, True)
    np.testing.assert_array_max_ulp(found, expected, maxulp=1)
    expected = single(high + np.log(np.exp((low - high).astype(np.float64)) + 1.0))
    expected = np.where(high > low + np.float32(50), high, expected)
    found = functions.log_sum_exp_exact(x, y, False)
    np.testing.assert_array_max_ulp(found, expected, maxulp=1)

    sums, frequency, x = marginals_of_words(dice, 10_000)
    total = sums + frequency.astype(np.float64) * np.exp(x.astype(np.float64))
    found = functions.add_exp_exact(sums, frequency, x)
    np.testing.assert_array_max_ulp(found, single(total), maxulp=1)
