"""What differs between the releases of the reference; the one place that names them.

A difference is a fact with a name, one attribute of `Release`. Code elsewhere asks for the fact,
never for the release.
"""

from collections.abc import Mapping
from typing import NamedTuple

from spmcompat.errors import BadValueError


class Release(NamedTuple):
    """What one release of ``sentencepiece`` does in its own way.

    Attributes
    ----------
    version : str
        The release, as on PyPI.
    model_types : frozenset of str
        What can be trained as this release trains it.
    unknown_options : frozenset of str
        Options of other releases that this one does not know, keywords and flags.
    retired_options : frozenset of str
        Options that are still taken, without any effect.
    experimental_flags : frozenset of str
        Flags that its Python face does not take and that no model stores.
    streams_numbers : bool
        Whether numbers, also those in files, are read as C++ streams read them: what follows a
        number is not looked at.
    characters_without_rules : str
        Characters that the predefined rule sets leave alone, and the newest release does not, in
        hexadecimal: most are younger than the release's Unicode.
    code_points : str
        How the code points of a rule file are read: see `spmcompat.corpus.charsmap.load_rules`.
    rules_change_something : bool
        Whether a normalization rule that changes nothing is refused.
    boundary : int
        The character that stands between parts of a sentence which no piece may join.
    removes_all_empty : bool
        Whether every sentence that normalizes to nothing is removed. Else one stays that, as the
        last at the time, takes the place of another.
    needs_text : bool
        Whether a corpus that normalizes to nothing is refused by all trainers.
    unk_is_optional : bool
        Whether ``unk_id`` may be -1 where there are pieces for all bytes.
    symbols_begin_words : bool
        Whether a word model holds every user symbol also with the space mark before it.
    sample_is_repeatable : bool
        Whether ``input_sentence_size`` draws the same sample in every process.
    bpe_active_set : bool
        Whether BPE merges are chosen among an active set of pairs, not among all.
    bpe_delimits_words : bool
        Whether BPE looks for the delimiter of the pre-tokenization in words whose rare characters
        are replaced, not in sentences before that.
    bpe_longest_word : int
        How many places of a word BPE can count; 0 if any number.
    bpe_needs_required_chars : bool
        Whether BPE fails where a required character does not stand in the text.
    """

    version: str
    model_types: frozenset[str]
    unknown_options: frozenset[str]
    retired_options: frozenset[str]
    experimental_flags: frozenset[str]
    streams_numbers: bool
    characters_without_rules: str
    code_points: str
    rules_change_something: bool
    boundary: int
    removes_all_empty: bool
    needs_text: bool
    unk_is_optional: bool
    symbols_begin_words: bool
    sample_is_repeatable: bool
    bpe_active_set: bool
    bpe_delimits_words: bool
    bpe_longest_word: int
    bpe_needs_required_chars: bool


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
    model_types=frozenset({"unigram", "bpe", "word", "char"}),
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
    characters_without_rules="",
    code_points="strict",
    rules_change_something=True,
    boundary=0x1F,
    removes_all_empty=True,
    needs_text=True,
    unk_is_optional=True,
    symbols_begin_words=True,
    sample_is_repeatable=False,
    bpe_active_set=False,
    bpe_delimits_words=False,
    bpe_longest_word=0,
    bpe_needs_required_chars=False,
)

V0_2_2 = V0_2_3._replace(
    version="0.2.2",
    model_types=frozenset({"bpe", "word", "char"}),
    unknown_options=_UNKNOWN_BEFORE_0_2_3,
    retired_options=frozenset(),
    experimental_flags=frozenset(),
    characters_without_rules="61C",
    code_points="forgiving",
    boundary=0x09,
    removes_all_empty=False,
    needs_text=False,
    unk_is_optional=False,
    bpe_delimits_words=True,
    bpe_longest_word=1 << 16,
    bpe_needs_required_chars=True,
)

V0_2_1 = V0_2_2._replace(
    version="0.2.1",
    unknown_options=_UNKNOWN_BEFORE_0_2_2,
    streams_numbers=True,
    characters_without_rules="61C A7CE A7D2 A7D4 A7F1 16EA0-16EB8",
    code_points="streamed",
    rules_change_something=False,
    symbols_begin_words=False,
    sample_is_repeatable=True,
    bpe_active_set=True,
)

V0_2_0 = V0_2_1._replace(
    version="0.2.0",
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
        If it is none of `RELEASES`.
    """
    found = RELEASES.get(version)
    if found is None:
        raise BadValueError(f'compat must be one of {", ".join(RELEASES)}, not "{version}".')
    return found
