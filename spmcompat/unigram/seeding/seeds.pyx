"""The seeds: all characters, and the best substrings of the text."""

from libc.stdint cimport int64_t, uint64_t
from libcpp cimport bool
from libcpp.memory cimport unique_ptr
from libcpp.string_view cimport string_view
from libcpp.vector cimport vector

from cython.operator cimport dereference

from spmcompat.runtime.threads cimport CCrew, Crew, start_change, start_stage
from spmcompat.segments.corpus cimport Corpus, PieceRule, SegmentedCorpus, char32_t
from spmcompat.unigram.pieces cimport CPieces, Pieces

from spmcompat.errors import BadSettingError, NotFiniteError
from spmcompat.releases import DEFAULT
from spmcompat.unigram.options import NO_LIMIT


cdef extern from "spmcompat/unigram/seeding/seed_tree.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedTree:
        bool of_characters
        bool cut_nodes
        bool ties_in_tree_order


cdef extern from "spmcompat/unigram/seeding/suffix_tree.hpp" namespace "spmcompat" nogil:
    cdef cppclass SeedMode:
        bool pretokens
        bool recover

    cdef cppclass CSeedRule "spmcompat::SeedRule":
        SeedMode mode
        size_t limit
        float length_power
        float min_freq_alpha
        int vocab_size

    cdef cppclass SuffixTreeSearch:
        size_t size()

    unique_ptr[SuffixTreeSearch] sort_suffixes "spmcompat::SuffixTreeSearch::prepare"(
        const SegmentedCorpus& corpus, double text_bytes, const PieceRule& pieces,
        const CSeedRule& rule, SeedTree tree, CCrew& crew)
    void find_candidates "&spmcompat::SuffixTreeSearch::find"(CCrew& crew)


cdef extern from "spmcompat/unigram/seeding/ranking.hpp" namespace "spmcompat" nogil:
    CPieces add_best(
        CPieces& seeds, SuffixTreeSearch& search, size_t limit, vector[uint64_t]* counts,
        CCrew& crew)


cdef extern from "spmcompat/unigram/seeding/candidate_counts.hpp" namespace "spmcompat" nogil:
    cdef cppclass CandidateCounts:
        CandidateCounts(size_t limit, size_t longest, float length_power) except +

    void add_candidates "&spmcompat::CandidateCounts::add"(
        SuffixTreeSearch& search, CCrew& crew)
    CPieces add_best_counted "&spmcompat::CandidateCounts::add_best"(
        const CandidateCounts& candidates, CPieces& seeds, vector[uint64_t]* counts, CCrew& crew)


cdef extern from "spmcompat/unigram/pieces.hpp" namespace "spmcompat" nogil:
    void append_characters(string_view text, vector[char32_t]& characters) except +
    void to_log_probabilities[Sum](vector[float]& score)


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
        Corpus corpus not None, options, context, list counts=None):
    """Return the seeds of a corpus, like ``MakeSeedSentencePieces`` of sentencepiece.

    Parameters
    ----------
    corpus : Corpus
        The corpus. It is searched chunk by chunk if it has seeding chunks.
    options : UnigramOptions
        The options. With ``seed_mode=pretokens``, the text around segments is ignored: a candidate
        is a segment that occurs at least twice, or a substring that is followed by at least two
        different characters in the distinct segments. The end of each segment counts as a character
        that occurs nowhere else.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    Pieces
        The characters and the best substrings; scores are log probabilities.
    """
    cdef Crew crew = context.workers.crew
    cdef CSeedRule rule
    cdef SeedTree tree
    cdef unique_ptr[SuffixTreeSearch] search
    cdef unique_ptr[CandidateCounts] candidates
    cdef vector[uint64_t] found
    cdef vector[uint64_t]* wanted = NULL
    cdef Pieces seeds = _characters(corpus, counts)
    if counts is not None:
        wanted = &found
    release = options.release
    rule.mode.pretokens = options.seed_mode == "pretokens"
    rule.mode.recover = options.prefix_recovery
    rule.limit = options.seed_limit
    rule.length_power = options.seed_piece_length_power
    rule.min_freq_alpha = options.min_freq_alpha
    rule.vocab_size = options.vocab_size
    tree.of_characters = corpus.seed_tree_of_characters
    tree.cut_nodes = release.seed_nodes_are_cut
    tree.ties_in_tree_order = release.seed_ties_in_tree_order
    if corpus.chunks is None:
        _find_candidates(search, corpus, rule, tree, crew, context.report)
        start_stage(
            dereference(crew.crew), seeds.pieces, add_best, seeds.pieces, dereference(search),
            rule.limit, wanted)
        crew.await_stage()
    else:
        candidates.reset(new CandidateCounts(
            rule.limit, corpus.rule.max_piece_length, rule.length_power))
        rule.limit = NO_LIMIT
        for chunk in corpus.chunks:
            _find_candidates(search, chunk, rule, tree, crew, context.report)
            start_change(
                dereference(crew.crew), dereference(candidates), add_candidates,
                dereference(search))
            crew.await_stage()
            search.reset()
            del chunk  # Free it before the next chunk is read.
        start_stage(
            dereference(crew.crew), seeds.pieces, add_best_counted, dereference(candidates),
            seeds.pieces, wanted)
        crew.await_stage()
    if counts is not None:
        counts.extend(found)
    _to_log_probabilities(seeds, release.seed_sum_in_float)
    return seeds


cdef _find_candidates(
        unique_ptr[SuffixTreeSearch]& search, Corpus corpus, CSeedRule& rule, SeedTree& tree,
        Crew crew, report):
    """Search a corpus for candidates, and show the progress."""
    report.step("Sorting suffixes")
    start_stage(
        dereference(crew.crew), search, sort_suffixes, corpus.segmented, corpus.text_bytes,
        corpus.rule, rule, tree)
    crew.await_stage()
    with report.stage("Seeding", dereference(search).size(), "suffixes") as stage:
        start_change(dereference(crew.crew), dereference(search), find_candidates)
        crew.await_stage(stage)


def seed_from_merges(Corpus corpus not None, merges, list counts=None):
    """Return the characters of a corpus, then the merges of BPE in their order.

    Parameters
    ----------
    corpus : Corpus
        The corpus, whose characters come first.
    merges : iterable of (bytes, int, int)
        Each merged piece, how often its pair occurred, and the length of its left part. The count
        is 0 if earlier merges have used all occurrences of the pair.
    counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    Pieces
        Scores are log probabilities. The probability of a merge is proportional to its count (at
        least 1) times its length.
    """
    cdef Pieces seeds = _characters(corpus, counts)
    cdef bytes piece
    for piece, count, _ in merges:
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
        The corpus, with the characters and the rule for valid pieces.
    counts : iterable of (bytes, int)
        Pieces and their counts. Invalid pieces are skipped; in 0.2.3, repeated pieces are skipped,
        too.
    limit : int
        The maximum number of seeds, including the characters. Release 0.2.3 takes the first pieces
        of the file, earlier releases take those with the highest scores.
    release : Release
        The release to follow.
    seed_counts : list, optional
        The counts of the seeds are appended to it.

    Returns
    -------
    seeds : Pieces
        By descending score, then by bytes; scores are log probabilities.
    skipped : int
        The number of pieces that were skipped.

    Raises
    ------
    TrainingError
        If all scores are 0. In 0.2.3, also if any score is 0. A score is 0 if count times length
        is a multiple of 2**64.
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
        # In the reference, the product is taken modulo 2**64. Release 0.2.3 refuses a score of 0.
        score = count * characters.size() % 2**64
        if score == 0 and release.seed_counts_are_positive:
            raise NotFiniteError(
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
        raise BadSettingError("All seeds have the count 0. Give counts above 0 in the seed file.")
    if seed_counts is not None:
        seed_counts.extend(count_of[item] for item in items)
    cdef Pieces seeds = Pieces(items)
    _to_log_probabilities(seeds, release.seed_sum_in_float)
    return seeds, skipped
