"""The command ``spmcompat evaluate``."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO, TypeAlias

from spmcompat.cli.flags import QUIET, Command, Flag, UsageError, switch
from spmcompat.cli.table import table
from spmcompat.errors import BadValueError
from spmcompat.options.option import UINT64
from spmcompat.tools.evaluate.bootstrap_options import BOOTSTRAP_FLAGS, UNITS, read_bootstrap

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.differences import Difference
    from spmcompat.runtime.progress import Report
    from spmcompat.runtime.workers import Workers
    from spmcompat.tools.evaluate.evaluation import Evaluation, Overlap
    from spmcompat.tools.evaluate.gold_lists import GoldList
    from spmcompat.tools.evaluate.models import Model
    from spmcompat.tools.evaluate.stored import CountsEvaluation

    Result: TypeAlias = Evaluation | CountsEvaluation

GOLD = Flag(
    "gold",
    "Lists of segmented words: lines of word, tab, morphs; or files of MorphScore, LADEC or "
    "MorphyNet.",
    metavar="FILE,FILE",
    many=True,
)

# The figures of a model in the order of the table, and their formats.
_FORMATS = {
    "model_type": "{}",
    "pieces": "{:,}",
    "loss_per_character": "{:.4f}",
    "loss_per_byte": "{:.4f}",
    "renormalized_loss_per_character": "{:.4f}",
    "renormalized_loss_per_byte": "{:.4f}",
    "tokens": "{:,}",
    "pretokens": "{:,}",
    "left_out": "{:,}",
    "words": "{:,}",
    "tokens_per_pretoken": "{:.4f}",
    "normalized_characters_per_token": "{:.4f}",
    "normalized_bytes_per_token": "{:.4f}",
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


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.options.extension_options import MOST_WORKERS  # noqa: PLC0415

    return Command(
        "spmcompat evaluate",
        "Evaluates SentencePiece models and other tokenizers on a text. Words are the parts of "
        "the text between white space, so their number is the same for every model.",
        "MODEL... {--text=FILE[,FILE...]|--counts=FILE} [flags]",
        _run,
        [
            Flag(
                "text",
                "Texts in UTF-8, one sentence on each line.",
                metavar="FILE,FILE",
                many=True,
            ),
            Flag(
                "counts",
                "Stored counts of a text (spmcompat count) instead of the text. Each distinct "
                "pretoken is encoded once.",
            ),
            GOLD,
            switch(
                "drop_spaces",
                "Leave out tokens that are only spaces, so that the models lose their spaces.",
            ),
            Flag(
                "pretokenizer",
                "Cut the text into pretokens as in training, encode each one separately, and "
                "compute tokens and losses from them. stored: cut by the split options in the "
                "model. script or regex:PATTERN: also cut by this pretokenizer.",
                metavar="NAME",
            ),
            Flag(
                "workers",
                "Number of threads; by default, one for each core.",
                UINT64,
                least=1,
                most=MOST_WORKERS,
            ),
            *BOOTSTRAP_FLAGS,
            UNITS,
            Flag(
                "baseline",
                "With --bootstrap: compare the other models with this one; by default, with the "
                "first.",
                metavar="MODEL",
            ),
            switch("json", "Print JSON."),
            switch("csv", "Print CSV, one line for each model."),
            QUIET,
        ],
        required=[("text", "counts")],
        exclusive=[
            ("json", "csv"),
            ("text", "counts"),
            ("counts", "pretokenizer"),
            ("counts", "bootstrap"),
        ],
        positionals=("at least one model is", 1, None),
    )


def _check(given: SimpleNamespace) -> None:
    """Raise for flags that contradict each other, or a pretokenizer that does not exist."""
    from spmcompat.tools.evaluate.segments import check_pretokenizer  # noqa: PLC0415

    if given.pretokenizer is not None:
        try:
            check_pretokenizer(given.pretokenizer)
        except BadValueError as error:
            raise UsageError(str(error)) from error
    if given.baseline is not None and given.bootstrap is None:
        raise UsageError("--baseline needs --bootstrap=N.")
    if given.baseline is not None and given.baseline not in given.arguments:
        raise UsageError(f"--baseline must be one of the models, not {given.baseline!r}.")


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.options.settings import available_cores  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.runtime.workers import Workers  # noqa: PLC0415
    from spmcompat.tools.evaluate.differences import differences  # noqa: PLC0415
    from spmcompat.tools.evaluate.evaluation import evaluate, overlaps  # noqa: PLC0415
    from spmcompat.tools.evaluate.gold_lists import read_gold_lists  # noqa: PLC0415
    from spmcompat.tools.evaluate.models import load_model  # noqa: PLC0415

    bootstrap = read_bootstrap(given)
    _check(given)
    paths = given.arguments
    report = Report(2 if given.quiet else 0, stderr)
    workers = Workers(given.workers or available_cores())
    gold = read_gold_lists(given.gold)
    for found in gold:
        report.info(found.summary)
    models = [load_model(path, workers, given.pretokenizer) for path in paths]
    results: Sequence[Result]
    changes: Sequence[Difference] = ()
    if given.counts is None:
        measured = evaluate(
            models, given.text, gold, report, drop_spaces=given.drop_spaces, bootstrap=bootstrap
        )
        changes = differences(measured, measured[paths.index(given.baseline or paths[0])])
        results = measured
    else:
        results = _evaluate_counts(models, given, gold, workers, report)
    pairs = overlaps(models)
    if given.json:
        _write_json(results, pairs, changes, stdout)
    elif given.csv:
        _write_csv(results, stdout)
    else:
        _write_tables(results, pairs, changes, stdout)


def _evaluate_counts(
    models: Sequence[Model],
    given: SimpleNamespace,
    gold: Sequence[GoldList],
    workers: Workers,
    report: Report,
) -> list[CountsEvaluation]:
    from spmcompat.stored_counts.table import load_counts  # noqa: PLC0415
    from spmcompat.tools.evaluate.stored import evaluate_counts  # noqa: PLC0415

    table = load_counts(given.counts)
    return evaluate_counts(models, table, gold, workers, report, drop_spaces=given.drop_spaces)


def _write_json(
    results: Sequence[Result],
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


def _as_json(result: Result) -> dict[str, object]:
    row = _without_nan(result.flat())
    if result.resampled is not None:
        row["intervals"] = {name: [*both] for name, both in result.resampled.intervals.items()}
    return row


def _without_nan(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN with None, because JSON has no NaN."""
    return {name: None if _is_nan(value) else value for name, value in row.items()}


def _write_csv(results: Sequence[Result], stdout: TextIO) -> None:
    rows = [_with_bounds(result) for result in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stdout, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if _is_nan(v) else v for k, v in row.items()} for row in rows)


def _with_bounds(result: Result) -> dict[str, object]:
    """Return the figures, and after them the bounds of their intervals."""
    row = result.flat()
    for name, both in (result.resampled.intervals if result.resampled else {}).items():
        row[f"{name}_low"], row[f"{name}_high"] = both
    return row


def _write_tables(
    results: Sequence[Result],
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


def _cell(form: str, value: object, name: str, result: Result) -> str:
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


def _rows(results: Sequence[Result]) -> list[tuple[str, str, str]]:
    """Return the name of each figure of the table, its label and its format."""
    from spmcompat.tools.evaluate.gold import gold_key  # noqa: PLC0415

    result = results[0]
    known = result.flat()
    rows = [(key, key.replace("_", " "), form) for key, form in _FORMATS.items() if key in known]
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
