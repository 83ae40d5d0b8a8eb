"""Compares expected counts, best paths and the M-step with the oracle, bit for bit."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import ExpectedCounts, best_path_counts, expected_counts, m_step
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces
from tests.oracle import training as oracle
from tests.oracle.characters import Options
from tests.oracle.seeding import Pieces as OraclePieces
from tests.unit import stages
from tests.unit.stages import Case

PARTIAL_SUMS = [1, 2, 5]
WORKERS = [1, 2, 3]
CASES = [f"stages/{number}" for number in range(30)]


def check_expected(counts: ExpectedCounts, expected: tuple[oracle.Sums, np.float32, int]) -> None:
    sums, objective, _ = expected
    assert list(counts) == [float(count) for count in sums]
    assert counts.objective == float(objective)


def kept(pieces: OraclePieces, counts: oracle.Sums) -> OraclePieces:
    """Return the pieces after the oracle's M-step; none if it would drop every piece."""
    return oracle.m_step(pieces, counts) if max(counts) >= oracle.LEAST_EXPECTED else []


@pytest.fixture(params=["any processor", "AVX2"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with the portable kernels, or with those for AVX2 if the processor has AVX2."""
    monkeypatch.setenv("SPMCOMPAT_AVX2", str(int(request.param == "AVX2")))


@pytest.mark.slow
@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("name", CASES)
def test_e_step_and_m_step_equal_the_oracle(name: str) -> None:
    """Compare two E-steps, and the M-step between them, with the oracle."""
    case = stages.random_case(name)
    for partial_sums in PARTIAL_SUMS:
        first = oracle.e_step(case.pieces, case.counted, partial_sums)
        best = oracle.best_path_counts(case.pieces, case.counted, partial_sums)
        left = kept(case.pieces, first[0])
        second = oracle.e_step(left, case.counted, partial_sums) if left else None
        for count in WORKERS:
            workers = Workers(count)
            pieces = stages.ours(case.pieces)
            lattices = Lattices(case.corpus, pieces, workers)
            counts = expected_counts(lattices, partial_sums, workers)
            check_expected(counts, first)
            assert list(best_path_counts(lattices, partial_sums, workers)) == [
                float(c) for c in best
            ]
            pieces, new_ids = m_step(pieces, counts, workers)
            assert list(pieces) == stages.plain(left)
            if second is not None:
                lattices.renumber(pieces, new_ids, workers)
                check_expected(expected_counts(lattices, partial_sums, workers), second)


def test_the_cases_cover_unknown_characters_idle_lanes_and_several_segments() -> None:
    cases = [stages.random_case(name) for name in CASES]

    def lacks_a_character(case: Case) -> bool:
        known = {text for text, _ in case.pieces}
        return any(character not in known for text, _ in case.counted for character in text)

    assert sum(map(lacks_a_character, cases)) > 5
    assert sum(len(case.counted) < max(PARTIAL_SUMS) for case in cases) > 2
    assert sum(any(count > 1 for _, count in case.counted) for case in cases) > 5
    assert sum(case.corpus.segments != case.corpus.pretokens for case in cases) > 5


def test_renumbered_lattices_equal_new_ones() -> None:
    """There are more segments than a lattice block holds."""
    case = stages.both([(f"{number:b}", 1) for number in range(1, 6000)], Options())
    assert case.corpus.segments > 4096
    texts = ["0", "1", "▁", "▁1", "00", "11", "10", "101", "0000", "1111111", "▁111"]
    pieces = Pieces([(text.encode(), -1.0 - at / 4) for at, text in enumerate(texts)])
    for count in WORKERS:
        workers = Workers(count)
        lattices = Lattices(case.corpus, pieces, workers)
        counts = expected_counts(lattices, 2, workers)
        thinned, new_ids = m_step(pieces, counts, workers, threshold=3000)
        assert 0 < len(thinned) < len(pieces)
        lattices.renumber(thinned, new_ids, workers)
        anew = expected_counts(Lattices(case.corpus, thinned, workers), 3, workers)
        again = expected_counts(lattices, 3, workers)
        assert list(again) == list(anew)
        assert again.objective == anew.objective


@pytest.mark.slow
@pytest.mark.parametrize("partial_sums", [1, 2, 3, 16])
def test_expected_counts_do_not_depend_on_workers(partial_sums: int) -> None:
    """Every partial sum adds up many groups of pretokens, so the order affects its rounding."""
    dice = random.Random(partial_sums)
    words = ["".join(dice.choices("ab", k=dice.randint(1, 60))) for _ in range(12_000)]
    counted = [(word, int(10 ** dice.uniform(0, 6))) for word in dict.fromkeys(words)]
    case = stages.both(counted, Options())
    texts = ["▁", "a", "b", "aa", "ab", "ba", "aba", "abab", "bbb", "▁a", "▁b"]
    pieces = Pieces([(text.encode(), -1.5 - at / 7) for at, text in enumerate(texts)])

    def sums(
        count: int, partial_sums: int = partial_sums
    ) -> tuple[list[float], float, list[float], list[float]]:
        workers = Workers(count)
        lattices = Lattices(case.corpus, pieces, workers)
        expected = expected_counts(lattices, partial_sums, workers)
        best = best_path_counts(lattices, partial_sums, workers)
        single_sum = best_path_counts(lattices, partial_sums, workers, single_sum=True)
        return list(expected), expected.objective, list(best), list(single_sum)

    alone = sums(1)
    assert alone[0] != sums(1, partial_sums + 1)[0]
    for count in (2, 3, 8):
        for _ in range(3):
            assert sums(count) == alone


def test_prefix_links_in_several_parts_with_and_without_characters() -> None:
    """Only half of the characters are pieces, so the only match may be the unknown piece."""
    characters = [chr(0x4E00 + at) for at in range(150)]
    texts = [*characters[::2], *(a + b for a in characters for b in characters)]
    texts += [a + b + a for a in characters[:20] for b in characters[-20:]]
    random.Random(7).shuffle(texts)
    pieces = [(text, np.float32(-1 - at % 13 / 4)) for at, text in enumerate(texts)]
    assert len(pieces) > 16384
    dice = random.Random(8)
    words = ["".join(dice.choices(characters, k=dice.randint(1, 9))) for _ in range(300)]
    case = stages.both([(word, 3) for word in dict.fromkeys(words)], Options(), dummy=False)
    first = oracle.e_step(pieces, case.counted, 2)
    left = kept(pieces, first[0])
    assert 0 < len(left) < len(pieces)
    second = oracle.e_step(left, case.counted, 2)
    for count in WORKERS:
        workers = Workers(count)
        ours = stages.ours(pieces)
        lattices = Lattices(case.corpus, ours, workers)
        counts = expected_counts(lattices, 2, workers)
        check_expected(counts, first)
        thinned, new_ids = m_step(ours, counts, workers)
        lattices.renumber(thinned, new_ids, workers)
        check_expected(expected_counts(lattices, 2, workers), second)


@pytest.mark.slow
@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("length", [1, 2, 3, 10, 100, 1000])
@pytest.mark.parametrize("sizes", [(1, 2, 3, 16), range(1, 17), range(2, 17), range(8, 17)])
def test_ties_in_one_pretoken_of_equal_letters(length: int, sizes: Sequence[int]) -> None:
    """Pieces of all `sizes` have the same score, so paths with the same number of pieces tie."""
    case = stages.both([("a" * length, 7)], Options(), dummy=False)
    pieces = [("a" * size, np.float32(-1)) for size in sizes]
    workers = Workers(2)
    lattices = Lattices(case.corpus, stages.ours(pieces), workers)
    check_expected(expected_counts(lattices, 5, workers), oracle.e_step(pieces, case.counted, 5))
    best = oracle.best_path_counts(pieces, case.counted, 5)
    assert list(best_path_counts(lattices, 5, workers)) == [float(count) for count in best]


def test_counts_have_a_length_and_an_index() -> None:
    case = stages.both([("ab", 3)], Options(), dummy=False)
    workers = Workers(1)
    pieces = Pieces([(b"a", -1.0), (b"ab", -1.0), (b"b", -1.0)])
    counts = best_path_counts(Lattices(case.corpus, pieces, workers), 4, workers)
    assert (len(counts), list(counts)) == (3, [0.0, 3.0, 0.0])
    with pytest.raises(IndexError):
        counts[3]


def test_m_step_drops_counts_below_the_threshold_only() -> None:
    case = stages.both([("ab", 3), ("c", 1)], Options(), dummy=False)
    workers = Workers(1)
    pieces = Pieces([(b"b", -1.0), (b"ab", -0.5), (b"c", -1.0), (b"a", -9.0)])
    counts = best_path_counts(Lattices(case.corpus, pieces, workers), 1, workers)
    assert list(counts) == [0.0, 3.0, 1.0, 0.0]
    assert [piece for piece, _ in m_step(pieces, counts, workers, threshold=3)[0]] == [b"ab"]
    assert [piece for piece, _ in m_step(pieces, counts, workers, threshold=1)[0]] == [b"ab", b"c"]
    assert list(m_step(pieces, counts, workers, threshold=4)[0]) == []


def test_counts_of_kept_pieces_have_a_floor() -> None:
    """Without the floor, a piece with a tiny count gets a score of about -1/count (its digamma).

    In a float32 sum, all other scores are rounded away next to such a score. Then the expected
    counts no longer add up to the whole text.
    """
    case = stages.both([("ab", 3), ("c", 1)], Options(), dummy=False)
    workers = Workers(1)
    pieces = Pieces([(b"b", -30.0), (b"ab", -0.5), (b"c", -1.0), (b"a", -30.0), (b"bc", -1.0)])
    lattices = Lattices(case.corpus, pieces, workers)
    counts = expected_counts(lattices, 1, workers)
    assert 0 < counts[0] < 1e-20
    kept, new_ids = m_step(pieces, counts, workers, threshold=0)
    total = 0.01 + 3 + 1 + 0.01 + 0.01
    expected = {b"b": 0.01, b"ab": 3, b"c": 1, b"a": 0.01, b"bc": 0.01}
    assert dict(kept) == {
        piece: pytest.approx(oracle.digamma(n) - oracle.digamma(total), rel=1e-5)
        for piece, n in expected.items()
    }
    lattices.renumber(kept, new_ids, workers)
    again = expected_counts(lattices, 1, workers)
    lengths = [len(piece) for piece, _ in kept]
    assert sum(n * size for n, size in zip(again, lengths, strict=True)) == pytest.approx(7)
    # Pieces with counts below the threshold are dropped, even if the threshold is below the floor.
    assert b"b" not in dict(m_step(pieces, counts, workers, threshold=0.001)[0])


def test_m_step_can_keep_every_piece_and_does_not_change_the_counts() -> None:
    case = stages.both([("ab", 3), ("c", 1)], Options(), dummy=False)
    workers = Workers(1)
    pieces = Pieces([(b"b", -1.0), (b"ab", -0.5), (b"c", -1.0), (b"a", -9.0)])
    counts = best_path_counts(Lattices(case.corpus, pieces, workers), 1, workers)
    kept = dict(m_step(pieces, counts, workers, ml=True, keep=True)[0])
    expected = {b"b": 0.5, b"ab": 3.0, b"c": 1.0, b"a": 0.5}
    assert kept == {piece: pytest.approx(math.log(n / 5)) for piece, n in expected.items()}
    assert list(counts) == [0.0, 3.0, 1.0, 0.0]
