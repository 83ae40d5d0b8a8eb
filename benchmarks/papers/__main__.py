"""Prints changes of loss and tokens next to the published ones: ``python -m benchmarks.papers``.

As in the paper, loss and tokens are measured on the pretokens of the training text: the loss with
the scores of the model, the tokens in the best segmentation. A model with fewer pieces than the
table says is marked, and compared with a baseline of equal size. Each change is followed by half
the width of its 95 % confidence interval, from a bootstrap over blocks of lines. The tables
"transfer" and "transfer-back" also measure the models on another text; see `transfer`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.papers import transfer
from benchmarks.papers.changes import MARK, NOTHING, Cell, change, print_head, print_row
from benchmarks.papers.measure import Measured, MeasuredText, count_pieces, measure
from benchmarks.papers.tables import (
    PIECES,
    SPACES_ROWS,
    TABLES,
    VOCABULARY_PAIRS,
    WORDS_ROWS,
    Change,
    Flags,
    Table,
)
from benchmarks.papers.texts import languages, write_parts
from benchmarks.papers.words import boundary_lines, group_lines, vocabulary_lines
from spmcompat.errors import TrainingError
from spmcompat.runtime.cores import available_cores
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold_lists import GoldList, read_gold_lists
from spmcompat.tools.evaluate.vocabularies import Affixes, read_affixes

SPACES, VOCABULARY, WORDS = "spaces", "vocabulary", "words"
_GOLD = Path(__file__).parent / "english.tsv"
_AFFIXES = Path(__file__).parent / "affixes.txt"
_SPACES_PIECES = 16_384


def main() -> None:
    """Print the tables that the command line names, or all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"{', '.join(_names())} (default: all)"
    )
    parser.add_argument("--folder", type=Path, required=True, help="folder of the texts")
    parser.add_argument(
        "--work", type=Path, required=True, help="folder for texts, models, results"
    )
    parser.add_argument(
        "--languages", nargs="+", metavar="NAME", help="languages to train on (default: all)"
    )
    parser.add_argument(
        "--megabytes",
        type=float,
        default=30.0,
        help="size of the text of each language; 0 uses whole texts (default: %(default)g)",
    )
    parser.add_argument(
        "--parts",
        type=int,
        default=1,
        help="number of parts of --megabytes to train on for each language, to see how much the "
        "changes differ between texts (default: %(default)s)",
    )
    parser.add_argument("--pieces", type=int, default=PIECES, help="default: %(default)s")
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"further lists of segmented English words for {SPACES!r}, {WORDS!r} and "
        "'transfer', as in spmcompat evaluate",
    )
    parser.add_argument(
        "--affixes",
        default=str(_AFFIXES),
        metavar="FILE",
        help=f"English prefixes and suffixes for the table {VOCABULARY!r}, as in spmcompat "
        "evaluate (default: our own list)",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.tables) - set(_names()):
        parser.error(
            f"unknown table: {', '.join(sorted(unknown))}; the tables are {', '.join(_names())}"
        )
    found = languages(arguments.folder)
    if not found:
        parser.error(f"{arguments.folder} has no .txt files")
    if unknown := set(arguments.languages or []) - set(found):
        parser.error(f"{arguments.folder} has no text of {', '.join(sorted(unknown))}")
    try:
        gold = read_gold_lists([str(_GOLD), *arguments.gold])
        affixes = read_affixes(arguments.affixes)
    except TrainingError as error:
        parser.error(str(error))
    arguments.work.mkdir(parents=True, exist_ok=True)
    workers = Workers(available_cores())
    size = int(arguments.megabytes * 1e6) or None
    texts = {
        name: [
            MeasuredText(path, workers)
            for path in write_parts(name, found[name], size, arguments.parts, arguments.work)
        ]
        for name in arguments.languages or found
    }
    run = Run(arguments.work, arguments.pieces)
    for name in arguments.tables or _names():
        if name in transfer.NAMES:
            run.cpu_seconds += transfer.print_transfer(
                name, arguments.folder, size, [*texts], gold, arguments.work, workers
            )
        elif name in TABLES:
            run.print_table(TABLES[name], texts)
        elif "en" not in texts:
            print(f"\nThe table {name!r} needs the language en.")
        elif name == SPACES:
            run.print_spaces(texts["en"][0], gold)
        elif name == VOCABULARY:
            run.print_vocabularies(texts["en"][0], affixes)
        else:
            run.print_words(texts["en"][0], gold)
    print(f"\nTraining and measurements together took {run.cpu_seconds / 60:.1f} CPU minutes.")


def _names() -> list[str]:
    return [*TABLES, SPACES, VOCABULARY, WORDS, *transfer.NAMES]


class Run:
    """Prints the tables of one run of the program."""

    def __init__(self, work: Path, pieces: int) -> None:
        self._work = work
        self._pieces = pieces
        self.cpu_seconds = 0.0
        self._seen: set[Path] = set()

    def print_table(self, table: Table, texts: dict[str, list[MeasuredText]]) -> None:
        """Print the changes of each row against the baseline."""
        rows: list[tuple[str, Flags, Change | None]] = [("baseline", table.baseline, None)]
        rows += [(v.label, {**table.baseline, **v.flags}, v.published) for v in table.variants]
        parts = [text for of_language in texts.values() for text in of_language]
        measured = self._measure_all([flags for _, flags, _ in rows], parts, table.title)
        print(f"\n{table.title}: change of loss / tokens in percent, {self._pieces:,} pieces")
        if table.published_for:
            print(f"published for {table.published_for}")
        print_head("", [text.path.stem for text in parts])
        notes = []
        for (label, flags, published), row in zip(rows[1:], measured[1:], strict=True):
            pairs = [
                self._of_equal_sizes(text, (flags, ours), (table.baseline, base))
                for text, ours, base in zip(parts, row, measured[0], strict=True)
            ]
            sizes = [count_pieces(ours.model) for ours, _ in pairs]
            is_smaller = [size < self._pieces for size in sizes]
            print_row(label, [_changes(ours, base) for ours, base in pairs], published, is_smaller)
            if any(is_smaller):
                named = zip(parts, sizes, is_smaller, strict=True)
                smaller = [f"{text.path.stem} {size:,}" for text, size, listed in named if listed]
                notes.append(f"{label}: {', '.join(smaller)}")
        if notes:
            print(f"{MARK} : fewer pieces, and a baseline of equal size: {'; '.join(notes)}")

    def _of_equal_sizes(
        self, text: MeasuredText, first: tuple[Flags, Measured], second: tuple[Flags, Measured]
    ) -> tuple[Measured, Measured]:
        """Return both measurements; train the larger model again with the size of the smaller."""
        size = min(count_pieces(measured.model) for _, measured in (first, second))
        both = [
            measured
            if count_pieces(measured.model) == size
            else measure(text, flags, size, self._work)
            for flags, measured in (first, second)
        ]
        for measured in both:
            self._add_time(measured)
        text.forget()
        return both[0], both[1]

    def print_spaces(self, text: MeasuredText, gold: Sequence[GoldList]) -> None:
        """Print how well models find the boundaries in English words."""
        models = self._models(SPACES_ROWS, text, "Spaces", _SPACES_PIECES)
        for found in gold:
            print(f"\nSpaces: boundaries of {found.summary}; {_SPACES_PIECES:,} pieces")
            print("\n".join(boundary_lines(models, found)))
        print(
            "published (English Wikipedia, 16k pieces, F1 on four other lists, prefix -> "
            "separate):\n"
            "bpe 54.8 -> 66.2, 49.5 -> 54.7, 29.0 -> 34.8, 38.6 -> 48.0\n"
            "unigram 66.8 -> 70.9, 64.3 -> 61.2, 46.6 -> 48.1, 61.1 -> 69.2\n"
            "published (English, MorphScore of version 2, 16k / 32k / 64k pieces):\n"
            "unigram, paper .620 / .611 / .644; unigram, FSP .497 / .514 / .559; "
            "bpe .221 / .186 / .165"
        )

    def print_vocabularies(self, text: MeasuredText, affixes: Affixes) -> None:
        """Print how many pieces differ only in their space marks, and how many are affixes."""
        models = self._models(SPACES_ROWS, text, "Vocabularies", _SPACES_PIECES)
        sizes = f"{len(affixes.prefixes)} prefixes, {len(affixes.suffixes)} suffixes"
        print(f"\nVocabularies without space marks, {_SPACES_PIECES:,} pieces; {sizes}")
        print("\n".join(vocabulary_lines(models, VOCABULARY_PAIRS, affixes)))

    def print_words(self, text: MeasuredText, gold: Sequence[GoldList]) -> None:
        """Print which models find the boundaries of gold words."""
        models = self._models(WORDS_ROWS, text, "Words", self._pieces)
        for found in gold:
            print(
                f"\nWords: {found.summary}; {self._pieces:,} pieces; shares of the text in percent"
            )
            print("\n".join(group_lines(models, found, text.path)))

    def _models(
        self, rows: Mapping[str, Flags], text: MeasuredText, title: str, size: int
    ) -> dict[str, Path]:
        """Train the rows of a table on a text, and return their models. Print which are smaller."""
        measured = self._measure_all([*rows.values()], [text], title, size)
        models = {label: row.model for label, (row,) in zip(rows, measured, strict=True)}
        for label, model in models.items():
            if (pieces := count_pieces(model)) < size:
                print(f"\n{title}: the model {label!r} has only {pieces:,} pieces")
        return models

    def _measure_all(
        self,
        rows: Sequence[Flags],
        texts: Sequence[MeasuredText],
        title: str,
        size: int | None = None,
    ) -> list[list[Measured]]:
        """Measure every row on every text, one text after another to save memory."""
        found: list[list[Measured]] = [[] for _ in rows]
        with tqdm(total=len(rows) * len(texts), desc=title, unit=" models") as bar:
            for text in texts:
                for flags, row in zip(rows, found, strict=True):
                    row.append(measure(text, flags, size or self._pieces, self._work))
                    self._add_time(row[-1])
                    bar.update()
                text.forget()
        return found

    def _add_time(self, measured: Measured) -> None:
        if measured.model not in self._seen:
            self._seen.add(measured.model)
            self.cpu_seconds += measured.cpu_seconds + measured.measuring_seconds


def _changes(ours: Measured, base: Measured) -> tuple[Cell, Cell]:
    """Return by how much loss and tokens change; `NOTHING` if the models differ in size."""
    if count_pieces(ours.model) != count_pieces(base.model):
        return NOTHING, NOTHING
    return change(ours.loss, base.loss), change(ours.tokens, base.tokens)


if __name__ == "__main__":
    main()
