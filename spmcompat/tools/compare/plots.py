"""The plots of a report, as SVG whose lines and letters take the colour of the page."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from spmcompat.tools.compare.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Replaced by that of the page; no other line has this colour.
_INK = "#010203"
# Okabe and Ito's colours, told apart by the colour-blind too; those that show on dark and light.
_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"),
    *("#56b4e9", "#8c6bb1", "#999999", "#a65628", "#86b300"),
)
_MARKS = "osD^vPX*"
_LINES = ("-", "--", ":", "-.")


def _styles(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """Return one colour and one mark for each configuration."""
    names = list(dict.fromkeys(run.config for run in runs))
    return {
        name: {"color": _COLOURS[i % len(_COLOURS)], "marker": _MARKS[i % len(_MARKS)]}
        for i, name in enumerate(names)
    }


def _lines(runs: Sequence[Run]) -> dict[int, str]:
    """Return one kind of line for each size of the vocabulary."""
    sizes = dict.fromkeys(run.vocab_size for run in runs)
    return {size: _LINES[i % len(_LINES)] for i, size in enumerate(sizes)}


def loss_against_tokens(runs: Sequence[Run]) -> str:
    """Scatter those with a loss; lower is better on both axes. Empty if there are none."""
    with_loss = [r for r in runs if not math.isnan(r.evaluation.loss_per_character)]
    if not with_loss:
        return ""
    style = _styles(runs)

    def draw(axes: Axes) -> None:
        for name in dict.fromkeys(run.config for run in with_loss):
            own = [run for run in with_loss if run.config == name]
            axes.plot(
                [run.evaluation.tokens for run in own],
                [run.evaluation.loss_per_character for run in own],
                label=name,
                linewidth=1,
                **style[name],
            )
            for run in own:
                axes.annotate(
                    f"{run.vocab_size:,}",
                    (run.evaluation.tokens, run.evaluation.loss_per_character),
                    textcoords="offset points",
                    xytext=(6, 5),
                    fontsize=9,
                )
        axes.set_xlabel("tokens of the held-out text (fewer is better)")
        axes.set_ylabel("nats per character (less is better)")

    return _svg("loss", draw)


def token_lengths(runs: Sequence[Run]) -> str:
    """Draw how many pieces of the vocabulary have how many characters."""
    style, lines = _styles(runs), _lines(runs)

    def draw(axes: Axes) -> None:
        for run in runs:
            total = sum(run.lengths) or 1
            shares = [count / total for count in run.lengths[:20]]
            at = range(1, len(shares) + 1)
            line: dict[str, Any] = {"linestyle": lines[run.vocab_size], "markersize": 4}
            axes.plot(at, shares, label=run.label, **line, **style[run.config])
        axes.set_xlabel("characters of a piece")
        axes.set_ylabel("share of the vocabulary")
        axes.set_xticks(range(2, 21, 2))
        axes.set_ylim(bottom=0)

    return _svg("lengths", draw)


def frequency_by_rank(runs: Sequence[Run]) -> str:
    """Draw how often the pieces are used, the most used first; both axes logarithmic."""
    style, lines = _styles(runs), _lines(runs)

    def draw(axes: Axes) -> None:
        for run in runs:
            used = [use for use in run.evaluation.uses if use]
            at = sorted({round(len(used) ** (i / 100)) for i in range(101)})
            line: dict[str, Any] = {
                "linestyle": lines[run.vocab_size],
                "color": style[run.config]["color"],
            }
            axes.loglog(at, [used[i - 1] for i in at], label=run.label, **line)
        axes.set_xlabel("rank of the piece")
        axes.set_ylabel("uses in the held-out text")

    return _svg("ranks", draw)


def _svg(name: str, draw: Callable[[Axes], None]) -> str:
    import matplotlib  # noqa: PLC0415

    matplotlib.use("svg")
    from matplotlib import pyplot  # noqa: PLC0415

    settings: dict[Any, Any] = {
        "svg.hashsalt": name,  # the same results give the same file, and no two figures one id
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 11,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), _INK),
        **dict.fromkeys(("xtick.color", "ytick.color"), _INK),
    }
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(6.4, 4.8), layout="constrained")
        draw(axes)
        axes.grid(color=_INK, alpha=0.12, linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(figure)
    svg = written.getvalue()
    return svg[svg.index("<svg") :].replace(_INK, "currentColor")
