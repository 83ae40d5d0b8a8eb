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
from spmcompat.options.values import to_int

if TYPE_CHECKING:
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
        description="Evaluates SentencePiece models and other tokenizers on a text. Words are what "
        "the text has between white space, so their number is the same for every model.",
    )
    parser.add_argument(
        "models", nargs="+", metavar="MODEL", help="a .model file, or a tokenizer.json"
    )
    parser.add_argument(
        "--text",
        nargs="+",
        required=True,
        metavar="FILE",
        help="text in UTF-8, one sentence in each line",
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
    parser.add_argument("--workers", type=_positive, help="number of threads [all cores]")
    parser.add_argument("--quiet", action="store_true", help="write only the result")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="write JSON")
    form.add_argument("--csv", action="store_true", help="write CSV, one line for each model")
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
    from spmcompat.tools.evaluate.evaluation import evaluate, overlaps  # noqa: PLC0415
    from spmcompat.tools.evaluate.gold_lists import read_gold_lists  # noqa: PLC0415
    from spmcompat.tools.evaluate.models import load_model  # noqa: PLC0415

    report = Report(2 if arguments.quiet else 0, stderr)
    workers = Workers(arguments.workers or available_cores())
    gold = read_gold_lists(arguments.gold)
    for found in gold:
        report.info(found.summary)
    models = [load_model(path, workers) for path in arguments.models]
    results = evaluate(models, arguments.text, gold, report, drop_spaces=arguments.drop_spaces)
    pairs = overlaps(models)
    if arguments.json:
        _write_json(results, pairs, stdout)
    elif arguments.csv:
        _write_csv(results, stdout)
    else:
        _write_tables(results, pairs, stdout)


def flat(result: Evaluation) -> dict[str, object]:
    """Return all single figures by name.

    The names of gold figures are ``gold_f1`` and so on. If there are several lists, the name of the
    list follows, as in ``gold_f1[english.tsv]``.
    """
    row: dict[str, object] = result._asdict()
    del row["gold"], row["uses"]
    for name, scores in result.gold.items():
        suffix = _suffix(name, result)
        row.update((f"gold_{key}{suffix}", value) for key, value in scores._asdict().items())
    return row


def _suffix(gold: str, result: Evaluation) -> str:
    return f"[{gold}]" if len(result.gold) > 1 else ""


def _write_json(results: Sequence[Evaluation], pairs: Sequence[Overlap], stdout: TextIO) -> None:
    document = {
        "models": [_without_nan(flat(result)) for result in results],
        "overlaps": [_without_nan(pair._asdict()) for pair in pairs],
    }
    stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _without_nan(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN by None, because JSON has no NaN."""
    return {name: None if _is_nan(value) else value for name, value in row.items()}


def _write_csv(results: Sequence[Evaluation], stdout: TextIO) -> None:
    rows = [flat(result) for result in results]
    writer = csv.DictWriter(stdout, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if _is_nan(v) else v for k, v in row.items()} for row in rows)


def _write_tables(results: Sequence[Evaluation], pairs: Sequence[Overlap], stdout: TextIO) -> None:
    rows = [flat(result) for result in results]
    head = ["", *(str(row["model"]) for row in rows)]
    figures = [
        (label, *(_show(form, row[key]) for row in rows)) for key, label, form in _rows(results)
    ]
    lines = [*table(head, figures, left=1)]
    if pairs:
        head = ["overlap of pieces", "", "all", "without characters"]
        shares = [
            (first, second, _show("{:.2%}", share), _show("{:.2%}", without_characters))
            for first, second, share, without_characters in pairs
        ]
        lines += ["", *table(head, shares, left=2)]
    stdout.writelines(f"{line}\n" for line in lines)


def _rows(results: Sequence[Evaluation]) -> list[tuple[str, str, str]]:
    """Return the name of each figure of the table, its label and its format."""
    result = results[0]
    rows = [(key, key.replace("_", " "), form) for key, form in _FORMATS.items()]
    if any(other.drops_spaces for other in results):
        rows.append(("drops_spaces", "drops spaces", "{}"))
    for name, scores in result.gold.items():
        suffix = _suffix(name, result)
        rows += [
            (
                f"gold_{key}{suffix}",
                f"gold {key.replace('_', ' ')}{suffix and ' '}{suffix}",
                "{:,}" if isinstance(value, int) else "{:.4f}",
            )
            for key, value in scores._asdict().items()
        ]
    return rows


def _show(form: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if _is_nan(value) else form.format(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
