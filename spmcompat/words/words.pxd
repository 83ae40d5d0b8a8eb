from spmcompat.segments.corpus cimport CSegmentCounts


cdef class Words:
    cdef CSegmentCounts words
