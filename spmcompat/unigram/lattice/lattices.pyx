"""The lattices of a corpus over the current pieces.

The lattices are built once. After each M-step and each pruning, they are reduced to the remaining
pieces::

    lattices = Lattices(corpus, seeds, workers)
    counts = expected_counts(lattices, partial_sums, workers)
    pieces, new_ids = m_step(lattices.pieces, counts, workers)
    lattices.renumber(pieces, new_ids, workers)

For the tests, the arithmetic of the E-step is available as functions on arrays, `log_sum_exp` and
`add_exp`, each with an exact version. Training calls the C++ functions directly.
"""

from cython cimport final
from cython.operator cimport dereference
from libcpp cimport bool as cbool
from libcpp.utility cimport move

from spmcompat.runtime.threads cimport Crew, start_change, start_stage
from spmcompat.unigram.pieces cimport kDropped


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


@final
cdef class NewIds:
    """The new id of each old piece.

    `ids` contains kDropped for a dropped piece. The last item of `ids` is the new id of the unknown
    piece.
    """

    def __len__(self):
        return self.ids.size() - 1

    def __getitem__(self, size_t piece):
        """Return the new id of an old piece, or None if it was dropped."""
        if piece + 1 >= self.ids.size():
            raise IndexError(piece)
        return None if self.ids[piece] == kDropped else self.ids[piece]


@final
cdef class Lattices:
    """The lattices of all segments of a corpus over the current pieces.

    Parameters
    ----------
    corpus : Corpus
        The corpus; it must not change.
    pieces : Pieces
        The pieces from which the lattices are built.
    workers : Workers
        The worker threads.
    with_log1p : bool
        Whether log(1 + x) is computed with the function log1p of the C library, as in 0.2.3. If
        not, it is computed with log, as in earlier releases. The results differ in some bits.

    Notes
    -----
    The kernels for AVX2 run if the processor has AVX2 and the environment variable
    ``SPMCOMPAT_AVX2`` is not 0. They compute the same bits as the other kernels.
    """

    def __init__(
            self, Corpus corpus not None, Pieces pieces not None, workers, bint with_log1p=True):
        cdef Crew crew = workers.crew
        self.corpus = corpus
        self.pieces = pieces
        start_stage(
            dereference(crew.crew), self.lattices, build_lattices, corpus.segmented,
            pieces.pieces, with_log1p)
        crew.await_stage()

    def copy(self):
        """Return an independent copy of the lattices, over the same pieces."""
        cdef Lattices other = Lattices.__new__(Lattices)
        other.corpus = self.corpus
        other.pieces = self.pieces
        with nogil:
            other.lattices = self.lattices.copy()
        return other

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Replace the pieces by new pieces; `new_ids` contains the new ids of the old pieces."""
        cdef Crew crew = workers.crew
        start_change(
            dereference(crew.crew), self.lattices, renumber_lattices, pieces.pieces, new_ids.ids)
        crew.await_stage()
        self.pieces = pieces

    def rescore(self, Pieces pieces not None):
        """Change the scores of the pieces. `pieces` contains the same pieces in the same order."""
        self.pieces = pieces
        with nogil:
            self.lattices.rescore(pieces.pieces)


cdef tuple take_kept(KeptPieces& kept):
    """Return the result of a step as `Pieces` and `NewIds`, without copying the pieces."""
    cdef Pieces pieces = Pieces()
    cdef NewIds new_ids = NewIds()
    pieces.pieces = move(kept.pieces)
    new_ids.ids.swap(kept.new_ids)
    return pieces, new_ids


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
    """Return whether this processor can run the kernels for AVX2."""
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
        Whether to call the kernel for AVX2, which needs a processor with AVX2.
    with_log1p : bool
        As for `Lattices`.

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
    """Return the result of `log_sum_exp`, computed with the reference's own expression."""
    return _map_log_sum_exp(log_sum_exp_exactly, x, y, with_log1p)


def add_exp(sums, frequencies, x, bint avx2):
    """Return sums + frequencies * exp(x), elementwise, as the E-step computes it.

    Parameters
    ----------
    sums, frequencies, x : ndarray of float32, shape (n,)
        The expected counts so far, the counts of pretokens, and the log marginals.
    avx2 : bool
        Whether to call the kernel for AVX2, which needs a processor with AVX2.

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
    """Return the result of `add_exp`, computed with the reference's own expression."""
    return _map_add_exp(add_exp_exactly, sums, frequencies, x)
