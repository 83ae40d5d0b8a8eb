"""The mathematics of the E-step as functions over arrays, with exact twins, for the tests.

Training calls the C++ functions directly; no other module of the package imports this one.
"""

from libcpp cimport bool as cbool

cdef extern from "spmcompat/unigram/lattice/processors.hpp" namespace "spmcompat" nogil:
    cbool c_has_avx2 "spmcompat::has_avx2"()
    ctypedef float (*LogSumExp)(float x, float y) noexcept
    LogSumExp exact_log_sum_exp(cbool with_log1p)


cdef extern from \
        "spmcompat/unigram/lattice/processors.hpp" namespace "spmcompat::any_processor" nogil:
    void log_sum_exp_arrays(const float*, const float*, LogSumExp, float*, size_t) noexcept
    void add_exp_arrays(const float*, const float*, const float*, float*, size_t) noexcept


cdef extern from "spmcompat/unigram/lattice/processors.hpp" namespace "spmcompat::avx2" nogil:
    void log_sum_exp_avx2 "spmcompat::avx2::log_sum_exp_arrays"(
        const float*, const float*, LogSumExp, float*, size_t) noexcept
    void add_exp_avx2 "spmcompat::avx2::add_exp_arrays"(
        const float*, const float*, const float*, float*, size_t) noexcept


cdef extern from "spmcompat/unigram/lattice/log_math.hpp" namespace "spmcompat::exact" nogil:
    float one_add_exp "spmcompat::exact::add_exp"(float sum, float frequency, float x) noexcept


cdef void log_sum_exp_exactly(
        const float* x, const float* y, LogSumExp exact, float* sums, size_t size) noexcept nogil:
    cdef size_t i
    for i in range(size):
        sums[i] = exact(x[i], y[i])


cdef void add_exp_exactly(
        const float* sums, const float* frequencies, const float* x, float* new_sums,
        size_t size) noexcept nogil:
    cdef size_t i
    for i in range(size):
        new_sums[i] = one_add_exp(sums[i], frequencies[i], x[i])


ctypedef void (*LogSumExps)(
    const float*, const float*, LogSumExp, float*, size_t) noexcept nogil
ctypedef void (*AddExp)(const float*, const float*, const float*, float*, size_t) noexcept nogil


def has_avx2():
    """Tell whether this processor runs the kernels for AVX2."""
    return c_has_avx2()


cdef _check_sizes(Py_ssize_t size, Py_ssize_t other):
    if size != other:
        raise ValueError(f"arrays of different sizes: {size} and {other}")


cdef _new(Py_ssize_t size):
    import numpy
    return numpy.empty(size, numpy.float32)


cdef _map_log_sum_exp(
        LogSumExps function, const float[::1] x, const float[::1] y, bint with_log1p):
    _check_sizes(x.shape[0], y.shape[0])
    result = _new(x.shape[0])
    cdef float[::1] out = result
    if x.shape[0] > 0:
        with nogil:
            function(&x[0], &y[0], exact_log_sum_exp(with_log1p), &out[0], x.shape[0])
    return result


cdef _map_add_exp(
        AddExp function, const float[::1] sums, const float[::1] frequencies,
        const float[::1] x):
    _check_sizes(sums.shape[0], frequencies.shape[0])
    _check_sizes(sums.shape[0], x.shape[0])
    result = _new(x.shape[0])
    cdef float[::1] out = result
    if x.shape[0] > 0:
        with nogil:
            function(&sums[0], &frequencies[0], &x[0], &out[0], x.shape[0])
    return result


def log_sum_exp(x, y, bint avx2, bint with_log1p=True):
    """Return log(exp(x) + exp(y)), elementwise, as the E-step computes it.

    Parameters
    ----------
    x, y : ndarray of float32, shape (n,)
        Logarithms of probabilities.
    avx2 : bool
        Which kernel to call; the one for AVX2 needs a processor that has it.
    with_log1p : bool
        Whether log(1 + x) is rounded as by the library's log1p (0.2.3), or as by its log.

    Returns
    -------
    ndarray of float32, shape (n,)
        The sums.

    Raises
    ------
    ValueError
        If the arrays differ in size or have another type.
    """
    return _map_log_sum_exp(log_sum_exp_avx2 if avx2 else log_sum_exp_arrays, x, y, with_log1p)


def log_sum_exp_exact(x, y, bint with_log1p=True):
    """Return what `log_sum_exp` must return, by the expression of the reference."""
    return _map_log_sum_exp(log_sum_exp_exactly, x, y, with_log1p)


def add_exp(sums, frequencies, x, bint avx2):
    """Return sums + frequencies * exp(x), elementwise, as the E-step computes it.

    Parameters
    ----------
    sums, frequencies, x : ndarray of float32, shape (n,)
        Expected counts so far, counts of pretokens, log marginals.
    avx2 : bool
        Which kernel to call; the one for AVX2 needs a processor that has it.

    Returns
    -------
    ndarray of float32, shape (n,)
        The new sums.

    Raises
    ------
    ValueError
        If the arrays differ in size or have another type.
    """
    return _map_add_exp(add_exp_avx2 if avx2 else add_exp_arrays, sums, frequencies, x)


def add_exp_exact(sums, frequencies, x):
    """Return what `add_exp` must return, by the expression of the reference."""
    return _map_add_exp(add_exp_exactly, sums, frequencies, x)
