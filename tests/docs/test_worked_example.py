"""The numbers in the worked example of the documentation equal those of the oracle."""

from __future__ import annotations

import sys

import pytest

from tests.docs.examples import ROOT
from tests.oracle.lattice import Lattice, vocabulary

pytest.importorskip("sphinx", reason="sphinx is not installed: pip install 'spmcompat[docs]'")
sys.path.append(str(ROOT / "docs"))

from building import example, mermaid, summation_pictures, svg


def test_marginals() -> None:
    rows = example.pieces_after(example.step("seeds"))
    found = example.marginals("lower", rows)
    lattice = Lattice("\u2581lower", vocabulary([(row.piece, row.new_score) for row in rows]))
    counts = [0.0] * len(rows)
    lattice.add_marginals(1, counts)
    assert [found.marginals[row.piece] for row in rows] == [float(count) for count in counts]
    path, _ = lattice.best_path()
    assert found.best == {rows[node.id].piece for node in path}


def test_each_letter_is_in_one_piece() -> None:
    found = example.marginals("lower", example.pieces_after(example.step("seeds")))
    for letter in "\u2581lower":
        total = sum(share for piece, share in found.marginals.items() if letter in piece)
        assert total == pytest.approx(1, abs=1e-5)


def test_what_the_page_says_of_seeds() -> None:
    seeds = {row.piece for row in example.step("seeds").pieces}
    assert "\u2581newe" in seeds
    assert not {"\u2581new", "st"} & seeds
    assert "st" in {row.piece for row in example.rounds("bpe")[-1].pieces}


def test_the_sums_differ() -> None:
    one, two = (line.split("|")[2] for line in summation_pictures.orders().splitlines()[2:])
    assert one != two


def test_a_chart_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="only 'flowchart TD'"):
        mermaid.draw("graph LR\n a --> b")
    with pytest.raises(ValueError, match="cannot draw"):
        mermaid.draw("flowchart TD\n a --> b{c}")


def test_a_chart_has_its_boxes_and_arrows() -> None:
    chart = mermaid.draw('flowchart TD\n a["one<br>two"] --> b\n a --> c --> b')
    assert chart.count("<rect") == 3
    assert chart.count('class="arrow"') == 3
    assert ">two<" in chart


@pytest.mark.parametrize(
    ("least", "most", "ticks"),
    [(0, 10, [0, 2.5, 5, 7.5, 10]), (0, 125, [0, 50, 100, 150]), (0, 4.7, [0, 2, 4, 6])],
)
def test_ticks(least: float, most: float, ticks: list[float]) -> None:
    assert svg._ticks(least, most) == ticks
