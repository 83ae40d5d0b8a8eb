"""The options of a Unigram model."""

from __future__ import annotations

from typing import NamedTuple

from spmcompat.releases import DEFAULT, Release

NO_LIMIT = 1 << 62
"""The limit of a number that has none."""


class UnigramOptions(NamedTuple):
    """The options of Unigram training, with the names and defaults of the option table.

    The only different name is `partial_sums`, which is ``num_threads`` in the option table. It
    determines the order of summation, not the number of threads.
    `final_size` is the size of the vocabulary without its meta pieces. With
    `auto_character_coverage`, no character is required.
    """

    vocab_size: int = 8000
    final_size: int = 7997
    seed_sentencepiece_size: int = 1_000_000
    seed_sentencepieces_file: str = ""
    shrinking_factor: float = 0.75
    num_sub_iterations: int = 2
    partial_sums: int = 16
    auto_character_coverage: bool = False
    use_sparse_pruning: bool = False
    post_l1_debias: bool = True
    seed_piece_length_power: float = 1.0
    min_freq_alpha: float = 0.0
    seed_mode: str = "full_text"
    prefix_recovery: bool = False
    seed_factor: float = 0.0
    objective: str = "likelihood"
    drop_unused: bool = False
    m_step: str = "digamma"
    early_prune_threshold: float = 0.5
    prune: str = "likelihood"
    prune_overshoot: float = 1.1
    final_estimate: str = "none"
    release: Release = DEFAULT

    @property
    def loop_size(self) -> int:
        """The number of pieces at which the loop of EM and pruning ends."""
        overshoot = self.prune_overshoot
        return self.final_size if overshoot == 1 else _times(overshoot, self.vocab_size)

    @property
    def keeps_required(self) -> bool:
        """Whether required characters are never dropped.

        If not, a required character that was dropped is added again at the end, with a very low
        score, as in ``sentencepiece``. With the default threshold and pruning by likelihood, few
        required characters are dropped.
        """
        default = self._field_defaults["early_prune_threshold"]
        keeps = self.prune == "flat" or self.early_prune_threshold > default
        return keeps and not self.auto_character_coverage

    @property
    def final_steps(self) -> int:
        """The number of EM steps over the final pieces: N in ``final_estimate=em:N``."""
        name, _, steps = self.final_estimate.partition(":")
        return int(steps) if name == "em" else 0

    @property
    def seed_limit(self) -> int:
        """The maximum number of seeds, not counting single characters, if there is no seed file.

        If `seed_sentencepiece_size` is negative, there is no limit. In 0.2.3, 0 means eight times
        the size of the vocabulary, but at least 100,000.
        """
        if self.seed_factor > 0:
            return _times(self.seed_factor, self.vocab_size)
        size = self.seed_sentencepiece_size
        if size == 0 and self.release.scales_seed_size:
            return max(100_000, 8 * self.vocab_size)
        return size if size >= 0 else NO_LIMIT

    @property
    def seeds_by(self) -> tuple[int, int]:
        """The numbers that depend on the size of the vocabulary and affect the seeds.

        If two runs differ only in size, and these numbers are equal, both have the same seeds.
        """
        if self.seed_sentencepieces_file:
            return 0, 0
        return self.seed_limit, self.vocab_size if self.min_freq_alpha != 0 else 0


def _times(factor: float, vocab_size: int) -> int:
    """Return the product, but at most `NO_LIMIT`, even if the product is infinite."""
    return int(min(factor * vocab_size, NO_LIMIT))
