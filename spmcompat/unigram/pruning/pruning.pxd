from libc.stdint cimport uint32_t
from libcpp.vector cimport vector

from spmcompat.unigram.pieces cimport Pieces

# The pieces that stay, in this order, and the new ids of the old ones.
cdef tuple keep(Pieces pieces, const vector[uint32_t]& kept)
