from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.segments.corpus cimport Corpus, SegmentedCorpus
from spmcompat.unigram.pieces cimport CPieces, Pieces


cdef extern from "spmcompat/unigram/lattice/prefix_links.hpp" namespace "spmcompat" nogil:
    const uint32_t kDropped

    cdef cppclass PrefixLinks:
        cbool finite()

    cdef cppclass NewLinks:
        uint32_t parts()
        void count(uint32_t part) except +

    cdef cppclass KeptLinks:
        uint32_t parts()
        void keep(uint32_t part)
        NewLinks take_links()
        vector[uint32_t] take_longest_matches()


cdef extern from "spmcompat/unigram/lattice/lattice.hpp" namespace "spmcompat" nogil:
    cdef cppclass LatticeBlock:
        pass

    cdef cppclass CLattices "spmcompat::Lattices":
        CLattices copy() except +
        size_t blocks()
        LatticeBlock& block(size_t block)
        const PrefixLinks& links()
        unique_ptr[KeptLinks] keep_links(
            const vector[uint32_t]& new_ids, const CPieces& pieces) except +
        void set_links(NewLinks& links, vector[uint32_t]& first_nodes) except +
        void renumber_block(size_t block, const vector[uint32_t]& first_nodes)
        void rescore(const CPieces& pieces)


cdef extern from "spmcompat/unigram/lattice/builder.hpp" namespace "spmcompat" nogil:
    cdef cppclass LatticeBuilder:
        LatticeBuilder(
            const SegmentedCorpus& corpus, const CPieces& pieces, size_t workers) except +
        size_t blocks()
        uint32_t parts()
        void lay_out(size_t block) except +
        void find_longest(uint32_t part) except +
        NewLinks take_links() except +
        CLattices take_lattices()

    vector[vector[uint32_t]] shared_first_segments(
        const SegmentedCorpus& corpus, size_t blocks) except +


cdef extern from "spmcompat/unigram/lattice/processors.hpp" namespace "spmcompat" nogil:
    cbool has_avx2()


cdef extern from "spmcompat/unigram/lattice/passes.hpp" namespace "spmcompat" nogil:
    ctypedef float (*LogSumExp)(float x, float y) noexcept
    LogSumExp exact_log_sum_exp(cbool with_log1p)

    cdef cppclass Arithmetic:
        cbool avx2
        LogSumExp log_sum_exp


cdef class NewIds:
    cdef vector[uint32_t] ids
    cdef bint are_unchanged(self) noexcept


cdef class Lattices:
    cdef Corpus corpus
    cdef readonly Pieces pieces
    cdef CLattices lattices
    cdef Arithmetic arithmetic
    cdef vector[vector[uint32_t]] shared_first_segments
    cdef int64_t total_count
    cdef list block_ranges(self)
