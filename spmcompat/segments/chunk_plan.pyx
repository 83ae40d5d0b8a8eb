"""Where a text that is too large for one search of seeds is cut into chunks; chunks.hpp does it."""

from cython cimport final

from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.segments.corpus cimport char32_t
from spmcompat.counting.counter cimport Batch, BatchLog, CChunk, CFolder, Chunk, Folder, WordTable


cdef extern from "spmcompat/segments/chunk_plan.hpp" namespace "spmcompat" nogil:
    cdef cppclass CChunkPlan "spmcompat::ChunkPlan":
        CChunkPlan(const vector[char32_t]& alphabet, uint64_t chunk_bytes, size_t batches) except +
        void measure(const BatchLog& log, const CFolder& folder, const WordTable& words) except +
        void cut() except +
        size_t chunks()
        uint64_t sentences()
        CChunk chunk(size_t number) except +


@final
cdef class ChunkPlan:
    """Where the text is cut into chunks.

    Parameters
    ----------
    alphabet : list of (int, int)
        Required characters and their counts.
    chunk_bytes : int
        A chunk is full when it holds so many bytes.
    batches : int
        How many batches the text has.
    """

    cdef unique_ptr[CChunkPlan] plan

    def __init__(self, list alphabet not None, uint64_t chunk_bytes, size_t batches):
        cdef vector[char32_t] required
        for c, _ in alphabet:
            required.push_back(c)
        self.plan.reset(new CChunkPlan(required, chunk_bytes, batches))

    def measure(self, Batch batch not None, Folder folder not None):
        """Take the sizes of a batch's sentences.

        The batch must hold its words and be the only one that the folder read. Workers may call
        this at the same time.
        """
        cdef WordTable* words = new WordTable(0)
        try:
            with nogil:
                dereference(folder.folder).finish(dereference(words), True)
                dereference(self.plan).measure(
                    batch.log, dereference(folder.folder), dereference(words))
        finally:
            del words

    def cut(self):
        """Cut the text, after all its batches were measured."""
        with nogil:
            dereference(self.plan).cut()

    @property
    def sentences(self):
        """Number of sentences in all chunks."""
        return dereference(self.plan).sentences()

    def __len__(self):
        return dereference(self.plan).chunks()

    def chunk(self, size_t number):
        """Return a `Chunk`."""
        cdef Chunk chunk = Chunk()
        with nogil:
            chunk.chunk = dereference(self.plan).chunk(number)
        return chunk
