"""The lattice on the page about Unigram training equals that of the oracle."""

import io
import re

import spmcompat
from spmcompat.runtime.rounds import Step
from tests.docs.examples import ROOT
from tests.oracle.lattice import Lattice, vocabulary

PAGE = (ROOT / "docs" / "unigram.md").read_text(encoding="utf-8")
WORD = "\u2581lower"


def oracle_lattice() -> tuple[list[str], Lattice]:
    """Return the seeds of the example and the lattice of the word."""
    words = {"low": 5, "lower": 2, "lowest": 2, "newest": 6, "newer": 3, "widest": 3, "wider": 2}
    assert f"words = {words}".replace("'", '"') in PAGE
    steps: list[Step] = []
    spmcompat.train(
        sentence_iterator=(word for word, count in words.items() for _ in range(count)),
        model_writer=io.BytesIO(),
        vocab_size=18,
        num_threads=1,
        on_round=steps.append,
    )
    seeds = [(row.piece, row.new_score) for row in steps[0].pieces]
    return [piece for piece, _ in seeds], Lattice(WORD, vocabulary(seeds))


def test_the_marginals() -> None:
    pieces, lattice = oracle_lattice()
    counts = [0.0] * len(pieces)
    lattice.add_marginals(1, counts)
    marginals = dict(zip(pieces, map(float, counts), strict=True))
    shown = dict(re.findall(r'"(\S+) (\d\.\d{3})"', PAGE))
    assert shown == {p: f"{share:.3f}" for p, share in marginals.items() if share >= 0.001}
    assert sum(0 < share < 0.001 for share in marginals.values()) == 6
    for letter in WORD:
        total = sum(share for piece, share in marginals.items() if letter in piece)
        assert abs(total - 1) < 1e-5


def test_the_places_and_the_best_path() -> None:
    pieces, lattice = oracle_lattice()
    chart = PAGE.partition("flowchart TD\n")[2].partition("```")[0]
    arrows = re.findall(r'(?=(\d) (==|--) "(\S+) \S+" \S+ (\d))', chart)
    assert arrows
    assert all(WORD[int(begin) : int(end)] == piece for begin, _, piece, end in arrows)
    best = {pieces[node.id] for node in lattice.best_path()[0]}
    assert {piece for _, line, piece, _ in arrows if line == "=="} == best
