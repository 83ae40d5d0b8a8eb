"""The section of the report about the cost of training a network with each vocabulary size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from spmcompat.tools.compare.html import NOTHING, Cell, name_of, row, table
from spmcompat.tools.compare.plots import cost_curves
from spmcompat.tools.compare.results import Result, by_config
from spmcompat.tools.evaluate.network_costs import Costs, Network, estimate


def costs(results: Sequence[Result], network: Network | None) -> str:
    """Return a heading, a table, and a plot of the training operations; "" without a network.

    Within each configuration, the costs of the sizes are compared. With one size, there is no plot.
    """
    if network is None:
        return ""
    models = by_config(results)
    found = {
        name: estimate([result.evaluation for result in own], network)
        for name, own in models.items()
    }
    head = ["configuration", "pieces", *network.columns()]
    rows = [
        row(name_of(result, result.label), head, _cells(result, cost, network))
        for name, own in models.items()
        for result, cost in zip(own, found[name], strict=True)
    ]
    plot = cost_curves(models, found) if network.has_training else ""
    caption = "Training operations and vocabulary size"
    figure = f"<figure><figcaption>{caption}</figcaption>{plot}</figure>" if plot else ""
    return f"""<h2>Which size?</h2>
<p>For {network.summary}. {_ABOUT_TRAINING if network.has_training else _ABOUT_EMBEDDINGS}</p>
{table(head, rows)}
{_at_the_ends(models, found)}
{figure}"""


_ABOUT_EMBEDDINGS = "Embedding parameters are pieces times width, for one embedding table."
_ABOUT_TRAINING = f"""{_ABOUT_EMBEDDINGS} Training tokens assume that each token has as many bytes
as in the held-out text. Each token takes 6 operations for each parameter of the network and of the
output layer, which has as many parameters as the embedding table; attention between tokens is not
included. The lowest cost is not the best quality: with fewer tokens, the network also computes less
for the same text. The lowest value of each configuration is marked; models that lose text are not
compared."""


def _cells(result: Result, cost: Costs, network: Network) -> list[Cell]:
    cells = [Cell(f"{result.evaluation.pieces:,}")]
    for name, form in network.columns().values():
        best = "best" if name == "training_operations" and cost.above_lowest == 0 else ""
        value = getattr(cost, name)
        cells.append(Cell(NOTHING) if math.isnan(value) else Cell(form.format(value), best))
    return cells


def _at_the_ends(models: dict[str, list[Result]], found: dict[str, list[Costs]]) -> str:
    """Name the configurations that may cost less with a size below or above all compared sizes."""
    notes = ""
    for name, own in models.items():
        compared = sorted(
            (result.vocab_size, cost.above_lowest)
            for result, cost in zip(own, found[name], strict=True)
            if not math.isnan(cost.above_lowest)
        )
        if len(compared) > 1:
            notes += _at_an_end(name, "smallest", "smaller") if compared[0][1] == 0 else ""
            notes += _at_an_end(name, "largest", "larger") if compared[-1][1] == 0 else ""
    return notes


def _at_an_end(name: str, end: str, beyond: str) -> str:
    return (
        f"<p class=note>The lowest value of <b>{escape(name)}</b> is at the {end} size, so a "
        f"{beyond} size may cost less.</p>"
    )
