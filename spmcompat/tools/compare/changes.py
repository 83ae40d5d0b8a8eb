"""The table that compares all configurations with a baseline, for all vocabulary sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from spmcompat.tools.compare.html import (
    NOTHING,
    Cell,
    group_row,
    name_of,
    row,
    show_interval,
    table,
)
from spmcompat.tools.compare.results import Result, by_size
from spmcompat.tools.evaluate.bootstrap import Interval
from spmcompat.tools.evaluate.differences import FigureDifference, differences
from spmcompat.tools.evaluate.evaluation import lost_text, shares_of_pieces
from spmcompat.tools.evaluate.gold import gold_key
from spmcompat.tools.evaluate.tokens import ratio

_CHANGES = {
    "tokens": "tokens",
    "nats per character": "loss_per_character",
    "renormalized": "renormalized_loss_per_character",
}


def changes(results: Sequence[Result], baseline: str) -> str:
    """Return a heading and the table, with a row for each size and configuration.

    The result is empty if there is only one configuration.
    """
    if len({result.config for result in results}) < 2:
        return ""
    lists = results[0].evaluation.gold
    scores = {
        "MorphScore" + (f" [{name}]" if len(lists) > 1 else ""): gold_key(
            "morph_score", name, lists
        )
        for name in lists
    }
    columns = {
        title: name
        for title, name in _CHANGES.items()
        if any(not math.isnan(result.evaluation.flat()[name]) for result in results)
    }
    head = [
        "configuration",
        *(f"{title}, change" for title in columns),
        *("overlap", "overlap without characters"),
        *scores,
    ]
    rows = []
    for size, of_size in by_size(results).items():
        base = next(result for result in of_size if result.config == baseline)
        rows.append(group_row(f"{size:,} pieces", len(head)))
        for result in of_size:
            cells = _cells(result, base, [*columns.values()], [*scores.values()])
            rows.append(row(name_of(result, result.config), head, cells))
    return f"""<h2>Changes against {escape(baseline)}</h2>
<p>{_about(results[0], baseline)}</p>
{table(head, rows)}"""


def _about(result: Result, baseline: str) -> str:
    text = (
        f"Each row compares a tokenizer with <em>{escape(baseline)}</em> of the same vocabulary "
        "size: the number of tokens and the loss in percent, and the overlap of the vocabularies "
        "(shared pieces divided by all pieces of both). Tokenizers that write spaces or bytes in "
        "different ways share few pieces just for that reason. Negative changes are better."
    )
    if result.evaluation.resampled is None:
        return text
    return text + (
        " A star marks a change or score if the interval of its paired difference from the "
        "baseline excludes 0. Models that lose text get no star, because they are not comparable."
    )


def _cells(
    result: Result, base: Result, changes: Sequence[str], scores: Sequence[str]
) -> list[Cell]:
    own, other = result.evaluation.flat(), base.evaluation.flat()
    found = {d.figure: d for d in differences([result.evaluation], base.evaluation)}
    if lost_text(result.evaluation) or lost_text(base.evaluation):
        found = {name: d._replace(excludes_zero=False) for name, d in found.items()}
    cells = [
        Cell(NOTHING)
        if result is base
        else _change(ratio(own[name], other[name]) - 1, found.get(name))
        for name in changes
    ]
    shares = shares_of_pieces({*result.vocabulary}, {*base.vocabulary})
    cells += [Cell(NOTHING) if result is base else Cell(f"{share:.1%}") for share in shares]
    for name in scores:
        cells.append(_score(own[name], result.evaluation.interval(name), found.get(name)))
    return cells


def _change(value: float, difference: FigureDifference | None) -> Cell:
    if math.isnan(value):
        return Cell(NOTHING)
    shown = f"{value:+.2%}"
    if difference is not None:
        shown += _star(difference)
        shown += show_interval(Interval(difference.low, difference.high), "{:+.2%}")
    return Cell(shown)


def _score(value: float, own: Interval | None, difference: FigureDifference | None) -> Cell:
    if math.isnan(value):
        return Cell(NOTHING)
    star = "" if difference is None else _star(difference)
    return Cell(f"{value:.3f}{star}{show_interval(own, '{:.3f}')}")


def _star(difference: FigureDifference) -> str:
    return "<b>*</b>" if difference.excludes_zero else ""
