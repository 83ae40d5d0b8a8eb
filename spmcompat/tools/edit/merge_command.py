"""The command ``spmcompat merge``."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import QUIET, Command, Flag
from spmcompat.engine import FLOAT, INT32
from spmcompat.errors import UsageError, printable
from spmcompat.tools.edit.edit_command import MODEL_OUTPUT

if TYPE_CHECKING:
    from spmcompat.tools.edit.merging_models import MergeResult

_NAMED = 10


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat merge",
        "Merges models of one type and with the same normalizer. The first model keeps its ids; "
        "new symbols and pieces of the other models follow. Unigram: the probability of a piece "
        "is the mean of its probabilities in the models. BPE: the merges of the first model come "
        "first, then the merges of each other model in their own order. Merges that would never be "
        "used after the earlier merges are left out.",
        "MODEL MODEL... --output=FILE [flags]",
        _run,
        [
            MODEL_OUTPUT,
            Flag(
                "weights",
                "The weight of each model, such as 3,1; equal by default. Not for BPE.",
                FLOAT,
                metavar="W,W",
                least=0,
                many=True,
            ),
            Flag(
                "vocab_size",
                "The maximum number of pieces; by default, all pieces are taken. New symbols and "
                "single characters come first, then the best of the other new pieces.",
                INT32,
                least=1,
            ),
            QUIET,
        ],
        required=[("output",)],
        positionals=("at least two models are", 2, None),
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.tools.edit.editing import merge

    models, weights = given.arguments, given.weights
    if weights and (len(weights) != len(models) or not 0 < min(weights) <= max(weights) < inf):
        raise UsageError(
            f"--weights takes one number above 0 for each of the {len(models)} models, not "
            f"{','.join(f'{one:g}' for one in weights)}."
        )
    result = merge(models, given.output, weights or None, given.vocab_size)
    if not given.quiet:
        lines = _report_lines(given.output, models[0], result)
        stdout.writelines(f"{printable(line)}\n" for line in lines)


def _report_lines(output: str, first: str, result: MergeResult) -> Iterator[str]:
    """Yield the report of a merge, line by line."""
    yield f"{output}: {result.size:,} pieces, {result.added:,} of them not in {first}"
    if result.beyond_size:
        yield f"no room for {result.beyond_size:,} more; --vocab_size is the limit"
    for texts, what in (
        (result.left_out, "left out, because they would never be used"),
        (result.unreachable, f"pieces of {first} that are never used any more"),
    ):
        if texts:
            more = " ..." if len(texts) > _NAMED else ""
            yield f"{what} ({len(texts):,}): {' '.join(texts[:_NAMED])}{more}"
    if result.dropped_samples:
        yield f"dropped {result.dropped_samples:,} self-test samples: they may no longer be correct"
