"""The tables of the report as HTML. On a narrow screen, each row is shown as a card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from spmcompat.tools.compare.results import Result
from spmcompat.tools.evaluate.bootstrap import Interval
from spmcompat.tools.evaluate.evaluation import lost_text

STYLE = """
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { padding: .4rem .65rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; min-width: 7.5rem;
  background: var(--soft); }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--soft); }
td.best { background: var(--best); font-weight: 700; }
th small { font-weight: 400; } td small { display: block; font-size: .75rem; font-weight: 400;
  opacity: .8; }
tr.group > th { padding-top: .9rem; }
td.cut { text-align: left; font-family: ui-monospace, monospace; }
td.cut i { color: var(--cut); font-style: normal; font-weight: 700; padding: 0 .15em; }
@media (max-width: 40rem) {
  th, td { padding: .4rem .45rem; } thead th { min-width: 5.5rem; }
  .cards { border: 0; } .cards thead { display: none; }
  .cards :is(table, tbody, tr, th, td) { display: block; white-space: normal;
    overflow-wrap: anywhere; }
  .cards tr { margin-bottom: 1rem; border: 1px solid var(--line); border-radius: .4rem;
    overflow: hidden; }
  .cards tr.group { margin: 1.5rem 0 .5rem; border: 0; }
  .cards td { display: flow-root; text-align: right; }
  .cards td::before { content: attr(data-title); float: left; max-width: 60%; text-align: left;
    font: 400 .875rem/1.5 system-ui, sans-serif; }
}
"""

NOTHING = "–"


class Cell(NamedTuple):
    """A cell of a table: its content as HTML, and its class."""

    content: str
    kind: str = ""


def table(head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table. It scrolls if it is wider than the page.

    Parameters
    ----------
    head : sequence of str
        The titles of the columns, as text.
    rows : iterable of str
        The rows, from `row` or `group_row`.
    """
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head[1:])
    return (
        '<div class="wide cards" tabindex="0"><table><thead><tr>'
        f'<th scope="col">{escape(head[0])}</th>{titles}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(name: str, head: Sequence[str], cells: Sequence[Cell]) -> str:
    """Return a row. On a card, `name` (HTML) is the heading, and each cell follows its title."""
    shown = "".join(
        f'<td{_class(cell.kind)} data-title="{escape(title)}">{cell.content}</td>'
        for title, cell in zip(head[1:], cells, strict=True)
    )
    return f'<tr><th scope="row">{name}</th>{shown}</tr>'


def group_row(name: str, columns: int) -> str:
    """Return a row that is the heading of the rows below it."""
    return f'<tr class=group><th scope="rowgroup" colspan="{columns}">{escape(name)}</th></tr>'


def name_of(result: Result, name: str) -> str:
    """Return the name of a model as HTML, with a mark if the model loses text."""
    lossy = "<br><small>loses text</small>" if lost_text(result.evaluation) else ""
    return escape(name) + lossy


def show_interval(both: Interval | None, form: str) -> str:
    """Return an interval as the second line of a cell; empty if there is none."""
    if both is None:
        return ""
    return f"<small>{form.format(both.low)} to {form.format(both.high)}</small>"


def _class(kind: str) -> str:
    return f" class={kind}" if kind else ""
