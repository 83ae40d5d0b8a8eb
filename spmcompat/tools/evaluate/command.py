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
    "whole_words": "{:.2%}",
    "unused_pieces": "{:,}",
    "gold_words": "{:,}",
    "gold_precision": "{:.4f}",
    "gold_recall": "{:.4f}",
    "gold_f1": "{:.4f}",
    "gold_mean_length": "{:.4f}",
    "gold_morph_score": "{:.4f}",
    "gold_morph_score_precision": "{:.4f}",
    "gold_morph_score_words": "{:,}",
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
        "--gold", metavar="FILE", help="segmented words, one in each line: word, tab, morphs"
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
    from spmcompat.tools.evaluate.gold import read_gold  # noqa: PLC0415
    from spmcompat.tools.evaluate.models import load_model  # noqa: PLC0415

    report = Report(2 if arguments.quiet else 0, stderr)
    workers = Workers(arguments.workers or available_cores())
    gold = read_gold(arguments.gold) if arguments.gold else []
    models = [load_model(path, workers) for path in arguments.models]
    results = evaluate(models, arguments.text, gold, report)
    pairs = overlaps(models)
    if arguments.json:
        _write_json(results, pairs, stdout)
    elif arguments.csv:
        _write_csv(results, stdout)
    else:
        _write_tables(results, pairs, stdout)


def flat(result: Evaluation) -> dict[str, object]:
    """Return all single figures by name; the names of gold figures begin with ``gold_``."""
    row: dict[str, object] = result._asdict()
    del row["gold"], row["uses"]
    if result.gold is not None:
        row.update((f"gold_{name}", value) for name, value in result.gold._asdict().items())
    return row


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
        (name.replace("_", " "), *(_show(form, row[name]) for row in rows))
        for name, form in _FORMATS.items()
        if name in rows[0]
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


def _show(form: str, value: object) -> str:
    return "-" if _is_nan(value) else form.format(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
