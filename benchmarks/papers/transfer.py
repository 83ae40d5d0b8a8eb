"""Land and Pinter's table of three vocabulary sizes, on the training text and on another text.

The paper explains the advantage of BPE on the other text by the syntax of Markdown tables. So this
module also measures the other text without its table lines, and its words written as tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from benchmarks.papers.changes import NOTHING, Cell, change, print_head, print_row
from benchmarks.papers.markdown import as_tables, without_tables
from benchmarks.papers.measure import Measured, MeasuredText, count_pieces, cut, measure
from benchmarks.papers.tables import METHODS, OTHER_TEXTS, TRANSFER
from benchmarks.papers.texts import write_changed, write_pair
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.bootstrap import Bootstrap, interval, resample
from spmcompat.tools.evaluate.gold import (
    score_boundaries,
    scores_of_sums,
    sums_by_word,
)
from spmcompat.tools.evaluate.gold_lists import GoldList

NAMES = {"transfer": "Another text", "transfer-back": "Another text, the other way round"}
"""The tables and their titles. In the second table, the two texts of each language are swapped."""


class _Texts(NamedTuple):
    """The text to train on, and the other texts to measure.

    `no_tables` is `other` without its table lines, and `tables` has its words written as tables.
    """

    train: MeasuredText
    other: MeasuredText
    no_tables: MeasuredText
    tables: MeasuredText


# Maps a vocabulary size, a method and a language to one measurement for each text of `_Texts`.
_Results = dict[tuple[int, str, str], list[Measured]]


def print_transfer(
    name: str,
    folder: Path,
    size: int | None,
    languages: Sequence[str],
    gold: Sequence[GoldList],
    work: Path,
    workers: Workers,
) -> float:
    """Train, measure and print; return the processor time in seconds.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    folder, work : Path
        The folder of the texts, and the folder for texts, models and results.
    size : int or None
        The largest size of a text in bytes; None takes whole texts.
    languages : sequence of str
        The languages to train on.
    gold : sequence of GoldList
        Lists of segmented English words.
    workers : Workers
        The threads to use.
    """
    texts = {}
    for language in languages:
        if (pair := _pair(name, folder, language)) is not None:
            key = language if name == "transfer" else f"{language}-back"
            train, other = write_pair(key, *pair, size, work)
            made = [
                write_changed(other, "no-tables", without_tables),
                write_changed(other, "tables", as_tables),
            ]
            texts[language] = _Texts(*(MeasuredText(p, workers) for p in (train, other, *made)))
    if not texts:
        print(f"\n{NAMES[name]}: this table needs the texts of our benchmarks")
        return 0.0
    results = _measure(texts, work, NAMES[name])
    published = name == "transfer"
    title = f"{NAMES[name]}, training text / other text"
    _print_changes(title, results, texts, (0, 1), published=published)
    _print_changes("Other text, lines outside tables / words as tables", results, texts, (2, 3))
    if "en" in texts:
        for found in gold:
            _print_morph_scores(found, results)
    return sum(
        found[0].cpu_seconds + sum(measured.measuring_seconds for measured in found)
        for found in results.values()
    )


def _pair(name: str, folder: Path, language: str) -> tuple[Path, Path] | None:
    """Return the training file and the other file; None if one is missing.

    For "transfer-back", the two files are swapped. The result is None if both are the same file.
    """
    if language not in OTHER_TEXTS:
        return None
    train, other = (folder / f"{file}.txt" for file in OTHER_TEXTS[language])
    if name != "transfer":
        train, other = other, train
        if train == other:
            return None
    return (train, other) if train.exists() and other.exists() else None


def _measure(texts: Mapping[str, _Texts], work: Path, title: str) -> _Results:
    """Measure every model on its four texts, one language at a time to save memory."""
    found: _Results = {}
    rows = [(one.pieces, method) for one in TRANSFER for method in METHODS]
    with tqdm(total=len(rows) * len(texts), desc=title, unit=" models") as bar:
        for language, of_language in texts.items():
            for pieces, method in rows:
                found[pieces, method, language] = [
                    measure(of_language.train, METHODS[method], pieces, work, on)
                    for on in (None, *of_language[1:])
                ]
                bar.update()
            for text in of_language:
                text.forget()
    return found


def _print_changes(
    title: str,
    results: _Results,
    languages: Iterable[str],
    texts: tuple[int, int],
    *,
    published: bool = False,
) -> None:
    """Print by how many percent each method changes the numbers of tokens of two texts.

    `texts` contains the indices of these texts in `_Texts`.
    """
    print(f"\n{title}: change of tokens in percent")
    if published:
        print("published for 300 MB of each of six languages; the other text is FineWiki (1 GB)")
    for theirs in TRANSFER:
        print_head(f"{theirs.pieces:,} pieces", [*languages])
        base = [results[theirs.pieces, "baseline", language] for language in languages]
        print(f"{'baseline, M tokens':22}{''.join(f'{_millions(row, texts):>27}' for row in base)}")
        for method, change_of_method in theirs.changes.items():
            own = [results[theirs.pieces, method, language] for language in languages]
            found = [_changes(*both, texts, theirs.pieces) for both in zip(own, base, strict=True)]
            print_row(method, found, change_of_method if published else None)
    print("- : a model has fewer pieces, because its text has too few candidates")


def _millions(row: Sequence[Measured], texts: tuple[int, int]) -> str:
    return " / ".join(f"{row[text].tokens.sum() / 1e6:.3f}" for text in texts)


def _changes(
    ours: Sequence[Measured], base: Sequence[Measured], texts: tuple[int, int], pieces: int
) -> tuple[Cell, Cell]:
    """Return by how much the numbers of tokens of two texts change.

    The changes are `NOTHING` if a model has fewer than `pieces` pieces.
    """
    if any(count_pieces(row[0].model) < pieces for row in (ours, base)):
        return NOTHING, NOTHING
    first, second = texts
    return (
        change(ours[first].tokens, base[first].tokens),
        change(ours[second].tokens, base[second].tokens),
    )


def _print_morph_scores(gold: GoldList, results: _Results) -> None:
    """Print the scores of the English models, with intervals from resamples of the words."""
    print(f"\nMorphScore of {gold.summary}; in brackets: published, for another list")
    print(f"{'':10}" + "".join(f"{f'{one.pieces:,} pieces':>38}" for one in TRANSFER))
    for method in METHODS:
        cells = "".join(
            f"{_morph_score(results[one.pieces, method, 'en'][0].model, gold):>30}"
            f"{f'({one.morph_scores[method]:.3f})':>8}"
            for one in TRANSFER
        )
        print(f"{method:10}{cells}")


def _morph_score(model: Path, gold: GoldList) -> str:
    """Return the score, half of its 95 % interval, and the number of words that are scored."""
    parts = cut(model, gold)
    sums = sums_by_word(gold.words, parts)
    found = score_boundaries(gold.words, parts)
    resampled = scores_of_sums(resample(sums, Bootstrap(1000)).T)["morph_score"]
    both = interval(resampled, 95)
    half = "" if both is None else f"±{(both.high - both.low) / 2:.3f}"
    return f"{found.morph_score:.3f}{half}, {found.morph_score_words:,} words"
