"""The command ``spmcompat evaluate``."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.process import run_command
from spmcompat.cli.table import table
from spmcompat.errors import BadValueError
from spmcompat.options.values import to_int
from spmcompat.tools.evaluate.bootstrap_options import (
    add_bootstrap_options,
    add_units_option,
    read_bootstrap,
)

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.differences import Difference
    from spmcompat.tools.evaluate.evaluation import Evaluation, Overlap

# The figures of a model in the order of the table, and their formats.
_FORMATS = {
    "model_type": "{}",
    "pieces": "{:,}",
    "loss_per_character": "{:.4f}",
    "loss_per_byte": "{:.4f}",
    "renormalized_loss_per_character": "{:.4f}",
    "renormalized_loss_per_byte": "{:.4f}",
    "tokens": "{:,}",
    "words": "{:,}",
    "tokens_per_word": "{:.4f}",
    "characters_per_token": "{:.4f}",
    "bytes_per_token": "{:.4f}",
    "unknown_rate": "{:.4%}",
    "lost_characters": "{:.4%}",
    "lost_spaces": "{:.4%}",
    "byte_piece_rate": "{:.4%}",
    "renyi_efficiency": "{:.4f}",
    "renyi_efficiency_observed": "{:.4f}",
    "whole_words": "{:.2%}",
    "unused_pieces": "{:,}",
}


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat evaluate`` and return its exit status."""
    stdout = sys.stdout if stdout is None else stdout
    stderr = sys.stderr if stderr is None else stderr
    arguments = _parser().parse_args(argv)
    return run_command("spmcompat evaluate", lambda: _run(arguments, stdout, stderr), stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spmcompat evaluate",
        description="Evaluates SentencePiece models and other tokenizers on a text. Words are the "
        "parts of the text between white space, so their number is the same for every model.",
    )
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="a .model file, or a tokenizer.json"
    )
    parser.add_argument(
        "--text",
        nargs="+",
        required=True,
        metavar="FILE",
        help="text in UTF-8, one sentence on each line",
    )
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help="lists of segmented words: lines of word, tab, morphs; or files of MorphScore, LADEC "
        "or MorphyNet",
    )
    parser.add_argument(
        "--drop_spaces",
        action="store_true",
        help="leave out tokens that are only spaces, so that the models lose their spaces",
    )
    parser.add_argument(
        "--pretokenizer",
        metavar="NAME",
        help="encode each pretoken of a training separately, and count tokens and losses on "
        "these: stored cuts by the split options in the model; script or regex:PATTERN also cuts "
        "by that pretokenizer",
    )
    parser.add_argument("--workers", type=_positive, help="number of threads [all cores]")
    parser.add_argument("--quiet", action="store_true", help="print only the result")
    add_bootstrap_options(parser)
    add_units_option(parser)
    parser.add_argument(
        "--baseline",
        metavar="MODEL",
        help="with --bootstrap: compare the other models with this one [the first]",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV, one line for each model")
    return parser


def _positive(text: str) -> int:
    from spmcompat.options.extension_options import MOST_WORKERS  # noqa: PLC0415

    if not (text.isascii() and text.isdecimal() and 0 < to_int(text) <= MOST_WORKERS):
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 1 to {MOST_WORKERS}, not {text!r}"
        )
    return int(text)


def _run(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.options.settings import available_cores  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.runtime.workers import Workers  # noqa: PLC0415
    from spmcompat.tools.evaluate.differences import differences  # noqa: PLC0415
    from spmcompat.tools.evaluate.evaluation import evaluate, overlaps  # noqa: PLC0415
    from spmcompat.tools.evaluate.gold_lists import read_gold_lists  # noqa: PLC0415
    from spmcompat.tools.evaluate.models import load_model  # noqa: PLC0415
    from spmcompat.tools.evaluate.segments import check_pretokenizer  # noqa: PLC0415

    bootstrap = read_bootstrap(arguments)
    if arguments.pretokenizer is not None:
        check_pretokenizer(arguments.pretokenizer)
    if arguments.baseline is not None and bootstrap is None:
        raise BadValueError("--baseline needs --bootstrap N.")
    baseline = arguments.baseline or arguments.models[0]
    if baseline not in arguments.models:
        raise BadValueError(f"--baseline must be one of the models, not {baseline!r}.")
    report = Report(2 if arguments.quiet else 0, stderr)
    workers = Workers(arguments.workers or available_cores())
    gold = read_gold_lists(arguments.gold)
    for found in gold:
        report.info(found.summary)
    models = [load_model(path, workers, arguments.pretokenizer) for path in arguments.models]
    results = evaluate(
        models,
        arguments.text,
        gold,
        report,
        drop_spaces=arguments.drop_spaces,
        bootstrap=bootstrap,
    )
    pairs = overlaps(models)
    changes = differences(results, results[arguments.models.index(baseline)])
    if arguments.json:
        _write_json(results, pairs, changes, stdout)
    elif arguments.csv:
        _write_csv(results, stdout)
    else:
        _write_tables(results, pairs, changes, stdout)


def _write_json(
    results: Sequence[Evaluation],
    pairs: Sequence[Overlap],
    changes: Sequence[Difference],
    stdout: TextIO,
) -> None:
    document: dict[str, object] = {
        "models": [_as_json(result) for result in results],
        "overlaps": [_without_nan(pair._asdict()) for pair in pairs],
    }
    if resampled := results[0].resampled:
        document["bootstrap"] = {
            **resampled.settings._asdict(),
            "units_drawn": resampled.units,
            "units_in_block": resampled.block,
        }
        document["differences"] = [change._asdict() for change in changes]
    stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _as_json(result: Evaluation) -> dict[str, object]:
    row = _without_nan(result.flat())
    if result.resampled is not None:
        row["intervals"] = {name: [*both] for name, both in result.resampled.intervals.items()}
    return row


def _without_nan(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN with None, because JSON has no NaN."""
    return {name: None if _is_nan(value) else value for name, value in row.items()}


def _write_csv(results: Sequence[Evaluation], stdout: TextIO) -> None:
    rows = [_with_bounds(result) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stdout, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if _is_nan(v) else v for k, v in row.items()} for row in rows)


def _with_bounds(result: Evaluation) -> dict[str, object]:
    """Return the figures, and after them the bounds of their intervals."""
    row = result.flat()
    for name, both in (result.resampled.intervals if result.resampled else {}).items():
        row[f"{name}_low"], row[f"{name}_high"] = both
    return row


def _write_tables(
    results: Sequence[Evaluation],
    pairs: Sequence[Overlap],
    changes: Sequence[Difference],
    stdout: TextIO,
) -> None:
    rows = [result.flat() for result in results]
    head = ["", *(str(row["model"]) for row in rows)]
    figures = [
        (label, *(_cell(form, row[key], key, r) for row, r in zip(rows, results, strict=True)))
        for key, label, form in _rows(results)
    ]
    lines = [*table(head, figures, left=1)]
    if pairs:
        head = ["overlap of pieces", "", "all", "without characters"]
        shares = [
            (first, second, _show("{:.2%}", share), _show("{:.2%}", without_characters))
            for first, second, share, without_characters in pairs
        ]
        lines += ["", *table(head, shares, left=2)]
    if changes:
        head = [f"difference from {changes[0].baseline}", "", "", "interval", ""]
        lines += ["", *table(head, [_row_of_change(change) for change in changes], left=2)]
    if resampled := results[0].resampled:
        lines += ["", f"  In brackets: {resampled.summary}."]
    stdout.writelines(f"{line}\n" for line in lines)


def _cell(form: str, value: object, name: str, result: Evaluation) -> str:
    both = result.resampled.intervals.get(name) if result.resampled else None
    shown = _show(form, value)
    if both is None:
        return shown
    form = form.replace(",", ",.0f")
    return f"{shown} [{form.format(both.low)}, {form.format(both.high)}]"


def _row_of_change(change: Difference) -> tuple[str, ...]:
    form = "{:+.2%}" if change.is_relative else "{:+.4f}"
    return (
        change.model,
        change.figure.replace("_", " "),
        form.format(change.difference),
        f"[{form.format(change.low)}, {form.format(change.high)}]",
        "excludes 0" if change.excludes_zero else "includes 0",
    )


def _rows(results: Sequence[Evaluation]) -> list[tuple[str, str, str]]:
    """Return the name of each figure of the table, its label and its format."""
    from spmcompat.tools.evaluate.gold import gold_key  # noqa: PLC0415

    result = results[0]
    rows = [(key, key.replace("_", " "), form) for key, form in _FORMATS.items()]
    if any(other.drops_spaces for other in results):
        rows.append(("drops_spaces", "drops spaces", "{}"))
    for name, scores in result.gold.items():
        for figure, value in scores._asdict().items():
            key = gold_key(figure, name, result.gold)
            label = key.partition("[")[0].replace("_", " ")
            label += f" [{name}]" if len(result.gold) > 1 else ""
            rows.append((key, label, "{:,}" if isinstance(value, int) else "{:.4f}"))
    return rows


def _show(form: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if _is_nan(value) else form.format(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
