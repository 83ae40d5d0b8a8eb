"""Flow charts in a small part of Mermaid's notation: ``flowchart TD``, boxes and arrows.

A box stands in the row below all boxes that lead to it.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from building import svg

_ARROW = re.compile(r"\s*-->\s*")
_NODE = re.compile(r'(\w+)(?:\["(.*)"\])?')
_WIDTH, _LINE, _GAP = 232.0, 18.0, 34.0


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
    rows = _rows(chart)
    height = {name: 16 + _LINE * len(lines) for name, lines in chart.labels.items()}
    width = max(len(row) for row in rows) * (_WIDTH + 16) + 8
    parts, place, y = [], {}, 6.0
    for row in rows:
        tallest = max(height[name] for name in row)
        x = (width - len(row) * (_WIDTH + 16) + 16) / 2
        for name in row:
            place[name] = (x, y)
            x += _WIDTH + 16
        y += tallest + _GAP
    for start, end in chart.arrows:
        (x1, y1), (x2, y2) = place[start], place[end]
        parts.append(_arrow(x1 + _WIDTH / 2, y1 + height[start], x2 + _WIDTH / 2, y2))
    for name, lines in chart.labels.items():
        x, top = place[name]
        parts.append(svg.box(x, top, _WIDTH, height[name]))
        parts += [
            svg.text(
                x + _WIDTH / 2,
                top + 21 + _LINE * index,
                words,
                class_="strong" if not index else None,
            )
            for index, words in enumerate(lines)
        ]
    return svg.drawing("Flow chart", width, y - _GAP + 6, parts)


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
        chart.labels[name] = label.split("<br>")
    chart.labels.setdefault(name, [name])
    return name


def _rows(chart: _Chart) -> list[list[str]]:
    depth = dict.fromkeys(chart.labels, 0)
    for _ in chart.labels:
        for start, end in chart.arrows:
            depth[end] = max(depth[end], depth[start] + 1)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, row in depth.items():
        rows[row].append(name)
    return rows


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    middle = y2 - _GAP / 2
    path = f"M{x1:.1f},{y1:.1f} C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} {x2:.1f},{y2 - 6:.1f}"
    head = f"M{x2 - 5:.1f},{y2 - 8:.1f} L{x2:.1f},{y2:.1f} L{x2 + 5:.1f},{y2 - 8:.1f} Z"
    return svg.element("path", d=path, class_="arrow") + svg.element("path", d=head, class_="head")
