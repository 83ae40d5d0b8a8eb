"""The report of a comparison: one HTML page that needs no other file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from spmcompat.tools.compare.plots import frequency_by_rank, loss_against_tokens, token_lengths
from spmcompat.tools.compare.runs import HELD_OUT, Run, Texts


class Column(NamedTuple):
    """A column of the table; `best` chooses the best of its values, if there is a best."""

    title: str
    value: Callable[[Run], float]
    form: str
    best: Callable[[Sequence[float]], float] | None


_COLUMNS = (
    Column("nats per character", lambda r: r.evaluation.loss_per_character, "{:.4f}", min),
    Column("renormalized", lambda r: r.evaluation.renormalized_loss_per_character, "{:.4f}", min),
    Column("tokens", lambda r: r.evaluation.tokens, "{:,}", min),
    Column("tokens per word", lambda r: r.evaluation.tokens_per_word, "{:.3f}", min),
    Column("bytes per token", lambda r: r.evaluation.bytes_per_token, "{:.3f}", max),
    Column("words kept whole", lambda r: r.evaluation.whole_words, "{:.1%}", max),
    Column("unknown", lambda r: r.evaluation.unknown_rate, "{:.3%}", min),
    Column("Rényi efficiency", lambda r: r.evaluation.renyi_efficiency, "{:.3f}", max),
    Column("pieces never used", lambda r: r.evaluation.unused_pieces, "{:,}", min),
    Column("boundary precision", lambda r: _gold(r, "precision"), "{:.3f}", max),
    Column("boundary recall", lambda r: _gold(r, "recall"), "{:.3f}", max),
    Column("boundary F1", lambda r: _gold(r, "f1"), "{:.3f}", max),
    Column("MorphScore", lambda r: _gold(r, "morph_score"), "{:.3f}", max),
    Column("training, s", lambda r: r.seconds, "{:.1f}", min),
    Column("memory, MiB", lambda r: r.mib, "{:,.0f}", min),
)

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --page: #fff; --soft: #f2f4f7; --line: #d5d9e0;
  --best: #d7f0e3; --cut: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --page: #16181c; --soft: #22262d;
  --line: #3a404a; --best: #1d4a37; --cut: #56b4e9; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--page); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th, td { padding: .4rem .65rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
thead th { vertical-align: bottom; white-space: normal; background: var(--soft); }
tbody tr:last-child > * { border-bottom: 0; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--soft); }
td.best { background: var(--best); font-weight: 700; }
th.cut, td.cut { text-align: left; }
td.cut { font-family: ui-monospace, monospace; }
td.cut i { color: var(--cut); font-style: normal; font-weight: 700; padding: 0 .15em; }
.plots { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure { margin: 0; } figcaption { font-weight: 600; } figure svg { width: 100%; height: auto; }
pre { overflow-x: auto; padding: .75rem; background: var(--soft); border-radius: .4rem;
  font-size: .8rem; }
"""


def page(runs: Sequence[Run], texts: Texts, text: str) -> str:
    """Return the page.

    Parameters
    ----------
    runs : sequence of Run
        What was trained and evaluated.
    texts : Texts
        What it was trained and evaluated on.
    text : str
        The name of the whole text.
    """
    sizes = list(dict.fromkeys(run.vocab_size for run in runs))
    tables = "".join(
        f"<h2>{size:,} pieces</h2>{_table([r for r in runs if r.vocab_size == size])}"
        for size in sizes
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tokenizers on {escape(text)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Tokenizers on {escape(text)}</h1>
<p>Trained on {_megabytes(texts.train.stat().st_size)} and evaluated on
{_megabytes(texts.held_out.stat().st_size)} held out, one line of every {HELD_OUT}. The best of each
column is marked. Only Unigram models have a loss: that of all segmentations of the text, by their
scores as they stand and renormalized; user-defined pieces cost nothing, so neither do spaces that
are pieces of their own.</p>
{tables}
<h2>Plots</h2>
<div class="plots">{_plots(runs)}</div>
<h2>The same words, cut by each</h2>
{_cuts(runs, texts.words)}
<h2>Commands</h2>
{"".join(f"<p>{escape(run.label)}</p><pre>{escape(run.command)}</pre>" for run in runs)}
</body>
</html>
"""


def _table(runs: Sequence[Run]) -> str:
    columns = [c for c in _COLUMNS if not all(math.isnan(c.value(run)) for run in runs)]
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(run.config)}</th>'
        + "".join(_cell(column, run, runs) for column in columns)
        + "</tr>"
        for run in runs
    )
    return (
        '<div class="wide" tabindex="0"><table><thead><tr><th scope="col">configuration</th>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _cell(column: Column, run: Run, runs: Sequence[Run]) -> str:
    value = column.value(run)
    if math.isnan(value):
        return "<td>–</td>"
    values = [v for v in map(column.value, runs) if not math.isnan(v)]
    distinct = len(set(values)) > 1
    is_best = column.best is not None and distinct and value == column.best(values)
    return f"<td{' class=best' if is_best else ''}>{column.form.format(value)}</td>"


def _gold(run: Run, name: str) -> float:
    value: float = getattr(run.evaluation.gold, name, math.nan)
    return value


def _plots(runs: Sequence[Run]) -> str:
    plots = {
        "Loss against tokens": loss_against_tokens(runs),
        "Lengths of the pieces": token_lengths(runs),
        "Uses by rank": frequency_by_rank(runs),
    }
    return "".join(
        f"<figure><figcaption>{title}</figcaption>{svg}</figure>"
        for title, svg in plots.items()
        if svg
    )


def _cuts(runs: Sequence[Run], words: Sequence[str]) -> str:
    head = "".join(f'<th scope="col" class="cut">{escape(run.label)}</th>' for run in runs)
    rows = "".join(
        f'<tr><th scope="row">{escape(word)}</th>'
        + "".join(f"<td class=cut>{_parts(run.cuts[i])}</td>" for run in runs)
        + "</tr>"
        for i, word in enumerate(words)
    )
    return (
        '<div class="wide" tabindex="0"><table><thead><tr><th scope="col">word</th>'
        f"{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _parts(parts: Sequence[str]) -> str:
    return "<i>|</i>".join(map(escape, parts))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"
