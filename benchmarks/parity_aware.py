"""Parity-aware BPE compared with plain BPE of the same size, on translations of one text.

``python -m benchmarks.parity_aware FOLDER`` reads ``LANGUAGE-courses.txt`` from the folder for each
language, and prints a table in Markdown. Of every five lines, the first three belong to the
training text, the fourth to the development text, and the fifth to the test text. The table is
about the test text, which is encoded with sentencepiece.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sentencepiece

import spmcompat
from spmcompat.stored_counts.table import CountTable

LANGUAGES = ("es", "fr", "pl", "tr", "vi", "sw", "ru", "hi")


class Language(NamedTuple):
    """The data of a language: counts for training and development, and lines for the test."""

    training: CountTable
    development: CountTable
    test: list[str]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity_aware", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with the texts")
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--vocab_size", type=int, default=16000)
    return parser.parse_args(argv)


def read(path: Path) -> Language:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    training = [line for i, line in enumerate(lines) if i % 5 < 3]
    return Language(
        spmcompat.count(sentence_iterator=training, minloglevel=3),
        spmcompat.count(sentence_iterator=lines[3::5], minloglevel=3),
        lines[4::5],
    )


def variants(languages: Sequence[Language], size: int) -> dict[str, dict[str, Any]]:
    """Return the options of each row."""
    tables = [language.training for language in languages]
    development = [language.development for language in languages]
    aware = {"language_counts": tables, "language_development": development}
    half = {"language_first_merges": size // 2}
    window = {"language_window": 100}
    return {
        "plain BPE": {"counts": sum(tables)},
        "parity-aware": aware,
        "with the window": {**aware, **window},
        "hybrid": {**aware, **half},
        "hybrid with the window": {**aware, **half, **window},
        "without development texts": {"language_counts": tables},
    }


def tokens_per_line(languages: Sequence[Language], options: dict[str, Any]) -> list[float]:
    """Train, and return the mean number of tokens of a test line in each language."""
    model = io.BytesIO()
    spmcompat.train(model_writer=model, model_type="bpe", minloglevel=3, **options)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [
        sum(map(len, processor.encode(language.test))) / len(language.test)
        for language in languages
    ]


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient: the mean difference of two costs, divided by twice the mean."""
    differences = sum(abs(a - b) for a in costs for b in costs)
    return differences / (2 * len(costs) * sum(costs))


def main(argv: Sequence[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    languages = [read(arguments.folder / f"{name}-courses.txt") for name in arguments.languages]
    print(f"| tokens per line | {' | '.join(arguments.languages)} | all | Gini |")
    print(f"|---|{'--:|' * (len(languages) + 2)}")
    plain = 0.0
    for name, options in variants(languages, arguments.vocab_size).items():
        costs = tokens_per_line(languages, {**options, "vocab_size": arguments.vocab_size})
        plain = plain or sum(costs)
        cells = [f"{cost:.2f}" for cost in costs]
        change = f"{sum(costs):.1f} ({sum(costs) / plain - 1:+.2%})"
        print(f"| {name} | {' | '.join(cells)} | {change} | {gini(costs):.4f} |", flush=True)


if __name__ == "__main__":
    main()
