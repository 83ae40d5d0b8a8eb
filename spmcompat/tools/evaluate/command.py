"""The command ``spmcompat evaluate``."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import QUIET, Command, Flag, UsageError, switch
from spmcompat.cli.table import table
from spmcompat.errors import BadValueError
from spmcompat.options.option import UINT64
from spmcompat.tools.evaluate.bootstrap_options import BOOTSTRAP_FLAGS, UNITS, read_bootstrap
from spmcompat.tools.evaluate.network_options import NETWORK_FLAGS, read_network

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.differences import Difference
    from spmcompat.tools.evaluate.evaluation import Evaluation, Overlap
    from spmcompat.tools.evaluate.network_costs import Network
    from spmcompat.tools.evaluate.vocabularies import VocabularyCounts

GOLD = Flag(
    "gold",
    "Lists of segmented words: lines of word, tab, morphs; or files of MorphScore, LADEC, "
    "MorphyNet, MorphoLex or DagoBERT. FILE:prefixes and FILE:suffixes select the words with only "
    "these affixes.",
    metavar="FILE,FILE",
    many=True,
)

AFFIXES = Flag(
    "affixes",
    "Count the prefixes and suffixes of this list in each vocabulary. Each line is a prefix, such "
    "as un-, or a suffix, such as -ness.",
    metavar="FILE",
)

# The label and the format of each figure in the table, in the order of its rows.
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
_OVERLAP = (
    "overlap of pieces",
    "",
    "all",
    "without characters",
    "shared texts",
    "only in the first",
    "only in the second",
)


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.options.extension_options import MOST_WORKERS  # noqa: PLC0415

    return Command(
        "spmcompat evaluate",
        "Evaluates SentencePiece models and other tokenizers on a text. Words are the parts of "
        "the text between white space, so their number is the same for every model.",
        "MODEL... --text=FILE[,FILE...] [flags]",
        _run,
        [
            Flag(
                "text",
                "Texts in UTF-8, one sentence on each line.",
                metavar="FILE,FILE",
                many=True,
            ),
            GOLD,
            AFFIXES,
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
            *NETWORK_FLAGS,
            switch("json", "Print JSON."),
            switch("csv", "Print CSV, one line for each model."),
            QUIET,
        ],
        required=[("text",)],
        exclusive=[("json", "csv")],
        positionals=("at least one model is", 1, None),
    )


def _check(given: SimpleNamespace) -> None:
    """Raise if flags contradict each other, or if there is no such pretokenizer."""
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
    from spmcompat.tools.evaluate.network_costs import cost_lines  # noqa: PLC0415
    from spmcompat.tools.evaluate.vocabularies import (  # noqa: PLC0415
        count_vocabulary,
        read_affixes,
    )

    bootstrap = read_bootstrap(given)
    network = read_network(given)
    _check(given)
    paths = given.arguments
    report = Report(2 if given.quiet else 0, stderr)
    workers = Workers(given.workers or available_cores())
    gold = read_gold_lists(given.gold)
    for found in gold:
        report.info(found.summary)
    affixes = None if given.affixes is None else read_affixes(given.affixes)
    models = [load_model(path, workers, given.pretokenizer) for path in paths]
    results = evaluate(
        models, given.text, gold, report, drop_spaces=given.drop_spaces, bootstrap=bootstrap
    )
    counts = [count_vocabulary(model.vocabulary, model.texts, affixes) for model in models]
    pairs = overlaps(models)
    changes = differences(results, results[paths.index(given.baseline or paths[0])])
    if given.json:
        others = [*_others(results, counts, network)]
        _write_json(results, others, pairs, changes, network, stdout)
    elif given.csv:
        _write_csv(results, [*_others(results, counts, network)], stdout)
    else:
        _write_tables(results, counts, pairs, changes, stdout)
        if network is not None:
            stdout.writelines(f"{line}\n" for line in cost_lines(results, network))


def _others(
    results: Sequence[Evaluation], counts: Sequence[VocabularyCounts], network: Network | None
) -> Iterator[dict[str, object]]:
    """Yield the figures of each model that do not depend on the text alone, by name."""
    from spmcompat.tools.evaluate.network_costs import estimate  # noqa: PLC0415

    costs = estimate(results, network) if network is not None else None
    for number, found in enumerate(counts):
        yield found.known() | ({} if costs is None else costs[number]._asdict())


def _write_json(
    results: Sequence[Evaluation],
    others: Sequence[dict[str, object]],
    pairs: Sequence[Overlap],
    changes: Sequence[Difference],
    network: Network | None,
    stdout: TextIO,
) -> None:
    document: dict[str, object] = {
        "models": [
            {**_as_json(result), **_without_nan(own)}
            for result, own in zip(results, others, strict=True)
        ],
        "overlaps": [_without_nan(pair._asdict()) for pair in pairs],
    }
    if network is not None:
        document["network"] = network._asdict()
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


def _write_csv(
    results: Sequence[Evaluation], others: Sequence[dict[str, object]], stdout: TextIO
) -> None:
    rows = [_with_bounds(result) | own for result, own in zip(results, others, strict=True)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stdout, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if _is_nan(v) else v for k, v in row.items()} for row in rows)


def _with_bounds(result: Evaluation) -> dict[str, object]:
    """Return the figures, followed by the bounds of their intervals."""
    row = result.flat()
    for name, both in (result.resampled.intervals if result.resampled else {}).items():
        row[f"{name}_low"], row[f"{name}_high"] = both
    return row


def _write_tables(
    results: Sequence[Evaluation],
    counts: Sequence[VocabularyCounts],
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
    rows_of_pieces = [
        (result.model, *(f"{number:,}" for number in found.known().values()))
        for result, found in zip(results, counts, strict=True)
    ]
    titles = [name.replace("_", " ") for name in counts[0].known()]
    lines += ["", *table(["vocabulary", *titles], rows_of_pieces, left=1)]
    if pairs:
        shares = [
            (
                p.first,
                p.second,
                *(_show("{:.2%}", share) for share in p[2:4]),
                *(f"{n:,}" for n in p[4:]),
            )
            for p in pairs
        ]
        lines += ["", *table(_OVERLAP, shares, left=2)]
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
