"""Tests of BPE merges against the oracle, and of the choice between merges and characters."""

from __future__ import annotations

import io
import random

import pytest

from spmcompat.bpe.merges import find_merges
from spmcompat.bpe.selection import choose_pieces
from spmcompat.bpe.trainer import make_merges
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts, bpe_segments
from spmcompat.segments.cutting import counts_and_alphabet
from spmcompat.text.sources import Items
from tests.oracle import merging, selection
from tests.oracle.characters import SPACE
from tests.searches import examples
from tests.unit import stages
from tests.unit.stages import QUIET


def segments_of(lines: list[str], workers: int = 2, **options: object) -> SegmentCounts:
    plan = stages.plan_of(model_type=TrainerSpec.BPE, **options)
    threads = Workers(workers)
    counts, alphabet = counts_and_alphabet(plan, Items(lines), Context(threads, QUIET))
    return bpe_segments(counts, alphabet, plan, threads)


def merges_of(segments: SegmentCounts, wanted: int, workers: int = 2) -> list[tuple[str, int]]:
    merges = find_merges(segments, wanted, Workers(workers))
    return [(piece.decode(), count) for piece, count, _ in merges]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(150)))
@pytest.mark.parametrize("repeated", [1, 40, 10**9], ids=["rare", "frequent", "very frequent"])
def test_merges_are_those_of_the_oracle(number: int, repeated: int) -> None:
    """If pairs are frequent, rare pairs are only recorded when no frequent ones are left."""
    dice = random.Random(f"merging/{number}")
    lines = [(line, count * repeated) for line, count in stages.random_lines(dice)]
    options = stages.random_options(dice)
    case = stages.both(lines, options)
    wanted = dice.choice([1, 10, 200])
    segments = segments_of(
        [f"{line}\t{count}" for line, count in lines],
        input_format="tsv",
        **stages.corpus_options(options),
    )
    oracle = list(merging.merges(case.sentences, options, wanted))
    assert merges_of(segments, wanted, 1 + number % 4) == oracle


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(60)))
@pytest.mark.parametrize("wanted", [9, 200])
def test_merges_of_frequent_pairs_are_those_of_the_oracle(number: int, wanted: int) -> None:
    dice = random.Random(f"frequent/{number}")
    most = dice.choice([300, 10**4, 10**9])
    lines = [(line, dice.randint(1, most)) for line, _ in stages.random_lines(dice)]
    options = stages.random_options(dice)
    case = stages.both(lines, options)
    segments = segments_of(
        [f"{line}\t{count}" for line, count in lines],
        input_format="tsv",
        **stages.corpus_options(options),
    )
    oracle = list(merging.merges(case.sentences, options, wanted))
    assert merges_of(segments, wanted, 1 + number % 4) == oracle


def test_the_lengths_of_the_left_parts() -> None:
    merges = find_merges(segments_of(["abc abc abd"]), 3, Workers(2))
    assert [(piece.decode(), left) for piece, _, left in merges] == [
        ("ab", 1),
        (SPACE + "ab", 1),
        (SPACE + "abc", 3),
    ]


def test_fewer_merges_are_the_first_of_more_merges() -> None:
    lines = [line for line, _ in stages.random_lines(random.Random(5))] * 300
    many = merges_of(segments_of(lines), 60)
    for wanted in range(0, 60, 7):
        assert merges_of(segments_of(lines), wanted) == many[:wanted]


def test_overlapping_pairs_are_both_counted() -> None:
    assert merges_of(segments_of(["aaa"], add_dummy_prefix=False), 9) == [
        ("aa", 2),
        ("aaa", 1),
    ]
    assert merges_of(segments_of(["aaaaa"], add_dummy_prefix=False), 9) == [
        ("aa", 4),
        ("aaa", 1),
        ("aaaaa", 1),
        ("aaaa", 0),
    ]


def test_ties_go_to_fewer_characters_then_to_smaller_text() -> None:
    found = merges_of(segments_of(["zx zx", "ab ab", "é漢"], add_dummy_prefix=False), 9)
    assert [piece for piece, _ in found[:3]] == ["ab", "zx", SPACE + "ab"]


def test_pairs_that_no_longer_occur_come_last() -> None:
    """When "ab" is merged in "abab", "ab" and "a" are a pair until the second "ab" is merged."""
    for repeated in (1, 10**6):
        lines = [f"abab\t{repeated}"]
        found = merges_of(segments_of(lines, input_format="tsv", add_dummy_prefix=False), 99)
        assert found == [("ab", 2 * repeated), ("abab", repeated), ("ba", 0), ("aba", 0)]


def test_cancelled_merges_stop() -> None:
    workers = Workers(1)
    workers.cancel.set()
    # A `TrainingError` is a `RuntimeError`, too, but its message would not end in "cancelled".
    with pytest.raises(RuntimeError, match=r"cancelled$"):
        find_merges(segments_of(["abc abc"]), 5, workers)


def test_nothing_to_merge() -> None:
    assert merges_of(segments_of(["a b c"], add_dummy_prefix=False, max_piece_length=1), 5) == []
    assert len(segments_of(["a", "b"], add_dummy_prefix=False)) == 0


def test_merging_empties_the_segments() -> None:
    segments = segments_of(["abc abc"])
    assert merges_of(segments, 9)
    assert len(segments) == 0
    assert merges_of(segments, 9) == []


def test_the_log_has_the_number_of_segments() -> None:
    log = io.StringIO()
    make_merges(segments_of(["abc abc ab"]), 9, Context(Workers(1), Report(stream=log)))
    assert "preprocessed 2 distinct segments" in log.getvalue()


def test_counts_beyond_32_bits() -> None:
    lines = [f"ab ab\t{2**40}", f"bc\t{2**40 + 1}", "cd\t3"]
    found = merges_of(segments_of(lines, input_format="tsv", character_coverage=1.0), 3)
    assert found == [("ab", 2**41), ("▁ab", 2**41), ("bc", 2**40 + 1)]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_workers_never_change_a_merge(workers: int) -> None:
    lines = [line for line, _ in stages.random_lines(random.Random(8))]
    expected = merges_of(segments_of(lines, workers=1), 200)
    assert merges_of(segments_of(lines, workers=workers), 200) == expected


@pytest.mark.parametrize("number", range(examples(200)))
def test_the_choice_of_characters_is_that_of_the_oracle(number: int) -> None:
    dice = random.Random(f"selection/{number}")
    letters = dice.sample("abcdéñλж漢字あい😀𠀀", dice.randint(1, 14))
    counts = {letter: dice.randint(1, dice.choice([2, 5, 100])) for letter in letters}
    texts = {"".join(dice.choices(letters, k=dice.randint(2, 4))) for _ in range(12)}
    merges = [(text, dice.randint(0, 60)) for text in sorted(texts)]
    merges.sort(key=lambda item: -item[1])
    size = dice.randint(1, 30)
    found = choose_pieces(
        [(text.encode(), count, 1) for text, count in merges],
        [(ord(c), count) for c, count in counts.items()],
        size,
    )
    assert [piece.decode() for piece in found] == selection.choose(merges, counts, size)
