"""The order of summation: a picture of partial sums, and a sum that depends on the order."""

import numpy as np

from building import svg

_TERMS = [16_777_216.0, 1.0, 1.0, 1.0]


def partial_sums() -> str:
    """Draw how pretokens are divided among two partial sums, which are then added."""
    parts = [
        svg.text(54, 20, "pretokens", class_="strong"),
        svg.text(224, 20, "partial sums", class_="strong"),
        svg.text(396, 20, "expected counts", class_="strong"),
    ]
    for index in range(6):
        y, part = 34 + 38.0 * index, index % 2
        parts += [svg.box(4, y, 100, 28, "box"), svg.text(54, y + 19, f"pretoken {index}")]
        middle = 102.0 + 110 * part
        parts.append(svg.line(104, y + 14, 164, middle, "edge-best" if part else "line"))
    for part in range(2):
        y = 80.0 + 110 * part
        given = ", ".join(str(index) for index in range(part, 6, 2))
        parts += [svg.box(164, y, 120, 44, "box"), svg.text(224, y + 19, f"sum {part}")]
        parts.append(svg.text(224, y + 36, f"{given}, in order", class_="small"))
        parts.append(svg.line(284, y + 22, 336, 157, "line"))
    parts += [svg.box(336, 135, 120, 44, "box"), svg.text(396, 154, "sum 0 + sum 1")]
    parts.append(svg.text(396, 171, "in order", class_="small"))
    return svg.drawing("Pretokens are divided among partial sums in turn", 462, 268, parts)


def orders() -> str:
    """Return the same four numbers, added in one sum and in two partial sums."""
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
            f"| one sum: ((16777216 + 1) + 1) + 1 | {one:.0f} |",
            f"| two partial sums: (16777216 + 1) + (1 + 1) | {two:.0f} |",
        ]
    )
