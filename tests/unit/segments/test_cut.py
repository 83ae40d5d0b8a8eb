"""Cutting counts into distinct pretokens and segments."""

from __future__ import annotations

import random

import numpy as np
import pytest

from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import bpe_segments
from spmcompat.segments.cutting import counts_and_alphabet
from spmcompat.text.sources import Items
from tests.oracle import merging
from tests.oracle.characters import SPACE, Options, cover
from tests.unit import stages
from tests.unit.bpe.test_merges import merges_of, segments_of
from tests.unit.stages import QUIET


def test_pretokens_are_sorted_by_count() -> None:
    corpus = stages.read(["b a", "a b c", "b"])
    found = [(text.decode(), count) for text, count in corpus.counted_pretokens()]
    assert found == [("▁b", 3), ("▁a", 2), ("▁c", 1)]
    assert corpus.total_count == 6
    suffixed = stages.read(
        ["a b"],
        model_type=TrainerSpec.WORD,
        treat_whitespace_as_suffix=True,
        character_coverage=1.0,
    )
    assert [text.decode() for text, _ in suffixed.counted_pretokens()] == ["a", "▁", "▁b"]


def test_characters_are_counted_once_with_the_segments() -> None:
    plan = stages.plan_of(model_type=TrainerSpec.BPE)
    counts, alphabet = counts_and_alphabet(plan, Items(["ab c", "ab"]), Context(Workers(2), QUIET))
    characters = counts.characters(Workers(2))
    assert characters == {ord(SPACE): 3, ord("a"): 2, ord("b"): 2, ord("c"): 1}
    assert counts.characters(Workers(1)) == characters
    segments = bpe_segments(counts, alphabet, plan, Workers(2))
    assert len(segments) == 2
    assert merges_of(segments, 3) == [("ab", 2), (SPACE + "ab", 2), (SPACE + "c", 1)]


@pytest.mark.parametrize("number", range(60))
def test_segments_have_the_merges_of_the_pretokens(number: int) -> None:
    """Pretokens are cut at characters that are not required, because no piece contains them."""
    dice = random.Random(f"segments/{number}")
    lines = [line for line, _ in stages.random_lines(dice)]
    options = Options(character_coverage=dice.choice([1.0, 0.9, 0.5]))
    covered, _ = cover([(SPACE + line.replace(" ", SPACE), 1) for line in lines], options)
    coverage = float(np.float32(options.character_coverage))
    segments = segments_of(lines, character_coverage=coverage)
    wanted = 30
    oracle = list(merging.merges(covered, options, wanted))
    assert merges_of(segments, wanted) == oracle
