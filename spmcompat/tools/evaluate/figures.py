"""The figures of an evaluation by name."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.bootstrap import Resampled
    from spmcompat.tools.evaluate.evaluation import Evaluation


def flat(result: Evaluation) -> dict[str, Any]:
    """Return all single figures by name; see `gold_key` for the names of gold figures."""
    row = result._asdict()
    del row["gold"], row["uses"], row["resampled"]
    for name, scores in result.gold.items():
        row.update((gold_key(k, name, result.gold), v) for k, v in scores._asdict().items())
    return row


def gold_key(figure: str, name: str, names: Collection[str]) -> str:
    """Return the name of a gold figure, as in ``gold_f1``.

    If there are several lists, the name of the list follows, as in ``gold_f1[english.tsv]``.
    """
    return f"gold_{figure}" + (f"[{name}]" if len(names) > 1 else "")


def describe(resampled: Resampled) -> str:
    """Say what the intervals are."""
    settings = resampled.settings
    kind = settings.units
    blocks = f"blocks of {resampled.block:,} {kind}" if resampled.block > 1 else kind
    return (
        f"{settings.confidence:g} % intervals from {settings.resamples:,} resamples "
        f"of {resampled.units:,} {blocks} (seed {settings.seed})"
    )
