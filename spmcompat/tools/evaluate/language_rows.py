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
    models = [(result.model, result.languages) for result in results if result.languages]
    if not models:
        return None
    languages = models[0][1]
    rows = []
    for name in languages.figures:
        for model, own in models:
            figures = own.figures[name]
            mark = " (loses text)" if figures.loses else ""
            shown = (show(form, getattr(figures, key)) for key, form in _FORMATS.items())
            rows.append((f"{name}{mark}", model, *shown))
    titles = (key.replace("_", " ") for key in _FORMATS)
    notes = [
        f"{languages.summary}. Parity is the cost divided by that of {languages.reference}.",
        *(
            f"{model} loses text in {name}: {own.figures[name].loses}. So its tokens there cannot "
            f"be compared, and Gini coefficient and worst language leave {name} out."
            for model, own in models
            for name in own.left_out
        ),
    ]
    return Table(["language", "", *titles], rows, 2, notes)


def language_rows(result: Evaluation | CountsEvaluation) -> Iterable[dict[str, Any]]:
    """Yield a model's figures in each language, with the names of the model and the language."""
    for name, figures in result.languages.figures.items() if result.languages else ():
        yield {"model": result.model, "language": name, **figures._asdict()}
