"""Sparse pruning equals the oracle, bit for bit."""

import random
from dataclasses import replace

import numpy as np
import pytest

from spmcompat.runtime.context import Context
from spmcompat.runtime.runs import Runs
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import ExpectedCounts, expected_counts, ranked_count, sparse_step
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.sparse_pruning import prune_sparsely
from tests.oracle import training as oracle
from tests.unit import stages
from tests.unit.stages import Case

CASES = [f"sparse/{number}" for number in range(40)]


def counted(
    case: Case, partial_sums: int, workers: Workers
) -> tuple[Pieces, Lattices, ExpectedCounts]:
    pieces = stages.ours(case.pieces)
    lattices = Lattices(case.corpus, pieces, workers)
    return pieces, lattices, expected_counts(lattices, partial_sums, workers)


@pytest.mark.parametrize("name", CASES)
def test_a_sparse_step_equals_the_oracle(name: str) -> None:
    case = stages.random_case(name)
    dice = random.Random(name)
    partial_sums = dice.choice([1, 2, 5])
    expected = oracle.e_step(case.pieces, case.counted, partial_sums)[0]
    # The last penalty equals the count of a piece, because such a piece must be kept.
    for penalty in (0.0, 0.3, float(dice.choice(expected))):
        workers = Workers(dice.choice([1, 2, 3]))
        pieces, lattices, counts = counted(case, partial_sums, workers)
        left, new_ids = sparse_step(pieces, counts, penalty)
        known = oracle.sparse_step(case.pieces, expected, np.float32(penalty))
        assert list(left) == stages.plain(known)
        if known:
            lattices.renumber(left, new_ids, workers)
            after = oracle.e_step(known, case.counted, partial_sums)[0]
            assert list(expected_counts(lattices, partial_sums, workers)) == list(map(float, after))


@pytest.mark.parametrize("name", CASES[:10])
def test_ranked_count_indexes_the_sorted_counts(name: str) -> None:
    case = stages.random_case(name)
    _, _, counts = counted(case, 2, Workers(1))
    ranked = sorted(counts, reverse=True)
    assert [ranked_count(counts, rank) for rank in range(len(ranked))] == ranked
    with pytest.raises(IndexError):
        ranked_count(counts, len(ranked))


@pytest.mark.slow
@pytest.mark.parametrize("debias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_sparse_pruning_equals_the_oracle(name: str, debias: bool) -> None:
    case = stages.random_case(name)
    dice = random.Random(name)
    options = replace(
        case.options,
        vocab_size=dice.randint(1, 2 + len(case.pieces)),
        num_threads=dice.choice([1, 2, 5]),
        post_l1_debias=debias,
    )
    expected = oracle.prune_sparsely(case.pieces, case.counted, options)
    for count in (1, 3):
        workers = Workers(count)
        lattices = Lattices(case.corpus, stages.ours(case.pieces), workers)
        size, partial_sums = options.vocab_size, options.num_threads
        run = UnigramOptions(size, partial_sums=partial_sums, post_l1_debias=debias)
        found = prune_sparsely(lattices, Runs([run]), Context(workers, stages.QUIET))
        assert list(found[size]) == stages.plain(expected)
