"""Where a text that is too large for one search of seeds is cut (chunk_plan.hpp)."""

from cython cimport final

from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from spmcompat.counting.counter cimport (
    Batch, BatchLog, BatchSelection, Counter, PretokenTable, Selection, WorkerTable)
from spmcompat.counting.counts cimport Counts, SentenceOrder
from spmcompat.plan cimport char32_t


cdef extern from "spmcompat/segments/chunk_plan.hpp" namespace "spmcompat" nogil:
    cdef cppclass Part "spmcompat::Chunk::Part":
        size_t batch

    cdef cppclass CChunk "spmcompat::Chunk":
        size_t size
        vector[Part] parts
        BatchSelection selection(size_t batch) except +
        void drop_others(BatchLog& read) except +
        void arrange(SentenceOrder& read) except +

    cdef cppclass CChunkPlan "spmcompat::ChunkPlan":
        CChunkPlan(const vector[char32_t]& alphabet, uint64_t chunk_bytes, size_t batches) except +
        void measure(
            const BatchLog& log, const WorkerTable& table, const PretokenTable& pretokens) except +
        void cut() except +
        size_t chunks()
        uint64_t sentences()
        CChunk chunk(size_t number) except +


@final
cdef class Chunk:
    """The sentences of one seeding chunk."""

    cdef CChunk chunk

    @property
    def batches(self):
        """The batches that hold its sentences, ascending."""
        return [part.batch for part in self.chunk.parts]

    @property
    def sentences(self):
        """Number of sentences."""
        return self.chunk.size

    def selection(self, size_t batch):
        """Return the `Selection` of the sentences of a batch."""
        cdef Selection selection = Selection()
        with nogil:
            selection.selection = self.chunk.selection(batch)
        return selection

    def drop_others(self, Batch batch not None):
        """Drop all sentences of a batch, except the last sentence of the chunk."""
        self.chunk.drop_others(batch.log)

    def merge(self, Counts counts not None, workers):
        """Merge the counts of the chunk, which hold only its sentences and no empty sentence."""
        if not counts.plan.keeps_order:
            counts.close_with_last_sentence(workers)
            return
        counts.append_sentences(workers)
        with nogil:
            self.chunk.arrange(counts.order)
        counts.close_sentences()
        counts.order = SentenceOrder()


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

    def measure(self, Batch batch not None, Counter counter not None):
        """Note the sizes of the sentences of a batch.

        The batch must hold its pretokens and be the only one that the counter has counted. Workers
        may call this at the same time.
        """
        cdef PretokenTable* pretokens = new PretokenTable(0)
        try:
            with nogil:
                dereference(counter.counter).table().merge_into(dereference(pretokens), True)
                dereference(self.plan).measure(
                    batch.log, dereference(counter.counter).table(), dereference(pretokens))
        finally:
            del pretokens

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
