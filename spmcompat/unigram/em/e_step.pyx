"""The E-step: expected counts, and the counts of the best paths, over the lattices of a corpus."""

from cython cimport final

import os

from cython.operator cimport dereference

from spmcompat.runtime.cancel cimport CancelFlag


cdef int LIKELIHOOD_LANES = 16
# How many ranges of lattice blocks the workers share. More would be more even, and cost more calls.
cdef size_t RANGES = 256


@final
cdef class Counts:
    """The sums of all lanes of one pass over the corpus."""

    def __len__(self):
        return self.sums.expected.size()

    def __getitem__(self, size_t piece):
        if piece >= self.sums.expected.size():
            raise IndexError(piece)
        return self.sums.expected[piece]

    @property
    def objective(self):
        """The negative log likelihood per pretoken, as the reference logs it."""
        return self.sums.objective


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
        builder = _Builder(corpus, pieces)
        workers.run(_ranges(builder.blocks()), lambda _, blocks: builder.lay_out(blocks))
        workers.run(range(BUILDER_PARTS), lambda _, part: builder.find_longest(part))
        links = workers.call(lambda: builder.finish(self))
        self._set_links(links, workers)
        self.arithmetic.avx2 = has_avx2() and os.environ.get("SPMCOMPAT_AVX2") != "0"
        self.arithmetic.log_sum_exp = exact_log_sum_exp(with_log1p)
        self.total_count = 0
        for count in corpus.segmented.pretoken_count:
            self.total_count += count
        self.shared_first_segments = shared_first_segments(
            corpus.segmented, self.lattices.blocks())

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
        workers.run(self._block_ranges(), lambda _, blocks: links.renumber(self, blocks))

    def rescore(self, Pieces pieces not None):
        """Change to other scores of the same pieces, in the same order."""
        self.pieces = pieces
        with nogil:
            self.lattices.rescore(pieces.pieces)

    def _block_ranges(self):
        return _ranges(self.lattices.blocks())

    def _find_shared_alphas(self, workers):
        workers.run(
            self._block_ranges(), lambda _, blocks: self._find_shared_alphas_in_blocks(blocks))

    def _find_shared_alphas_in_blocks(self, range blocks):
        cdef size_t block, first = blocks.start, last = blocks.stop
        with nogil:
            for block in range(first, last):
                find_shared_alphas(
                    self.lattices.block(block), self.shared_first_segments[block],
                    self.lattices.links(), self.arithmetic)

    def log_likelihood(self, workers):
        """Return the log likelihood of the corpus, over all segmentations, in nats.

        The sums are taken in double, in the same order for any number of workers.
        """
        self._find_shared_alphas(workers)
        cdef _Pass work = _Pass(self, LIKELIHOOD_LANES, workers)
        workers.run(range(workers.count), work.add_log_likelihoods)
        return dereference(work.lanes).take_total().log_likelihood

    def expected_counts(self, int lanes, workers):
        """Return the expected counts (float32) of all pieces: `Counts`.

        Pretoken i is summed in lane i mod `lanes`; the lanes are added in order.
        """
        if self.lattices.links().finite():
            self._find_shared_alphas(workers)
        cdef _Pass work = _Pass(self, lanes, workers)
        workers.run(range(workers.count), work.add_expected_counts)
        return work.counts()

    def best_path_counts(self, int lanes, workers, bint single_sum=False):
        """Return how often each piece is in the best segmentations: `Counts`.

        They are summed in the same order as the expected counts. With `single_sum` all lanes, one
        after the other, add to the same sum.
        """
        cdef _Pass work = _Pass(self, lanes, workers, single_sum)
        workers.run(range(workers.count), work.add_best_paths)
        return work.counts()


def _ranges(size_t blocks):
    """Divide the numbers of all blocks into ranges that workers take."""
    cdef size_t first, step = blocks // RANGES + 1
    return [range(first, min(first + step, blocks)) for first in range(0, blocks, step)]


cdef class _Builder:
    """Builds the lattices of a corpus. The methods are called in their order here."""

    cdef Corpus corpus
    cdef Pieces pieces
    cdef unique_ptr[LatticeBuilder] builder

    def __init__(self, Corpus corpus, Pieces pieces):
        self.corpus = corpus
        self.pieces = pieces
        self.builder.reset(new LatticeBuilder(corpus.segmented, pieces.pieces))

    def blocks(self):
        return dereference(self.builder).blocks()

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


cdef class _Pass:
    """One pass over the pretokens of a corpus, which workers share out."""

    cdef Lattices lattices
    cdef CancelFlag cancel
    cdef unique_ptr[Lanes] lanes

    def __init__(self, Lattices lattices, int lanes, workers, bint single_sum=False):
        self.lattices = lattices
        self.cancel = workers.cancel
        self.lanes.reset(new Lanes(
            lattices.corpus.segmented, lattices.lattices, lanes, single_sum, workers.count,
            self.cancel.flag))

    def add_expected_counts(self, _worker, _task):
        with nogil:
            add_expected_counts(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic,
                self.lattices.total_count)

    def add_log_likelihoods(self, _worker, _task):
        with nogil:
            add_log_likelihoods(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic)

    def add_best_paths(self, _worker, _task):
        with nogil:
            add_best_paths(
                dereference(self.lanes), self.lattices.lattices, self.lattices.arithmetic)

    cdef Counts counts(self):
        cdef Counts total = Counts()
        total.sums = dereference(self.lanes).take_total()
        return total


@final
cdef class NewIds:
    """The new id of each old piece, or kDropped. The last item is the id of the unknown piece."""

    cdef bint are_unchanged(self) noexcept:
        cdef size_t i
        for i in range(self.ids.size()):
            if self.ids[i] != i:
                return False
        return True
