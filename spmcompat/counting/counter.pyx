"""Sentences folded into distinct words.

fold.hpp does it; here stand the rules, one folder for each worker, and what a folder tells of each
block that it read. All calls into C++ release the GIL while they work.
"""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython.operator cimport dereference
from libcpp.string_view cimport string_view
from libcpp.utility cimport move

from spmcompat.segments.corpus cimport SegmentCounts
from spmcompat.text.lines cimport Block, Sample, Sentences
from spmcompat.normalization.normalizer cimport NormalizerOptions

from spmcompat.unicode.marks import SPACE_MARK


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
        Any object with the attributes of `spmcompat.counting.reading.CorpusOptions`.
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

    def __init__(self, bytes charsmap not None, list symbols not None, options,
                 bint ordered=True, pretokenize=None, int copies=0):
        cdef NormalizerOptions spaces
        spaces.add_dummy_prefix = options.add_dummy_prefix
        spaces.remove_extra_whitespaces = options.remove_extra_whitespaces
        spaces.escape_whitespaces = True
        spaces.treat_whitespace_as_suffix = options.treat_whitespace_as_suffix
        self.normalizer.reset(new CNormalizer(charsmap, spaces))
        self.matcher.reset(new MetaPieceMatcher(symbols, options.release.boundary))

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
        mark = SPACE_MARK.encode()
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
            self.script_runs.reset(new ScriptRuns())
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
cdef class Chunk:
    """The sentences of one chunk of the text."""

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
cdef class Folder:
    """One worker's words."""

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
        return dict(counts.counted())

    def segments(self, list characters not None, bytes delimiter=b"", size_t longest=0):
        """Return the `SegmentCounts` of the text; no segment holds any but these characters.

        Afterwards nothing is left in the folder. `delimiter`, `longest` and errors are those of
        `Corpus.cut`.

        Parameters
        ----------
        characters : list of int
            The required characters.
        """
        cdef SegmentCounts found = SegmentCounts.empty(self.rules.rule, delimiter, longest)
        cdef vector[char32_t] required = characters
        try:
            with nogil:
                cut_text(dereference(self.folder), found.rule, required, found.segments)
        except RuntimeError as error:
            found._fail(error)
        self.folder.reset()
        return found
