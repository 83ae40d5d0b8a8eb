"""What differs between the releases of the reference; the one place that names them."""

from typing import NamedTuple


class Release(NamedTuple):
    """What one release of ``sentencepiece`` does in its own way.

    Attributes
    ----------
    version : str
        The release, as on PyPI.
    retired_options : frozenset of str
        Options that are still taken, without any effect.
    experimental_flags : frozenset of str
        Flags that its Python face does not take and that no model stores.
    """

    version: str
    retired_options: frozenset[str]
    experimental_flags: frozenset[str]


V0_2_3 = Release(
    version="0.2.3",
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
    experimental_flags=frozenset(
        {"use_sparse_pruning", "post_l1_debias", "seed_piece_length_power", "min_freq_alpha"}
    ),
)

DEFAULT = V0_2_3
