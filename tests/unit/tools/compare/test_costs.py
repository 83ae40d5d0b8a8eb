"""The section "Which size?" of the report, and the plots of costs and changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from spmcompat.tools.compare import plots
from spmcompat.tools.compare.costs import costs
from spmcompat.tools.compare.report import page
from spmcompat.tools.compare.results import Result
from spmcompat.tools.compare.training import SplitTexts
from spmcompat.tools.evaluate.network_costs import Network, estimate
from tests.unit.tools.compare.test_report import Tags, result, texts, with_intervals

__all__ = ["texts"]

NETWORK = Network(embedding_width=16, parameters=1000.0, training_bytes=12_000.0)


def sized(config: str, size: int, bytes_per_token: float, **changes: Any) -> Result:
    made = result(config, 10, 1.0, size, **changes)
    return made._replace(evaluation=made.evaluation._replace(bytes_per_token=bytes_per_token))


THREE = [sized("<a>", 50, 1.0), sized("<a>", 100, 2.0), sized("<a>", 1000, 4.0)]


def rows(html: str) -> dict[str, list[str]]:
    found = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', html)
    return {
        name: re.findall(r"(<td.*?)</td>", re.sub(r' data-title=".*?"', "", cells))
        for name, cells in found
    }


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the axes of the plots that are drawn."""
    from matplotlib.figure import Figure

    found: list[Any] = []

    def draw_only(_name: str, draw: Callable[[Any], None]) -> str:
        axes = Figure().subplots()
        draw(axes)
        found.append(axes)
        return "<svg></svg>"

    monkeypatch.setattr(plots, "_svg", draw_only)
    return found


@pytest.mark.slow
def test_the_table_has_a_row_for_each_size_and_marks_the_lowest() -> None:
    found = rows(costs([*THREE, sized("b", 50, 3.0), sized("b", 100, 2.0)], NETWORK))
    # With the three sizes, the 12,000 bytes of text become 12,000, 6,000 or 3,000 tokens. A token
    # takes 6 operations for each parameter. The parameters are the 1,000 of the network, and the
    # 800, 1,600 or 16,000 of the output layer.
    assert found["&lt;a&gt; 50"] == [
        "<td>50",
        "<td>800",
        "<td>12,000",
        "<td>1.2960e+08",
        "<td>38.46%",
    ]
    assert found["&lt;a&gt; 100"][2:] == ["<td>6,000", "<td class=best>9.3600e+07", "<td>0.00%"]
    assert found["&lt;a&gt; 1,000"][2:] == ["<td>3,000", "<td>3.0600e+08", "<td>226.92%"]
    assert found["b 50"][3:] == ["<td class=best>4.3200e+07", "<td>0.00%"]


def test_the_page_says_if_a_size_outside_of_the_range_may_cost_less() -> None:
    assert "may cost less" not in costs(THREE, NETWORK)
    assert "<b>&lt;a&gt;</b> is at the smallest size" in costs(THREE[1:], NETWORK)
    assert "<b>&lt;a&gt;</b> is at the largest size" in costs(THREE[:2], NETWORK)
    assert "may cost less" not in costs(THREE[:1], NETWORK)


def test_one_size_has_numbers_but_no_curve() -> None:
    html = costs(THREE[:1], NETWORK)
    assert "<svg" not in html
    assert rows(html)["&lt;a&gt; 50"][3:] == ["<td>1.2960e+08", "<td>–"]


def test_a_model_that_loses_text_is_not_the_lowest() -> None:
    html = costs([*THREE[:2], sized("<a>", 200, 99.0, lost=0.1)], NETWORK)
    found = rows(html)
    assert found["&lt;a&gt; 200<br><small>loses text</small>"][-1] == "<td>–"
    assert "class=best" in found["&lt;a&gt; 100"][3]


@pytest.mark.slow
def test_the_width_alone_gives_embedding_parameters(texts: SplitTexts) -> None:
    html = costs(THREE, Network(16))
    assert rows(html)["&lt;a&gt; 50"] == ["<td>50", "<td>800"]
    assert "operations" not in html
    assert "Which size?" not in page(THREE, texts, "text")


@pytest.mark.slow
def test_the_section_is_part_of_the_page(texts: SplitTexts) -> None:
    html = page(THREE, texts, "text", network=NETWORK)
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert "Which size?" in html


def test_the_curve_has_a_ring_at_its_minimum(drawn: list[Any]) -> None:
    found = estimate([one.evaluation for one in THREE], NETWORK)
    plots.cost_curves({"<a>": THREE}, {"<a>": found})
    curve, ring, _ = drawn[0].get_lines()
    assert curve.get_xdata().tolist() == [50, 100, 1000]
    assert curve.get_ydata().tolist() == [1.296e8, 9.36e7, 3.06e8]
    assert (ring.get_xdata().tolist(), ring.get_ydata().tolist()) == ([100], [9.36e7])


def test_each_configuration_is_a_point_relative_to_the_baseline(drawn: list[Any]) -> None:
    results = [
        with_intervals(result("one", 10, 1.25), [9, 10, 11], [1.2, 1.25, 1.3]),
        with_intervals(result("two", 12, 1.0), [9.9, 12, 14.3], [1.2, 1.0, 0.91]),
        result("one", 8, 1.0, 200),
        result("two", 6, 1.5, 200),
        result("bpe", 6, math.nan, 200),
    ]
    assert plots.change_of_loss_and_tokens(results, "one")
    lines = [line.get_xydata().tolist() for line in drawn[0].get_lines()]
    points = [line for line in lines[2:] if len(line) == 1]
    assert points == [[pytest.approx([20, -20])], [pytest.approx([-25, 50])]]
    # The tokens change by 10, 20 and 30 % in the three resamples. The interval leaves out 2.5 % of
    # the resamples at each end, so each bound lies a twentieth of the way from an extreme to the
    # middle value. The losses change by 0, -20 and -30 %.
    across, along = [line for line in lines[2:] if len(line) == 2]
    assert across == [pytest.approx([10.5, -20]), pytest.approx([29.5, -20])]
    assert along == [pytest.approx([20, -29.5]), pytest.approx([20, -1])]


def test_the_plot_of_changes_needs_two_configurations_with_a_loss() -> None:
    both = [result("one", 10, 1.25), result("two", 12)]
    assert plots.change_of_loss_and_tokens(both, "one") == ""
    assert plots.change_of_loss_and_tokens(both, "two") == ""
