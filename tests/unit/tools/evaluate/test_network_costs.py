"""The cost of training a network with the vocabulary of a model, computed by hand."""

from __future__ import annotations

import math

import pytest

from spmcompat.cli.flags import from_python
from spmcompat.tools.evaluate.command import command
from spmcompat.tools.evaluate.network_costs import Network, cost_table, estimate
from spmcompat.tools.evaluate.report import read_network
from tests.kinds import raises_kind
from tests.unit.tools.compare.test_report import result

NETWORK = Network(embedding_width=16, parameters=1000.0, training_bytes=12_000.0)


def evaluated(name: str, pieces: int, bytes_per_token: float, lost: float = 0.0):  # type: ignore[no-untyped-def]
    return result(name, 10, size=pieces, lost=lost).evaluation._replace(
        bytes_per_token=bytes_per_token
    )


def test_costs_are_those_computed_by_hand() -> None:
    models = [evaluated("a", 100, 2.0), evaluated("b", 200, 3.0), evaluated("c", 1000, 4.0)]
    small, medium, large = estimate(models, NETWORK)
    # The models cut 12,000 bytes into 6,000, 4,000 and 3,000 tokens. Each network has 1,000
    # parameters, plus 1,600, 3,200 or 16,000 in the output layer.
    assert small[:3] == (1600, 6000.0, 6 * 6000.0 * 2600)
    assert medium[:3] == (3200, 4000.0, 6 * 4000.0 * 4200)
    assert large[:3] == (16_000, 3000.0, 6 * 3000.0 * 17_000)
    assert small.above_lowest == 0
    assert medium.above_lowest == pytest.approx(4000 * 4200 / (6000 * 2600) - 1)
    assert large.above_lowest == pytest.approx(3000 * 17_000 / (6000 * 2600) - 1)


def test_more_parameters_make_a_larger_vocabulary_cheaper() -> None:
    models = [evaluated("a", 100, 2.0), evaluated("b", 200, 3.0)]
    shares = [cost.above_lowest for cost in estimate(models, NETWORK._replace(parameters=1e6))]
    assert shares[1] == 0
    assert shares[0] == pytest.approx(6000 * 1_001_600 / (4000 * 1_003_200) - 1)


def test_a_model_that_loses_text_is_not_compared() -> None:
    models = [
        evaluated("a", 100, 2.0),
        evaluated("lossy", 100, 9.0, lost=0.1),
        evaluated("b", 100, 1.0),
        evaluated("empty", 100, math.nan),
    ]
    costs = estimate(models, NETWORK)
    assert [cost.above_lowest for cost in costs[::2]] == [0, 1]
    assert math.isnan(costs[1].above_lowest)
    assert costs[1].training_operations == 6 * 12_000 / 9.0 * 2600
    assert math.isnan(costs[3].training_operations)
    (alone, _) = estimate(models[:2], NETWORK)
    assert math.isnan(alone.above_lowest)


def test_the_table_shows_what_is_known() -> None:
    models = [evaluated("a.model", 100, 2.0), evaluated("b.model", 200, 3.0)]
    costs = estimate(models, NETWORK)
    table = cost_table(["a.model", "b.model"], costs, NETWORK)
    assert table.rows == [
        ("embedding parameters", "1,600", "3,200"),
        ("training tokens", "6,000", "4,000"),
        ("operations", "9.3600e+07", "1.0080e+08"),
        ("above the lowest", "0.00%", "7.69%"),
    ]
    one = cost_table(["a.model"], estimate(models[:1], NETWORK), NETWORK)
    assert [row[0] for row in one.rows] == ["embedding parameters", "training tokens", "operations"]
    network = Network(16)
    width_only = cost_table(["a.model", "b.model"], estimate(models, network), network)
    assert [row[0] for row in width_only.rows] == ["embedding parameters"]
    assert width_only.notes == ["For a network with embeddings of width 16."]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": 1e9}, "usage --parameters --embedding_width=N"),
        ({"parameters": 1e9, "embedding_width": 8}, "usage --parameters --training_bytes=N"),
        ({"training_bytes": 1e9}, "usage --training_bytes --embedding_width=N"),
        ({"training_bytes": 1e9, "embedding_width": 8}, "usage --training_bytes --parameters=N"),
    ],
)
def test_flags_that_need_each_other(given: dict[str, float], message: str) -> None:
    with raises_kind(message):
        from_python(command(), ["u.model"], {"text": "t.txt", **given})


def test_the_width_alone_describes_a_network() -> None:
    given = from_python(command(), ["u.model"], {"text": "t.txt"})
    assert read_network(given) is None
    given.embedding_width = 8
    assert read_network(given) == Network(8)
