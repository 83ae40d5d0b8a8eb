from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.runtime.cancel cimport CCancelFlag
from spmcompat.segments.corpus cimport SegmentedCorpus
from spmcompat.unigram.lattice.lattices cimport (
    Arithmetic, CLattices, LatticeBlock, Lattices, PrefixLinks)


cdef extern from "spmcompat/unigram/em/lanes.hpp" namespace "spmcompat" nogil:
    cdef cppclass LaneSums:
        vector[float] expected
        float objective
        double log_likelihood

    cdef cppclass Lanes:
        Lanes(
            const SegmentedCorpus& corpus, const CLattices& lattices, size_t lanes,
            cbool single_sum, size_t workers, const CCancelFlag& cancel) except +
        LaneSums take_total()


cdef extern from "spmcompat/unigram/em/forward_backward.hpp" namespace "spmcompat" nogil:
    void find_shared_alphas(
        LatticeBlock& block, const vector[uint32_t]& segments, const PrefixLinks& links,
        const Arithmetic& arithmetic) except +


cdef extern from "spmcompat/unigram/em/e_step.hpp" namespace "spmcompat" nogil:
    void add_expected_counts(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic,
        int64_t total_count) except +
    void add_log_likelihoods(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic) except +
    void add_best_paths(
        Lanes& lanes, const CLattices& lattices, const Arithmetic& arithmetic) except +
    void find_segment_likelihoods(
        const CLattices& lattices, const Arithmetic& arithmetic, uint32_t first, uint32_t last,
        float* out) except +
    float sum_pretoken_counts(const SegmentedCorpus& corpus, size_t lanes)


cdef class Counts:
    cdef LaneSums sums
