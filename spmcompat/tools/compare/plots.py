"""The plots of a report as SVG. Lines and text have the text colour of the page."""

from __future__ import annotations

import io
import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spmcompat.tools.compare.results import Result, by_config, by_size
from spmcompat.tools.evaluate.differences import differences
from spmcompat.tools.evaluate.evaluation import lost_text
from spmcompat.tools.evaluate.tokens import ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spmcompat.tools.evaluate.network_costs import Costs

# A placeholder colour. `_svg` replaces it with the text colour of the page.
_INK = "#010203"
# Colour-blind readers can distinguish the first six colours, which are by Okabe and Ito. All ten
# colours are visible on dark pages and on light pages.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#8c6bb1", "#999999", "#a65628", "#86b300"),
)
_MARKS = "osD^vPX*"
_SMALLEST_MARKER = 5.0
_LEGEND_ROW = 0.24  # inches
_RING: dict[str, Any] = {
    "linestyle": "",
    "marker": "o",
    "markersize": 12,
    "fillstyle": "none",
    "color": _INK,
}
_LINES = ("-", "--", ":", "-.")


def _styles(results: Sequence[Result]) -> dict[str, dict[str, Any]]:
    """Return one colour and one marker for each configuration."""
    return {
        name: {"color": _COLOURS[i % len(_COLOURS)], "marker": _MARKS[i % len(_MARKS)]}
        for i, name in enumerate(by_config(results))
    }


def _lines(results: Sequence[Result]) -> dict[int, str]:
    """Return one line style for each vocabulary size."""
    return {size: _LINES[i % len(_LINES)] for i, size in enumerate(by_size(results))}


def _markers(results: Sequence[Result]) -> dict[int, float]:
    """Return one size of markers for each vocabulary size."""
    return {size: _SMALLEST_MARKER + 2.5 * i for i, size in enumerate(sorted(by_size(results)))}


def loss_against_tokens(results: Sequence[Result]) -> str:
    """Plot the loss against the number of tokens; return "" if no model has a loss.

    The size of a marker shows the vocabulary size.
    """
    from matplotlib.ticker import MaxNLocator

    with_loss = [r for r in results if not math.isnan(r.evaluation.loss_per_character)]
    if not with_loss:
        return ""
    style, markers = _styles(results), _markers(results)

    def draw(axes: Axes) -> None:
        for name, own in by_config(with_loss).items():
            points = [(r.evaluation.tokens, r.evaluation.loss_per_character) for r in own]
            axes.plot(*zip(*points, strict=True), linewidth=1, color=style[name]["color"])
            for result, point in zip(own, points, strict=True):
                size = markers[result.vocab_size]
                axes.plot(*point, linestyle="", markersize=size, **style[name])
            axes.plot([], [], label=_name(own), **style[name])
        _explain_markers(axes, markers)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlabel("tokens in the held-out text (fewer is better)")
        axes.set_ylabel("nats per character (lower is better)")

    return _svg("loss", draw)


def change_of_loss_and_tokens(results: Sequence[Result], baseline: str) -> str:
    """Plot the change of the loss against the change of the tokens, one point for each model.

    The changes are relative to the baseline of the same vocabulary size, so models of several sizes
    can be compared. Crosses show the confidence intervals. The plot is empty if fewer than two
    configurations have a loss, or if the baseline has no loss.
    """
    bases = {r.vocab_size: r.evaluation for r in results if r.config == baseline}
    found = [
        result
        for result in results
        if result.config != baseline
        and not math.isnan(result.evaluation.loss_per_character)
        and not math.isnan(bases[result.vocab_size].loss_per_character)
    ]
    if not found:
        return ""
    style, markers = _styles(results), _markers(results)

    def draw(axes: Axes) -> None:
        axes.axhline(0, color=_INK, linewidth=0.8)
        axes.axvline(0, color=_INK, linewidth=0.8)
        for result in found:
            own, base = result.evaluation, bases[result.vocab_size]
            x = 100 * (ratio(own.tokens, base.tokens) - 1)
            y = 100 * (ratio(own.loss_per_character, base.loss_per_character) - 1)
            looks = style[result.config]
            axes.plot(x, y, linestyle="", markersize=markers[result.vocab_size], **looks)
            # Error bars must contain the change itself, but a confidence interval need not.
            for change in differences([own], base):
                both = [100 * change.low, 100 * change.high]
                if change.figure == "tokens":
                    axes.plot(both, [y, y], color=looks["color"], linewidth=1)
                elif change.figure == "loss_per_character":
                    axes.plot([x, x], both, color=looks["color"], linewidth=1)
        for name, shown in by_config(found).items():
            axes.plot([], [], linestyle="", label=_name(shown), **style[name])
        _explain_markers(axes, markers)
        axes.set_xlabel(f"tokens, change from {baseline} in % (fewer is better)")
        axes.set_ylabel("nats per character, change in %")

    return _svg("changes", draw)


def _explain_markers(axes: Axes, markers: Mapping[int, float]) -> None:
    """Add labels for the sizes of the markers, if there are several vocabulary sizes."""
    if len(markers) > 1:
        for size, marker in markers.items():
            looks: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": marker}
            axes.plot([], [], label=f"{size:,} pieces", color=_INK, **looks)


def curves(results: Sequence[Result], figure: str, label: str) -> str:
    """Plot a figure against the vocabulary size, with one line for each configuration.

    Bands show the confidence intervals. Return "" if there is only one size, or if no model has the
    figure.
    """
    sizes = sorted(by_size(results))
    found = [r for r in results if not math.isnan(r.evaluation.flat()[figure])]
    if len(sizes) < 2 or not found:
        return ""
    style = _styles(results)

    def draw(axes: Axes) -> None:
        for name, of_config in by_config(found).items():
            own = sorted(of_config, key=lambda r: r.vocab_size)
            own_sizes = [result.vocab_size for result in own]
            values = [result.evaluation.flat()[figure] for result in own]
            axes.plot(own_sizes, values, label=_name(own), linewidth=1.5, **style[name])
            both = [b for r in own if (b := r.evaluation.interval(figure))]
            if len(both) == len(own):
                low, high = zip(*both, strict=True)
                axes.fill_between(own_sizes, low, high, color=style[name]["color"], alpha=0.18)
        _label_sizes(axes, sizes)
        axes.set_ylabel(label)

    return _svg(f"curves of {figure}", draw)


def cost_curves(
    results: Mapping[str, Sequence[Result]], costs: Mapping[str, Sequence[Costs]]
) -> str:
    """Plot a network's training operations against the vocabulary size; a ring marks each minimum.

    There is a line for each configuration. The plot is empty if there is only one size.
    """
    every = [result for own in results.values() for result in own]
    sizes = sorted(by_size(every))
    if len(sizes) < 2:
        return ""
    style = _styles(every)

    def draw(axes: Axes) -> None:
        for name, own in results.items():
            points = sorted(
                (result.vocab_size, cost.training_operations, cost.above_lowest)
                for result, cost in zip(own, costs[name], strict=True)
            )
            axes.plot(
                [size for size, _, _ in points],
                [operations for _, operations, _ in points],
                label=_name(own),
                linewidth=1.5,
                **style[name],
            )
            for size, operations, above in points:
                if above == 0:
                    axes.plot(size, operations, **_RING)
        axes.plot([], [], label="the lowest", **_RING)
        _label_sizes(axes, sizes)
        axes.set_ylabel("operations (fewer is cheaper)")

    return _svg("costs", draw)


def _label_sizes(axes: Axes, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.set_xlabel("pieces in the vocabulary")
    axes.margins(x=0.08)


def _name(results: Sequence[Result]) -> str:
    """Return the name of a configuration for a legend."""
    loses = any(lost_text(result.evaluation) for result in results)
    return f"{results[0].config} (loses text)" if loses else results[0].config


def token_lengths(results: Sequence[Result]) -> str:
    """Plot the share of the vocabulary that the pieces of each length make up."""
    style, lines = _styles(results), _lines(results)

    def draw(axes: Axes) -> None:
        for result in results:
            counts = Counter(map(len, result.vocabulary))
            total = counts.total() or 1
            lengths = range(1, min(max(counts, default=0), 20) + 1)
            shares = [counts[length] / total for length in lengths]
            line: dict[str, Any] = {"linestyle": lines[result.vocab_size], "markersize": 4}
            axes.plot(lengths, shares, **line, **style[result.config])
        _explain(axes, style, lines)
        axes.set_xlabel("characters in the piece")
        axes.set_ylabel("share of the vocabulary")
        axes.set_xticks(range(2, 21, 2))
        axes.set_ylim(bottom=0)

    return _svg("lengths", draw)


def frequency_by_rank(results: Sequence[Result]) -> str:
    """Plot how often each piece is used, by the rank of the piece; both axes are logarithmic."""
    style, lines = _styles(results), _lines(results)

    def draw(axes: Axes) -> None:
        for result in results:
            used = [use for use in result.evaluation.uses if use]
            ranks = sorted({round(len(used) ** (i / 100)) for i in range(101)} if used else [])
            line: dict[str, Any] = {
                "linestyle": lines[result.vocab_size],
                "color": style[result.config]["color"],
            }
            axes.loglog(ranks, [used[rank - 1] for rank in ranks], **line)
        _explain(axes, {n: {"color": own["color"]} for n, own in style.items()}, lines)
        axes.set_xlabel("rank of the piece by frequency")
        axes.set_ylabel("uses in the held-out text")

    return _svg("ranks", draw)


def _explain(axes: Axes, style: Mapping[str, Mapping[str, Any]], lines: Mapping[int, str]) -> None:
    """Add a legend for colours and markers, and for line styles if there are several sizes."""
    for name, own in style.items():
        axes.plot([], [], label=name, markersize=4, **own)
    if len(lines) > 1:
        for size, line in lines.items():
            axes.plot([], [], label=f"{size:,} pieces", linestyle=line, color=_INK)


def _svg(name: str, draw: Callable[[Axes], None]) -> str:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    settings: dict[Any, Any] = {
        # A fixed salt makes the ids, and so the file, depend only on the results. The salt is the
        # name of the plot, so that plots on the same page have different ids.
        "svg.hashsalt": name,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 12,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), _INK),
        **dict.fromkeys(("xtick.color", "ytick.color"), _INK),
    }
    with pyplot.rc_context(settings), warnings.catch_warnings():
        # The text stays text in the file, so it does not matter which characters a font here lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure, axes = pyplot.subplots(figsize=(5.6, 3.8), layout="constrained")
        draw(axes)
        axes.grid(color=_INK, alpha=0.12, linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        legend = figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=10.5)
        rows = math.ceil(len(legend.get_texts()) / 2)
        figure.set_figheight(3.8 + _LEGEND_ROW * rows)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(figure)
    svg = written.getvalue()
    return svg[svg.index("<svg") :].replace(_INK, "currentColor")
