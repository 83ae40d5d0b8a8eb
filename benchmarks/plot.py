"""The figure: the time and memory of every trainer, by the size of the text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.results import Measured, Result

# Colours by Okabe and Ito, which colour-blind readers can distinguish.
_LINE = {"marker": "o", "markersize": 4, "linewidth": 2.2}
_OURS = {**_LINE, "color": "#0072b2", "zorder": 3}
_REFERENCE = {**_LINE, "color": "#d55e00"}
_OTHERS = [{**_LINE, "color": c, "linewidth": 1.4} for c in ("#009e73", "#cc79a7", "#e69f00")]


Lines = dict[str, tuple[dict[str, Any], list[tuple[float, Measured]]]]


def lines(results: Sequence[Result]) -> Lines:
    """Return the style and points (size in MB, result) of each trainer that ran on all sizes."""
    found: Lines = {}
    sizes = [result for result in results if result.is_in("sizes")]
    for result in sorted(sizes, key=lambda result: result.size):
        fewer = [side for side in result.having("ours") if side.workers != result.threads]
        for side in (result.reference, *result.others, *fewer, result.ours):
            if side is not None:
                _, points = found.setdefault(side.label, (_style(side, result, found), []))
                points.append((result.size / 1e6, side))
    complete = [label for label, (_, points) in found.items() if len(points) == len(sizes)]
    slowest_first = sorted(complete, key=lambda label: -found[label][1][-1][1].seconds)
    return {label: found[label] for label in slowest_first}


def _style(side: Measured, result: Result, found: Lines) -> dict[str, Any]:
    if side.role == "reference":
        return _REFERENCE
    if side.role == "ours":
        return _OURS if side.workers == result.threads else {**_OURS, "linestyle": ":"}
    used = sum(style in _OTHERS for style, _ in found.values())
    return _OTHERS[used % len(_OTHERS)]


def draw_to(path: Path, results: Sequence[Result]) -> None:
    """Write the figure as SVG, unless there are fewer than two sizes."""
    found = lines(results)
    if not found or max(len(points) for _, points in found.values()) < 2:
        return
    try:
        import matplotlib
    except ImportError:
        print("The figure needs matplotlib: pip install '.[bench]'", file=sys.stderr)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    sizes = sorted({size for _, points in found.values() for size, _ in points})
    pyplot.rcParams["svg.hashsalt"] = "spmcompat"  # makes the ids in the file repeatable
    figure, panels = pyplot.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    time, memory = panels
    for label, (style, points) in found.items():
        x = [size for size, _ in points]
        time.plot(x, [side.seconds for _, side in points], label=label, **style)
        memory.plot(x, [side.mib / 1024 for _, side in points], **style)
    time.set_title("wall time, seconds", loc="left")
    memory.set_title("peak memory, GiB", loc="left")
    for axes in panels:
        axes.set_xlabel("English books, MB")
        axes.set_xticks(sizes, [f"{size:.3g}" for size in sizes])
        axes.set_xlim(0, 1.03 * sizes[-1])
        axes.set_ylim(bottom=0)
        axes.grid(color="#e5e5e5", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    # The background is white, because the page that shows the figure may be dark.
    figure.savefig(path, facecolor="white", metadata={"Date": None})
    pyplot.close(figure)
