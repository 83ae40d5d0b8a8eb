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
    """

    version: str
    model_types: frozenset[str]
    unknown_options: frozenset[str]
    retired_options: frozenset[str]
    experimental_flags: frozenset[str]


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
)

V0_2_2 = V0_2_3._replace(
    version="0.2.2",
    model_types=frozenset(),
    unknown_options=_UNKNOWN_BEFORE_0_2_3,
    retired_options=frozenset(),
    experimental_flags=frozenset(),
)

V0_2_1 = V0_2_2._replace(
    version="0.2.1",
    unknown_options=_UNKNOWN_BEFORE_0_2_2,
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
