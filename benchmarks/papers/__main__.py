"""Prints our relative changes next to the published ones: ``python -m benchmarks.papers``.

As in the paper, both numbers are measured on the training text. The loss is in nats per character
and uses the scores of the model; tokens are counted after encoding.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from benchmarks.papers.measure import Measured, measure, score, write_text
from benchmarks.papers.tables import LANGUAGES, PIECES, SPACES_ROWS, TABLES, Change, Flags, Table
from spmcompat.errors import TrainingError
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
        "--languages",
        nargs="+",
        choices=LANGUAGES,
        default=list(LANGUAGES),
        help="languages to train on (default: all)",
    )
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"further lists of segmented English words for the table {SPACES!r}, as in "
        "spmcompat evaluate",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.tables) - set(_names()):
        parser.error(
            f"there is no table {', '.join(sorted(unknown))}; the tables are {', '.join(_names())}"
        )
    try:
        gold = read_gold_lists([str(_GOLD), *arguments.gold])
    except TrainingError as error:
        parser.error(str(error))
    arguments.work.mkdir(parents=True, exist_ok=True)
    texts = [write_text(name, arguments.folder, arguments.work) for name in arguments.languages]
    for name in arguments.tables or _names():
        if name == SPACES:
            _print_spaces(texts, arguments.work, gold)
        else:
            _print_table(TABLES[name], texts, arguments.work)


def _names() -> list[str]:
    return [*TABLES, SPACES]


def _print_table(table: Table, texts: Sequence[Path], work: Path) -> None:
    rows = [("baseline", table.baseline, None)]
    rows += [(v.label, {**table.baseline, **v.flags}, v.published) for v in table.variants]
    measured = _measure_all([flags for _, flags, _ in rows], texts, work, table.title)
    print(f"\n{table.title}: change of loss / tokens in percent, {PIECES:,} pieces")
    if table.published_for:
        print(f"published for {table.published_for}")
    languages = "".join(f"{text.stem:>16}" for text in texts)
    print(f"{'':22}{languages}{'mean':>16}{'published':>16}{'signs':>16}{'time':>7}")
    for (label, _, published), row in zip(rows[1:], measured[1:], strict=True):
        changes = [_change(ours, base) for ours, base in zip(row, measured[0], strict=True)]
        mean = Change(*(sum(values) / len(changes) for values in zip(*changes, strict=True)))
        cells = "".join(f"{_show(change):>16}" for change in changes)
        time = sum(m.seconds for m in row) / sum(m.seconds for m in measured[0])
        print(
            f"{label:22}{cells}{_show(mean):>16}{_show(published) if published else '':>16}"
            f"{_signs(mean, published):>16}{time:>7.2f}"
        )


def _print_spaces(texts: Sequence[Path], work: Path, gold: Sequence[GoldList]) -> None:
    """Print how well models find the boundaries in English words."""
    english = [text for text in texts if text.stem == "en"]
    if not english:
        print("\nSpaces: this table needs --languages en")
        return
    measured = _measure_all(list(SPACES_ROWS.values()), english, work, "Spaces", size=16_384)
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
                f"{label:22}{g.precision:>10.3f}{g.recall:>8.3f}{g.f1:>8.3f}{g.mean_length:>8.2f}"
                f"{g.morph_score:>12.3f}{g.morph_score_words:>8,}{g.morph_score_precision:>15.3f}"
                f"{g.morph_score_token_precision:>11.3f}{g.morph_score_with_single_tokens:>13.3f}"
                f"{g.morph_score_words_with_single_tokens:>8,}"
            )
    print(
        "published (English Wikipedia, 16k pieces, F1 on four other lists, prefix -> separate):\n"
        "bpe 54.8 -> 66.2, 49.5 -> 54.7, 29.0 -> 34.8, 38.6 -> 48.0\n"
        "unigram 66.8 -> 70.9, 64.3 -> 61.2, 46.6 -> 48.1, 61.1 -> 69.2\n"
        "published (English, MorphScore of version 2, 16k / 32k / 64k pieces):\n"
        "unigram, paper .620 / .611 / .644; unigram, FSP .497 / .514 / .559; "
        "bpe .221 / .186 / .165"
    )


def _measure_all(
    rows: Sequence[Flags],
    texts: Sequence[Path],
    work: Path,
    title: str,
    size: int = PIECES,
) -> list[list[Measured]]:
    with tqdm(total=len(rows) * len(texts), desc=title, unit=" models") as bar:
        measured: list[list[Measured]] = []
        for flags in rows:
            measured.append([])
            for text in texts:
                measured[-1].append(measure(text, flags, size, work))
                bar.update()
    return measured


def _change(ours: Measured, base: Measured) -> Change:
    return Change(100 * (ours.loss / base.loss - 1), 100 * (ours.tokens / base.tokens - 1))


def _show(change: Change) -> str:
    return f"{change.loss:+.2f} / {change.tokens:+.2f}"


def _signs(ours: Change, published: Change | None) -> str:
    """Say whether the signs agree; a change below 0.05 percent has no sign."""
    if published is None:
        return ""
    agree = [_sign(a) == _sign(b) for a, b in zip(ours, published, strict=True)]
    return " / ".join("agree" if same else "no" for same in agree)


def _sign(value: float) -> int:
    return 0 if abs(value) < 0.05 else (1 if value > 0 else -1)


if __name__ == "__main__":
    main()
