"""The lattices of a corpus over the pieces in training."""

from cython cimport final

import os

from cython.operator cimport dereference


# How many ranges of lattice blocks the workers share. More would be more even, and cost more calls.
cdef size_t RANGES = 256


@final
cdef class NewIds:
    """The new id of each old piece, or kDropped. The last item is the id of the unknown piece."""

    def __len__(self):
        return self.ids.size() - 1

    def __getitem__(self, size_t piece):
        """Return the new id of an old piece, or None if it was dropped."""
        if piece + 1 >= self.ids.size():
            raise IndexError(piece)
        return None if self.ids[piece] == kDropped else self.ids[piece]

    cdef bint are_unchanged(self) noexcept:
        cdef size_t i
        for i in range(self.ids.size()):
            if self.ids[i] != i:
                return False
        return True


@final
cdef class Lattices:
    """The lattices of all segments of a corpus over the pieces in training.

    Parameters
    ----------
    corpus : Corpus
        The corpus; it must not change.
    pieces : Pieces
        The pieces in training.
    workers : Workers
        Real threads.
    with_log1p : bool
        Whether log(1 + x) is computed by the library's log1p or by its log. This changes bits.

    Notes
    -----
    The kernels for AVX2 run if the processor has it and the environment variable
    ``SPMCOMPAT_AVX2`` is not 0. This never changes a bit.
    """

    def __init__(
            self, Corpus corpus not None, Pieces pieces not None, workers, bint with_log1p=True):
        cdef int64_t count
        self.corpus = corpus
        self.pieces = pieces
        builder = _Builder(corpus, pieces, workers.count)
        workers.run(_ranges(builder.blocks()), lambda _, blocks: builder.lay_out(blocks))
        workers.run(range(builder.parts()), lambda _, part: builder.find_longest(part))
        links = workers.call(lambda: builder.finish(self))
        self._set_links(links, workers)
        self.arithmetic.avx2 = has_avx2() and os.environ.get("SPMCOMPAT_AVX2") != "0"
        self.arithmetic.log_sum_exp = exact_log_sum_exp(with_log1p)
        self.total_count = 0
        for count in corpus.segmented.pretoken_count:
            self.total_count += count
        self.shared_first_segments = shared_first_segments(
            corpus.segmented, self.lattices.blocks())

    def copy(self):
        """Return lattices over the same pieces, which can change to other pieces by themselves."""
        cdef Lattices other = Lattices.__new__(Lattices)
        other.corpus = self.corpus
        other.pieces = self.pieces
        other.arithmetic = self.arithmetic
        other.total_count = self.total_count
        with nogil:
            other.lattices = self.lattices.copy()
            # Cython would not catch what an assignment throws.
            other.shared_first_segments.assign(
                self.shared_first_segments.begin(), self.shared_first_segments.end())
        return other

    def renumber(self, Pieces pieces not None, NewIds new_ids not None, workers):
        """Change to new pieces; `new_ids` gives the new ids of the old ones."""
        if new_ids.are_unchanged():
            self.rescore(pieces)
            return
        self.pieces = pieces
        kept = _KeptLinks()
        workers.call(lambda: kept.begin(self, new_ids))
        workers.run(range(kept.parts()), lambda _, part: kept.keep(part))
        links = kept.finish()
        self._set_links(links, workers)

    def _set_links(self, links, workers):
        workers.run(range(links.parts()), lambda _, part: links.count(part))
        workers.call(lambda: links.finish(self))
        workers.run(self.block_ranges(), lambda _, blocks: links.renumber(self, blocks))

    def rescore(self, Pieces pieces not None):
        """Change to other scores of the same pieces, in the same order."""
        self.pieces = pieces
        with nogil:
            self.lattices.rescore(pieces.pieces)

    cdef list block_ranges(self):
        """Return the numbers of all blocks, divided into ranges that workers take."""
        return _ranges(self.lattices.blocks())


cdef list _ranges(size_t blocks):
    """Divide the numbers of all blocks into ranges that workers take."""
    cdef size_t first, step = blocks // RANGES + 1
    return [range(first, min(first + step, blocks)) for first in range(0, blocks, step)]


cdef class _Builder:
    """Builds the lattices of a corpus. The methods are called in their order here."""

    cdef Corpus corpus
    cdef Pieces pieces
    cdef unique_ptr[LatticeBuilder] builder

    def __init__(self, Corpus corpus, Pieces pieces, size_t workers):
        self.corpus = corpus
        self.pieces = pieces
        self.builder.reset(new LatticeBuilder(corpus.segmented, pieces.pieces, workers))

    def blocks(self):
        return dereference(self.builder).blocks()

    def parts(self):
        return dereference(self.builder).parts()

    def lay_out(self, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                dereference(self.builder).lay_out(block)

    def find_longest(self, uint32_t part):
        with nogil:
            dereference(self.builder).find_longest(part)

    def finish(self, Lattices lattices):
        """Give the lattices what was built, and return their links."""
        cdef _NewLinks links = _NewLinks()
        with nogil:
            lattices.lattices = dereference(self.builder).take_lattices()
            links.links = dereference(self.builder).take_links()
        return links


cdef class _KeptLinks:
    """Makes the links of the pieces that stay. The methods are called in their order here."""

    cdef NewIds new_ids
    cdef unique_ptr[KeptLinks] links

    def begin(self, Lattices lattices, NewIds new_ids):
        self.new_ids = new_ids
        with nogil:
            self.links = lattices.lattices.keep_links(new_ids.ids, lattices.pieces.pieces)

    def parts(self):
        return dereference(self.links).parts()

    def keep(self, uint32_t part):
        with nogil:
            dereference(self.links).keep(part)

    def finish(self):
        cdef _NewLinks links = _NewLinks()
        links.first_nodes = dereference(self.links).take_longest_matches()
        links.links = dereference(self.links).take_links()
        self.links.reset()  # The old links are freed before the new ones grow.
        return links


cdef class _NewLinks:
    """Completes links and sets them in the lattices. The methods are called in their order here."""

    cdef NewLinks links
    cdef vector[uint32_t] first_nodes

    def parts(self):
        return self.links.parts()

    def count(self, uint32_t part):
        with nogil:
            self.links.count(part)

    def finish(self, Lattices lattices):
        with nogil:
            lattices.lattices.set_links(self.links, self.first_nodes)

    def renumber(self, Lattices lattices, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                lattices.lattices.renumber_block(block, self.first_nodes)
