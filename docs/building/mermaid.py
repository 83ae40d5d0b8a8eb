"""Draws flow charts that are written in a subset of Mermaid: ``flowchart TD``, boxes and arrows.

Each box is in a row below all boxes whose arrows lead to it.
"""

import re
import textwrap
from itertools import pairwise
from typing import NamedTuple

from building import svg

_ARROW = re.compile(r"\s*-->\s*")
_NODE = re.compile(r'(\w+)(?:\["(.*)"\])?')
_LINE, _GAP, _EMPTY, _LONGEST = 18.0, 34.0, 24.0, 22


class _Chart(NamedTuple):
    labels: dict[str, list[str]]
    arrows: list[tuple[str, str]]


def draw(source: str) -> str:
    """Return the chart as SVG.

    Raises
    ------
    ValueError
        If the chart uses more of Mermaid than this module knows.
    """
    chart = _parse(source)
    rows, ways = _rows(chart)
    box = 28 + 7.2 * max(len(words) for lines in chart.labels.values() for words in lines)
    widths = {name: box if name in chart.labels else _EMPTY for row in rows for name in row}
    spans = [sum(widths[name] + _GAP / 2 for name in row) for row in rows]
    width = max(spans)
    centres, tops, y = {}, {}, 6.0
    for row, span in zip(rows, spans, strict=True):
        x = (width - span + _GAP / 2) / 2
        for name in row:
            centres[name], tops[name] = x + widths[name] / 2, y
            x += widths[name] + _GAP / 2
        y += max(_height(chart.labels.get(name, [])) for name in row) + _GAP
    parts = []
    for way in ways:
        bottom = tops[way[0]] + _height(chart.labels[way[0]])
        points = [(centres[way[0]], bottom), *((centres[name], tops[name]) for name in way[1:])]
        parts.append(_arrow(points))
    for name, lines in chart.labels.items():
        parts.append(svg.box(centres[name] - box / 2, tops[name], box, _height(lines)))
        for index, words in enumerate(lines):
            shade = None if index else "strong"
            parts.append(
                svg.text(centres[name], tops[name] + 21 + _LINE * index, words, class_=shade)
            )
    return svg.drawing("Flow chart", width, y - _GAP + 6, parts)


def _height(lines: list[str]) -> float:
    return 16 + _LINE * len(lines)


def _parse(source: str) -> _Chart:
    chart = _Chart({}, [])
    head, *lines = [line.strip() for line in source.strip().splitlines()]
    if head != "flowchart TD":
        raise ValueError(f"only 'flowchart TD' can be drawn, not {head!r}")
    for line in filter(None, lines):
        names = [_named(part, chart) for part in _ARROW.split(line)]
        chart.arrows.extend(pairwise(names))
    return chart


def _named(part: str, chart: _Chart) -> str:
    match = _NODE.fullmatch(part)
    if not match:
        raise ValueError(f"cannot draw {part!r}")
    name, label = match.groups()
    if label:
        chart.labels[name] = [
            line for part in label.split("<br>") for line in textwrap.wrap(part, _LONGEST)
        ]
    chart.labels.setdefault(name, [name])
    return name


def _rows(chart: _Chart) -> tuple[list[list[str]], list[list[str]]]:
    """Return the names in each row, and the way of each arrow from row to row.

    An arrow that passes a row has an empty place there, so that it crosses no box.
    """
    depth = dict.fromkeys(chart.labels, 0)
    for _ in chart.labels:
        for start, end in chart.arrows:
            depth[end] = max(depth[end], depth[start] + 1)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, row in depth.items():
        rows[row].append(name)
    ways = []
    for start, end in chart.arrows:
        passed = [f"{start}-{end}-{row}" for row in range(depth[start] + 1, depth[end])]
        for row, name in enumerate(passed, depth[start] + 1):
            rows[row].append(name)
        ways.append([start, *passed, end])
    return rows, ways


def _arrow(points: list[tuple[float, float]]) -> str:
    (x, y), *others = points
    path = f"M{x:.1f},{y:.1f}"
    for index, (x2, y2) in enumerate(others):
        is_last = index == len(others) - 1
        end = y2 - 6 if is_last else y2
        middle = max(y, end - _GAP)
        half = (middle + end) / 2
        path += f" L{x:.1f},{middle:.1f} C{x:.1f},{half:.1f} {x2:.1f},{half:.1f} {x2:.1f},{end:.1f}"
        x, y = x2, end
    head = f"M{x - 5:.1f},{y - 2:.1f} L{x:.1f},{y + 6:.1f} L{x + 5:.1f},{y - 2:.1f} Z"
    return svg.element("path", d=path, class_="arrow") + svg.element("path", d=head, class_="head")
