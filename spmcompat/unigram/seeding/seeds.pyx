"""The seeds: all characters, and the best substrings of the text."""

from cython cimport final

from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.segments.corpus cimport Corpus, PieceRule, SegmentedCorpus, StringList, char32_t
from spmcompat.unigram.pieces cimport CPieces, Pieces

from spmcompat.errors import TrainingError
from spmcompat.releases import DEFAULT


cdef extern from "spmcompat/unigram/seeding/seed_tree.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedTree:
        bool of_characters
        bool cut_nodes
        bool ties_in_tree_order


cdef extern from "spmcompat/unigram/seeding/candidates.hpp" namespace "spmcompat" nogil:
    cdef cppclass Candidate:
        pass

    uint64_t least_count(float alpha, double text_bytes, int vocab_size)


cdef extern from "spmcompat/unigram/seeding/suffix_buckets.hpp" namespace "spmcompat" nogil:
    cdef cppclass SuffixBuckets:
        SuffixBuckets(const StringList& segments, size_t parts) except +
        void count(size_t part) except +
        void lay_out() except +
        void fill(size_t part)


cdef extern from "spmcompat/unigram/seeding/suffix_tree.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedMode:
        bool pretokens
        bool recover

    cdef cppclass SuffixTreeSearch:
        SuffixTreeSearch(
            const SegmentedCorpus& corpus, SuffixBuckets& buckets, const PieceRule& rule,
            SeedMode mode, SeedTree tree, size_t limit, float length_power,
            uint64_t least_count) except +
        const vector[size_t]& group_sizes()
        void search(size_t group, vector[Candidate]& found) except +


cdef extern from "spmcompat/unigram/seeding/ranking.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedRanking:
        SeedRanking(
            SuffixTreeSearch& search, vector[vector[Candidate]]& found, size_t parts,
            size_t limit) except +
        void sort(size_t part) except +
        void add_best(CPieces& seeds, vector[uint64_t]* counts) except +


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    void append_characters(string_view text, vector[char32_t]& characters) except +
    void to_log_probabilities[Sum](vector[float]& score)


cdef extern from "spmcompat/unigram/seeding/candidate_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CCandidateCounts "spmcompat::CandidateCounts":
        CCandidateCounts(size_t limit, size_t longest, float length_power) except +
        void add(const SuffixTreeSearch& search, vector[vector[Candidate]]& found) except +
        void best(
            vector[string]& pieces, vector[float]& scores, vector[uint64_t]* counts) except +


NO_LIMIT = 1 << 62


@final
cdef class SeedRule:
    """Which substrings are candidates, and which candidates become seeds.

    Parameters
    ----------
    limit : int
        The best candidates up to this number become seeds.
    length_power : float
        The score of a candidate is its count times this power of its length in characters
        (float32).
    min_freq_alpha : float
        Drop candidates of more than three bytes whose count is below this times the size of the
        text over V ln(V), with V = `vocab_size` (float32).
    vocab_size : int
        The size of the vocabulary.
    pretokens : bool
        Whether segments are taken by themselves, without the text around them. A candidate is then
        a segment that occurs at least twice, or a substring that occurs in the distinct segments
        before different characters or ends of segments.
    recover : bool
        Whether the longest valid prefix replaces a candidate that is no valid piece.
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
        """Return the same rule with no limit."""
        return SeedRule(
            NO_LIMIT, self.length_power, self.min_freq_alpha, self.vocab_size,
            self.mode.pretokens, self.mode.recover)


@final
cdef class SeedSearch:
    """The search for the best substrings of a corpus, in steps that workers share.

    The steps, in this order: `prepare`, `search` for all groups of suffixes, `select`, `seeds`.

    A substring is a candidate if it is a valid piece of at least two characters that different
    symbols follow. A symbol is a byte, or a character in releases before 0.2.3. `rule` tells which
    candidates become seeds, and can define candidates in another way.
    """

    cdef unique_ptr[SuffixBuckets] buckets
    cdef unique_ptr[SuffixTreeSearch] tree_search
    cdef unique_ptr[SeedRanking] ranking
    cdef vector[vector[Candidate]] found  # by worker
    cdef Corpus corpus
    cdef SeedRule rule
    cdef SeedTree tree
    cdef bint sum_in_float

    def __init__(
            self, Corpus corpus not None, SeedRule rule not None, int workers, release=DEFAULT):
        self.corpus = corpus
        self.rule = rule
        self.tree.of_characters = corpus.seed_tree_of_characters
        self.tree.cut_nodes = release.seed_nodes_are_cut
        self.tree.ties_in_tree_order = release.seed_ties_in_tree_order
        self.sum_in_float = release.seed_sum_in_float
        self.found.resize(workers)

    def prepare(self, workers):
        """Put the suffixes of all segments into buckets."""
        cdef size_t parts = 2 * workers.count
        self.buckets.reset(new SuffixBuckets(self.corpus.segmented.segments, parts))
        workers.run(range(parts), lambda _, part: self._count_suffixes(part))
        workers.call(self._lay_out_buckets)
        workers.run(range(parts), lambda _, part: self._fill_buckets(part))
        workers.call(self._begin_search)

    def _count_suffixes(self, size_t part):
        with nogil:
            dereference(self.buckets).count(part)

    def _lay_out_buckets(self):
        with nogil:
            dereference(self.buckets).lay_out()

    def _fill_buckets(self, size_t part):
        with nogil:
            dereference(self.buckets).fill(part)

    def _begin_search(self):
        cdef SeedRule rule = self.rule
        cdef uint64_t least = least_count(
            rule.min_freq_alpha, self.corpus.text_bytes, rule.vocab_size)
        with nogil:
            self.tree_search.reset(new SuffixTreeSearch(
                self.corpus.segmented, dereference(self.buckets), self.corpus.rule, rule.mode,
                self.tree, rule.limit, rule.length_power, least))
            self.buckets.reset()

    def sizes(self):
        """Return the number of suffixes in each group; the largest groups come first, roughly."""
        return list(dereference(self.tree_search).group_sizes())

    def search(self, int worker, size_t group):
        """Find the candidates of one group of suffixes."""
        with nogil:
            dereference(self.tree_search).search(group, self.found[worker])

    def select(self, workers):
        """Rank the candidates of all workers."""
        cdef size_t parts = 4 * workers.count
        workers.call(lambda: self._begin_ranking(parts))
        workers.run(range(parts), lambda _, part: self._rank(part))

    def _begin_ranking(self, size_t parts):
        with nogil:
            self.ranking.reset(new SeedRanking(
                dereference(self.tree_search), self.found, parts, self.rule.limit))

    def _rank(self, size_t part):
        with nogil:
            dereference(self.ranking).sort(part)

    def seeds(self, list counts=None):
        """Return characters by count descending, then substrings by score descending.

        The counts of both are appended to the list `counts`, if one is given.
        """
        cdef Pieces seeds = _characters(self.corpus, counts)
        cdef vector[uint64_t] found
        cdef vector[uint64_t]* wanted = NULL
        if counts is not None:
            wanted = &found
        with nogil:
            dereference(self.ranking).add_best(seeds.pieces, wanted)
        if counts is not None:
            counts.extend(found)
        _to_log_probabilities(seeds, self.sum_in_float)
        return seeds


@final
cdef class CandidateCounts:
    """The candidates of several seeding chunks, with the sums of their counts."""

    cdef unique_ptr[CCandidateCounts] counts

    def __init__(self, SeedRule rule not None, size_t longest):
        self.counts.reset(new CCandidateCounts(rule.limit, longest, rule.length_power))

    def add(self, SeedSearch search not None):
        """Move the candidates of a finished search into these counts."""
        with nogil:
            dereference(self.counts).add(dereference(search.tree_search), search.found)

    def seeds(self, Corpus corpus not None, list counts=None):
        """Return the characters of the corpus, then the best candidates by score descending.

        The counts of both are appended to the list `counts`, if one is given.
        """
        cdef Pieces seeds = _characters(corpus, counts)
        cdef vector[string] pieces
        cdef vector[float] scores
        cdef vector[uint64_t] found
        cdef vector[uint64_t]* wanted = NULL
        cdef size_t i
        if counts is not None:
            wanted = &found
        with nogil:
            dereference(self.counts).best(pieces, scores, wanted)
        if counts is not None:
            counts.extend(found)
        for i in range(pieces.size()):
            seeds.pieces.add(string_view(pieces[i].data(), pieces[i].size()), scores[i])
        _to_log_probabilities(seeds, False)
        return seeds


cdef Pieces _characters(Corpus corpus, list counts=None):
    cdef Pieces seeds = Pieces()
    cdef int64_t count
    cdef bytes character
    for c, count in corpus.alphabet:
        if count > 0:
            character = chr(c).encode()
            seeds.pieces.add(character, <float>count)
            if counts is not None:
                counts.append(count)
    return seeds


cdef _to_log_probabilities(Pieces seeds, bint sum_in_float):
    with nogil:
        if sum_in_float:
            to_log_probabilities[float](seeds.pieces.score)
        else:
            to_log_probabilities[double](seeds.pieces.score)


def seed_from_corpus(
        Corpus corpus not None, SeedRule rule not None, workers, report, release=DEFAULT,
        list counts=None):
    """Return the seeds of a corpus, as ``MakeSeedSentencePieces`` of sentencepiece.

    Parameters
    ----------
    corpus : Corpus
        The corpus. It is searched chunk by chunk if it has seeding chunks.
    rule : SeedRule
        Which substrings become seeds.
    workers : Workers
        Real threads.
    report : Report
        Receives progress.
    release : Release
        The release to follow.
    counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    Pieces
        The characters and the best substrings; scores are log probabilities.
    """
    if corpus.chunks is None:
        search = SeedSearch(corpus, rule, workers.count, release)
        _find_candidates(search, workers, report)
        search.select(workers)
        return workers.call(lambda: search.seeds(counts))
    found = CandidateCounts(rule, corpus.rule.max_length)
    for chunk in corpus.chunks:
        _add_chunk(found, chunk, rule, workers, report)
        del chunk  # Free it before the next one is read.
    return workers.call(lambda: found.seeds(corpus, counts))


def _add_chunk(counts, chunk, rule, workers, report):
    # Without a release: only the default one, 0.2.3, has seeding chunks.
    search = SeedSearch(chunk, rule.without_limit(), workers.count)
    _find_candidates(search, workers, report)
    workers.call(lambda: counts.add(search))


def _find_candidates(search, workers, report):
    report.step("Sorting suffixes")
    search.prepare(workers)
    sizes = search.sizes()
    with report.stage("Seeding", sum(sizes), "suffixes") as stage:
        def work(worker, group):
            search.search(worker, group)
            stage.advance(sizes[group])

        workers.run(range(len(sizes)), work)


def seed_from_merges(Corpus corpus not None, merges, list counts=None):
    """Return the characters of a corpus, then the merges of BPE in their order.

    Parameters
    ----------
    corpus : Corpus
        The corpus.
    merges : iterable of (bytes, int)
        Merged pieces, and the counts of their pairs; 0 if earlier merges have used all of them.
    counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    Pieces
        Scores are log probabilities; the weight of a merge is its count times its length.
    """
    cdef Pieces seeds = _characters(corpus, counts)
    cdef bytes piece
    for piece, count in merges:
        if counts is not None:
            counts.append(count)
        seeds.pieces.add(piece, <float>(max(count, 1) * len(piece.decode())))
    _to_log_probabilities(seeds, False)
    return seeds


def seed_from_counts(
        Corpus corpus not None, counts, int64_t limit, release=DEFAULT, list seed_counts=None):
    """Return the characters of a corpus and the pieces of a seed file, ranked by score.

    Parameters
    ----------
    corpus : Corpus
        Has the characters and the rule for valid pieces.
    counts : iterable of (bytes, int)
        Pieces and their counts. Invalid pieces are skipped, and repeated ones in 0.2.3.
    limit : int
        The largest number of seeds, with the characters: in 0.2.3 the first of the file, in earlier
        releases the best.
    release : Release
        The release to follow.
    seed_counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    seeds : Pieces
        By score descending, then bytes ascending; scores are log probabilities.
    skipped : int
        Number of pieces skipped.

    Raises
    ------
    TrainingError
        If a score is 0 in 0.2.3, because count times length is a multiple of 2**64; or if all
        scores are 0.
    """
    cdef vector[char32_t] characters
    cdef uint64_t score
    cdef int skipped = 0
    cdef list of_characters = None if seed_counts is None else []
    items = list(_characters(corpus, of_characters))
    count_of = {} if seed_counts is None else dict(zip(items, of_characters))
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
        # In the reference the product wraps at 64 bits; 0.2.3 refuses a score of 0.
        score = count * characters.size() % 2**64
        if score == 0 and release.seed_counts_are_positive:
            raise TrainingError(
                "[std::isfinite(score)] The count of the seed piece "
                f"{piece.decode(errors='replace')!r}, {count}, is too large: lower it.")
        item = (piece, <float>score)
        items.append(item)
        if seed_counts is not None:
            count_of[item] = count
    items.sort(key=lambda item: (-item[1], item[0]))
    if release.repeats_seed_file:
        del items[limit:]
    if items and not any(score for _, score in items):
        raise TrainingError("No seed counts anything. Give counts above 0 in the seed file.")
    if seed_counts is not None:
        seed_counts.extend(count_of[item] for item in items)
    cdef Pieces seeds = Pieces(items)
    _to_log_probabilities(seeds, release.seed_sum_in_float)
    return seeds, skipped
