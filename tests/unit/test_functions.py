"""exp, log and log1p have the same bits on every platform: those of glibc 2.36 on x86-64.

``SPMCOMPAT_FLOAT_STEP=1`` tries every float; by default, each 20,011th one is tried.
"""

import hashlib
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from spmcompat.unigram.lattice.processors import function_of_doubles, log_of_floats

STEP = 20_011
STEP_WITH_LIBRARY = int(os.environ.get("SPMCOMPAT_FLOAT_STEP", STEP))
PART = 2**22
Doubles = NDArray[np.float64]
Source = Callable[[int], Iterator[Doubles]]


def floats(low: float, high: float, step: int) -> Iterator[NDArray[np.float32]]:
    """Yield positive floats in parts: each `step`-th from `low` to `high`, and the last one."""
    first, last = np.array([low, high], np.float32).view(np.uint32).tolist()
    for start in range(first, last + 1, step * PART):
        end = min(start + step * PART, last + 1)
        yield np.arange(start, end, step, dtype=np.uint32).view(np.float32)
    yield np.array([high], np.float32)


def doubles(low: float, high: float, step: int) -> Iterator[Doubles]:
    for part in floats(low, high, step):
        yield part.astype(np.float64)


def differences(step: int) -> Iterator[Doubles]:
    """Yield the exponents of the sums in the E-step, from 0 down to -50."""
    yield np.array([0.0, -0.0, -np.inf, np.nan])
    for part in doubles(1e-45, 50, step):
        yield -part


def exponents(step: int) -> Iterator[Doubles]:
    """Yield the exponents of expected counts, and some above 0."""
    for part in doubles(50, np.inf, step):
        yield -part
    yield from doubles(1e-45, np.inf, 9 * step)


def ends_of_exp(_: int) -> Iterator[Doubles]:
    """Yield exponents whose powers are denormal or infinite."""
    yield np.linspace(-746, -700, 40_001)
    yield np.linspace(700, 712, 4_001)


def counts(step: int) -> Iterator[Doubles]:
    """Yield what the M-step and pruning take the logarithm of."""
    yield np.array([0.0, -1.0, np.inf, np.nan, 1e-310])
    yield from doubles(1e-45, np.inf, step)


def shifted_counts(step: int) -> Iterator[Doubles]:
    """Yield what digamma takes the logarithm of."""
    for part in doubles(0.01, 2**64, step):
        for _ in range(7):
            part[part < 7] += 1
        yield part - 0.5


def ratios(step: int) -> Iterator[Doubles]:
    """Yield what the E-step takes log1p of."""
    for part in differences(step):
        yield function_of_doubles("exp", part, False)


def sums_of_two(step: int) -> Iterator[Doubles]:
    """Yield what the E-step takes the logarithm of, in releases before 0.2.3."""
    for part in ratios(step):
        yield part + 1.0


def edges_of_log(_: int) -> Iterator[Doubles]:
    """Yield arguments at which the method changes."""
    for edge in (1 - 2**-4, 1 + 265 / 4096, 1.0, 0.6875, 1.375):
        yield edge + np.arange(-2000, 2000) * 2.0**-53


def edges_of_log1p(_: int) -> Iterator[Doubles]:
    for edge in (2**0.5 - 1, 2.0**-29, 2.0**-54):
        yield edge * (1 + np.arange(-20_000, 20_000) * 2.0**-40)
    yield 1 - np.arange(40_000) * 2.0**-32


CASES: dict[tuple[str, Source], str] = {
    ("exp", differences): "a4840613b72cd08f",
    ("exp", exponents): "2a040eb35b8b2226",
    ("exp", ends_of_exp): "6ecae43b55b5260b",
    ("log", counts): "d603596a7ffb2a0f",
    ("log", shifted_counts): "96fc339467d33791",
    ("log", sums_of_two): "644ba3bc4327c94e",
    ("log", edges_of_log): "9fc88b730ed39830",
    ("log1p", ratios): "dadd7fd9ef1bbeef",
    ("log1p", edges_of_log1p): "5e7d904b96abf4ba",
}


def has_the_bits() -> bool:
    """Tell whether the library is glibc 2.36 with fused operations."""
    if platform.libc_ver() != ("glibc", "2.36"):
        return False
    if platform.machine() == "x86_64":
        return " fma " in Path("/proc/cpuinfo").read_text()
    return platform.machine() == "aarch64"


with_library = pytest.mark.skipif(not has_the_bits(), reason="glibc 2.36 has these bits")


def bits(values: Doubles) -> NDArray[np.uint64]:
    """Return the bits, with one pattern for all NaNs: their signs depend on the processor."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


@pytest.mark.parametrize(("name", "source"), CASES)
def test_the_bits_are_the_same_on_every_platform(name: str, source: Source) -> None:
    found = hashlib.sha256()
    for part in source(STEP):
        found.update(bits(function_of_doubles(name, part, False)).tobytes())
    assert found.hexdigest()[:16] == CASES[name, source]


@with_library
@pytest.mark.parametrize(("name", "source"), CASES)
def test_the_bits_are_those_of_glibc(name: str, source: Source) -> None:
    for part in source(STEP_WITH_LIBRARY):
        found = bits(function_of_doubles(name, part, False))
        wrong = np.flatnonzero(found != bits(function_of_doubles(name, part, True)))
        assert not wrong.size, f"{wrong.size} differ, such as {name}({part[wrong[0]].hex()})"


def test_the_logarithm_of_floats_is_the_same_on_every_platform() -> None:
    found = hashlib.sha256()
    for part in floats(0, np.inf, STEP):
        found.update(log_of_floats(part, False).tobytes())
    assert found.hexdigest()[:16] == "4a948e70f01f677e"


@with_library
def test_the_logarithm_of_floats_is_that_of_glibc() -> None:
    for part in floats(0, np.inf, STEP_WITH_LIBRARY):
        ours, library = log_of_floats(part, False), log_of_floats(part, True)
        wrong = np.flatnonzero(ours.view(np.uint32) != library.view(np.uint32))
        assert not wrong.size, f"{wrong.size} differ, such as {float(part[wrong[0]]).hex()}"
