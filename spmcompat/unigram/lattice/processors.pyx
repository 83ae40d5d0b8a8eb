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


cdef extern from "spmcompat/functions/functions.hpp" nogil:
    double fixed_exp "spmcompat::fixed::exp"(double x) noexcept
    double fixed_log "spmcompat::fixed::log"(double x) noexcept
    double fixed_log1p "spmcompat::fixed::log1p"(double x) noexcept
    float fixed_float_log "spmcompat::fixed::log"(float x) noexcept
    double library_exp "std::exp"(double x) noexcept
    double library_log "std::log"(double x) noexcept
    double library_log1p "std::log1p"(double x) noexcept
    float library_float_log "std::log"(float x) noexcept


ctypedef double (*Function)(double x) noexcept nogil
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


def function_of_doubles(str name, const double[::1] x, bint library):
    """Return exp, log or log1p, elementwise.

    Parameters
    ----------
    name : {"exp", "log", "log1p"}
        Which function.
    x : ndarray of float64, shape (n,)
        The arguments; for log1p from 0 to 1.
    library : bool
        Whether to call the library's function, or the one that has the same bits everywhere.

    Returns
    -------
    ndarray of float64, shape (n,)
        The values.
    """
    import numpy
    cdef Function function
    if name == "exp":
        function = library_exp if library else fixed_exp
    elif name == "log":
        function = library_log if library else fixed_log
    else:
        function = library_log1p if library else fixed_log1p
    result = numpy.empty(x.shape[0], numpy.float64)
    cdef double[::1] out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = function(x[i])
    return result


def log_of_floats(const float[::1] x, bint library):
    """Return the logarithm in float32, elementwise; `library` is as for `function_of_doubles`."""
    result = _new(x.shape[0])
    cdef float[::1] out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = library_float_log(x[i]) if library else fixed_float_log(x[i])
    return result
