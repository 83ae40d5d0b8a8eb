"""The picture of BPE training, on the worked example."""

from building import example, svg


def merges() -> str:
    """Draw the merges in their order, each with its pair and count."""
    rows = [row for row in example.rounds("bpe")[-1].pieces if row.left is not None]
    parts, y = [], 6.0
    for number, row in enumerate(rows, 1):
        parts.append(svg.text(24, y + 20, f"{number}.", class_="small"))
        for x, width, words, shade in (
            (40, 70, row.left, "box-plain"),
            (136, 70, row.right, "box-plain"),
            (240, 100, row.piece, "box"),
        ):
            parts.append(svg.box(x, y, width, 30, shade))
            parts.append(svg.text(x + width / 2, y + 20, words or "", class_="piece"))
        parts += [svg.text(123, y + 20, "+"), svg.text(223, y + 20, "\u2192")]
        parts.append(svg.text(352, y + 20, f"count {row.count:g}", "start", "small"))
        y += 38
    return svg.drawing("The merges in their order", 440, y, parts)
