"""The pictures of Unigram training, on the worked example."""

from building import example, svg
from spmcompat.runtime.rounds import PieceRow

SPACE = "\u2581"
SEEN = "lower"
WORD = f"{SPACE}{SEEN}"


def counts() -> str:
    """Draw the distinct words with their counts, as bars."""
    words = sorted(example.WORDS.items(), key=lambda item: -item[1])
    labels = [SPACE + word for word, _ in words]
    series = [svg.Series("count", "ours", [times for _, times in words])]
    return svg.bars("The distinct pretokens and their counts", labels, series, "occurrences")


def seeds() -> str:
    """Draw all seeds as boxes, the more probable the wider."""
    rows = sorted(example.step("seeds").pieces, key=lambda row: -(row.new_score or 0))
    parts, x, y = [], 4.0, 4.0
    for row in rows:
        width = 34 + 8.0 * len(row.piece)
        if x + width > 470:
            x, y = 4.0, y + 46
        parts.append(svg.box(x, y, width, 38, "box" if len(row.piece) > 1 else "box-plain"))
        parts.append(svg.text(x + width / 2, y + 16, row.piece, class_="piece"))
        parts.append(svg.text(x + width / 2, y + 32, f"{row.count:g}", class_="small"))
        x += width + 8
    return svg.drawing("The seeds with their counts, the best score first", 474, y + 46, parts)


def lattice() -> str:
    """Draw the lattice of a word: a box for each piece at its position."""
    found = example.marginals(SEEN, example.pieces_after(example.step("seeds")))
    pieces = [piece for piece in found.marginals if piece in WORD]
    pieces.sort(key=lambda piece: (len(piece), WORD.index(piece)))
    step, left, high = 74.0, 8.0, 40.0
    rows: list[list[tuple[int, int]]] = []
    where = {}
    for piece in pieces:
        begin = WORD.index(piece)
        end = begin + len(piece)
        row = next(
            (i for i, used in enumerate(rows) if all(end <= b or e <= begin for b, e in used)),
            len(rows),
        )
        if row == len(rows):
            rows.append([])
        rows[row].append((begin, end))
        where[piece] = (row, begin, end)
    top = 50.0
    bottom = top + high * len(rows)
    parts = []
    for position in range(len(WORD) + 1):
        x = left + position * step
        parts += [
            svg.line(x, top - 8, x, bottom + 2, "grid"),
            svg.text(x, bottom + 18, str(position), class_="small"),
        ]
    for position, letter in enumerate(WORD):
        parts.append(svg.text(left + (position + 0.5) * step, 24, letter, class_="strong"))
    for piece, (row, begin, end) in where.items():
        x, y = left + begin * step + 3, top + row * high
        width = (end - begin) * step - 6
        best = piece in found.best
        parts.append(svg.box(x, y, width, high - 8, "box" if best else "box-plain"))
        share = found.marginals[piece]
        shown = f"{share:.3f}" if share >= 0.0005 else "0.000"
        parts.append(svg.text(x + 6, y + 21, piece, "start", "piece"))
        parts.append(svg.text(x + width - 5, y + 21, shown, "end", "small"))
    return svg.drawing(f"The lattice of {WORD}", 2 * left + step * len(WORD), bottom + 26, parts)


def expected() -> str:
    """Draw the expected counts of the first EM step beside the counts of the seeds."""
    counted = {row.piece: row.count for row in example.step("seeds").pieces}
    rows = sorted(example.step("em").pieces, key=lambda row: -(row.count or 0))[:16]
    return svg.bars(
        "Counts of seeds, and expected counts after the first E-step",
        [row.piece for row in rows],
        [
            svg.Series("occurrences", "faint", [counted[row.piece] or 0 for row in rows]),
            svg.Series("expected count", "ours", [row.count or 0 for row in rows]),
        ],
        "the 16 pieces with the largest expected counts",
    )


def pruning() -> str:
    """Draw the losses of one pruning; a dashed box is dropped."""
    rows = example.step("prune").pieces
    order = sorted(rows, key=_loss, reverse=True)
    parts, y = [], 6.0
    for row in order:
        parts.append(svg.box(4, y, 96, 28, "box" if row.kept else "box-gone"))
        parts.append(svg.text(52, y + 19, row.piece, class_="piece" if row.kept else "piece gone"))
        parts += _loss_bar(row, y)
        y += 36
    return svg.drawing("The losses of a pruning", 440, y + 2, parts)


def _loss(row: PieceRow) -> float:
    return -1.0 if row.loss is None else row.loss


def _loss_bar(row: PieceRow, y: float) -> list[str]:
    if row.loss is None:
        return [svg.text(110, y + 19, f"{row.reason}: no best path needs it", "start", "small")]
    if row.loss == float("inf"):
        return [svg.text(110, y + 19, "kept: no other path covers its text", "start", "small")]
    length = max(260 * row.loss, 2)
    return [
        svg.box(110, y + 5, length, 18, "ours"),
        svg.text(118 + length, y + 19, f"{row.loss:.3f}", "start", "small"),
    ]


def counts_rows() -> str:
    """Return the number of letters read and of letters kept, as a sentence."""
    read = sum(len(word) * times for word, times in example.WORDS.items())
    kept = sum(map(len, example.WORDS))
    words = sum(example.WORDS.values())
    return (
        f"The text has {words} words and {read} letters. The table has {len(example.WORDS)} rows "
        f"with {kept} letters."
    )


def em_rows() -> str:
    """Return the results of the EM steps as a table."""
    rows = [
        "| EM step | pieces before | after | loss per pretoken | tokens in the text |",
        "|---|--:|--:|--:|--:|",
    ]
    steps = [one for one in example.rounds("unigram") if one.step == "em"]
    for number, one in enumerate(steps, 1):
        sizes = f"{one.size_before} | {one.size_after}"
        rows.append(f"| {number} | {sizes} | {one.objective:.3f} | {one.tokens:.1f} |")
    return "\n".join(rows)


def final_rows() -> str:
    """Return the pieces of the model, as a table."""
    rows = sorted(
        example.pieces_after(example.step("final")), key=lambda row: -(row.new_score or 0)
    )
    head = ["| piece | score | |", "|---|--:|---|"]
    return "\n".join(head + [f"| `{r.piece}` | {r.new_score:.4f} | {r.reason} |" for r in rows])
