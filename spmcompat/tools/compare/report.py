"""The report of a comparison: one HTML page that loads no other files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from spmcompat.cli.tables import Table, show
from spmcompat.tools.compare.changes import changes
from spmcompat.tools.compare.costs import costs
from spmcompat.tools.compare.gold_words import GroupTable, gold_words
from spmcompat.tools.compare.html import NOTHING, STYLE, Cell, name_of, row, show_interval, table
from spmcompat.tools.compare.plots import (
    change_of_loss_and_tokens,
    curves,
    frequency_by_rank,
    loss_against_tokens,
    token_lengths,
)
from spmcompat.tools.compare.results import Result, by_size
from spmcompat.tools.compare.training import HELD_OUT, SplitTexts
from spmcompat.tools.evaluate.bootstrap import Interval
from spmcompat.tools.evaluate.differences import difference
from spmcompat.tools.evaluate.evaluation import lost_text, shares_of_pieces
from spmcompat.tools.evaluate.gold import gold_key
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.language_rows import language_table
from spmcompat.tools.evaluate.network_costs import Network
from spmcompat.tools.view.html import html_of_lines

_Best = Callable[[Sequence[float]], float] | None


class Column(NamedTuple):
    """A column of the table.

    `best` is the function that finds the best value, `min` or `max`; None if no value is better
    than another. `interval` returns None for a result without an interval. `compared` is the figure
    whose differences between two models, resample by resample, decide whether one value is better.
    """

    title: str
    value: Callable[[Result], float]
    form: str
    best: _Best
    interval: Callable[[Result], Interval | None] = lambda _: None
    compared: str = ""


def _figure(title: str, name: str, form: str, best: _Best, compared: str = "") -> Column:
    """Return the column that shows a figure and its intervals.

    By default, the figure itself is compared.
    """
    return Column(
        title,
        lambda r: r.evaluation.flat()[name],
        form,
        best,
        lambda r: r.evaluation.interval(name),
        compared or name,
    )


_LOSS = _figure("nats per character", "loss_per_character", "{:.4f}", min)
_TOKENS = _figure("tokens", "tokens", "{:,.0f}", min)
_PER_TOKEN = (
    _figure("tokens per word", "tokens_per_word", "{:.3f}", min, "tokens"),
    _figure("bytes per token", "bytes_per_token", "{:.3f}", max, "tokens"),
)
# The columns that decide between models come first.
_COLUMNS = (
    _TOKENS,
    _figure("lost characters", "lost_characters", "{:.3%}", min),
    _figure("unknown tokens", "unknown_rate", "{:.3%}", min),
    _LOSS,
    _figure("renormalized", "renormalized_loss_per_character", "{:.4f}", min),
    *_PER_TOKEN,
    _figure("whole words", "whole_words", "{:.1%}", max),
    _figure("Rényi efficiency, all pieces", "renyi_efficiency", "{:.3f}", max),
    _figure("Rényi efficiency, used pieces", "renyi_efficiency_observed", "{:.3f}", max),
    _figure("unused pieces", "unused_pieces", "{:,}", min),
)
# Measured once, so a difference may be noise.
_LAST_COLUMNS = (
    Column("training, s", lambda r: r.seconds, "{:.1f}", None),
    Column("memory, MiB", lambda r: r.mib, "{:,.0f}", None),
)
# The columns for a gold list: title, name of the figure, format, and which value is best.
_GOLD_COLUMNS: tuple[tuple[str, str, str, _Best], ...] = (
    ("words", "words", "{:,}", None),
    ("precision", "precision", "{:.3f}", max),
    ("recall", "recall", "{:.3f}", max),
    ("F1", "f1", "{:.3f}", max),
    ("tokens per word", "mean_length", "{:.3f}", None),
    ("words of MorphScore", "morph_score_words", "{:,}", None),
    ("MorphScore", "morph_score", "{:.3f}", max),
    ("its precision by cuts", "morph_score_precision", "{:.3f}", max),
    ("its precision by tokens", "morph_score_token_precision", "{:.3f}", max),
    ("words with single tokens", "morph_score_words_with_single_tokens", "{:,}", None),
    ("MorphScore with single tokens", "morph_score_with_single_tokens", "{:.3f}", max),
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
h3 { font-size: 1rem; margin-top: 1.5rem; }
.note { font-size: .875rem; }
.plots { display: grid; gap: 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
figure svg { display: block; width: 100%; max-width: 36rem; height: auto; }
pre { overflow-x: auto; padding: .75rem; background: var(--soft); border-radius: .4rem;
  font-size: .8rem; }
"""


def page(
    results: Sequence[Result],
    texts: SplitTexts,
    text: str,
    gold: Sequence[GoldList] = (),
    *,
    baseline: str | None = None,
    network: Network | None = None,
    groups: Sequence[GroupTable] = (),
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    results : sequence of Result
        One result for each configuration and vocabulary size.
    texts : SplitTexts
        The texts for training and evaluation.
    text : str
        The name of the whole text.
    gold : sequence of GoldList
        The gold lists that the results have scores for.
    baseline : str, optional
        The configuration that all others are compared with; by default the first one.
    network : Network, optional
        A network whose training cost is estimated for each model.
    groups : sequence of GroupTable
        The gold words, grouped by the models that find their boundaries.
    """
    baseline = results[0].config if baseline is None else baseline
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tokenizers on {escape(text)}</title>
<style>{_STYLE}{STYLE}</style>
</head>
<body>
<h1>Tokenizers on {escape(text)}</h1>
<p>The tokenizers were trained on {_megabytes(texts.train.stat().st_size)} of text. They were
evaluated on {_megabytes(texts.held_out.stat().st_size)} of held-out text, which is one of every
{HELD_OUT} lines. {_about_marks(results[0])} Values of models that lose text are never marked: such
models need fewer tokens because of this loss.</p>
<p>Only Unigram models have a loss. It is the negative log likelihood of the text over all its
segmentations. <em>Nats per character</em> uses the scores in the model. <em>Renormalized</em> uses
scores that are shifted so that the probabilities of all pieces add up to 1. Both divide by the
characters of the original text, and the loss of every model includes its spaces: if spaces are
user-defined pieces, the probability of each is its share of the tokens in the held-out text. Only
the loss of a model that leaves out spaces does not include them.</p>
{_about_intervals(results[0])}
{_about_gold(gold)}
{changes(results, baseline)}
{summary(results, baseline)}
{costs(results, network)}
<h2>Plots</h2>
<div class="plots">{_plots(results, baseline)}</div>
{gold_words(groups)}
<h2>The same lines in each tokenizer</h2>
{_examples(results)}
<h2>Commands</h2>
{"".join(f"<p>{escape(result.label)}</p><pre>{escape(result.command)}</pre>" for result in results)}
</body>
</html>
"""


def summary(results: Sequence[Result], baseline: str) -> str:
    """Return the tables of all figures as HTML."""
    return "".join(_tables(size, found, baseline) for size, found in by_size(results).items())


def tables(results: Sequence[Result]) -> list[Table]:
    """Return a table of the main figures for each vocabulary size."""
    return [_main_figures(size, found) for size, found in by_size(results).items()]


def _main_figures(size: int, results: Sequence[Result]) -> Table:
    columns = (*_pieces(results), _LOSS, _TOKENS, *_PER_TOKEN, _LAST_COLUMNS[0])
    head = [f"{size:,} pieces", *(column.title for column in columns)]
    rows = [
        (result.config, *(show(column.form, column.value(result)) for column in columns))
        for result in results
    ]
    losses = [(result.config, lost_text(result.evaluation)) for result in results]
    return Table(head, rows, 1, [f"{name} loses text: {loss}." for name, loss in losses if loss])


def _pieces(results: Sequence[Result]) -> list[Column]:
    """Return a column with the real size of each model if a model is smaller than asked for."""
    return [_figure("pieces", "pieces", "{:,}", None)] if any(r.is_small for r in results) else []


def _about_marks(result: Result) -> str:
    if result.evaluation.resampled is None:
        return (
            "The best value of each column is marked. Small differences may be noise: <code>"
            "--bootstrap=1000</code> adds intervals, and then only values outside the noise are "
            "marked."
        )
    return (
        "The best value of each column is marked, unless its difference from another value is "
        "within the noise, which the intervals show."
    )


def _about_intervals(result: Result) -> str:
    resampled = result.evaluation.resampled
    if resampled is None:
        return ""
    return f"""<p>The confidence interval is shown below each value: {escape(resampled.summary)}.
All tokenizers got the same resamples. Scores of gold lists have intervals from resamples of their
words. Rényi efficiencies, unused pieces, overlaps and Gini coefficients have no intervals, so none
of them is marked.</p>"""


def _about_gold(gold: Sequence[GoldList]) -> str:
    if not gold:
        return ""
    lists = "".join(f"<p class=note>{escape(found.summary)}.</p>" for found in gold)
    return f"""<p>Boundaries are compared with these gold lists. MorphScore is the mean recall of
words with one or two boundaries. It leaves out words that are a single token; <em>MorphScore with
single tokens</em> counts each of them as 1. The number of words is shown before the scores.
Precision by tokens is computed as in the published code of MorphScore, version 2, which counts the
end of the word as a cut.</p>
{lists}"""


def _tables(size: int, results: Sequence[Result], baseline: str) -> str:
    columns = [*_pieces(results), *_COLUMNS, *_overlap_columns(results, baseline), *_LAST_COLUMNS]
    return (
        f"<h2>{size:,} pieces</h2>{_table(results, columns)}{_notes(results)}"
        f"{_gold_tables(results)}{_languages(results)}"
    )


def _overlap_columns(results: Sequence[Result], baseline: str) -> list[Column]:
    """Return the columns that show how much each vocabulary overlaps with that of the baseline."""
    if len(results) < 2:
        return []
    base = next(result for result in results if result.config == baseline)
    shares = {
        result.config: shares_of_pieces({*result.vocabulary}, {*base.vocabulary})
        for result in results
        if result is not base
    }
    nothing = (math.nan, math.nan)
    return [
        Column(
            f"overlap with {baseline}", lambda r: shares.get(r.config, nothing)[0], "{:.1%}", None
        ),
        Column(
            "overlap without characters",
            lambda r: shares.get(r.config, nothing)[1],
            "{:.1%}",
            None,
        ),
    ]


def _languages(results: Sequence[Result]) -> str:
    """Return the figures of each language, if the text has languages."""
    named = [result.evaluation._replace(model=result.config) for result in results]
    found = language_table(named)
    if found is None:
        return ""
    # Coefficients of different languages say nothing about which model is better.
    compared = (r.evaluation for r in results if not lost_text(r.evaluation))
    left_out = {one.languages.left_out for one in compared if one.languages}
    best = min if len(left_out) == 1 else None
    columns = [_figure("Gini coefficient of the costs", "gini", "{:.4f}", best)]
    # The first two columns, the language and the model, are the name of a row.
    head = ["language", *found.head[2:]]
    rows = [row(escape(" ".join(cells[:2])), head, [*map(Cell, cells[2:])]) for cells in found.rows]
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in found.notes)
    return f"<h3>Languages</h3>{_table(results, columns)}<br>{table(head, rows)}{notes}"


def _gold_tables(results: Sequence[Result]) -> str:
    """Return a table for each gold list."""
    tables = ""
    lists = results[0].evaluation.gold
    for name in lists:
        columns = [
            _figure(title, gold_key(figure, name, lists), form, best)
            for title, figure, form, best in _GOLD_COLUMNS
        ]
        tables += f"<h3>Boundaries in words of {escape(name)}</h3>{_table(results, columns)}"
    return tables


def _table(results: Sequence[Result], columns: Sequence[Column]) -> str:
    columns = [c for c in columns if not all(math.isnan(c.value(r)) for r in results)]
    head = ["configuration", *(column.title for column in columns)]
    return table(
        head,
        (
            row(
                name_of(result, result.config),
                head,
                [_cell(column, result, results) for column in columns],
            )
            for result in results
        ),
    )


def _notes(results: Sequence[Result]) -> str:
    """For each model that loses text, return a note that says what is lost."""
    return "".join(
        f"<p class=note><b>{escape(result.config)}</b> loses text: {reason}. Its values are not "
        "comparable with those of the other models, so none is marked as best.</p>"
        for result in results
        if (reason := lost_text(result.evaluation))
    )


def _cell(column: Column, result: Result, results: Sequence[Result]) -> Cell:
    value = column.value(result)
    if math.isnan(value):
        return Cell(NOTHING)
    shown = column.form.format(value) + show_interval(column.interval(result), column.form)
    return Cell(shown, "best" if _is_best(column, result, results) else "")


def _is_best(column: Column, result: Result, results: Sequence[Result]) -> bool:
    """Return whether a value is better than all others, and not only by chance.

    Only models that lose no text are compared.
    """
    compared = [
        r for r in results if not lost_text(r.evaluation) and not math.isnan(column.value(r))
    ]
    values = [column.value(r) for r in compared]
    return (
        column.best is not None
        and result in compared
        and len(set(values)) > 1
        and column.value(result) == column.best(values)
        and not any(_may_be_equal(column, result, r) for r in compared if r is not result)
    )


def _may_be_equal(column: Column, one: Result, other: Result) -> bool:
    """Return whether the difference between two values may be noise.

    For a figure without samples, it may be noise if the intervals overlap or are not known. Without
    a bootstrap, nothing is known about any figure; then the page says so.
    """
    found = difference(one.evaluation, other.evaluation, column.compared)
    if found is not None:
        return not found.excludes_zero
    own, others = column.interval(one), column.interval(other)
    if own is None or others is None:
        return one.evaluation.resampled is not None
    return own.low <= others.high and others.low <= own.high


def _plots(results: Sequence[Result], baseline: str) -> str:
    plots = {
        "Loss and vocabulary size": curves(
            results, "loss_per_character", "nats per character (lower is better)"
        ),
        "Bytes per token and vocabulary size": curves(
            results, "bytes_per_token", "bytes per token (higher is better)"
        ),
        **_gold_plots(results),
        "Loss and number of tokens": loss_against_tokens(results),
        f"Changes of loss and tokens from {baseline}": change_of_loss_and_tokens(results, baseline),
        "Lengths of pieces": token_lengths(results),
        "Frequency by rank": frequency_by_rank(results),
    }
    return "".join(
        f"<figure><figcaption>{escape(title)}</figcaption>{svg}</figure>"
        for title, svg in plots.items()
        if svg
    )


def _gold_plots(results: Sequence[Result]) -> dict[str, str]:
    lists = results[0].evaluation.gold
    names = {name: f" in {name}" if len(lists) > 1 else "" for name in lists}
    return {
        f"MorphScore{suffix} and vocabulary size": curves(
            results, gold_key("morph_score", name, lists), "MorphScore (higher is better)"
        )
        for name, suffix in names.items()
    }


def _examples(results: Sequence[Result]) -> str:
    lines = zip(*(result.tokens for result in results), strict=True)
    return html_of_lines([result.label for result in results], lines)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"
