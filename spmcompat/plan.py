"""The plan: the decisions about reading and cutting the text, made once before anything is read.

``options/planning.py`` makes the plan from the options. The packages counting, text and segments
read the plan instead of the options. ``derive/plan.py`` makes ``plan.hpp`` and ``plan.pxd`` from
the classes that C++ code reads, so a field has the same name there.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from spmcompat.releases import DEFAULT, Release


class TextPlan(NamedTuple):
    """How to read sentences: the source, which lines are sentences, and the sample.

    Each field is the option of the same name, with the same default.

    Attributes
    ----------
    input : tuple of str
        The files; an empty name is standard input.
    input_format : str
        The format of the files, from ``text/formats.py``, or ``auto``.
    input_column : str
        The field or column that contains the text, perhaps nested (``meta.text``); empty means
        ``text``.
    split_lines : bool
        Whether every line of a record is a sentence.
    skip_bad_records : bool
        Whether records that cannot be read are skipped.
    strict : bool
        Whether problems of the text are errors. It never changes which sentences are read.
    max_sentence_length : int
        The maximum size of a sentence, in bytes.
    long_sentences : str
        Whether a sentence above `max_sentence_length` is left out (``skip``) or divided at white
        space (``split``). For words, there is no maximum (``keep``).
    input_sentence_size : int
        How many sentences are sampled; 0 means all.
    shuffle_input_sentence : bool
        Whether the sample is drawn uniformly from all sentences. If not, it consists of the first
        sentences.
    sampling_seed : int
        The seed of the sample.
    self_test_sample_size : int
        How many lines are sampled for the self-tests of the model.
    random_seed : int, optional
        The seed of the sample for self-tests; `sampling_seed` if it is None.
    release : Release
        The release of sentencepiece whose results are reproduced.
    """

    input: tuple[str, ...] = ()
    input_format: str = "auto"
    input_column: str = ""
    split_lines: bool = False
    skip_bad_records: bool = False
    strict: bool = False
    max_sentence_length: int = 4192
    long_sentences: str = "skip"
    input_sentence_size: int = 0
    shuffle_input_sentence: bool = True
    sampling_seed: int = 0
    self_test_sample_size: int = 0
    random_seed: int | None = None
    release: Release = DEFAULT

    @property
    def tsv(self) -> bool:
        """Whether lines are ``sentence<TAB>count``."""
        return self.input_format == "tsv"

    @property
    def splits_long(self) -> bool:
        """Whether sentences that are too long are divided."""
        return self.long_sentences == "split"

    @property
    def keeps_ends(self) -> bool:
        """Whether the texts of records and iterators include the CR and LF at their ends."""
        return self.long_sentences == "keep"

    @property
    def longest_line(self) -> int | None:
        """The size in bytes up to which a line must be read in full; None if there is no limit.

        There is no limit in TSV, because the count is at the end of the line. There is also none if
        long lines are divided or kept.
        """
        return self.max_sentence_length if self.long_sentences == "skip" and not self.tsv else None

    @property
    def longest_record(self) -> int | None:
        """The size in bytes up to which a record must be read in full; None if there is no limit.

        It equals `longest_line`, except that it is None if a record can contain several lines.
        """
        return None if self.split_lines else self.longest_line


class CoveragePlan(NamedTuple):
    """Which characters are required in the vocabulary.

    Attributes
    ----------
    character_coverage : float
        The share of the text that the alphabet covers, rounded to float32 as in the spec of the
        trainer. It is infinite if all characters are used (``use_all_vocab``).
    required_chars : str
        Characters that are required in any case.
    all_characters : bool
        Whether every character is kept, even the rarest.
    needs_text : bool
        Whether a text that normalizes to nothing is an error.
    """

    character_coverage: float
    required_chars: str
    all_characters: bool
    needs_text: bool


class CountingPlan(NamedTuple):
    """How sentences become counted pretokens, and which data are kept for later stages.

    Attributes
    ----------
    add_dummy_prefix, remove_extra_whitespaces, treat_whitespace_as_suffix : bool
        How the normalizer treats white space.
    delimiter : bytes
        The string that a boundary mark replaces in every sentence; empty for none.
    script_runs : bool
        Whether sentences are cut where the script or the class of characters changes.
    calls_pretokenizer : bool
        Whether a Python function cuts the normalized sentences.
    tsv : bool
        Whether the text contains a count for each sentence.
    copies : int
        The number of times each sentence is counted, whatever count the text contains for it. 0
        means that the count from the text is used.
    whole_sentences : bool
        Whether a sentence is counted as one pretoken.
    uniform_starts : bool
        Whether every sentence begins with the space mark, or is read as if it did.
    by_raw_tokens : bool
        Whether raw tokens are counted instead of pretokens, and normalized after reading.
    keeps_contexts : bool
        Whether counting also records the characters that follow each pretoken, and the sentence
        that ends the text.
    keeps_order : bool
        Whether the order of all sentences matters. If not, it matters at most which sentence ends
        the text.
    keeps_pretokens : bool
        Whether the pretokens of each sentence are kept at first. `SentenceLog` may drop them
        before the whole text has been read.
    cuts_segments : bool
        Whether the text is cut into segments when its characters are counted, so that only
        segments and character counts are kept.
    removes_all_empty : bool
        Whether every empty sentence is removed. When a sentence is removed, the last sentence of
        the text is moved to its position. If this is false, the moved sentence stays there even if
        it is empty, too.
    """

    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    treat_whitespace_as_suffix: bool
    delimiter: bytes
    script_runs: bool
    calls_pretokenizer: bool
    tsv: bool
    copies: int
    whole_sentences: bool
    uniform_starts: bool
    by_raw_tokens: bool
    keeps_contexts: bool
    keeps_order: bool
    keeps_pretokens: bool
    cuts_segments: bool
    removes_all_empty: bool


class CuttingPlan(NamedTuple):
    """Which strings may be pieces, and so where pretokens are cut into segments.

    Attributes
    ----------
    max_piece_length : int
        The longest piece, in characters.
    split_by_unicode_script, split_by_number, split_by_whitespace, split_digits : bool
        Rules for the positions that no piece may cross.
    whitespace_as_suffix : bool
        Whether a space belongs to the pretoken before it. If not, it belongs to the one after it.
    allow_whitespace_only_pieces : bool
        Whether a piece may consist only of white space.
    spaces_apart : bool
        Whether pretokens are the parts of a sentence between spaces, and spaces are not counted.
    boundaries_end_pretokens : bool
        Whether a boundary mark ends a pretoken and is not part of it. If not, the boundary mark is
        an unknown character inside a pretoken, as in ``sentencepiece``.
    boundary : int
        The character that marks where a sentence was cut.
    removed_delimiter : bytes
        The string that is removed from sentences after rare characters are replaced; empty for
        none.
    delimiter_cuts : bool
        Whether no piece crosses the position of a removed delimiter.
    delimiter_parts_by_byte : bool
        Whether each byte of a removed delimiter is a delimiter by itself.
    bpe_delimiter : bytes
        The string that BPE replaces with a boundary mark, after rare characters are replaced; empty
        for none.
    bpe_longest_pretoken : int
        The largest number of positions in a pretoken that BPE supports; 0 means any number.
    em_reads_sentences : bool
        Whether EM reads sentences in the order of the text, not distinct pretokens.
    """

    max_piece_length: int
    split_by_unicode_script: bool
    split_by_number: bool
    split_by_whitespace: bool
    split_digits: bool
    whitespace_as_suffix: bool
    allow_whitespace_only_pieces: bool
    spaces_apart: bool
    boundaries_end_pretokens: bool
    boundary: int
    removed_delimiter: bytes
    delimiter_cuts: bool
    delimiter_parts_by_byte: bool
    bpe_delimiter: bytes
    bpe_longest_pretoken: int
    em_reads_sentences: bool


class SeedingPlan(NamedTuple):
    """What the search for seeds reads.

    Attributes
    ----------
    looks_at_text_end : bool
        Whether the pretokens of the last sentences change the counts of seeds.
    seed_tree_of_characters : bool
        Whether the symbols of seeding are characters, not bytes.
    """

    looks_at_text_end: bool
    seed_tree_of_characters: bool


STRUCTS: dict[str, type[CountingPlan | CuttingPlan | SeedingPlan]] = {
    "counting": CountingPlan,
    "cutting": CuttingPlan,
    "seeding": SeedingPlan,
}
"""The parts of a plan that C++ code reads. ``derive/plan.py`` makes structs from them."""


class Plan(NamedTuple):
    """How a text is read, counted and cut.

    Attributes
    ----------
    text : TextPlan
        How to read sentences.
    coverage : CoveragePlan
        Which characters are required.
    counting : CountingPlan
        How sentences become counted pretokens.
    cutting : CuttingPlan
        Which strings may be pieces.
    seeding : SeedingPlan
        What the search for seeds reads.
    charsmap : bytes
        Compiled normalization rules; empty for none.
    meta_pieces : tuple of bytes
        Meta pieces, in UTF-8. No other piece may overlap their occurrences in the text.
    cut : callable, optional
        The pretokenizer: takes a normalized sentence (str) and returns its chunks.
    allow_inconsistent_pretokenization : bool
        Whether the joined chunks may differ from the sentence.
    seeding_chunk_bytes : int
        The size of a seeding chunk, in bytes of normalized text.
    seeds : Plan, optional
        The plan for seeding, if seeding reads the text by other rules than EM.
    """

    text: TextPlan
    coverage: CoveragePlan
    counting: CountingPlan
    cutting: CuttingPlan
    seeding: SeedingPlan
    charsmap: bytes
    meta_pieces: tuple[bytes, ...]
    cut: Callable[[str], Sequence[str | bytes]] | None
    allow_inconsistent_pretokenization: bool
    seeding_chunk_bytes: int
    seeds: "Plan | None"

    def structs(self) -> dict[str, dict[str, Any]]:
        """Return the parts that C++ code reads, in the form that Cython converts to a `CPlan`."""
        return {name: getattr(self, name)._asdict() for name in STRUCTS}

    def for_table(self) -> "Plan":
        """Return the plan for counting a text for a table of counts.

        All model types can be trained from a table. Some of them need the characters that follow a
        pretoken, so these are always counted. No table contains the pretokens of each sentence.
        """
        counting = self.counting._replace(keeps_contexts=True, keeps_pretokens=False)
        return self._replace(counting=counting)
