"""Draws loss against tokens, one point for each row: ``python -m benchmarks.papers.picture``.

The picture shows the means in the tables of README.md, next to the published means. So it changes
with the tables, and drawing it does not train models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
_PICTURE = FOLDER / "loss-and-tokens.svg"
# Colours by Okabe and Ito, which colour-blind readers can distinguish.
_STYLES = ("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "D"), ("#cc79a7", "^"), ("#e69f00", "v")
_MARGIN = 0.4  # percent
_TITLE = re.compile(r"(.*): change of loss / tokens in percent, 32,768 pieces")
_NUMBER = r"([+-]\d+\.\d+)"
_WITH_HALF = rf"{_NUMBER}±(\d+\.\d+)"
_ROW = re.compile(
    rf"(\S.*?) {{2,}}.*{_WITH_HALF} / {_WITH_HALF}\*? +{_NUMBER} / {_NUMBER} +\w+ / \w+"
)


class Point(NamedTuple):
    """One configuration: the mean changes of loss and tokens in percent, and the published changes.

    `loss_half` and `tokens_half` are half of the width of the 95 % intervals.
    """

    label: str
    loss: float
    loss_half: float
    tokens: float
    tokens_half: float
    published_loss: float
    published_tokens: float


def points(page: str) -> dict[str, list[Point]]:
    """Map each table title to the rows that contain published values.

    If several tables have the same title, the first table that contains such rows is used.
    """
    found: dict[str, list[Point]] = {}
    for title, rows in _tables(page):
        if rows and title not in found:
            found[title] = rows
    return found


def _tables(page: str) -> Iterator[tuple[str, list[Point]]]:
    for block in page.split("\n\n"):
        lines = block.removeprefix("```text\n").splitlines()
        if lines and (title := _TITLE.fullmatch(lines[0])):
            rows = [match.groups() for line in lines if (match := _ROW.fullmatch(line))]
            yield title[1], [Point(label, *map(float, numbers)) for label, *numbers in rows]


def draw_to(path: Path, tables: dict[str, list[Point]]) -> None:
    """Write the picture as SVG: one panel with the published changes, and one with ours."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "spmcompat"  # makes the file depend on the tables only
    figure, panels = pyplot.subplots(
        1, 2, figsize=(9.5, 5.0), layout="constrained", sharex=True, sharey=True
    )
    theirs, ours = panels
    every = [row for rows in tables.values() for row in rows]
    for (title, rows), (colour, mark) in zip(tables.items(), _STYLES, strict=True):
        style: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 5, "linestyle": ""}
        x = [row.published_tokens for row in rows]
        theirs.plot(x, [row.published_loss for row in rows], label=title, **style)
        ours.errorbar(
            [row.tokens for row in rows],
            [row.loss for row in rows],
            xerr=[row.tokens_half for row in rows],
            yerr=[row.loss_half for row in rows],
            elinewidth=0.6,
            **style,
        )
    theirs.set_title("published", loc="left")
    ours.set_title("here, with 95 % intervals over the languages", loc="left")
    theirs.set_ylabel("loss, change in %")
    for axes in panels:
        axes.set_xlabel("tokens, change in %")
        axes.axhline(0, color="black", linewidth=0.8)
        axes.axvline(0, color="black", linewidth=0.8)
        # These limits show all points, but cut off the ends of the widest intervals.
        axes.set_xlim(*_limits([x for row in every for x in (row.tokens, row.published_tokens)]))
        axes.set_ylim(*_limits([y for row in every for y in (row.loss, row.published_loss)]))
        axes.grid(color="#e5e5e5", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    # The background is white, because the page that shows the picture may be dark.
    figure.savefig(path, facecolor="white", metadata={"Date": None})
    pyplot.close(figure)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    return min(values) - _MARGIN, max(values) + _MARGIN


if __name__ == "__main__":
    draw_to(_PICTURE, points((FOLDER / "README.md").read_text(encoding="utf-8")))
    print(_PICTURE)
