"""Sentences folded into distinct words, and the corpus that the trainers read.

The C++ side: fold.hpp folds sentences into words, word_table.hpp holds the words of all workers,
word_counts.hpp counts them and holds the order of the sentences, segmenter.hpp cuts words into
segments, chunks.hpp cuts the text into chunks. Here stand the owners of these objects and the calls
into them; all of them release the GIL while they work.
"""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference
from libcpp.memory cimport unique_ptr
from libcpp.string_view cimport string_view
from libcpp.utility cimport move, pair

from spmcompat.corpus.lines cimport Block, Sample, Sentences
from spmcompat.errors import TrainingError


cdef unsigned int SHARD_BITS = 6
cdef size_t PARTS_PER_WORKER = 4


class WordsNotKeptError(Exception):
    """The words of the sentences are needed, and were not kept."""


def return_freed_memory():
    """Give the system back what is free, and from now on every large block when it is freed.

    The GNU C library keeps small blocks, and raises the size that it calls large with every such
    block, up to 32 MiB.
    """
    with nogil:
        c_return_freed_memory()


@final
cdef class TextRules:
    """How a sentence becomes words: normalization, symbols, word boundaries.

    Parameters
    ----------
    charsmap : bytes
        Compiled normalization rules; empty for none.
    symbols : list of bytes
        Meta pieces; where one stands in the text, it is cut out.
    options
        Any object with the attributes of `spmcompat.corpus.reading.CorpusOptions`.
    ordered : bool
        Whether the order of sentences and what follows each word is kept.
    pretokenize : callable, optional
        Puts boundary marks into a normalized sentence (bytes).
    copies : int
        How often each sentence counts, whatever its own count is; 0 takes that.

    Attributes
    ----------
    looks_at_text_end : bool
        Whether the words at the end of the text decide.
    keeps_order : bool
        Whether the order of sentences decides more than which of them ends the text.
    """

    cdef unique_ptr[CNormalizer] normalizer
    cdef unique_ptr[CMetaPieceMatcher] matcher
    cdef unique_ptr[CScriptRuns] script_runs
    cdef FoldOptions fold
    cdef PieceRule rule
    cdef Delimiter delimiter
    cdef bint looks_again
    cdef bint by_characters
    cdef readonly bint looks_at_text_end
    cdef readonly bint keeps_order
    cdef object pretokenize

    def __init__(self, bytes charsmap not None, list symbols not None, options,
                 bint ordered=True, pretokenize=None, int copies=0):
        cdef NormalizerOptions spaces
        spaces.add_dummy_prefix = options.add_dummy_prefix
        spaces.remove_extra_whitespaces = options.remove_extra_whitespaces
        spaces.escape_whitespaces = True
        spaces.treat_whitespace_as_suffix = options.treat_whitespace_as_suffix
        self.normalizer.reset(new CNormalizer(charsmap, spaces))
        self.matcher.reset(new CMetaPieceMatcher(symbols, options.release.boundary))

        self.rule.max_length = options.max_piece_length
        self.rule.split_by_unicode_script = options.split_by_unicode_script
        self.rule.split_by_number = options.split_by_number
        self.rule.split_by_whitespace = options.split_by_whitespace
        self.rule.split_digits = options.split_digits
        self.rule.whitespace_as_suffix = (
            options.treat_whitespace_as_suffix and not options.space_begins_word)
        self.rule.whitespace_only = options.allow_whitespace_only_pieces
        self.rule.spaces_apart = options.spaces_apart
        self.rule.boundary = options.release.boundary
        self.looks_again = options.release.removes_all_empty

        self.by_characters = options.release.seed_tree_of_characters
        self.looks_at_text_end = (
            ordered and options.for_seeds and options.release.seed_nodes_are_cut)

        delimiter = options.pretokenization_delimiter.encode()
        if delimiter and options.release.delimiter_leaves_words:
            self.delimiter.text = delimiter
            self.delimiter.parts = options.for_seeds
            self.delimiter.by_byte = options.release.delimiter_parts_by_byte
            delimiter = b""
        mark = "\u2581".encode()
        self.fold.ordered = ordered
        self.fold.counted = options.tsv
        self.fold.copies = copies
        self.fold.delimiter = delimiter
        self.fold.whole_sentences = (
            not options.split_by_whitespace or self.delimiter.text.size() > 0)
        self.pretokenize = pretokenize
        self.fold.pretokenized = pretokenize is not None
        # A function of the caller marks boundaries as the reference would.
        self.fold.spare_marks = isinstance(options.pretokenizer, str)
        if options.pretokenizer == "script":
            self.script_runs.reset(new CScriptRuns())
            self.fold.script_runs = self.script_runs.get()
        marks_stay = mark not in delimiter and not any(mark in symbol for symbol in symbols)
        # Of a boundary in the place of the mark, which a character that is not kept then takes,
        # the first byte is the same. A pre-tokenizer may begin a sentence as it likes.
        self.fold.uniform_starts = options.spaces_apart or (
            options.add_dummy_prefix
            and not options.treat_whitespace_as_suffix
            and (marks_stay or not options.all_characters)
            and pretokenize is None)
        self.keeps_order = (
            self.fold.whole_sentences or self.looks_at_text_end or not self.fold.uniform_starts)
        self.fold.short_way = (
            self.fold.uniform_starts
            and pretokenize is None
            and options.remove_extra_whitespaces
            and not self.fold.whole_sentences
            and dereference(self.normalizer).words_are_independent()
            and marks_stay)

    @property
    def whole_sentences(self):
        """Whether sentences are folded whole."""
        return self.fold.whole_sentences


@final
cdef class Batch:
    """The sentences of one block, in order, by the ids of the folder that read it."""

    cdef CBatchLog log
    cdef readonly int folder

    @property
    def text_bytes(self):
        """Size of the text, in bytes."""
        return self.log.text_bytes

    @property
    def text_words(self):
        """Number of words (runs between spaces, where these are folded unread)."""
        return self.log.text_words

    @property
    def sentences(self):
        """Number of sentences."""
        return self.log.sentences

    @property
    def filled(self):
        """Number of sentences that are not empty."""
        return self.log.filled

    def drop_words(self):
        """Free the words of the sentences."""
        self.log.drop_words()

    def forget(self):
        """Forget all sentences but their numbers; for rules that keep no order."""
        self.log.forget()


@final
cdef class Folder:
    """One worker's words."""

    cdef unique_ptr[CFolder] folder
    cdef TextRules rules
    cdef int number

    def __init__(self, int number, TextRules rules not None):
        self.number = number
        self.rules = rules
        self.folder.reset(new CFolder(
            rules.fold, rules.rule, dereference(rules.normalizer), dereference(rules.matcher)))

    def add(self, uint64_t index, Block block not None, Sentences sentences not None,
            bint keep_words, Chunk chunk=None):
        """Fold every sentence of the block with this index; returns its `Batch`.

        If a chunk is given, only its sentences are folded.
        """
        cdef const char* text
        cdef size_t size
        cdef unique_ptr[ChunkFolder] folder = self._begin_batch(index, keep_words, chunk)
        try:
            if block.is_lines:
                text = PyBytes_AS_STRING(block.text)
                size = PyBytes_GET_SIZE(block.text)
                with nogil:
                    fold_lines[size_t](
                        dereference(sentences.filter), text, size, dereference(folder))
            else:
                with nogil:
                    fold_lines[vector[size_t]](
                        dereference(sentences.filter), block.items.data(), block.ends,
                        dereference(folder))
        except RuntimeError as error:
            sentences._fail(block, error)
        return self._end_batch()

    def add_sample(self, uint64_t index, Sample sample not None, size_t first, size_t last,
                   bint keep_words, Chunk chunk=None):
        """Fold the sentences [first, last) of a sample; returns their `Batch`.

        If a chunk is given, only its sentences are folded.
        """
        cdef unique_ptr[ChunkFolder] folder = self._begin_batch(index, keep_words, chunk)
        with nogil:
            fold_sample(dereference(sample.sampler), first, last, dereference(folder))
        return self._end_batch()

    cdef unique_ptr[ChunkFolder] _begin_batch(self, uint64_t index, bint keep_words, Chunk chunk):
        cdef const CChunk* chosen = NULL
        if chunk is not None:
            chosen = &chunk.chunk
        dereference(self.folder).begin_batch(index, keep_words)
        return unique_ptr[ChunkFolder](new ChunkFolder(chosen, index, dereference(self.folder)))

    cdef Batch _end_batch(self):
        cdef Batch batch = Batch()
        if self.rules.pretokenize is not None:
            self._pretokenize()
        batch.folder = self.number
        batch.log = move(dereference(self.folder).end_batch())
        return batch

    cdef _pretokenize(self):
        cdef CountedTexts sentences = dereference(self.folder).take_normalized()
        cdef CountedTexts marked
        cdef bytes text
        for i in range(sentences.size()):
            text = self.rules.pretokenize(
                PyBytes_FromStringAndSize(sentences[i].data(), sentences[i].size()))
            marked.add(
                string_view(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)), sentences.count(i))
        with nogil:
            dereference(self.folder).add_pretokenized(marked)

    def characters(self):
        """Return how often each character stands in the text; for rules without order."""
        cdef CharacterCounts counts
        with nogil:
            count_text_characters(dereference(self.folder), counts)
        return _counted(counts)

    def segments(self, list characters not None, bytes delimiter=b"", size_t longest=0):
        """Return the `SegmentCounts` of the text; no segment holds any but these characters.

        Afterwards nothing is left in the folder.

        Parameters
        ----------
        characters : list of int
            The required characters.
        delimiter : bytes, optional
            Words are cut there too, after other characters were replaced.
        longest : int, optional
            How many places of a word can be counted; 0 for any number.

        Raises
        ------
        TrainingError
            For a longer word.
        """
        cdef SegmentCounts found = SegmentCounts()
        cdef vector[char32_t] required = characters
        cdef WordRule rule = _word_rule(self.rules.rule, delimiter, longest)
        found.rule = self.rules.rule
        try:
            with nogil:
                cut_text(dereference(self.folder), rule, required, found.segments)
        except RuntimeError as error:
            raise _too_long(error, longest) from None
        self.folder.reset()
        return found


cdef WordRule _word_rule(PieceRule pieces, bytes delimiter, size_t longest):
    cdef WordRule rule
    rule.pieces = pieces
    rule.delimiter = delimiter
    rule.longest = longest
    return rule


def _too_long(error, longest):
    return TrainingError(
        f"{error}: this release of sentencepiece counts its places in 16 bits, up to {longest} "
        "characters. Lower --max_sentence_length, or choose another release with compat.")


@final
cdef class Chunk:
    """The sentences of one chunk of the text."""

    cdef CChunk chunk

    @property
    def batches(self):
        """The batches that hold its sentences, ascending."""
        return [stretch.batch for stretch in self.chunk.stretches]

    @property
    def sentences(self):
        """Number of sentences."""
        return self.chunk.size

    def forget_others(self, Batch batch not None):
        """Forget all sentences of a batch but the last of the chunk, as `Batch.forget` does."""
        self.chunk.forget_others(batch.log)


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
        cdef vector[char32_t] required = [c for c, _ in alphabet]
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


@final
cdef class Builder:
    """From all folders to one corpus.

    Parameters
    ----------
    rules : TextRules
        How the words were made.
    workers : Workers
        Real threads.

    Attributes
    ----------
    sentences : int
        Number of sentences, once they are merged.
    nuls : int
        How often NUL stands in the text, once its characters are counted.
    part_characters : dict of int to int
        Once the corpus is built: if delimiters of the pre-tokenization are taken out, how often
        each known character (code point) stands between them.
    """

    cdef unique_ptr[WordCounts] words
    cdef SentenceOrder order
    cdef vector[CharacterCounts] character_counts
    cdef unique_ptr[DelimitedSentences] delimited
    cdef unique_ptr[WordCounts] undelimited_words
    cdef unique_ptr[Segmenter] segmenter
    cdef TextRules rules
    cdef object workers
    cdef readonly object sentences
    cdef readonly object nuls
    cdef readonly object part_characters
    cdef bint has_words

    def __init__(self, TextRules rules not None, workers):
        self.rules = rules
        self.workers = workers
        self.words.reset(new WordCounts(SHARD_BITS))

    def merge(self, list folders not None, list batches not None, bint has_words):
        """Take over the words of `folders` and the sentences of `batches`, in their order.

        The folders and batches are empty then. `has_words` tells whether the batches hold the
        words of their sentences.
        """
        self.has_words = has_words
        if not has_words and not self.rules.keeps_order:
            self.sentences = self._absorb_words(folders, batches)
            return
        cdef bint uniform = self.rules.fold.uniform_starts
        # Where words are counted, sentences that stay empty change nothing but the text's end.
        cdef bint in_order = self.rules.fold.whole_sentences or self.rules.looks_at_text_end
        cdef bint looks_again = self.rules.looks_again or not in_order
        self._absorb(folders, batches, has_words)
        with nogil:
            self.order.remove_empty(looks_again)
            dereference(self.words).close_sentences(self.order, uniform)
        self.sentences = self.order.last.size()
        if not has_words and not self.rules.fold.whole_sentences:
            self.order = SentenceOrder()

    def _absorb(self, list folders, list batches, bint has_words):
        cdef Folder folder
        cdef Batch batch
        self.workers.run(folders, lambda _, folder: self._finish(folder, True))
        for batch in batches:
            folder = folders[batch.folder]
            with nogil:
                self.order.append(move(batch.log), dereference(folder.folder), has_words)
        for folder in folders:
            folder.folder.reset()
        return_freed_memory()

    def _absorb_words(self, list folders, list batches):
        """Take over the words where no order is kept; returns the number of sentences."""
        cdef Folder folder
        cdef Batch batch
        cdef TextEnding ending
        cdef string last
        for batch in batches:
            ending.add(batch.log, batch.folder)
        if ending.sentences() > 0:
            ending.find()
            folder = folders[ending.folder()]
            last = dereference(folder.folder).last_word(ending.id())
        self.workers.run(folders, lambda _, folder: self._finish(folder, False))
        for folder in folders:
            folder.folder.reset()
        if ending.sentences() > 0:
            dereference(self.words).close_sentences(last)
        return_freed_memory()
        return ending.sentences()

    def _finish(self, Folder folder, bint keep_ids):
        with nogil:
            dereference(folder.folder).finish(dereference(self.words).words(), keep_ids)

    def _for_each_shard(self, function):
        self.workers.run(range(dereference(self.words).words().shards()), function)

    def characters(self):
        """Return how often each character (code point) stands in the corpus.

        NUL is left out; how often that stands there is known afterwards as `nuls`.
        """
        return self._all_characters(self._count_characters)

    def _all_characters(self, count):
        cdef size_t worker
        self.character_counts.clear()
        self.character_counts.resize(self.workers.count)
        self._for_each_shard(count)
        for worker in range(1, self.character_counts.size()):
            self.character_counts[0].add(self.character_counts[worker])
        self.nuls = self.character_counts[0].nuls()
        found = _counted(self.character_counts[0])
        self.character_counts.clear()
        self.character_counts.shrink_to_fit()
        return found

    def _count_characters(self, size_t worker, uint32_t shard):
        with nogil:
            dereference(self.words).count_characters(shard, self.character_counts[worker])

    def build(self, list alphabet not None):
        """Replace all characters but those of `alphabet`, cut the words, return the `Corpus`.

        Parameters
        ----------
        alphabet : list of (int, int)
            Required characters and their counts.

        Raises
        ------
        WordsNotKeptError
            If words merge because the space mark is not required, and the words of the
            sentences were not kept.
        """
        cdef bint uniform = self.rules.fold.uniform_starts
        # Seeds alone need no order but that of words.
        cdef bint in_order = (
            not self.rules.rule.split_by_whitespace and not self.rules.delimiter.parts)
        cdef bint is_whole = self.rules.fold.whole_sentences
        # Without its mark a space is an unknown character, and no longer ends a word.
        has_mark = self.rules.rule.spaces_apart or any(c == 0x2581 for c, _ in alphabet)
        if not is_whole and not has_mark:
            if not self.has_words:
                raise WordsNotKeptError()
            self.workers.call(lambda: self._join_sentences(uniform))
        return self._build(alphabet, in_order)

    def _join_sentences(self, bint uniform):
        cdef unique_ptr[WordCounts] joined
        with nogil:
            joined.reset(new WordCounts(SHARD_BITS))
            dereference(self.words).join_sentences(self.order, uniform, dereference(joined))
            self.words = move(joined)
            dereference(self.words).close_sentences(self.order, uniform)

    def build_chunk(self, list folders not None, list batches not None, Chunk chunk not None,
                    list alphabet not None):
        """Return a `Corpus` of the sentences of one chunk, which `folders` have read.

        It serves to find seeds. Words need not be joined for that where the space mark is not
        required: every unknown character ends a segment.
        """
        cdef bint uniform = self.rules.fold.uniform_starts
        if self.rules.keeps_order:
            self._absorb(folders, batches, False)
            with nogil:
                chunk.chunk.arrange(self.order)
                dereference(self.words).close_sentences(self.order, uniform)
            self.order = SentenceOrder()
        else:
            self._absorb_words(folders, batches)
        return self._build(alphabet, False, with_words=False)

    def _build(self, list alphabet, bint in_order, bint with_words=True):
        cdef Corpus corpus = Corpus()
        self.workers.call(lambda: self._require(alphabet))
        self._for_each_shard(lambda _, shard: self._find_changes(shard))
        self._for_each_shard(lambda _, shard: self._change(shard))
        self.workers.call(
            lambda: self._finish_changes(in_order or self.rules.looks_at_text_end))
        if self.rules.delimiter.text.size() > 0:
            self._take_out_delimiters(in_order)
        if self.rules.looks_at_text_end:
            self.workers.call(lambda: self._look_at_text_end(corpus))
        corpus.text_bytes = dereference(self.words).text_bytes()
        if with_words:
            self._cut_words(corpus, in_order)
        else:
            self._cut_segments(corpus)
        return_freed_memory()
        corpus.rule = self.rules.rule
        corpus.by_characters = self.rules.by_characters
        corpus.alphabet = alphabet
        return corpus

    def _cut_words(self, Corpus corpus, bint in_order):
        parts = range(PARTS_PER_WORKER * self.workers.count)
        shards = self._begin_segments(len(parts))
        self.workers.run(parts, lambda _, part: self._sort(part))
        self.workers.call(self._divide)
        self.workers.run(parts, lambda _, part: self._merge(part))
        dereference(self.segmenter).end_merge()
        self.workers.run(parts, lambda _, part: self._cut(part))
        self.workers.run(shards, self._take_contexts)
        self.workers.call(lambda: self._assemble(corpus, in_order))

    def _cut_segments(self, Corpus corpus):
        shards = self._begin_segments(0)
        self.workers.run(shards, self._cut_shard)
        self.workers.run(shards, self._take_contexts)
        self.workers.call(lambda: self._assemble_segments(corpus))

    def _require(self, list alphabet):
        cdef vector[char32_t] required = [c for c, _ in alphabet]
        with nogil:
            dereference(self.words).require(required)

    def _find_changes(self, uint32_t shard):
        with nogil:
            dereference(self.words).find_changes(shard)

    def _change(self, uint32_t shard):
        with nogil:
            dereference(self.words).change(shard)

    def _finish_changes(self, bint with_order):
        with nogil:
            dereference(self.words).finish_changes(&self.order if with_order else NULL)

    def _take_out_delimiters(self, bint in_order):
        cdef bint at_end = self.rules.looks_at_text_end
        self.delimited.reset(new DelimitedSentences(
            dereference(self.words).words(), self.rules.delimiter, self.rules.rule,
            at_end or in_order))
        self.undelimited_words.reset(new WordCounts(SHARD_BITS))
        self.part_characters = self._all_characters(self._count_part_characters)
        self._for_each_shard(self._cut_delimited)
        with nogil:
            if at_end:
                self.order = dereference(self.delimited).order_of_words(self.order)
            elif in_order:
                self.order = dereference(self.delimited).order_of_texts(self.order)
            self.delimited.reset()
            self.words = move(self.undelimited_words)

    def _count_part_characters(self, size_t worker, uint32_t shard):
        with nogil:
            dereference(self.delimited).count_characters(shard, self.character_counts[worker])

    def _cut_delimited(self, size_t _, uint32_t shard):
        with nogil:
            dereference(self.delimited).cut(shard, dereference(self.undelimited_words).words())

    def _look_at_text_end(self, Corpus corpus):
        cdef unique_ptr[TextEnd] end
        with nogil:
            end.reset(new TextEnd(
                dereference(self.words).words(), self.rules.rule, self.order,
                max(self.rules.fold.copies, 1)))
            corpus.segmented.at_text_end = dereference(end).counts()

    def _begin_segments(self, size_t parts):
        shards = range(dereference(self.words).words().shards())
        self.segmenter.reset(new Segmenter(
            move(dereference(self.words).words()), self.rules.rule, self.rules.by_characters,
            parts))
        self.words.reset()
        return shards

    def _sort(self, size_t part):
        with nogil:
            dereference(self.segmenter).sort_words(part)

    def _divide(self):
        with nogil:
            dereference(self.segmenter).divide()

    def _merge(self, size_t part):
        with nogil:
            dereference(self.segmenter).merge(part)

    def _cut(self, size_t part):
        with nogil:
            dereference(self.segmenter).cut(part)

    def _cut_shard(self, size_t _, uint32_t shard):
        with nogil:
            dereference(self.segmenter).cut_shard(shard)

    def _take_contexts(self, size_t _, uint32_t shard):
        with nogil:
            dereference(self.segmenter).take_contexts(shard)

    def _assemble(self, Corpus corpus, bint in_order):
        with nogil:
            dereference(self.segmenter).assemble(
                &self.order if in_order else NULL, corpus.segmented)
            self.segmenter.reset()

    def _assemble_segments(self, Corpus corpus):
        with nogil:
            dereference(self.segmenter).assemble_segments(corpus.segmented)
            self.segmenter.reset()


cdef dict _counted(const CharacterCounts& counts):
    cdef pair[char32_t, uint64_t] counted
    found = {}
    for counted in counts.counted():
        found[counted.first] = counted.second
    return found


@final
cdef class SegmentCounts:
    """Distinct segments and how often each stands in the text."""

    def __len__(self):
        return self.segments.size()

    def add(self, SegmentCounts other not None):
        """Add the counts of other segments."""
        with nogil:
            self.segments.add(other.segments)


@final
cdef class Corpus:
    """Distinct segments, the words they make up, and the characters required.

    Attributes
    ----------
    alphabet : list of (int, int)
        Required characters (code points) with their counts, by count descending.
    text_bytes : float
        Size of the normalized text, with one more byte at the end of each sentence.
    chunks : iterable of Corpus, or None
        The chunks in which seeds are looked for, if the text is too large for one.
    seed_text : Corpus or None
        The text in which seeds are looked for, and its characters, if it is another one.
    """

    @property
    def words(self):
        """Number of words: distinct ones, or sentences where pieces may lie across words."""
        return self.segmented.word_count.size()

    @property
    def total_count(self):
        """The counts of all words added up; the sum wraps at 2**64."""
        cdef uint64_t total = 0
        cdef int64_t count
        for count in self.segmented.word_count:
            total += count
        return total

    def counted_words(self):
        """Yield each word (bytes) and its count, by count descending, then bytes ascending.

        Where pieces may lie across words, sentences take the place of words.
        """
        cdef size_t i
        for i in range(self.segmented.word_count.size()):
            yield bytes(self.segmented.word_text(i)), <uint64_t>self.segmented.word_count[i]

    @property
    def segments(self):
        """Number of distinct segments."""
        return self.segmented.segments_size()

    def cut(self, bytes delimiter=b"", size_t longest=0):
        """Return the `SegmentCounts` in the order in which segments first stand in the words.

        Nothing of the corpus is left then.

        Parameters
        ----------
        delimiter : bytes, optional
            Words are cut there too.
        longest : int, optional
            How many places of a word can be counted; 0 for any number.

        Raises
        ------
        TrainingError
            For a longer word.
        """
        cdef SegmentCounts found = SegmentCounts()
        cdef WordRule rule = _word_rule(self.rule, delimiter, longest)
        found.rule = self.rule
        try:
            with nogil:
                found.segments = cut_words(move(self.segmented), rule)
                self.segmented = SegmentedCorpus()
        except RuntimeError as error:
            raise _too_long(error, longest) from None
        return found

    def segment_counts(self):
        """Return the `SegmentCounts` while nothing was dropped; all of the corpus is left."""
        cdef SegmentCounts found = SegmentCounts()
        found.rule = self.rule
        with nogil:
            found.segments = count_segments(self.segmented)
        return found

    def drop_uses(self):
        """Free what only the search for seeds needs."""
        self.segmented.uses.clear()
        self.segmented.uses.shrink_to_fit()

    def drop_texts(self):
        """Free the texts of the segments, and with them their number."""
        self.segmented.segments = StringList()
