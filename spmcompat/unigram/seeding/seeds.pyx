"""The seed pieces: all characters, and the best substrings of the text."""

from cython cimport final

from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.segments.corpus cimport Corpus, PieceRule, SegmentedCorpus, char32_t
from spmcompat.unigram.pieces cimport CPieces, Pieces

from spmcompat.errors import TrainingError
from spmcompat.releases import DEFAULT


cdef extern from "spmcompat/unigram/seeding/seed_tree.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedTree:
        bool of_characters
        bool cut_nodes
        bool ties_in_tree_order


cdef extern from "spmcompat/unigram/seeding/seeds.hpp" namespace "spmcompat" nogil:
    cdef cppclass Candidate:
        pass

    uint64_t least_count(float alpha, double text_bytes, int vocab_size)

    cdef cppclass SeedMode:
        bool pretokens
        bool recover

    cdef cppclass SuffixNodes:
        SuffixNodes(
            const SegmentedCorpus& corpus, const PieceRule& rule, SeedMode mode, SeedTree tree,
            size_t limit, float length_power, uint64_t least_count) except +
        void begin(size_t parts) except +
        void count(size_t part) except +
        void lay_out() except +
        void fill(size_t part)
        const vector[size_t]& group_sizes()
        void search(size_t group, vector[Candidate]& found) except +
        void gather(vector[vector[Candidate]]& found, size_t parts) except +
        void sort_part(size_t part) except +

    void add_pieces(const SuffixNodes& nodes, CPieces& pieces) except +


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    void append_characters(string_view text, vector[char32_t]& characters) except +
    void to_log_probabilities[Sum](vector[float]& score)


cdef extern from "spmcompat/unigram/seeding/candidate_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CCandidateCounts "spmcompat::CandidateCounts":
        CCandidateCounts(size_t limit, size_t longest, float length_power) except +
        void add(const SuffixNodes& nodes, vector[vector[Candidate]]& found) except +
        void best(vector[string]& pieces, vector[float]& scores) except +


NO_LIMIT = 1 << 62


@final
cdef class SeedRule:
    """Which candidates become seeds.

    Parameters
    ----------
    limit : int
        The largest number of them; the best are taken.
    length_power : float
        A candidate scores its count times this power of its length in characters (float32).
    min_freq_alpha : float
        Candidates of more than three bytes that occur less than this times the size of the text
        over K ln(K) are too rare (float32).
    vocab_size : int
        That K.
    pretokens : bool
        Whether segments are looked at by themselves: a candidate is then a segment that occurs
        twice or more, or a substring of several segments, or of several places in one, that is
        followed by different characters or ends of segments.
    recover : bool
        Whether the longest valid prefix of what is no valid piece is a candidate.
    """

    cdef SeedMode mode
    cdef size_t limit
    cdef float length_power
    cdef float min_freq_alpha
    cdef int vocab_size

    def __init__(
            self, size_t limit, float length_power=1.0, float min_freq_alpha=0.0,
            int vocab_size=8000, bint pretokens=False, bint recover=False):
        self.mode.pretokens = pretokens
        self.mode.recover = recover
        self.limit = limit
        self.length_power = length_power
        self.min_freq_alpha = min_freq_alpha
        self.vocab_size = vocab_size

    def without_limit(self):
        """Return the rule that takes all candidates."""
        return SeedRule(
            NO_LIMIT, self.length_power, self.min_freq_alpha, self.vocab_size,
            self.mode.pretokens, self.mode.recover)


@final
cdef class SeedSearch:
    """The search for the best substrings of a corpus, in steps that workers share.

    A substring is a candidate if it is a valid piece of two characters or more and is followed
    by at least two different symbols: bytes, or characters if the corpus was read so; `rule` tells
    which are taken, and of other candidates.
    """

    cdef unique_ptr[SuffixNodes] nodes
    cdef vector[vector[Candidate]] found
    cdef Corpus corpus
    cdef SeedRule rule
    cdef SeedTree tree
    cdef bint sum_in_float

    def __init__(
            self, Corpus corpus not None, SeedRule rule not None, int workers, release=DEFAULT):
        self.corpus = corpus
        self.rule = rule
        self.tree.of_characters = corpus.by_characters
        self.tree.cut_nodes = release.seed_nodes_are_cut
        self.tree.ties_in_tree_order = release.seed_ties_in_tree_order
        self.sum_in_float = release.seed_sum_in_float
        self.found.resize(workers)

    def prepare(self, workers):
        """Put the suffixes of all segments into buckets."""
        cdef size_t parts = 2 * workers.count
        workers.call(lambda: self._begin(parts))
        workers.run(range(parts), lambda _, part: self._count(part))
        workers.call(self._lay_out)
        workers.run(range(parts), lambda _, part: self._fill(part))

    def _begin(self, size_t parts):
        cdef SeedRule rule = self.rule
        cdef uint64_t least = least_count(
            rule.min_freq_alpha, self.corpus.text_bytes, rule.vocab_size)
        with nogil:
            self.nodes.reset(new SuffixNodes(
                self.corpus.segmented, self.corpus.rule, rule.mode, self.tree, rule.limit,
                rule.length_power, least))
            dereference(self.nodes).begin(parts)

    def _count(self, size_t part):
        with nogil:
            dereference(self.nodes).count(part)

    def _lay_out(self):
        with nogil:
            dereference(self.nodes).lay_out()

    def _fill(self, size_t part):
        with nogil:
            dereference(self.nodes).fill(part)

    def sizes(self):
        """Return the number of suffixes in each part of the search, the largest about first."""
        return list(dereference(self.nodes).group_sizes())

    def search(self, int worker, size_t part):
        """Find the candidates of one part."""
        with nogil:
            dereference(self.nodes).search(part, self.found[worker])

    def select(self, workers):
        """Rank what all workers found."""
        cdef size_t parts = 4 * workers.count
        workers.call(lambda: self._gather(parts))
        workers.run(range(parts), lambda _, part: self._sort_part(part))

    def _gather(self, size_t parts):
        with nogil:
            dereference(self.nodes).gather(self.found, parts)

    def _sort_part(self, size_t part):
        with nogil:
            dereference(self.nodes).sort_part(part)

    def seeds(self):
        """Return characters by count descending, then substrings by score descending."""
        cdef Pieces seeds = _characters(self.corpus)
        with nogil:
            add_pieces(dereference(self.nodes), seeds.pieces)
        _to_log_probabilities(seeds, self.sum_in_float)
        return seeds


@final
cdef class CandidateCounts:
    """The candidates of several chunks, their counts summed; in the end the best of them."""

    cdef unique_ptr[CCandidateCounts] counts

    def __init__(self, SeedRule rule not None, size_t longest):
        self.counts.reset(new CCandidateCounts(rule.limit, longest, rule.length_power))

    def add(self, SeedSearch search not None):
        """Take over what the search of a chunk has found."""
        with nogil:
            dereference(self.counts).add(dereference(search.nodes), search.found)

    def seeds(self, Corpus corpus not None):
        """Return the characters of the corpus, then the candidates by score descending."""
        cdef Pieces seeds = _characters(corpus)
        cdef vector[string] pieces
        cdef vector[float] scores
        cdef size_t i
        with nogil:
            dereference(self.counts).best(pieces, scores)
        for i in range(pieces.size()):
            seeds.pieces.add(string_view(pieces[i].data(), pieces[i].size()), scores[i])
        _to_log_probabilities(seeds, False)
        return seeds


cdef Pieces _characters(Corpus corpus):
    cdef Pieces seeds = Pieces()
    cdef int64_t count
    cdef bytes character
    for c, count in corpus.alphabet:
        if count > 0:
            character = chr(c).encode()
            seeds.pieces.add(character, <float>count)
    return seeds


cdef _to_log_probabilities(Pieces seeds, bint sum_in_float):
    with nogil:
        if sum_in_float:
            to_log_probabilities[float](seeds.pieces.score)
        else:
            to_log_probabilities[double](seeds.pieces.score)


def seed_from_corpus(
        Corpus corpus not None, SeedRule rule not None, workers, report, release=DEFAULT):
    """Return the seed pieces of a corpus.

    Parameters
    ----------
    corpus : Corpus
        The corpus.
    rule : SeedRule
        Which substrings are taken.
    workers : Workers
        Real threads.
    report : Report
        Told how far it is.
    release : Release
        Which candidates there are, and how they rank.

    Returns
    -------
    Pieces
        The characters and the best substrings; scores are logarithms of probabilities.

    Notes
    -----
    As ``MakeSeedSentencePieces`` of sentencepiece. A corpus that is too large for one search is
    searched chunk by chunk.
    """
    if corpus.chunks is None:
        search = SeedSearch(corpus, rule, workers.count, release)
        _find_candidates(search, workers, report)
        search.select(workers)
        return workers.call(search.seeds)
    counts = CandidateCounts(rule, corpus.rule.max_length)
    for chunk in corpus.chunks:
        _add_chunk(counts, chunk, rule, workers, report)
        del chunk  # before the next one is read
    return workers.call(lambda: counts.seeds(corpus))


def _add_chunk(counts, chunk, rule, workers, report):
    search = SeedSearch(chunk, rule.without_limit(), workers.count)
    _find_candidates(search, workers, report)
    workers.call(lambda: counts.add(search))


def _find_candidates(search, workers, report):
    report.step("Sorting suffixes")
    search.prepare(workers)
    sizes = search.sizes()
    with report.stage("Seeding", sum(sizes), "suffixes") as stage:
        def work(worker, part):
            search.search(worker, part)
            stage.advance(sizes[part])

        workers.run(range(len(sizes)), work)


def seed_from_merges(Corpus corpus not None, merges):
    """Return the characters of a corpus, then the merges of BPE in their order.

    Parameters
    ----------
    corpus : Corpus
        The corpus.
    merges : iterable of (bytes, int)
        Merged pieces, and the counts of their pairs; 0 where merges before have used them up.

    Returns
    -------
    Pieces
        Scores are logarithms of probabilities; a merge counts its count times its length.
    """
    cdef Pieces seeds = _characters(corpus)
    cdef bytes piece
    for piece, count in merges:
        seeds.pieces.add(piece, <float>(max(count, 1) * len(piece.decode())))
    _to_log_probabilities(seeds, False)
    return seeds


def seed_from_counts(Corpus corpus not None, counts, int64_t limit, release=DEFAULT):
    """Return the characters of a corpus and the pieces of a list, ranked by score.

    Parameters
    ----------
    corpus : Corpus
        Gives the characters and the rule for valid pieces.
    counts : iterable of (bytes, int)
        Pieces and their counts; invalid and, by the release, repeated ones are skipped.
    limit : int
        The largest number of seeds, characters included: the first ones, or the best.
    release : Release
        What is skipped and how the sum of scores is rounded.

    Returns
    -------
    seeds : Pieces
        By score descending, then bytes ascending; scores are logarithms of probabilities.
    skipped : int
        Number of pieces skipped.

    Raises
    ------
    TrainingError
        For a count so large that count times length is a multiple of 2**64, if the release does
        not take a score of 0, or if all scores are 0.
    """
    cdef vector[char32_t] characters
    cdef uint64_t score
    cdef int skipped = 0
    items = list(_characters(corpus))
    seen = {piece for piece, _ in items}
    for piece, count in counts:
        characters.clear()
        append_characters(piece, characters)
        known = piece in seen and not release.repeats_seed_file
        if known or not corpus.rule.allows(characters.data(), characters.size()):
            skipped += 1
            continue
        seen.add(piece)
        if len(items) >= limit and not release.repeats_seed_file:
            break
        # The product wraps in the reference, which may then refuse a score of 0.
        score = count * characters.size() % 2**64
        if score == 0 and release.seed_counts_are_positive:
            raise TrainingError(
                "[std::isfinite(score)] The count of the seed piece "
                f"{piece.decode(errors='replace')!r}, {count}, is too large: lower it.")
        items.append((piece, <float>score))
    items.sort(key=lambda item: (-item[1], item[0]))
    if release.repeats_seed_file:
        del items[limit:]
    if items and not any(score for _, score in items):
        raise TrainingError("No seed counts anything. Give counts above 0 in the seed file.")
    cdef Pieces seeds = Pieces(items)
    _to_log_probabilities(seeds, release.seed_sum_in_float)
    return seeds, skipped
