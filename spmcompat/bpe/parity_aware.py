"""Parity-aware BPE: the language that compresses worst chooses the next merge.

Source: Foroutan et al. 2025, "Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in
Tokenization", arXiv 2508.04796, with the moving window and the hybrid variant.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from spmcompat.bpe.merges import parity_merges
from spmcompat.bpe.trainer import ranked
from spmcompat.runtime.context import Context
from spmcompat.segments.corpus import SegmentCounts


class Language(NamedTuple):
    """The texts of one language.

    Attributes
    ----------
    name : str
        The name of the language in messages.
    training : SegmentCounts
        The text whose pairs are counted.
    development : SegmentCounts
        The text whose tokens are counted. It may be the same as the text for training.
    characters : int
        The number of characters in the development text. Before the first merge, each character is
        one token.
    ratio : Fraction
    unit : int
        The cost of the language is its number of tokens times `ratio`, divided by `unit`, which is
        the number of characters or sentences of a text.
    """

    name: str
    training: SegmentCounts
    development: SegmentCounts
    characters: int
    ratio: Fraction
    unit: int


class ParityOptions(NamedTuple):
    """The options of the trainer.

    Attributes
    ----------
    final_sizes : sequence of int
        The size of each vocabulary without its meta pieces.
    first_merges : int
        The number of merges that are chosen as in plain BPE, before the languages choose.
    window : int
        The number of choices in the moving window; 0 means that there is no window.
    alpha : Fraction
        A language cannot choose if it made more than `alpha` times the mean number of choices in
        the window. At least 1, so that the window cannot exclude all languages.
    """

    final_sizes: Sequence[int]
    first_merges: int = 0
    window: int = 0
    alpha: Fraction = Fraction(2)


def train(
    alphabet: Sequence[tuple[int, int]],
    languages: Sequence[Language],
    options: ParityOptions,
    context: Context,
) -> list[list[tuple[bytes, float]]]:
    """Train a model for each size. A smaller model has the first merges of the largest model.

    Parameters
    ----------
    alphabet : sequence of (int, int)
        Characters (code points) with their counts, by count descending.
    languages : sequence of Language
        The texts. If two languages have the same cost, the one that is listed first chooses.
    options : ParityOptions
        The options of the trainer.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Returns
    -------
    list of list of (bytes, float)
        The final pieces for each size: merges in their order, then characters. The score of a piece
        is its negated rank.
    """
    wanted = max(max(options.final_sizes) - len(alphabet), 0)
    with context.report.stage("Merging", wanted, "merges") as stage:
        pieces, chosen_by, tokens = parity_merges(
            [language[1:] for language in languages],
            wanted,
            context.workers,
            first_merges=options.first_merges,
            window=options.window,
            most_choices=min(int(options.alpha * options.window / len(languages)), options.window),
            stage=stage,
        )
    if len(pieces) < wanted:
        context.report.warning("No valid symbol found: nothing is left to merge.")
    for number, (language, count) in enumerate(zip(languages, tokens, strict=True)):
        context.report.info(
            f"{language.name} chose {chosen_by.count(number)} of {len(pieces)} merges: "
            f"{language.characters} characters became {count} tokens"
        )
    return [
        ranked(pieces[: max(size - len(alphabet), 0)], alphabet) for size in options.final_sizes
    ]
