from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.pieces cimport Pieces

# Returns the kept pieces, in the order given, and the new ids of the old ones (NewIds).
cdef tuple select_kept(Pieces pieces, const vector[uint32_t]& kept)
