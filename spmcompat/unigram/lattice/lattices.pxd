from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from spmcompat.runtime.threads cimport CCrew
from spmcompat.segments.corpus cimport Corpus, SegmentedCorpus
from spmcompat.unigram.pieces cimport CPieces, KeptPieces, Pieces


cdef extern from "spmcompat/unigram/lattice/lattice.hpp" namespace "spmcompat" nogil:
    cdef cppclass CLattices "spmcompat::Lattices":
        CLattices copy() except +
        void rescore(const CPieces& pieces)

    CLattices build_lattices "spmcompat::Lattices::build"(
        const SegmentedCorpus& corpus, const CPieces& pieces, cbool with_log1p, CCrew& crew)
    void renumber_lattices "&spmcompat::Lattices::renumber"(
        const CPieces& pieces, const vector[uint32_t]& new_ids, CCrew& crew)


cdef class NewIds:
    cdef vector[uint32_t] ids


cdef class Lattices:
    cdef Corpus corpus
    cdef readonly Pieces pieces
    cdef CLattices lattices


cdef tuple take_kept(KeptPieces& kept)
