"""The picture of BPE training, on the worked example."""

from building import example, svg


def merges() -> str:
    """Draw the merges in their order, each with its pair and count."""
    rows = [row for row in example.rounds("bpe")[-1].pieces if row.left is not None]
    parts, y = [], 6.0
    for number, row in enumerate(rows, 1):
        parts.append(svg.text(24, y + 20, f"{number}.", class_="small"))
        for x, width, words, shade in (
            (48, 100, row.left, "box-plain"),
            (178, 100, row.right, "box-plain"),
            (318, 130, row.piece, "box"),
        ):
            parts.append(svg.box(x, y, width, 30, shade))
            parts.append(svg.text(x + width / 2, y + 20, words or "", class_="piece"))
        parts += [svg.text(163, y + 20, "+"), svg.text(298, y + 20, "\u2192")]
        parts.append(
            svg.text(466, y + 20, f"the pair occurs {row.count:g} times", "start", "small")
        )
        y += 38
    return svg.drawing("The merges in their order", 640, y, parts)
