"""Prints our relative changes next to the published ones: ``python -m benchmarks.papers``.

As in the paper, both numbers are measured on the training text: the loss with the scores of the
model, and the tokens of the best segmentation, both on the pretokens of the training. After each
change, half the width of its 95 % interval is shown, from a bootstrap over blocks of lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from benchmarks.papers.measure import Measured, MeasuredText, measure
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
from spmcompat.options.settings import available_cores
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.bootstrap import Bootstrap, draws
from spmcompat.tools.evaluate.gold_lists import GoldList, read_gold_lists
from spmcompat.tools.evaluate.vocabularies import Affixes, read_affixes

SPACES, VOCABULARY, WORDS = "spaces", "vocabulary", "words"
_GOLD = Path(__file__).parent / "english.tsv"
_AFFIXES = Path(__file__).parent / "affixes.txt"
_SPACES_PIECES = 16_384
_RESAMPLES = 1000
_WIDTH = 27


class Cell(NamedTuple):
    """The change of a number in percent, and half the width of its 95 % interval."""

    change: float
    half: float


def main() -> None:
    """Repeat the tables that the command line names, or all of them."""
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
        help="number of parts of that size to train on for each language, to see how much the "
        "changes differ between texts (default: %(default)s)",
    )
    parser.add_argument("--pieces", type=int, default=PIECES, help="default: %(default)s")
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"further lists of segmented English words for the tables {SPACES!r} and {WORDS!r}, "
        "as in spmcompat evaluate",
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
    run = _Run(arguments.work, arguments.pieces)
    for name in arguments.tables or _names():
        if name in TABLES:
            run.print_table(TABLES[name], texts)
        elif "en" not in texts:
            print(f"\nThe table {name!r} needs the language en.")
        elif name == SPACES:
            run.print_spaces(texts["en"][0], gold)
        elif name == VOCABULARY:
            run.print_vocabularies(texts["en"][0], affixes)
        else:
            run.print_words(texts["en"][0], gold)
    print(f"\nAll trainings and measurements together took {run.cpu_seconds / 60:.1f} CPU minutes.")


def _names() -> list[str]:
    return [*TABLES, SPACES, VOCABULARY, WORDS]


class _Run:
    """The tables of one call."""

    def __init__(self, work: Path, pieces: int) -> None:
        self._work = work
        self._pieces = pieces
        self.cpu_seconds = 0.0
        self._seen: set[Path] = set()

    def print_table(self, table: Table, texts: dict[str, list[MeasuredText]]) -> None:
        """Print the changes of each row against the baseline."""
        rows = [("baseline", table.baseline, None)]
        rows += [(v.label, {**table.baseline, **v.flags}, v.published) for v in table.variants]
        parts = [text for of_language in texts.values() for text in of_language]
        measured = self._measure_all([flags for _, flags, _ in rows], parts, table.title)
        print(f"\n{table.title}: change of loss / tokens in percent, {self._pieces:,} pieces")
        if table.published_for:
            print(f"published for {table.published_for}")
        columns = "".join(f"{text.path.stem:>{_WIDTH}}" for text in parts)
        print(f"{'':22}{columns}{'mean':>{_WIDTH}}{'published':>16}{'signs':>16}")
        for (label, _, published), row in zip(rows[1:], measured[1:], strict=True):
            changes = [_changes(ours, base) for ours, base in zip(row, measured[0], strict=True)]
            mean = tuple(_mean(cells) for cells in zip(*changes, strict=True))
            cells = "".join(f"{_show(*change):>{_WIDTH}}" for change in [*changes, mean])
            theirs = _show_published(published) if published else ""
            print(f"{label:22}{cells}{theirs:>16}{_signs(mean, published):>16}")

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
        """Print how many pieces differ only in their spaces, and how many are affixes."""
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
        """Train the rows of a table on a text, and return their models."""
        measured = self._measure_all([*rows.values()], [text], title, size)
        return {label: row.model for label, (row,) in zip(rows, measured, strict=True)}

    def _measure_all(
        self,
        rows: Sequence[Flags],
        texts: Sequence[MeasuredText],
        title: str,
        size: int | None = None,
    ) -> list[list[Measured]]:
        """Measure every row on every text. Taking one text after another needs least memory."""
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
            self.cpu_seconds += measured.cpu_seconds


def _changes(ours: Measured, base: Measured) -> tuple[Cell, Cell]:
    """Return the changes of loss and tokens, with the same resamples for both models."""
    settings = Bootstrap(_RESAMPLES)
    drawn = list(draws(len(base.tokens), settings))
    return _change(ours.loss, base.loss, drawn), _change(ours.tokens, base.tokens, drawn)


def _change(
    ours: npt.NDArray[np.float64],
    base: npt.NDArray[np.float64],
    drawn: Sequence[npt.NDArray[np.int64]],
) -> Cell:
    sampled = [100 * (ours[blocks].sum() / base[blocks].sum() - 1) for blocks in drawn]
    low, high = np.percentile(sampled, [2.5, 97.5])
    return Cell(100 * float(ours.sum() / base.sum() - 1), float(high - low) / 2)


def _mean(cells: Sequence[Cell]) -> Cell:
    """Return the mean change. Its interval shows how much the change differs between texts."""
    changes = [cell.change for cell in cells]
    if len(changes) == 1:
        return cells[0]
    spread = float(np.std(changes, ddof=1)) / len(changes) ** 0.5
    return Cell(float(np.mean(changes)), _STUDENT.get(len(changes), 2.0) * spread)


# The 97.5 % quantiles of Student's t, by the number of values in the mean.
_STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def _show(loss: Cell, tokens: Cell) -> str:
    return " / ".join(
        "-" if np.isnan(cell.change) else f"{cell.change:+.2f}±{cell.half:.2f}"
        for cell in (loss, tokens)
    )


def _show_published(change: Change) -> str:
    return f"{change.loss:+.2f} / {change.tokens:+.2f}"


def _signs(ours: Sequence[Cell], published: Change | None) -> str:
    """Return whether the signs agree; a change below 0.05 percent has no sign.

    If they do not agree, but our interval contains the published change, more texts are needed for
    a verdict.
    """
    if published is None:
        return ""
    return " / ".join(_verdict(cell, theirs) for cell, theirs in zip(ours, published, strict=True))


def _verdict(ours: Cell, published: float) -> str:
    if _sign(ours.change) == _sign(published):
        return "agree"
    return "open" if abs(ours.change - published) <= ours.half else "no"


def _sign(value: float) -> int:
    return 0 if abs(value) < 0.05 else (1 if value > 0 else -1)


if __name__ == "__main__":
    main()
