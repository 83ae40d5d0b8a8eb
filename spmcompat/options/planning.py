"""Makes the plan of a training run.

The plan contains the facts that follow from the options and the release. No other code derives
them.
"""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.errors import BadRulesError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.normalization.charsmaps import any_source_has_space
from spmcompat.plan import CountingPlan, CoveragePlan, CuttingPlan, Plan, SeedingPlan, TextPlan
from spmcompat.pretokenization.pretokenizer import Cut, find_cut
from spmcompat.releases import Release
from spmcompat.unicode.marks import SPACE_MARK

_MARK = SPACE_MARK.encode()


class PlanOptions(NamedTuple):
    """The options that determine a plan. Each field has the name and the default of an option."""

    text: TextPlan = TextPlan()
    model_type: int = TrainerSpec.UNIGRAM
    character_coverage: float = 0.9995
    required_chars: str = ""
    auto_character_coverage: bool = False
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False
    pretokenization_delimiter: str = ""
    pretokenizer: Cut | str | None = None
    allow_inconsistent_pretokenization: bool = False
    max_piece_length: int = 16
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_by_whitespace: bool = True
    split_digits: bool = False
    allow_whitespace_only_pieces: bool = False
    space_pieces: str = "prefix"
    seed_mode: str = "full_text"
    seeding_chunk_bytes: int = 500 << 20
    """Size of the normalized text in one search for seeds; a constant in the reference."""

    @property
    def release(self) -> Release:
        """The release whose results are reproduced."""
        return self.text.release

    @property
    def spaces_apart(self) -> bool:
        """Whether a space is a separate piece."""
        return self.space_pieces != "prefix"


def make_plan(given: PlanOptions, charsmap: bytes = b"", meta_pieces: Sequence[str] = ()) -> Plan:
    """Derive the plan from the options.

    Parameters
    ----------
    given : PlanOptions
        The options.
    charsmap : bytes
        Compiled normalization rules.
    meta_pieces : sequence of str
        The meta pieces. If one of them occurs in the text, no other piece may overlap it.

    Raises
    ------
    TrainingError
        If the charsmap is broken.
    BadValueError
        If the pretokenizer is not valid.
    """
    is_unigram = given.model_type == TrainerSpec.UNIGRAM
    removes_delimiter = given.pretokenization_delimiter and given.release.removes_delimiter
    seeds_see_twice = given.text.tsv and given.release.seeds_see_lines_twice
    if not is_unigram or not (removes_delimiter or seeds_see_twice):
        return _derive(given, charsmap, meta_pieces, finds_seeds=is_unigram)
    seeds = _derive(
        given, charsmap, meta_pieces, finds_seeds=True, copies=2 if seeds_see_twice else 0
    )
    return _derive(given, charsmap, meta_pieces, finds_seeds=False)._replace(seeds=seeds)


def _coverage_plan(given: PlanOptions) -> CoveragePlan:
    """Return the plan for choosing the required characters."""
    required_chars = given.required_chars
    if given.spaces_apart:
        required_chars = required_chars.replace(SPACE_MARK, "")
    return CoveragePlan(
        character_coverage=given.character_coverage,
        required_chars=required_chars,
        all_characters=given.auto_character_coverage,
        needs_text=given.release.needs_text,
    )


def _derive(
    given: PlanOptions,
    charsmap: bytes,
    meta_pieces: Sequence[str],
    finds_seeds: bool,
    copies: int = 0,
) -> Plan:
    release = given.release
    uncut = tuple(
        piece.encode() for piece in meta_pieces if not (given.spaces_apart and piece == SPACE_MARK)
    )
    cutting = _cutting_plan(given, finds_seeds)
    seeding = _seeding_plan(given, finds_seeds)
    # Only a search for seeds in the full text is divided into chunks. The other modes search the
    # distinct segments, which are never divided.
    in_chunks = release.seeds_in_chunks and given.seed_mode == "full_text"
    return Plan(
        text=given.text,
        coverage=_coverage_plan(given),
        counting=_counting_plan(given, charsmap, uncut, cutting, seeding, copies),
        cutting=cutting,
        seeding=seeding,
        charsmap=charsmap,
        meta_pieces=uncut,
        cut=find_cut(given.pretokenizer),
        allow_inconsistent_pretokenization=given.allow_inconsistent_pretokenization,
        seeding_chunk_bytes=given.seeding_chunk_bytes if in_chunks else sys.maxsize,
        seeds=None,
    )


def _cutting_plan(given: PlanOptions, finds_seeds: bool) -> CuttingPlan:
    """Return the plan for cutting."""
    release = given.release
    is_bpe = given.model_type == TrainerSpec.BPE
    # Two kinds of models always split sentences at spaces: word models, whose pieces are whole
    # pretokens with their space marks, and models in which spaces are separate pieces, so that no
    # other piece may contain a space.
    is_word = given.model_type == TrainerSpec.WORD
    split_by_whitespace = given.split_by_whitespace or is_word or given.spaces_apart
    # The reference counts boundary marks as unknown characters. We do the same unless there is a
    # named pretokenizer, which the reference does not have.
    boundaries_end_pretokens = isinstance(given.pretokenizer, str)
    _, removed_delimiter, bpe_delimiter = _delimiters(given)
    # A removed delimiter cuts the text only for seeding. In EM, pieces may cross its position.
    delimiter_cuts = finds_seeds and bool(removed_delimiter)
    return CuttingPlan(
        max_piece_length=given.max_piece_length,
        split_by_unicode_script=given.split_by_unicode_script and not is_word,
        split_by_number=given.split_by_number,
        split_by_whitespace=split_by_whitespace,
        split_digits=given.split_digits and not is_word,
        whitespace_as_suffix=given.treat_whitespace_as_suffix and not is_word,
        allow_whitespace_only_pieces=given.allow_whitespace_only_pieces and not is_word,
        spaces_apart=given.spaces_apart,
        boundaries_end_pretokens=boundaries_end_pretokens,
        boundary=release.boundary,
        removed_delimiter=removed_delimiter,
        delimiter_cuts=delimiter_cuts,
        delimiter_parts_by_byte=release.delimiter_parts_by_byte,
        bpe_delimiter=bpe_delimiter,
        bpe_longest_pretoken=release.bpe_longest_pretoken if is_bpe else 0,
        # If pieces may cross spaces, EM reads the sentences in the order of the text.
        em_reads_sentences=not split_by_whitespace
        and not delimiter_cuts
        and not boundaries_end_pretokens,
    )


def _delimiters(given: PlanOptions) -> tuple[bytes, bytes, bytes]:
    """Return the fields `delimiter`, `removed_delimiter` and `bpe_delimiter` of a plan.

    At most one of them is not empty; the release determines which one. New releases search for the
    delimiter while they read the sentences. Old releases search for it after they have replaced
    rare characters: BPE searches the pretokens, while the other trainers search the sentences and
    remove the delimiter.
    """
    delimiter = given.pretokenization_delimiter.encode()
    if given.model_type == TrainerSpec.BPE and given.release.bpe_delimits_pretokens:
        return b"", b"", delimiter
    if given.release.removes_delimiter:
        return b"", delimiter, b""
    return delimiter, b"", b""


def _seeding_plan(given: PlanOptions, finds_seeds: bool) -> SeedingPlan:
    """Return the plan for seeding."""
    return SeedingPlan(
        # Releases that cut the nodes of the suffix tree also drop the nodes that reach the end of
        # the text. So the end of the text must be known.
        looks_at_text_end=finds_seeds and given.release.seed_nodes_are_cut,
        seed_tree_of_characters=given.release.seed_tree_of_characters,
    )


def _counting_plan(
    given: PlanOptions,
    charsmap: bytes,
    meta_pieces: Sequence[bytes],
    cutting: CuttingPlan,
    seeding: SeedingPlan,
    copies: int,
) -> CountingPlan:
    """Return the plan for counting."""
    release = given.release
    is_bpe = given.model_type == TrainerSpec.BPE
    calls_pretokenizer = find_cut(given.pretokenizer) is not None
    delimiter, _, _ = _delimiters(given)
    # Whole sentences are counted if pieces may cross spaces, or if a delimiter has to be removed
    # from the sentences before they are cut.
    whole_sentences = not cutting.split_by_whitespace or bool(cutting.removed_delimiter)
    # Whether every pretoken keeps the space mark at its beginning. A pretoken would lose the mark
    # if the mark were part of a meta piece or of a delimiter.
    marks_stay = _MARK not in delimiter and not any(_MARK in piece for piece in meta_pieces)
    # Whether all sentences begin with the same byte. The normalizer puts a space mark before each
    # sentence, but a boundary mark may replace this space mark. Unless all characters are kept, the
    # boundary mark later becomes an unknown mark, whose first byte is that of the space mark. With
    # a pretokenizer, a sentence may begin with any byte.
    uniform_starts = given.spaces_apart or (
        given.add_dummy_prefix
        and not given.treat_whitespace_as_suffix
        and (marks_stay or not (given.auto_character_coverage or cutting.boundaries_end_pretokens))
        and not calls_pretokenizer
    )
    # The char model, and BPE without an active set, only need to know how often a pretoken occurs.
    keeps_contexts = not (
        given.model_type == TrainerSpec.CHAR or (is_bpe and not release.bpe_active_set)
    )
    # Pretokens have to be joined into sentences again if the space mark is too rare for the
    # alphabet. This cannot happen if `required_chars` contains the space mark.
    needs_space = SPACE_MARK in given.required_chars
    may_join = not (given.spaces_apart or cutting.boundaries_end_pretokens or needs_space)
    looks_at_text_end = seeding.looks_at_text_end
    return CountingPlan(
        add_dummy_prefix=given.add_dummy_prefix,
        remove_extra_whitespaces=given.remove_extra_whitespaces,
        treat_whitespace_as_suffix=given.treat_whitespace_as_suffix,
        delimiter=delimiter,
        script_runs=given.pretokenizer == "script",
        calls_pretokenizer=calls_pretokenizer,
        tsv=given.text.tsv,
        copies=copies,
        whole_sentences=whole_sentences,
        uniform_starts=uniform_starts,
        # Whether equal raw tokens always become equal pretokens. This is the case if rules, meta
        # pieces and pretokenizers never depend on text on both sides of a space.
        by_raw_tokens=uniform_starts
        and not calls_pretokenizer
        and given.remove_extra_whitespaces
        and not whole_sentences
        and marks_stay
        and not _normalization_crosses_spaces(charsmap),
        keeps_contexts=keeps_contexts,
        # The order of the sentences matters if they begin with different bytes, because the byte
        # after a sentence is the first byte of the next one. The order also matters if EM reads the
        # sentences in the order of the text.
        keeps_order=whole_sentences or looks_at_text_end or not uniform_starts,
        keeps_pretokens=keeps_contexts and not whole_sentences and (looks_at_text_end or may_join),
        # The segments for BPE can be cut before the required characters are known, except in
        # releases that inspect pretokens after they have replaced rare characters.
        cuts_segments=is_bpe
        and not keeps_contexts
        and not cutting.bpe_delimiter
        and cutting.bpe_longest_pretoken == 0,
        # Some releases keep some of the empty sentences. If distinct pretokens are counted, empty
        # sentences make no difference, so all of them are removed.
        removes_all_empty=release.removes_all_empty or not (whole_sentences or looks_at_text_end),
    )


def _normalization_crosses_spaces(charsmap: bytes) -> bool:
    """Return whether a rule replaces a text that contains a space, and so spans two raw tokens."""
    try:
        return any_source_has_space(charsmap)
    except TrainingError as error:
        raise BadRulesError(f"INTERNAL: {error}") from None
