"""Compares the results of pruning with those of the oracle, bit for bit."""

import random
from dataclasses import replace

import numpy as np
import pytest

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import best_path_counts, expected_counts
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import drop_unreachable, find_losses
from tests.oracle import training as oracle
from tests.oracle.characters import Options
from tests.oracle.lattice import Lattice as OracleLattice
from tests.oracle.lattice import Vocabulary
from tests.unit import stages

CASES = [f"pruning/{number}" for number in range(40)]


def size_of(options: Options) -> int:
    return int(options.vocab_size * 1.1)


@pytest.mark.parametrize("name", CASES)
def test_pruning_equals_the_oracle(name: str) -> None:
    case = stages.random_case(name)
    dice = random.Random(name)
    # With a shrinking factor of 0, only the desired size matters.
    options = replace(
        case.options,
        vocab_size=dice.randint(1, 2 + len(case.pieces)),
        shrinking_factor=0.0,
        num_threads=dice.choice([1, 2, 5]),
    )
    partial_sums = options.num_threads
    expected = oracle.prune(case.pieces, case.counted, options)
    after = oracle.e_step(expected, case.counted, partial_sums) if expected else None
    for count in (1, 2, 3):
        workers = Workers(count)
        pieces = stages.ours(case.pieces)
        lattices = Lattices(case.corpus, pieces, workers)
        counts = best_path_counts(lattices, partial_sums, workers)
        losses = find_losses(lattices, counts, partial_sums, workers)
        left, new_ids = losses.select(size_of(options))
        assert list(left) == stages.plain(expected)
        if after is not None:
            lattices.renumber(left, new_ids, workers)
            assert list(expected_counts(lattices, partial_sums, workers)) == list(
                map(float, after[0])
            )


@pytest.mark.parametrize("name", CASES)
def test_losses_equal_the_oracle(name: str) -> None:
    case = stages.random_case(name)
    partial_sums = case.options.num_threads
    expected = oracle.losses(case.pieces, case.counted, case.options)
    for count in (1, 3):
        workers = Workers(count)
        lattices = Lattices(case.corpus, stages.ours(case.pieces), workers)
        counts = best_path_counts(lattices, partial_sums, workers)
        found = find_losses(lattices, counts, partial_sums, workers)
        assert found.as_list() == expected


def two_best_by_a_forbidden_node(piece: str, known: Vocabulary) -> list[list[int]]:
    """Return the best and the second-best path, as Land and Pinter find them.

    One path is the piece itself. The other path is found by forbidding the node of the piece. If
    there is no other path, only the piece is returned.
    """
    lattice = OracleLattice(piece, known)
    itself = next(node for node in lattice.beginning[0] if node.length == len(piece))
    whole = itself.score
    itself.score = np.float32("-inf")
    path, score = lattice.best_path()
    parts = [node.id for node in path]
    if score == itself.score:
        return [[itself.id]]
    return [[itself.id], parts] if whole > score else [parts, [itself.id]]


@pytest.mark.parametrize("name", CASES)
def test_the_alternative_is_the_best_segmentation_without_the_piece(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pruning keeps the same pieces if the alternative is found by forbidding the piece's node.

    There are no ties, so the order of the pieces is the same, too.
    """
    case = stages.random_case(name)
    dice = random.Random(name)
    scored = [(text, np.float32(-dice.uniform(0.5, 12))) for text, _ in case.pieces]
    options = replace(case.options, shrinking_factor=0.0, num_threads=1)
    monkeypatch.setattr(oracle, "_two_best", two_best_by_a_forbidden_node)
    workers = Workers(2)
    lattices = Lattices(case.corpus, stages.ours(scored), workers)
    counts = best_path_counts(lattices, 1, workers)
    for size in (1, len(scored) // 2, 2 * len(scored)):
        options = replace(options, vocab_size=size)
        losses = find_losses(lattices, counts, 1, workers)
        left, _ = losses.select(size_of(options))
        assert list(left) == stages.plain(oracle.prune(scored, case.counted, options))


def test_the_cases_cover_pieces_that_stay_and_pieces_that_are_dropped() -> None:
    kinds = {"all stay": 0, "some are cut": 0, "unused or split": 0}
    for name in CASES:
        case = stages.random_case(name)
        options = replace(case.options, num_threads=1, shrinking_factor=0.0)
        everything = oracle.prune(case.pieces, case.counted, replace(options, vocab_size=10_000))
        few = oracle.prune(case.pieces, case.counted, replace(options, vocab_size=1))
        kinds["all stay"] += len(everything) == len(case.pieces)
        kinds["unused or split"] += len(everything) < len(case.pieces)
        kinds["some are cut"] += len(few) < len(everything)
    assert min(kinds.values()) > 2, kinds


def test_equal_losses_rank_by_id() -> None:
    case = stages.both([("ab", 5), ("cd", 5), ("ef", 5)], Options(), dummy=False)
    texts = ["ef", "cd", "ab", "a", "b", "c", "d", "e", "f"]
    workers = Workers(1)
    pieces = Pieces([(text.encode(), -1.0) for text in texts])
    lattices = Lattices(case.corpus, pieces, workers)
    counts = best_path_counts(lattices, 2, workers)
    losses = find_losses(lattices, counts, 2, workers)
    assert [piece for piece, _ in losses.select(2)[0]] == [b"ef", b"cd"]


def test_pruning_does_not_depend_on_workers() -> None:
    """There are more pieces than one worker takes at a time, so several workers share them."""
    dice = random.Random(1)
    words = sorted({"".join(dice.choices("abcde", k=dice.randint(2, 7))) for _ in range(9000)})
    case = stages.both([(word, 1 + at % 7) for at, word in enumerate(words)], Options(), False)
    texts = [*"abcde", *words]
    pieces = Pieces(
        [(text.encode(), -1.0 - at % 5 - len(text) / 2) for at, text in enumerate(texts)]
    )
    assert len(pieces) > 4096
    results = []
    for count in (1, 2, 3):
        workers = Workers(count)
        lattices = Lattices(case.corpus, pieces, workers)
        counts = best_path_counts(lattices, 3, workers)
        losses = find_losses(lattices, counts, 3, workers)
        results.append(list(losses.select(3000)[0]))
    assert 0 < len(results[0]) <= 3000
    assert results[1:] == results[:1] * 2


@pytest.mark.parametrize("name", CASES)
def test_unreachable_pieces_equal_the_oracle(name: str) -> None:
    pieces = stages.random_case(name).pieces
    beaten = oracle.unreachable(pieces)
    left = [piece for number, piece in enumerate(pieces) if number not in beaten]
    assert list(drop_unreachable(stages.ours(pieces), Workers(1))) == stages.plain(left)


def test_a_piece_that_ties_with_another_segmentation_is_reachable() -> None:
    scores = {"a": -1.0, "aa": -2.0, "aaa": -3.0, "aaaa": np.nextafter(np.float32(-4), -9)}
    pieces = Pieces([(text.encode(), float(score)) for text, score in scores.items()])
    left = drop_unreachable(pieces, Workers(1))
    assert [piece for piece, _ in left] == [b"a", b"aa", b"aaa"]


def test_reachability_with_positive_scores() -> None:
    pieces = Pieces([(b"a", -9.0), (b"b", 8.5), (b"ab", -1.0), (b"ba", 0.0), (b"bb", 17.0)])
    left = drop_unreachable(pieces, Workers(1))
    assert [piece for piece, _ in left] == [b"a", b"b", b"ba", b"bb"]


def test_unreachable_pieces_do_not_depend_on_workers() -> None:
    """Every second pair is unreachable.

    There are more pieces than one worker takes at a time, so several workers share them.
    """
    singles = {chr(0x4E00 + at): -1.0 for at in range(100)}
    pairs = {a + b: -1.5 - at % 2 for a in singles for at, b in enumerate(singles)}
    pieces = Pieces([(text.encode(), score) for text, score in {**singles, **pairs}.items()])
    expected = [
        (text.encode(), score) for text, score in {**singles, **pairs}.items() if score >= -2
    ]
    assert len(pieces) > 10000 > len(expected)
    for count in (1, 2, 3, 7):
        assert list(drop_unreachable(pieces, Workers(count))) == expected
