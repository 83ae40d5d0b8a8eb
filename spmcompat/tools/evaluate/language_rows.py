"""The figures of each language as rows, for tables and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spmcompat.cli.tables import Table, show
from spmcompat.tools.evaluate.evaluation import Evaluation
from spmcompat.tools.evaluate.stored import CountsEvaluation

# The figures of a language in the order of the table, and their formats. Those that decide between
# models come first.
_FORMATS = {
    "tokens": "{:,}",
    "parity": "{:.4f}",
    "lost_characters": "{:.4%}",
    "unknown_rate": "{:.4%}",
    "lines": "{:,}",
    "words": "{:,}",
    "tokens_per_line": "{:.4f}",
    "tokens_per_word": "{:.4f}",
    "tokens_per_character": "{:.4f}",
    "tokens_per_byte": "{:.4f}",
}


def language_table(results: Sequence[Evaluation | CountsEvaluation]) -> Table | None:
    """Return a table with a row for each language and model; None if there are no languages."""
    languages = results[0].languages
    if languages is None:
        return None
    rows = []
    for name in languages.figures:
        for result in results:
            row = _figures(result, name)
            shown = (show(form, row[key]) for key, form in _FORMATS.items())
            mark = " (loses text)" if row["loses"] else ""
            rows.append((f"{name}{mark}", result.model, *shown))
    titles = (key.replace("_", " ") for key in _FORMATS)
    notes = [
        f"{languages.summary}. Parity is the cost divided by that of {languages.reference}.",
        *_losses(results),
    ]
    return Table(["language", "", *titles], rows, 2, notes)


def _losses(results: Sequence[Evaluation | CountsEvaluation]) -> Iterable[str]:
    """Yield a note for each language and model that loses some of its text."""
    for result in results:
        for name in result.languages.left_out if result.languages else ():
            yield (
                f"{result.model} loses text in {name}: {_figures(result, name)['loses']}. So its "
                "tokens there cannot be compared, and Gini coefficient and worst language leave "
                f"{name} out."
            )


def language_rows(result: Evaluation | CountsEvaluation) -> Iterable[dict[str, Any]]:
    """Yield a model's figures in each language, with the names of the model and the language."""
    if result.languages is not None:
        for name in result.languages.figures:
            yield {"model": result.model, "language": name, **_figures(result, name)}


def _figures(result: Evaluation | CountsEvaluation, language: str) -> dict[str, Any]:
    assert result.languages is not None
    return result.languages.figures[language]._asdict()
