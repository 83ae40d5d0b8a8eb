"""Character coverage: which characters must be in the vocabulary."""

from __future__ import annotations

import math
from collections.abc import Mapping

from spmcompat.counting.counts import Counts
from spmcompat.counting.reading import too_many_characters
from spmcompat.errors import BadSettingError, EmptyCorpusError
from spmcompat.plan import Plan
from spmcompat.releases import DEFAULT
from spmcompat.runtime.context import Context
from spmcompat.runtime.rounding import to_float32
from spmcompat.unicode.marks import UNKNOWN_MARK

_UNKNOWN = ord(UNKNOWN_MARK)


def find_alphabet(counts: Counts, plan: Plan, context: Context) -> list[tuple[int, int]]:
    """Return the required characters of a text with their counts.

    Returns
    -------
    list of (int, int)
        Code points and counts, by descending count, then by ascending code point.

    Raises
    ------
    TrainingError
        If the text has no characters, or contains a character that cannot be kept.
    """
    if not plan.counting.keeps_contexts:
        context.report.step("Counting characters")
    characters = counts.characters(context.workers)
    coverage = plan.coverage
    if not coverage.all_characters:
        alphabet, covered = choose_alphabet(
            characters,
            coverage.character_coverage,
            coverage.required_chars,
            boundary=plan.cutting.boundary,
            needs_text=coverage.needs_text,
        )
        context.report.info(f"Alphabet size={len(alphabet)}")
        context.report.info(f"Final character coverage={covered:g}")
        return alphabet
    if not plan.counting.keeps_contexts:
        return whole_alphabet(characters, plan.cutting.boundary)
    if counts.nuls:
        raise BadSettingError(
            "The text contains U+0000, which cannot be kept as a character, and "
            "auto_character_coverage keeps all characters. Remove U+0000 from the text."
        )
    return kept_alphabet(characters, plan.cutting.boundary)


def choose_alphabet(
    counts: Mapping[int, int],
    coverage: float,
    required: str,
    *,
    boundary: int = DEFAULT.boundary,
    needs_text: bool = True,
) -> tuple[list[tuple[int, int]], float]:
    """Choose the most frequent characters until they cover enough of the corpus.

    Parameters
    ----------
    counts : mapping of int to int
        How often each character (code point) occurs in the corpus.
    coverage : float
        The share of the corpus to cover: the float32 that the spec of the trainer contains. If it
        is more than 1, all characters are chosen.
    required : str
        Characters that are chosen in any case.
    boundary : int
        The boundary mark. Its count is part of the size of the corpus, but it is never chosen.
    needs_text : bool
        Whether the corpus must contain characters.

    Returns
    -------
    alphabet : list of (int, int)
        The characters with their counts, by descending count, then by ascending code point.
    covered : float
        The share of the corpus that the chosen characters cover.

    Raises
    ------
    TrainingError
        If the corpus is empty or has 2**63 characters or more, or a reserved character would be
        chosen.

    Notes
    -----
    ``sentencepiece`` chooses the characters in `required` first, and compares the coverage as
    float32.
    """
    total = _total(counts, needs_text=needs_text)
    first = {ord(c) for c in required if c != "\0"}
    ranked = sorted(
        ((c in first, counts.get(c, 0), c) for c in first.union(counts)),
        key=lambda item: (not item[0], -item[1], item[2]),
    )
    chosen: list[tuple[int, int]] = []
    covered = 0
    for _, count, character in ranked:
        if total > 0 and to_float32(covered / total) >= coverage:
            break
        covered += count
        if character == ord(" "):
            raise BadSettingError(
                "space must not be included in normalized string: remove it from "
                "required_chars (spaces are always U+2581)."
            )
        if character == ord(UNKNOWN_MARK):
            raise BadSettingError(
                "U+2585 represents unknown characters and cannot be required: remove it from "
                "required_chars or from the normalization rules."
            )
        if character != boundary:
            chosen.append((character, count))
    chosen.sort(key=lambda item: (-item[1], item[0]))
    return chosen, covered / total if total > 0 else math.nan


def whole_alphabet(
    counts: Mapping[int, int], boundary: int = DEFAULT.boundary
) -> list[tuple[int, int]]:
    """Return all characters with their counts, by descending count, then by code point.

    Raises
    ------
    TrainingError
        If the corpus has 2**63 characters or more.
    """
    _total(counts, needs_text=False)
    chosen = [(c, count) for c, count in counts.items() if c != boundary]
    return sorted(chosen, key=lambda item: (-item[1], item[0]))


def kept_alphabet(
    counts: Mapping[int, int], boundary: int = DEFAULT.boundary
) -> list[tuple[int, int]]:
    """Return the alphabet of a text in which every character is kept.

    The boundary mark also stays in the text, so it is part of the alphabet. Its count is 0, because
    it is not a character of the text.

    Raises
    ------
    TrainingError
        If the corpus is empty, or has 2**63 characters or more.
    """
    _total(counts)
    unknown = ord(UNKNOWN_MARK)
    chosen = [(c, count) for c, count in whole_alphabet(counts, boundary) if c != unknown]
    return [*chosen, (boundary, 0)]


def _total(counts: Mapping[int, int], *, needs_text: bool = True) -> int:
    """Return the number of characters. Raise if there are none, or too many."""
    total = sum(counts.values())
    if total >= 2**63:
        raise too_many_characters()
    if total <= 0 and needs_text:
        raise EmptyCorpusError(
            "The corpus contains no characters to train on: all its lines are empty, too long or "
            "normalized to nothing. Check --input, --max_sentence_length and the "
            "normalization rule."
        )
    return total
