from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.segments.corpus cimport Corpus, SegmentedCorpus
from spmcompat.unigram.pieces cimport CPieces, Pieces


cdef extern from "spmcompat/unigram/em/e_step.hpp" namespace "spmcompat" nogil:
    cbool has_avx2()

    const uint32_t PARTS "spmcompat::Lattices::kParts"

    cdef cppclass PieceChains:
        cbool finite()

    cdef cppclass LatticeBlock:
        pass

    ctypedef float (*LogSumExp)(float x, float y) noexcept
    LogSumExp exact_log_sum_exp(cbool with_log1p)

    cdef cppclass Arithmetic:
        cbool avx2
        LogSumExp log_sum_exp

    cdef cppclass CLattices "spmcompat::Lattices":
        CLattices(const SegmentedCorpus& corpus, uint32_t unknown) except +
        size_t blocks()
        LatticeBlock& block(size_t block)
        const PieceChains& chains()
        void lay_out(size_t block, const SegmentedCorpus& corpus) except +
        void find_pieces(
            uint32_t part, const CPieces& pieces, const SegmentedCorpus& corpus) except +
        void begin_chains(const CPieces& pieces) except +
        void rescore(const CPieces& pieces)
        void begin_renumbering(
            const vector[uint32_t]& new_ids, const CPieces& pieces) except +
        void keep_chains(uint32_t part) except +
        void end_keeping() except +
        uint32_t chain_parts()
        void begin_counting() except +
        void count_chains(uint32_t part) except +
        void end_counting() except +
        void renumber_block(size_t block)
        void end_renumbering()

    cdef cppclass LaneSums:
        vector[float] expected
        float objective
        double log_likelihood

    vector[vector[uint32_t]] first_segments(const SegmentedCorpus& corpus, size_t blocks) except +
    void forward_block(
        LatticeBlock& block, const vector[uint32_t]& segments, const PieceChains& chains,
        const Arithmetic& arithmetic) except +
    cdef cppclass Lanes:
        Lanes(
            const SegmentedCorpus& corpus, const CLattices& lattices, size_t lanes,
            cbool unbroken, size_t workers, const volatile int* cancel) except +
        LaneSums take_total()

    void add_expected_counts(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic,
        int64_t total_count) except +
    void add_log_likelihoods(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic) except +
    void add_best_paths(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic) except +
    float sum_word_counts(const SegmentedCorpus& corpus, size_t lanes)


cdef class Counts:
    cdef LaneSums sums


cdef class Lattices:
    cdef Corpus corpus
    cdef readonly Pieces pieces
    cdef unique_ptr[CLattices] lattices
    cdef Arithmetic arithmetic
    cdef vector[vector[uint32_t]] first_segments
    cdef int64_t total_count


cdef class NewIds:
    cdef vector[uint32_t] ids
    cdef bint all_as_before(self) noexcept
