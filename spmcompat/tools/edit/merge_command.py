"""The command ``spmcompat merge``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.process import run_command
from spmcompat.errors import BadValueError, printable
from spmcompat.options.values import INT32, parse_float, parse_int

if TYPE_CHECKING:
    from spmcompat.tools.edit.editing import MergeResult

_NAMED = 10

DESCRIPTION = """\
Merges models of one type and with the same normalizer. The first model keeps its ids; new
symbols and pieces of the other models follow. Unigram: the probability of a piece is the mean of
its probabilities in the models. BPE: the merges of the first model come first, then those merges
of each other model, in its own order, that can be reached from the earlier ones.
"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat merge`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    arguments = _parser().parse_args(argv)
    return run_command("spmcompat merge", lambda: _run(arguments, out), err)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spmcompat merge", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help="two or more models")
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="where to write the new model, and a .vocab file beside it if the name ends in .model",
    )
    parser.add_argument(
        "--weights",
        metavar="W,W",
        help="the weight of each model, such as 3,1; equal by default. Not for BPE",
    )
    parser.add_argument(
        "--vocab_size",
        metavar="N",
        help="the maximum number of pieces; by default, all pieces are taken. New symbols and "
        "single characters come first, then the best of the other new pieces",
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    return parser


def _run(arguments: argparse.Namespace, stdout: TextIO) -> None:
    from spmcompat.tools.edit.editing import merge  # noqa: PLC0415

    weights = None if arguments.weights is None else _weights(arguments.weights)
    size = None if arguments.vocab_size is None else _size(arguments.vocab_size)
    result = merge(arguments.models, arguments.output, weights, size)
    if not arguments.quiet:
        stdout.writelines(f"{printable(line)}\n" for line in _told(arguments, result))


def _weights(text: str) -> list[float]:
    try:
        return [parse_float(part) for part in text.split(",")]
    except BadValueError:
        raise BadValueError(f"--weights takes numbers such as 3,1, not {text!r}.") from None


def _size(text: str) -> int:
    try:
        size = parse_int(text, INT32)
    except BadValueError:
        size = 0
    if size < 1:
        raise BadValueError(f"--vocab_size takes a whole number above 0, not {text!r}.")
    return size


def _told(arguments: argparse.Namespace, result: MergeResult) -> Iterator[str]:
    """Yield the report of a merge, line by line."""
    yield (
        f"{arguments.output}: {result.size:,} pieces, {result.added:,} of them not in "
        f"{arguments.models[0]}"
    )
    if result.beyond_size:
        yield f"no room for {result.beyond_size:,} more; --vocab_size is the limit"
    for texts, what in (
        (result.left_out, "left out, because they would never be used"),
        (result.unreachable, f"pieces of {arguments.models[0]} that are never used any more"),
    ):
        if texts:
            more = " ..." if len(texts) > _NAMED else ""
            yield f"{what}: {len(texts):,}: {' '.join(texts[:_NAMED])}{more}"
    if result.dropped_samples:
        yield f"dropped {result.dropped_samples:,} self-test samples: they may no longer be correct"
