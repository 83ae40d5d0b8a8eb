from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CCrew
from spmcompat.segments.corpus cimport SegmentedCorpus
from spmcompat.unigram.lattice.lattices cimport CLattices


cdef extern from "spmcompat/unigram/em/e_step.hpp" namespace "spmcompat" nogil:
    cdef cppclass CExpectedCounts "spmcompat::ExpectedCounts":
        vector[float] expected
        float objective

    CExpectedCounts c_expected_counts "spmcompat::expected_counts"(
        CLattices& lattices, size_t partial_sums, CCrew& crew)
    CExpectedCounts c_best_path_counts "spmcompat::best_path_counts"(
        CLattices& lattices, size_t partial_sums, cbool single_sum, CCrew& crew)
    double c_log_likelihood "spmcompat::log_likelihood"(
        CLattices& lattices, CCrew& crew)
    vector[float] c_segment_log_likelihoods "spmcompat::segment_log_likelihoods"(
        CLattices& lattices, CCrew& crew)
    float sum_pretoken_counts(const SegmentedCorpus& corpus, size_t partial_sums)


cdef class ExpectedCounts:
    cdef CExpectedCounts sums
