"""Estimates the cost of training a network that uses the vocabulary of a model.

The text that the network is trained on is fixed, but its length in tokens depends on the
vocabulary: with a larger vocabulary, the text has fewer tokens, but each token needs more
operations in the output layer. Training takes 6 operations for each token and parameter: 2 in the
forward pass and 4 in the backward pass (Kaplan et al. 2020, arXiv 2001.08361). The parameters
include the output layer but not the input embedding, which is a lookup. Tao et al. (2024, arXiv
2407.13623) estimate the cost in this way. It does not include attention between tokens, and says
nothing about quality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.cli.tables import Table, show
from spmcompat.tools.evaluate.evaluation import Evaluation, lost_text
from spmcompat.tools.evaluate.tokens import ratio

_OPERATIONS = 6  # the training operations per token and parameter
_COLUMNS = {
    "embedding parameters": ("embedding_parameters", "{:,}"),
    "training tokens": ("training_tokens", "{:,.0f}"),
    "operations": ("training_operations", "{:.4e}"),
    "above the lowest": ("above_lowest", "{:.2%}"),
}


class Network(NamedTuple):
    """A network and its training.

    Attributes
    ----------
    embedding_width : int
        The length of the vector of each piece.
    parameters : float or None
        The number of parameters without embeddings. None if only the embeddings are of interest.
    training_bytes : float or None
        The size of the text to train on, in bytes without line ends; None if `parameters` is None.
    """

    embedding_width: int
    parameters: float | None = None
    training_bytes: float | None = None

    @property
    def has_training(self) -> bool:
        """Whether the sizes of the network and of its training text are known."""
        return self.training_bytes is not None

    def columns(self) -> dict[str, tuple[str, str]]:
        """Return the title of each cost that is known, its name in `Costs`, and its format."""
        return dict([*_COLUMNS.items()][: None if self.has_training else 1])

    @property
    def summary(self) -> str:
        """A description in one line."""
        if not self.has_training:
            return f"a network with embeddings of width {self.embedding_width:,}"
        return (
            f"a network of {self.parameters:,.0f} parameters without embeddings, with embeddings "
            f"of width {self.embedding_width:,}, trained on {self.training_bytes:,.0f} bytes"
        )


class Costs(NamedTuple):
    """The training costs of a network that uses the vocabulary of a model.

    Attributes
    ----------
    embedding_parameters : int
        The number of parameters of one embedding table: pieces times width.
    training_tokens : float
        The length of the text that the network is trained on, if its tokens are on average as long
        as in the evaluated text. NaN if the network's training is not described.
    training_operations : float
        The number of floating-point operations in the network's training; NaN if
        `training_tokens` is NaN.
    above_lowest : float
        The operations divided by the lowest number of operations of any model, minus 1; NaN if
        there is nothing to compare, or if the model loses text.
    """

    embedding_parameters: int
    training_tokens: float = math.nan
    training_operations: float = math.nan
    above_lowest: float = math.nan


def estimate(results: Sequence[Evaluation], network: Network) -> list[Costs]:
    """Return the costs of the network for each model.

    A model that loses text is not compared, because the lost text makes its number of tokens lower.
    """
    costs = [_estimate(result, network) for result in results]
    compared = [
        not lost_text(result) and not math.isnan(cost.training_operations)
        for result, cost in zip(results, costs, strict=True)
    ]
    operations = [c.training_operations for c, is_in in zip(costs, compared, strict=True) if is_in]
    if len(operations) < 2:
        return costs
    lowest = min(operations)
    return [
        cost._replace(above_lowest=cost.training_operations / lowest - 1) if is_in else cost
        for cost, is_in in zip(costs, compared, strict=True)
    ]


def _estimate(result: Evaluation, network: Network) -> Costs:
    embeddings = result.pieces * network.embedding_width
    if network.parameters is None or network.training_bytes is None:
        return Costs(embeddings)
    tokens = ratio(network.training_bytes, result.bytes_per_token)
    return Costs(embeddings, tokens, _OPERATIONS * tokens * (network.parameters + embeddings))


def cost_table(models: Sequence[str], costs: Sequence[Costs], network: Network) -> Table:
    """Return the costs of each model as a table."""
    rows = [
        (title, *(show(form, getattr(cost, name)) for cost in costs))
        for title, (name, form) in network.columns().items()
    ]
    if all(math.isnan(cost.above_lowest) for cost in costs):
        rows = rows[:3]
    return Table(["", *models], rows, 1, [f"For {network.summary}."])
