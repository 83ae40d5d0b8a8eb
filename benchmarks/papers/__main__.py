"""Prints our relative changes next to the published ones: ``python -m benchmarks.papers``.

As in the paper, both numbers are measured on the training text: the loss with the scores of the
model, and the tokens of the best segmentation, both on the pretokens of the training. After each
change, half the width of its 95 % interval is shown, from a bootstrap over blocks of lines. The
tables "transfer" and "transfer-back" also measure the models on another text; see `transfer`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.papers import transfer
from benchmarks.papers.changes import change, print_head, print_row
from benchmarks.papers.measure import Measured, MeasuredText, measure, score
from benchmarks.papers.tables import PIECES, SPACES_ROWS, TABLES, Change, Flags, Table
from benchmarks.papers.texts import languages, write_parts
from spmcompat.errors import TrainingError
from spmcompat.options.settings import available_cores
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold_lists import GoldList, read_gold_lists

SPACES = "spaces"
_GOLD = Path(__file__).parent / "english.tsv"


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
        help=f"further lists of segmented English words for {SPACES!r} and 'transfer', as in "
        "spmcompat evaluate",
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
        if name == SPACES:
            run.print_spaces(texts, gold)
        elif name in transfer.NAMES:
            run.cpu_seconds += transfer.print_transfer(
                name, arguments.folder, size, [*texts], gold, arguments.work, workers
            )
        else:
            run.print_table(TABLES[name], texts)
    print(f"\nAll trainings and measurements together took {run.cpu_seconds / 60:.1f} CPU minutes.")


def _names() -> list[str]:
    return [*TABLES, SPACES, *transfer.NAMES]


class _Run:
    """The tables of one call."""

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
        for (label, _, published), row in zip(rows[1:], measured[1:], strict=True):
            found = [
                (change(ours.loss, base.loss), change(ours.tokens, base.tokens))
                for ours, base in zip(row, measured[0], strict=True)
            ]
            print_row(label, found, published)

    def print_spaces(self, texts: dict[str, list[MeasuredText]], gold: Sequence[GoldList]) -> None:
        """Print how well models find the boundaries in English words."""
        if "en" not in texts:
            print("\nSpaces: this table needs the language en")
            return
        rows = list(SPACES_ROWS.values())
        measured = self._measure_all(rows, texts["en"][:1], "Spaces", size=16_384)
        for found in gold:
            print(f"\nSpaces: boundaries of {found.summary}; 16,384 pieces")
            print(
                f"{'':22}{'precision':>10}{'recall':>8}{'F1':>8}{'length':>8}"
                f"{'MorphScore':>12}{'words':>8}{'prec. by cuts':>15}{'by tokens':>11}"
                f"{'with single':>13}{'words':>8}"
            )
            for label, (row,) in zip(SPACES_ROWS, measured, strict=True):
                g = score(row.model, found)
                print(
                    f"{label:22}{g.precision:>10.3f}{g.recall:>8.3f}{g.f1:>8.3f}"
                    f"{g.mean_length:>8.2f}{g.morph_score:>12.3f}{g.morph_score_words:>8,}"
                    f"{g.morph_score_precision:>15.3f}{g.morph_score_token_precision:>11.3f}"
                    f"{g.morph_score_with_single_tokens:>13.3f}"
                    f"{g.morph_score_words_with_single_tokens:>8,}"
                )
        print(
            "published (English Wikipedia, 16k pieces, F1 on four other lists, prefix -> "
            "separate):\n"
            "bpe 54.8 -> 66.2, 49.5 -> 54.7, 29.0 -> 34.8, 38.6 -> 48.0\n"
            "unigram 66.8 -> 70.9, 64.3 -> 61.2, 46.6 -> 48.1, 61.1 -> 69.2\n"
            "published (English, MorphScore of version 2, 16k / 32k / 64k pieces):\n"
            "unigram, paper .620 / .611 / .644; unigram, FSP .497 / .514 / .559; "
            "bpe .221 / .186 / .165"
        )

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
            self.cpu_seconds += measured.cpu_seconds + measured.measuring_seconds


if __name__ == "__main__":
    main()
