"""How BPE training cuts pretokens in releases up to 0.2.2 (bpe_segments.hpp)."""

from __future__ import annotations

import pytest

from tests.parity.case import Option
from tests.parity.corpora import topics_text
from tests.parity.harness import Trainers
from tests.parity.test_bpe_releases import BPE

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("delimiter", ["e", "▁", "▁t", "xa", "er ", "\u2585"])
@pytest.mark.parametrize("split", [True, False])
def test_delimiters_cut_pretokens(
    trainers: Trainers, old_release: str, delimiter: str, split: bool
) -> None:
    """The characters of a delimiter are counted, too.

    If they are rare, they are replaced before the text is cut at delimiters.
    """
    options = {**BPE, "pretokenization_delimiter": delimiter, "split_by_whitespace": split}
    text = topics_text(12_000) + "\nxaxa per axa e" * 2
    for coverage in (1.0, 0.98):
        options["character_coverage"] = coverage
        trainers.check(options, text, "ab\tab e\tabe\n" * 9, release=old_release)


@pytest.mark.parametrize("delimiter", ["", "e"])
def test_a_pretoken_of_too_many_pairs_is_refused(
    trainers: Trainers, old_release: str, delimiter: str
) -> None:
    """Only the positions of pairs must fit into 16 bits, not those of all characters."""
    options: dict[str, Option] = {
        **BPE,
        "max_sentence_length": 1 << 20,
        "pretokenization_delimiter": delimiter,
        "add_dummy_prefix": False,
        "minloglevel": 1,
    }
    longest = "abcab" * 13_107 + "a"
    trainers.check(options, longest, release=old_release)
    trainers.check(options, longest + "あ", release=old_release)
    comparison = trainers.compare(options, longest + "b", release=old_release)
    assert comparison.reference.failure is not None
    assert comparison.ours.failure is not None
    assert "positions in 16 bits" in comparison.ours.failure.message
