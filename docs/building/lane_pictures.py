"""The picture of lanes and workers, and a sum that depends on the order."""

import numpy as np

from building import svg

_TERMS = [16_777_216.0, 1.0, 1.0, 1.0]


def lanes() -> str:
    """Draw how pretokens are dealt to lanes, and lanes are added."""
    parts = [
        svg.text(70, 20, "pretokens", class_="strong"),
        svg.text(300, 20, "lanes (num_threads=2)", class_="strong"),
        svg.text(560, 20, "expected counts", class_="strong"),
    ]
    for index in range(6):
        y = 34 + 38.0 * index
        lane = index % 2
        parts += [svg.box(20, y, 100, 28, "box"), svg.text(70, y + 19, f"pretoken {index}")]
        target = 80 + 110 * lane
        parts.append(svg.line(120, y + 14, 240, target + 22, "edge-best" if lane else "line"))
    for lane in range(2):
        y = 80.0 + 110 * lane
        given = ", ".join(str(index) for index in range(lane, 6, 2))
        parts += [svg.box(240, y, 130, 44, "box"), svg.text(305, y + 19, f"lane {lane}")]
        parts.append(svg.text(305, y + 36, f"{given}, in order", class_="small"))
        parts.append(svg.line(370, y + 22, 480, 157, "line"))
    parts += [svg.box(480, 135, 150, 44, "box"), svg.text(555, 154, "lane 0 + lane 1")]
    parts.append(svg.text(555, 171, "in order", class_="small"))
    return svg.drawing("Pretokens are dealt to lanes in turn", 650, 274, parts)


def sums() -> str:
    """Return the same four numbers, added in one lane and in two lanes."""
    one = np.float32(0)
    for term in _TERMS:
        one = np.float32(one + np.float32(term))
    first = np.float32(np.float32(_TERMS[0]) + np.float32(_TERMS[2]))
    second = np.float32(np.float32(_TERMS[1]) + np.float32(_TERMS[3]))
    two = np.float32(first + second)
    return "\n".join(
        [
            "| order of the sum | result in float32 |",
            "|---|--:|",
            f"| one lane: ((16777216 + 1) + 1) + 1 | {one:.0f} |",
            f"| two lanes: (16777216 + 1) + (1 + 1) | {two:.0f} |",
        ]
    )
