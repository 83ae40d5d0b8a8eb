"""The command ``spmcompat evaluate``."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO, TypeAlias

from spmcompat.cli.flags import QUIET, Command, Flag, UsageError, switch
from spmcompat.errors import BadValueError
from spmcompat.options.option import UINT64
from spmcompat.tools.evaluate.bootstrap_options import BOOTSTRAP_FLAGS, UNITS, read_bootstrap
from spmcompat.tools.evaluate.network_options import NETWORK_FLAGS, read_network
from spmcompat.tools.evaluate.tables import Table, is_nan, page_of, show, text_of

if TYPE_CHECKING:
    from spmcompat.runtime.progress import Report
    from spmcompat.runtime.workers import Workers
    from spmcompat.tools.evaluate.differences import Difference
    from spmcompat.tools.evaluate.evaluation import Evaluation, Overlap
    from spmcompat.tools.evaluate.gold_lists import GoldList
    from spmcompat.tools.evaluate.models import Model
    from spmcompat.tools.evaluate.network_costs import Costs, Network
    from spmcompat.tools.evaluate.stored import CountsEvaluation
    from spmcompat.tools.evaluate.texts import Texts
    from spmcompat.tools.evaluate.vocabularies import VocabularyCounts

    Result: TypeAlias = Evaluation | CountsEvaluation

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

LANGUAGE_FLAGS = (
    Flag(
        "language_column",
        "The texts are JSON Lines or Parquet files with a column of languages, which has "
        "this name.",
        metavar="NAME",
    ),
    Flag(
        "text_column",
        "With --language_column: the column of the text, by default text.",
        metavar="NAME",
    ),
    Flag(
        "reference",
        "The language that parity refers to; by default the first.",
        metavar="LANGUAGE",
    ),
)

# The flags that counts cannot be combined with.
_OF_TEXTS = (
    *("text", "language_column", "reference", "pretokenizer", "bootstrap"),
    *(flag.name for flag in NETWORK_FLAGS),
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
    "gini": "{:.4f}",
    "worst_language": "{}",
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
        "MODEL... {--text=FILE[,FILE...]|--counts=FILE} [flags]",
        _run,
        [
            Flag(
                "text",
                "Texts in UTF-8, one sentence on each line. LANGUAGE=FILE for each text adds the "
                "figures of each language.",
                metavar="FILE,FILE",
                many=True,
            ),
            *LANGUAGE_FLAGS,
            Flag(
                "counts",
                "Stored counts of a text (spmcompat count) instead of the text. Each distinct "
                "pretoken is encoded once.",
                metavar="FILE",
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
                "model. space: cut at white space only. script or regex:PATTERN: also cut by this "
                "pretokenizer.",
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
            switch("csv", "Print CSV, one line for each model and language."),
            switch("tsv", "Print the lines of --csv with tabs."),
            switch("html", "Print an HTML page."),
            QUIET,
        ],
        required=[("text", "counts")],
        exclusive=[
            *combinations(("json", "csv", "tsv", "html"), 2),
            *(("counts", name) for name in _OF_TEXTS),
        ],
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
    for path in given.arguments:
        if given.counts is not None and path.endswith(".json"):
            raise BadValueError(
                f"{path}: --counts needs .model files. Leave out this file, or give --text."
            )
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
    from spmcompat.tools.evaluate.network_costs import cost_table, estimate  # noqa: PLC0415
    from spmcompat.tools.evaluate.vocabularies import (  # noqa: PLC0415
        count_vocabulary,
        read_affixes,
    )

    bootstrap = read_bootstrap(given)
    network = read_network(given)
    _check(given)
    texts = read_texts(given)
    paths = given.arguments
    report = Report(2 if given.quiet else 0, stderr)
    workers = Workers(given.workers or available_cores())
    gold = read_gold_lists(given.gold)
    for found in gold:
        report.info(found.summary)
    affixes = None if given.affixes is None else read_affixes(given.affixes)
    models = [load_model(path, workers, given.pretokenizer) for path in paths]
    vocabularies = [count_vocabulary(model.vocabulary, model.texts, affixes) for model in models]
    results: Sequence[Result]
    changes: Sequence[Difference] = ()
    costs: Sequence[Costs] = ()
    if given.counts is None:
        measured = evaluate(
            models,
            texts,
            gold,
            report,
            drop_spaces=given.drop_spaces,
            bootstrap=bootstrap,
            reference=given.reference,
        )
        changes = differences(measured, measured[paths.index(given.baseline or paths[0])])
        costs = [] if network is None else estimate(measured, network)
        results = measured
    else:
        results = _evaluate_counts(models, given, gold, workers, report)
    pairs = overlaps(models)
    if given.json:
        _write_json(results, _others(vocabularies, costs), pairs, changes, network, stdout)
    elif given.csv or given.tsv:
        delimiter = "," if given.csv else "\t"
        _write_csv(results, _others(vocabularies, costs), delimiter, stdout)
    else:
        tables = _tables(results, vocabularies, pairs, changes)
        if network is not None:
            tables.append(cost_table(paths, costs, network))
        stdout.write(page_of(tables, "Evaluation") if given.html else text_of(tables))


def read_texts(given: SimpleNamespace) -> Texts:
    """Return the texts that the flags name.

    Raises
    ------
    UsageError
        If the flags contradict each other.
    """
    from spmcompat.tools.evaluate.texts import TextFiles, texts_of  # noqa: PLC0415

    if given.text_column is not None and given.language_column is None:
        raise UsageError("--text_column needs --language_column.")
    if given.language_column is not None and getattr(given, "units", None) == "documents":
        raise UsageError("--units=documents needs texts, not tables. Leave it out.")
    try:
        texts = texts_of(given.text, given.text_column or "text", given.language_column)
    except BadValueError as error:
        raise UsageError(str(error)) from error
    languages = texts.languages if isinstance(texts, TextFiles) else [given.reference]
    if given.reference is not None and given.reference not in languages:
        known = ", ".join(languages) or "those of --text=LANGUAGE=FILE"
        raise UsageError(f"--reference must be one of {known}, not {given.reference!r}.")
    return texts


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


def _others(
    vocabularies: Sequence[VocabularyCounts], costs: Sequence[Costs]
) -> list[dict[str, object]]:
    """Return by name the figures of each model that are not figures of the text."""
    if not costs:
        return [{**found.known()} for found in vocabularies]
    return [
        {**found.known(), **cost._asdict()} for found, cost in zip(vocabularies, costs, strict=True)
    ]


def _write_json(
    results: Sequence[Result],
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


def _as_json(result: Result) -> dict[str, object]:
    row = _without_nan(result.flat())
    if result.resampled is not None:
        row["intervals"] = {name: [*both] for name, both in result.resampled.intervals.items()}
    if result.languages is not None:
        row["languages"] = {
            "reference": result.languages.reference,
            "are_parallel": result.languages.are_parallel,
            "figures": {
                name: _without_nan(figures._asdict())
                for name, figures in result.languages.figures.items()
            },
        }
    return row


def _without_nan(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN with None, because JSON has no NaN."""
    return {name: None if is_nan(value) else value for name, value in row.items()}


def _write_csv(
    results: Sequence[Result],
    others: Sequence[dict[str, object]],
    delimiter: str,
    stdout: TextIO,
) -> None:
    from spmcompat.tools.evaluate.language_rows import language_rows  # noqa: PLC0415

    rows: list[dict[str, object]] = []
    for result, own in zip(results, others, strict=True):
        of_languages = [*language_rows(result)]
        first = {"model": result.model, "language": ""} if of_languages else {}
        rows += [{**first, **_with_bounds(result), **own}, *of_languages]
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stdout, names, restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows({k: "" if is_nan(v) else v for k, v in row.items()} for row in rows)


def _with_bounds(result: Result) -> dict[str, object]:
    """Return the figures, followed by the bounds of their intervals."""
    row = result.flat()
    for name, both in (result.resampled.intervals if result.resampled else {}).items():
        row[f"{name}_low"], row[f"{name}_high"] = both
    return row


def _tables(
    results: Sequence[Result],
    vocabularies: Sequence[VocabularyCounts],
    pairs: Sequence[Overlap],
    changes: Sequence[Difference],
) -> list[Table]:
    from spmcompat.tools.evaluate.language_rows import language_table  # noqa: PLC0415

    rows = [result.flat() for result in results]
    head = ["", *(str(row["model"]) for row in rows)]
    figures = [
        (label, *(_cell(form, row[key], key, r) for row, r in zip(rows, results, strict=True)))
        for key, label, form in _rows(results)
    ]
    tables = [Table(head, figures, 1)]
    if by_language := language_table(results):
        tables.append(by_language)
    pieces = [
        (result.model, *(f"{number:,}" for number in found.known().values()))
        for result, found in zip(results, vocabularies, strict=True)
    ]
    titles = [name.replace("_", " ") for name in vocabularies[0].known()]
    tables.append(Table(["vocabulary", *titles], pieces, 1))
    if pairs:
        shares = [
            (
                p.first,
                p.second,
                *(show("{:.2%}", share) for share in p[2:4]),
                *(f"{n:,}" for n in p[4:]),
            )
            for p in pairs
        ]
        tables.append(Table(_OVERLAP, shares, 2))
    if changes:
        head = [f"difference from {changes[0].baseline}", "", "", "interval", ""]
        tables.append(Table(head, [_row_of_change(change) for change in changes], 2))
    if resampled := results[0].resampled:
        tables[-1] = tables[-1]._replace(
            notes=[*tables[-1].notes, f"In brackets: {resampled.summary}."]
        )
    return tables


def _cell(form: str, value: object, name: str, result: Result) -> str:
    both = result.resampled.intervals.get(name) if result.resampled else None
    shown = show(form, value)
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
