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
        Flags that only the command line knows and that no model stores.
    seed_tree_of_characters : bool
        Unigram seeds are nodes of a suffix tree over characters, not over bytes, and their scores
        are whole numbers.
    seed_nodes_are_cut : bool
        Nodes of that tree are cut into words; else one that spans several is dropped.
    seed_ties_in_tree_order : bool
        Seeds with equal scores come in the order of the tree, not by length in bytes, then bytes.
    seed_sum_in_float : bool
        The sum of the seeds' scores is taken in float32, not in double.
    seeds_in_chunks : bool
        Seeds are looked for in one chunk of the text after the other.
    scales_seed_size : bool
        A seed_sentencepiece_size of 0 scales with the vocabulary; else it leaves the characters.
    log_sum_exp_with_log1p : bool
        Probabilities are added with the library's log1p, not with its log.
    stops_before_pruning : bool
        Few enough pieces end the training after an EM round, not after they were pruned once more.
    weighs_losses_by_words : bool
        Losses weigh by the words that a piece stands in, not by its share of all pieces.
    limits_two_best : bool
        The search for the second-best segmentation gives up after so many steps.
    drops_unreachable : bool
        Pieces that their own decomposition beats are dropped in the end.
    """

    version: str
    model_types: frozenset[str]
    unknown_options: frozenset[str]
    retired_options: frozenset[str]
    experimental_flags: frozenset[str]
    seed_tree_of_characters: bool
    seed_nodes_are_cut: bool
    seed_ties_in_tree_order: bool
    seed_sum_in_float: bool
    seeds_in_chunks: bool
    scales_seed_size: bool
    log_sum_exp_with_log1p: bool
    stops_before_pruning: bool
    weighs_losses_by_words: bool
    limits_two_best: bool
    drops_unreachable: bool


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
    seed_tree_of_characters=False,
    seed_nodes_are_cut=False,
    seed_ties_in_tree_order=False,
    seed_sum_in_float=False,
    seeds_in_chunks=True,
    scales_seed_size=True,
    log_sum_exp_with_log1p=True,
    stops_before_pruning=False,
    weighs_losses_by_words=False,
    limits_two_best=True,
    drops_unreachable=True,
)

V0_2_2 = V0_2_3._replace(
    version="0.2.2",
    model_types=frozenset({"unigram"}),
    unknown_options=_UNKNOWN_BEFORE_0_2_3,
    retired_options=frozenset(),
    experimental_flags=frozenset(),
    seed_tree_of_characters=True,
    seed_nodes_are_cut=True,
    seed_sum_in_float=True,
    seeds_in_chunks=False,
    scales_seed_size=False,
    log_sum_exp_with_log1p=False,
    stops_before_pruning=True,
    limits_two_best=False,
    drops_unreachable=False,
)

V0_2_1 = V0_2_2._replace(
    version="0.2.1",
    unknown_options=_UNKNOWN_BEFORE_0_2_2,
    seed_nodes_are_cut=False,
    seed_ties_in_tree_order=True,
    weighs_losses_by_words=True,
)

V0_2_0 = V0_2_1._replace(version="0.2.0")

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
