"""Evaluates models for the command and the function `evaluate`, and shows the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import NamedTuple, TypeAlias

from spmcompat.cli.tables import Table, html_of, is_nan, show, text_of_tables
from spmcompat.engine import available_cores, check_pretokenizer, open_counts
from spmcompat.errors import BadValueError, ConflictError, UsageError
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.bootstrap import Bootstrap
from spmcompat.tools.evaluate.differences import FigureDifference, differences
from spmcompat.tools.evaluate.evaluation import Evaluation, Overlap, evaluate, overlaps
from spmcompat.tools.evaluate.gold import gold_key
from spmcompat.tools.evaluate.gold_lists import read_gold_lists
from spmcompat.tools.evaluate.language_rows import language_rows, language_table
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.network_costs import Costs, Network, cost_table, estimate
from spmcompat.tools.evaluate.stored import CountsEvaluation, evaluate_counts
from spmcompat.tools.evaluate.texts import TextFiles, Texts, texts_of
from spmcompat.tools.evaluate.vocabularies import VocabularyCounts, count_vocabulary, read_affixes
from spmcompat.tools.export.document import document_path

AnyEvaluation: TypeAlias = Evaluation | CountsEvaluation

# The name and the format of each figure that the report shows, in the order of the rows.
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


class EvaluationReport(NamedTuple):
    """The figures of several models.

    Attributes
    ----------
    models : list of Evaluation or CountsEvaluation
        The figures of each model: `CountsEvaluation` if the text was given as counts.
    vocabularies : list of VocabularyCounts
        For each model, the numbers of pieces, of pieces that differ only in space marks, and of
        affixes.
    overlaps : list of Overlap
        The pieces that each pair of models shares.
    differences : list of FigureDifference
        The differences from the baseline, with confidence intervals; empty without a bootstrap.
    costs : list of Costs
        The training costs of the network with each model; empty without a network.
    network : Network or None
        The network that the flags describe.
    """

    models: Sequence[AnyEvaluation]
    vocabularies: Sequence[VocabularyCounts]
    overlaps: Sequence[Overlap]
    differences: Sequence[FigureDifference]
    costs: Sequence[Costs]
    network: Network | None

    def to_dict(self) -> dict[str, object]:
        """Return all figures as data that JSON can represent. NaN becomes None."""
        document: dict[str, object] = {
            "models": [
                {**figures_of(result), **_without_nan(own)}
                for result, own in zip(self.models, self._others(), strict=True)
            ],
            "overlaps": [_without_nan(pair._asdict()) for pair in self.overlaps],
        }
        if self.network is not None:
            document["network"] = self.network._asdict()
        if resampled := self.models[0].resampled:
            document["bootstrap"] = {
                **resampled.settings._asdict(),
                "units_drawn": resampled.units,
                "units_in_block": resampled.block,
            }
            document["differences"] = [change._asdict() for change in self.differences]
        return document

    def rows(self) -> list[dict[str, object]]:
        """Return a row of figures for each model and language, for example for pandas."""
        rows: list[dict[str, object]] = []
        for result, own in zip(self.models, self._others(), strict=True):
            of_languages = [*language_rows(result)]
            first = {"model": result.model, "language": ""} if of_languages else {}
            rows += [{**first, **_with_bounds(result), **own}, *of_languages]
        return rows

    def tables(self) -> list[Table]:
        """Return the tables of the report."""
        rows = [result.flat() for result in self.models]
        head = ["", *(str(row["model"]) for row in rows)]
        both = [*zip(rows, self.models, strict=True)]
        figures = [
            (label, *(_cell(form, row[key], key, result) for row, result in both))
            for key, label, form in _rows(self.models)
        ]
        tables = [Table(head, figures, 1)]
        if by_language := language_table(self.models):
            tables.append(by_language)
        pieces = [
            (result.model, *(f"{number:,}" for number in found.known().values()))
            for result, found in zip(self.models, self.vocabularies, strict=True)
        ]
        titles = [name.replace("_", " ") for name in self.vocabularies[0].known()]
        tables.append(Table(["vocabulary", *titles], pieces, 1))
        if self.overlaps:
            shares = [
                (*p[:2], *(show("{:.2%}", x) for x in p[2:4]), *(f"{n:,}" for n in p[4:]))
                for p in self.overlaps
            ]
            tables.append(Table(_OVERLAP, shares, 2))
        if self.differences:
            head = [f"difference from {self.differences[0].baseline}", "", "", "interval", ""]
            tables.append(Table(head, [_row_of_change(change) for change in self.differences], 2))
        if resampled := self.models[0].resampled:
            tables[-1] = tables[-1]._replace(
                notes=[*tables[-1].notes, f"In brackets: {resampled.summary}."]
            )
        if self.network is not None:
            names = [result.model for result in self.models]
            tables.append(cost_table(names, self.costs, self.network))
        return tables

    def __repr__(self) -> str:
        """Return the number of tokens of each model."""
        models = (f"{result.model}: {result.tokens:,} tokens" for result in self.models)
        return f"<EvaluationReport: {', '.join(models)}>"

    def __str__(self) -> str:
        """Return the tables, as the command prints them."""
        return text_of_tables(self.tables())

    def _repr_html_(self) -> str:
        """Return the tables for a notebook."""
        return "".join(map(html_of, self.tables()))

    def _others(self) -> Iterator[dict[str, object]]:
        """Yield, for each model, a dictionary with the figures of its vocabulary and network."""
        for i, found in enumerate(self.vocabularies):
            yield {**found.known(), **(self.costs[i]._asdict() if self.costs else {})}


def measure(given: SimpleNamespace, report: Report) -> EvaluationReport:
    """Evaluate models.

    Parameters
    ----------
    given : namespace
        The flags of the command, and the models as `arguments`. `counts` may be a table.
    report : Report
        Receives facts, progress and warnings.

    Raises
    ------
    UsageError
        If flags contradict each other.
    TrainingError
        If a file cannot be read, or the models cannot be evaluated on the text.
    """
    bootstrap = read_bootstrap(given)
    network = read_network(given)
    _check(given)
    texts = read_texts(given)
    paths = given.arguments
    workers = Workers(given.workers or available_cores())
    gold = read_gold_lists(given.gold)
    for found in gold:
        report.info(found.summary)
    affixes = None if given.affixes is None else read_affixes(given.affixes)
    models = [load_model(path, workers, given.pretokenizer) for path in paths]
    vocabularies = [count_vocabulary(model.vocabulary, model.texts, affixes) for model in models]
    pairs = overlaps(models)
    if given.counts is not None:
        counted = evaluate_counts(
            models,
            open_counts(given.counts),
            gold,
            workers,
            report,
            drop_spaces=given.drop_spaces,
        )
        return EvaluationReport(counted, vocabularies, pairs, [], [], None)
    measured = evaluate(
        models,
        texts,
        gold,
        report,
        drop_spaces=given.drop_spaces,
        bootstrap=bootstrap,
        reference=given.reference,
        parallel=given.parallel,
    )
    changes = differences(measured, measured[paths.index(given.baseline or paths[0])])
    costs = [] if network is None else estimate(measured, network)
    return EvaluationReport(measured, vocabularies, pairs, changes, costs, network)


def _check(given: SimpleNamespace) -> None:
    """Raise if flags contradict each other, or if the pretokenizer does not exist."""
    if given.pretokenizer is not None:
        try:
            check_pretokenizer(given.pretokenizer)
        except BadValueError as error:
            raise UsageError.of(error) from error
    for path in given.arguments:
        if given.counts is not None and document_path(path).endswith(".json"):
            raise ConflictError(
                f"{path}: --counts needs .model files. Leave out this file, or give --text."
            )
    if given.baseline is not None and given.baseline not in given.arguments:
        raise UsageError(f"--baseline must be one of the models, not {given.baseline!r}.")


def read_bootstrap(given: SimpleNamespace) -> Bootstrap | None:
    """Return the bootstrap that the flags describe; None without ``--bootstrap``."""
    if given.bootstrap is None:
        return None
    values = {name: getattr(given, name, None) for name in ("seed", "confidence", "units")}
    return Bootstrap(given.bootstrap, **{k: v for k, v in values.items() if v is not None})


def read_network(given: SimpleNamespace) -> Network | None:
    """Return the network that the flags describe; None without ``--embedding_width``."""
    if given.embedding_width is None:
        return None
    return Network(given.embedding_width, given.parameters, given.training_bytes)


def read_texts(given: SimpleNamespace) -> Texts:
    """Return the texts that the flags name.

    Raises
    ------
    UsageError
        If the flags contradict each other.
    TrainingError
        If a text cannot be opened, or is not plain text.
    """
    if given.language_column is not None and getattr(given, "units", None) == "documents":
        raise UsageError("--units=documents needs texts, not tables. Leave it out.")
    try:
        texts = texts_of(given.text, given.text_column or "text", given.language_column)
    except BadValueError as error:
        raise UsageError.of(error) from error
    languages = texts.languages if isinstance(texts, TextFiles) else [given.reference]
    if given.reference is not None and given.reference not in languages:
        known = ", ".join(languages) or "those of --text=LANGUAGE=FILE"
        raise UsageError(f"--reference must be one of {known}, not {given.reference!r}.")
    if given.parallel and isinstance(texts, TextFiles) and not texts.languages:
        raise UsageError("--parallel needs the language of each text: --text=LANGUAGE=FILE.")
    texts.check()
    return texts


def figures_of(result: AnyEvaluation) -> dict[str, object]:
    """Return the figures of a model as data that JSON can represent."""
    row = _without_nan(result.flat())
    if result.resampled is not None:
        row["intervals"] = {name: [*both] for name, both in result.resampled.intervals.items()}
    if result.languages is not None:
        row["languages"] = {
            "reference": result.languages.reference,
            "are_parallel": result.languages.are_parallel,
            "left_out": [*result.languages.left_out],
            "figures": {
                name: _without_nan(figures._asdict())
                for name, figures in result.languages.figures.items()
            },
        }
    return row


def _without_nan(row: dict[str, object]) -> dict[str, object]:
    """Replace NaN with None, because JSON has no NaN."""
    return {name: None if is_nan(value) else value for name, value in row.items()}


def _with_bounds(result: AnyEvaluation) -> dict[str, object]:
    """Return the figures of a model, followed by the bounds of their confidence intervals."""
    row = result.flat()
    for name, both in (result.resampled.intervals if result.resampled else {}).items():
        row[f"{name}_low"], row[f"{name}_high"] = both
    return row


def _cell(form: str, value: object, name: str, result: AnyEvaluation) -> str:
    both = result.resampled.intervals.get(name) if result.resampled else None
    shown = show(form, value)
    if both is None:
        return shown
    form = form.replace(",", ",.0f")
    return f"{shown} [{form.format(both.low)}, {form.format(both.high)}]"


def _row_of_change(change: FigureDifference) -> tuple[str, ...]:
    form = "{:+.2%}" if change.is_relative else "{:+.4f}"
    return (
        change.model,
        change.figure.replace("_", " "),
        form.format(change.difference),
        f"[{form.format(change.low)}, {form.format(change.high)}]",
        "excludes 0" if change.excludes_zero else "includes 0",
    )


def _rows(results: Sequence[AnyEvaluation]) -> list[tuple[str, str, str]]:
    """Return the name of each figure of the table, its label and its format."""
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
