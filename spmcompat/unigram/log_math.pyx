"""The tests' door to log_math.hpp: every function over arrays, with its exact twin.

Training calls the C++ functions themselves; nothing else in the package imports this module.
"""

cdef extern from "log_math.hpp" namespace "spmcompat" nogil:
    float fast_log_sum_exp "spmcompat::log_sum_exp"(float x, float y) noexcept
    float fast_add_exp "spmcompat::add_exp"(float sum, float frequency, float x) noexcept


cdef extern from "log_math.hpp" namespace "spmcompat::exact" nogil:
    float plain_log_sum_exp "spmcompat::exact::log_sum_exp"(float x, float y) noexcept
    float plain_add_exp "spmcompat::exact::add_exp"(float sum, float frequency, float x) noexcept


ctypedef float (*LogSumExp)(float, float) noexcept nogil
ctypedef float (*AddExp)(float, float, float) noexcept nogil


cdef _check_sizes(Py_ssize_t size, Py_ssize_t other):
    if size != other:
        raise ValueError(f"arrays of different sizes: {size} and {other}")


cdef _new(Py_ssize_t size):
    import numpy
    return numpy.empty(size, numpy.float32)


cdef _map_log_sum_exp(LogSumExp function, const float[::1] x, const float[::1] y):
    _check_sizes(x.shape[0], y.shape[0])
    result = _new(x.shape[0])
    cdef float[::1] out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = function(x[i], y[i])
    return result


cdef _map_add_exp(
        AddExp function, const float[::1] sums, const float[::1] frequencies,
        const float[::1] x):
    _check_sizes(sums.shape[0], frequencies.shape[0])
    _check_sizes(sums.shape[0], x.shape[0])
    result = _new(x.shape[0])
    cdef float[::1] out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = function(sums[i], frequencies[i], x[i])
    return result


def log_sum_exp(x, y):
    """Return log(exp(x) + exp(y)), elementwise, as the E-step computes it.

    Parameters
    ----------
    x, y : ndarray of float32, shape (n,)
        Logarithms of probabilities.

    Returns
    -------
    ndarray of float32, shape (n,)
        The sums.

    Raises
    ------
    ValueError
        For arrays of different sizes or another type.
    """
    return _map_log_sum_exp(fast_log_sum_exp, x, y)


def log_sum_exp_exact(x, y):
    """Return what `log_sum_exp` must return: the expression of sentencepiece 0.2.3."""
    return _map_log_sum_exp(plain_log_sum_exp, x, y)


def add_exp(sums, frequencies, x):
    """Return sums + frequencies * exp(x), elementwise, by the fast function.

    Parameters
    ----------
    sums, frequencies, x : ndarray of float32, shape (n,)
        Expected counts so far, counts of words, logarithms of shares.

    Returns
    -------
    ndarray of float32, shape (n,)
        The new sums.

    Raises
    ------
    ValueError
        For arrays of different sizes or another type.
    """
    return _map_add_exp(fast_add_exp, sums, frequencies, x)


def add_exp_exact(sums, frequencies, x):
    """Return what `add_exp` must return: the expression of sentencepiece 0.2.3."""
    return _map_add_exp(plain_add_exp, sums, frequencies, x)
