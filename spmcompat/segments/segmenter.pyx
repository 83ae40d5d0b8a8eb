"""The words of all folders made a corpus: merged, rare characters replaced, cut into segments.

word_counts.hpp merges and replaces, delimiter.hpp takes delimiters out, text_end.hpp looks at the
end of the text, and segmenter.hpp cuts. Workers share each step, by shards or parts of the words;
all of them release the GIL while they work.
"""

from cython cimport final

from cython.operator cimport dereference
from libcpp.memory cimport unique_ptr
from libcpp.utility cimport move

from spmcompat.segments.corpus cimport Corpus
from spmcompat.counting.counter cimport Batch, Chunk, Folder, TextRules

from spmcompat.segments.corpus import return_freed_memory
from spmcompat.unicode.marks import SPACE_MARK


cdef unsigned int SHARD_BITS = 6
cdef size_t PARTS_PER_WORKER = 4


class WordsNotKeptError(Exception):
    """The words of the sentences are needed, and were not kept."""


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
        found = dict(self.character_counts[0].counted())
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
        has_mark = self.rules.rule.spaces_apart or any(c == ord(SPACE_MARK) for c, _ in alphabet)
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
