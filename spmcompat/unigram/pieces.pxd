from libc.stdint cimport uint32_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    cdef cppclass CPieces "spmcompat::Pieces":
        vector[float] score
        uint32_t size()
        void add(string_view piece, float score) except +
        CPieces select(const vector[uint32_t]& kept) except +

    const uint32_t kDropped

    cdef cppclass KeptPieces:
        KeptPieces()
        KeptPieces(const CPieces& old, const vector[uint32_t]& kept) except +
        CPieces pieces
        vector[uint32_t] new_ids

    string piece_text(const CPieces& pieces, uint32_t id) except +


cdef class Pieces:
    cdef CPieces pieces
