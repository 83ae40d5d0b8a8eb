"""The differences between the releases of the reference; the only file that names the releases.

Each difference is a fact with a name: an attribute of `Release`. Other code checks the fact, never
the release.
"""

from collections.abc import Mapping
from typing import NamedTuple

from spmcompat.errors import BadValueError


class Release(NamedTuple):
    """The facts about one release of ``sentencepiece``.

    Attributes
    ----------
    version : str
        The version on PyPI.
    unknown_options : frozenset of str
        Options (keywords and flags) that other releases have, but this release does not.
    retired_options : frozenset of str
        Options that are accepted, but have no effect.
    experimental_flags : frozenset of str
        Flags that the Python interface does not accept and that models do not store.
    streams_numbers : bool
        Whether numbers in options and files are read as C++ streams read them: the text after a
        number is ignored.
    skips_empty_fields : bool
        Whether empty fields in a line of a table are skipped.
    skips_empty_arguments : bool
        Whether empty arguments in a string of flags are skipped. They result from a second space,
        or from a space at an end.
    characters_without_rules : str
        Characters, in hexadecimal, that the predefined rules of the newest release change, but the
        rules of this release do not. Most are newer than this release's version of Unicode.
    code_points : str
        How the code points of a rule file are read: see `load_rules` in ``charsmaps.pyx``.
    rules_change_something : bool
        Whether a normalization rule that changes nothing is refused.
    boundary : int
        The boundary mark: a character that is inserted at the positions that no piece may cross.
    removes_all_empty : bool
        Whether every sentence that normalizes to nothing is removed. When a sentence is removed,
        the last sentence of the text is moved to its position. If this is false, the moved sentence
        stays there, even if it also normalizes to nothing.
    keeps_first_error : bool
        Whether the caller gets the exception that an iterator raises before its first item. If not,
        the exception is lost, and the text counts as empty.
    finds_inputs_first : bool
        Whether an input file that does not exist is an error before a vocabulary without room for
        the meta pieces.
    folder_is_empty_file : bool
        Whether a folder among the inputs is read as an empty file. If not, it is refused.
    empty_files_repeat_lines : bool
        Whether an empty file repeats the last line of the previous file, if that line has no line
        end. If not, the empty file is read as an empty line. Neither applies if the empty file is
        the last file.
    needs_text : bool
        Whether all trainers refuse a corpus that normalizes to nothing.
    unk_is_optional : bool
        Whether ``unk_id`` may be -1 if there are pieces for all bytes.
    symbols_begin_words : bool
        Whether a word model also contains each user-defined symbol with a space mark before it.
    sample_is_repeatable : bool
        Whether ``input_sentence_size`` draws the same sample in every process.
    sample_multiplies : bool
        Whether a random number is converted to an index by multiplication, as in the GNU C++
        library since version 11. If not, it is converted by division. For some numbers, the
        results differ by one.
    bpe_active_set : bool
        Whether BPE chooses a merge from an active set of pairs, not from all pairs.
    bpe_delimits_pretokens : bool
        Whether BPE searches pretokens for the delimiter of the pre-tokenization, after rare
        characters are replaced. If not, it searches sentences, before rare characters are replaced.
    bpe_longest_pretoken : int
        The largest number of positions in a pretoken that BPE supports; 0 means any number.
    bpe_needs_required_chars : bool
        Whether BPE fails if a required character does not occur in the text.
    seed_tree_of_characters : bool
        Whether Unigram seeds are nodes of a suffix tree over characters, not over bytes, and have
        whole numbers as scores.
    seed_nodes_are_cut : bool
        Whether a node of the suffix tree that spans several pretokens is cut at their ends. If not,
        the node is dropped.
    seed_ties_in_tree_order : bool
        Whether seeds with equal scores are in the order of the tree. If not, they are in the order
        of their length in bytes, then of their bytes.
    seed_sum_in_float : bool
        Whether the scores of the seeds are summed in float32, not in double.
    seeds_in_chunks : bool
        Whether seeds are found in each chunk of the text separately, not in the whole text.
    seeds_see_lines_twice : bool
        Whether seeds in a TSV file are counted as if the text contained each line twice, whatever
        its count is.
    removes_delimiter : bool
        Whether the delimiter of the pre-tokenization is removed from pretokens. Seeds do not cross
        its position, but pretokens do.
    delimiter_parts_by_byte : bool
        Whether each single byte of the delimiter is also a delimiter for seeds, even inside another
        character.
    repeats_seed_file : bool
        Whether repeated pieces and single characters in a seed file become seeds, and the seeds
        with the highest scores are used. If not, these pieces are skipped, and the first pieces of
        the file are used.
    seed_counts_are_positive : bool
        Whether counts in a seed file must be above 0. If not, a negative count is taken modulo
        2**64, and a seed with the count 0 has the probability 0.
    scales_seed_size : bool
        Whether a ``seed_sentencepiece_size`` of 0 means a number that grows with the vocabulary.
        If not, 0 means that only single characters are seeds.
    log_sum_exp_with_log1p : bool
        Whether log-probabilities are added with log1p of the C library, not with log.
    stops_before_pruning : bool
        Whether training ends after an EM round if few enough pieces are left. If not, it prunes
        once more before it ends.
    weighs_losses_by_pretokens : bool
        Whether the weight of a loss is the number of occurrences of the piece per pretoken, not the
        share of the piece among all pieces.
    limits_two_best : bool
        Whether the search for the second-best segmentation stops after a number of steps.
    drops_unreachable : bool
        Whether a piece is dropped at the end if other pieces give its text a higher score.
    encodes_in_float : bool
        Whether the release's encoder compares the scores of segmentations as float32, and prefers
        long user-defined symbols. If not, it compares them as double, and prefers few user-defined
        symbols.
    loses_control_pieces : bool
        Whether the release's encoder fails on a text in which it finds a control piece.
    loads_short_pieces_only : bool
        Whether the release's encoder refuses pieces of 8000 bytes or more, and those with U+0000.
    """

    version: str
    unknown_options: frozenset[str]
    retired_options: frozenset[str]
    experimental_flags: frozenset[str]
    streams_numbers: bool
    skips_empty_fields: bool
    skips_empty_arguments: bool
    characters_without_rules: str
    code_points: str
    rules_change_something: bool
    boundary: int
    removes_all_empty: bool
    keeps_first_error: bool
    finds_inputs_first: bool
    folder_is_empty_file: bool
    empty_files_repeat_lines: bool
    needs_text: bool
    unk_is_optional: bool
    symbols_begin_words: bool
    sample_is_repeatable: bool
    sample_multiplies: bool
    bpe_active_set: bool
    bpe_delimits_pretokens: bool
    bpe_longest_pretoken: int
    bpe_needs_required_chars: bool
    seed_tree_of_characters: bool
    seed_nodes_are_cut: bool
    seed_ties_in_tree_order: bool
    seed_sum_in_float: bool
    seeds_in_chunks: bool
    seeds_see_lines_twice: bool
    removes_delimiter: bool
    delimiter_parts_by_byte: bool
    repeats_seed_file: bool
    seed_counts_are_positive: bool
    scales_seed_size: bool
    log_sum_exp_with_log1p: bool
    stops_before_pruning: bool
    weighs_losses_by_pretokens: bool
    limits_two_best: bool
    drops_unreachable: bool
    encodes_in_float: bool
    loses_control_pieces: bool
    loads_short_pieces_only: bool


_EXPERIMENTAL_FLAGS = frozenset(
    {"use_sparse_pruning", "post_l1_debias", "seed_piece_length_power", "min_freq_alpha"}
)
_UNKNOWN_BEFORE_0_2_3 = _EXPERIMENTAL_FLAGS | {
    "auto_character_coverage",
    "mining_sentence_size",
    "training_sentence_size",
    "pretokenizer",
    "allow_inconsistent_pretokenization",
}
_UNKNOWN_BEFORE_0_2_2 = _UNKNOWN_BEFORE_0_2_3 | {"normalizer", "_serialized_normalizer_spec"}

V0_2_3 = Release(
    version="0.2.3",
    unknown_options=frozenset(),
    retired_options=frozenset(
        {
            "accept_language",
            "self_test_sample_size",
            "mining_sentence_size",
            "training_sentence_size",
            "train_extremely_large_corpus",
            "enable_differential_privacy",
            "differential_privacy_noise_level",
            "differential_privacy_clipping_threshold",
        }
    ),
    experimental_flags=_EXPERIMENTAL_FLAGS,
    streams_numbers=False,
    skips_empty_fields=False,
    skips_empty_arguments=False,
    characters_without_rules="",
    code_points="strict",
    rules_change_something=True,
    boundary=0x1F,
    removes_all_empty=True,
    keeps_first_error=True,
    finds_inputs_first=False,
    folder_is_empty_file=False,
    empty_files_repeat_lines=True,
    needs_text=True,
    unk_is_optional=True,
    symbols_begin_words=True,
    sample_is_repeatable=False,
    sample_multiplies=True,
    bpe_active_set=False,
    bpe_delimits_pretokens=False,
    bpe_longest_pretoken=0,
    bpe_needs_required_chars=False,
    seed_tree_of_characters=False,
    seed_nodes_are_cut=False,
    seed_ties_in_tree_order=False,
    seed_sum_in_float=False,
    seeds_in_chunks=True,
    seeds_see_lines_twice=False,
    removes_delimiter=False,
    delimiter_parts_by_byte=False,
    repeats_seed_file=False,
    seed_counts_are_positive=True,
    scales_seed_size=True,
    log_sum_exp_with_log1p=True,
    stops_before_pruning=False,
    weighs_losses_by_pretokens=False,
    limits_two_best=True,
    drops_unreachable=True,
    encodes_in_float=True,
    loses_control_pieces=False,
    loads_short_pieces_only=True,
)

V0_2_2 = V0_2_3._replace(
    version="0.2.2",
    unknown_options=_UNKNOWN_BEFORE_0_2_3,
    retired_options=frozenset(),
    experimental_flags=frozenset(),
    characters_without_rules="61C",
    code_points="forgiving",
    boundary=0x09,
    removes_all_empty=False,
    needs_text=False,
    unk_is_optional=False,
    bpe_delimits_pretokens=True,
    bpe_longest_pretoken=1 << 16,
    bpe_needs_required_chars=True,
    seed_tree_of_characters=True,
    seed_nodes_are_cut=True,
    seed_sum_in_float=True,
    seeds_in_chunks=False,
    seeds_see_lines_twice=True,
    removes_delimiter=True,
    repeats_seed_file=True,
    seed_counts_are_positive=False,
    scales_seed_size=False,
    log_sum_exp_with_log1p=False,
    stops_before_pruning=True,
    limits_two_best=False,
    drops_unreachable=False,
)

V0_2_1 = V0_2_2._replace(
    version="0.2.1",
    unknown_options=_UNKNOWN_BEFORE_0_2_2,
    streams_numbers=True,
    skips_empty_fields=True,
    skips_empty_arguments=True,
    characters_without_rules="61C A7CE A7D2 A7D4 A7F1 16EA0-16EB8",
    code_points="streamed",
    rules_change_something=False,
    keeps_first_error=False,
    finds_inputs_first=True,
    folder_is_empty_file=True,
    empty_files_repeat_lines=False,
    symbols_begin_words=False,
    sample_is_repeatable=True,
    bpe_active_set=True,
    seed_nodes_are_cut=False,
    seed_ties_in_tree_order=True,
    delimiter_parts_by_byte=True,
    weighs_losses_by_pretokens=True,
    encodes_in_float=False,
    loses_control_pieces=True,
    loads_short_pieces_only=False,
)

V0_2_0 = V0_2_1._replace(
    version="0.2.0",
    sample_multiplies=False,
    characters_without_rules=(
        "61C 1C89 2C2F A7C0 A7CB-A7CC A7CE A7D0 A7D2 A7D4 A7D6 A7D8 A7DA A7DC A7F1-A7F4 "
        "10570-1057A 1057C-1058A 1058C-10592 10594-10595 105D2 105DA 10781-10785 10787-107B0 "
        "107B2-107BA 10D50-10D65 11382 11384 1138B 11390 113B8 113BB 113C2 113C9 1611E-16120 "
        "16129 16D63 16D67 16EA0-16EB8 1CCD6-1CCF9 1E030-1E06D"
    ),
)

RELEASES: Mapping[str, Release] = {
    release.version: release for release in (V0_2_0, V0_2_1, V0_2_2, V0_2_3)
}
DEFAULT = V0_2_3


def find_release(version: str) -> Release:
    """Return the facts of a release.

    Raises
    ------
    BadValueError
        If `RELEASES` does not contain the release.
    """
    found = RELEASES.get(version)
    if found is None:
        raise BadValueError(f'compat must be one of {", ".join(RELEASES)}, not "{version}".')
    return found
