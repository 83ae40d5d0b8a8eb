"""Figures for each language of a text, and how evenly a model treats the languages."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from spmcompat.errors import BadValueError
from spmcompat.tools.evaluate.line_sums import ModelSums, TextSums, ratios_of_one
from spmcompat.tools.evaluate.tokens import ratio

# The figures of a model can be compared with others if it loses at most this share of the
# characters, and at most this share of the spaces. With the usual character coverage, 0.9995, a
# model loses a tenth of this limit. In Chinese and Japanese, characters that do not occur in the
# training text account for about a third of the limit.
_TOLERATED_LOSS = 0.005
# In models of these types, the unknown token replaces a whole word, including the characters that
# the model knows.
_WORD_MODELS = ("word", "tokenizers WordPiece", "tokenizers WordLevel")


def describe_loss(
    model_type: str,
    unknown_rate: float,
    lost_characters: float,
    lost_spaces: float,
    drops_spaces: bool,
) -> str:
    """Return a description of what a model loses of a text, or "" if it loses nothing that counts.

    A model that loses text needs fewer tokens for it, so the number cannot be compared with others.
    The shares are fields of `Evaluation` and of `LanguageFigures`.
    """
    if drops_spaces:
        boundaries = 0.0 if math.isnan(lost_spaces) else lost_spaces
        return f"it leaves out spaces, with {boundaries:.3%} of the boundaries between words"
    if unknown_rate > 0 and model_type in _WORD_MODELS:
        return f"it replaces whole words, with {lost_characters:.3%} of the characters"
    limit = f"(more than {_TOLERATED_LOSS:.1%})"
    if lost_characters > _TOLERATED_LOSS:
        return f"it loses {lost_characters:.3%} of the characters {limit}"
    if lost_spaces > _TOLERATED_LOSS:
        return f"it does not show where spaces are, in {lost_spaces:.3%} of the words {limit}"
    return ""


class LanguageFigures(NamedTuple):
    """The figures of one model for one language; a ratio is NaN if its denominator is 0.

    `parity` is the cost of the language divided by that of the reference; see `Languages`.
    `lost_characters` is the share of the visible characters that are represented only by unknown
    tokens or by no token. `loses` says what the model loses of the text, if that is so much that
    its number of tokens cannot be compared with those of other languages; otherwise it is empty.
    """

    lines: int
    words: int
    tokens: int
    tokens_per_line: float
    tokens_per_word: float
    tokens_per_character: float
    tokens_per_byte: float
    unknown_rate: float
    lost_characters: float
    parity: float
    loses: str


class Languages(NamedTuple):
    """The figures of one model in several languages.

    If the texts are parallel, line i says the same in every language. The cost of a language is
    then its tokens per line, and parity is the premium of Petrov et al. (2023). Otherwise, the cost
    is its tokens per byte.

    Attributes
    ----------
    reference : str
        The language that parity refers to.
    are_parallel : bool
        Whether the texts are said to be parallel.
    gini : float
        The Gini coefficient of the costs (Foroutan et al. 2025, arXiv 2508.04796) of all languages
        of which the model loses nothing that counts: 0 if all costs are equal. NaN for fewer than
        two such languages, or if there are no tokens.
    worst : str
        Of the same languages, the one with the highest cost. If several languages have it, the
        first of them; empty for fewer than two languages.
    left_out : tuple of str
        The languages that `gini` and `worst` leave out, because the model loses some of their text.
    figures : mapping of str to LanguageFigures
        The figures of each language, in the order of the texts.
    """

    reference: str
    are_parallel: bool
    gini: float
    worst: str
    left_out: tuple[str, ...]
    figures: Mapping[str, LanguageFigures]

    @property
    def summary(self) -> str:
        """One sentence that says what the costs are."""
        if self.are_parallel:
            return "The texts are said to be parallel: cost is tokens per line"
        hint = ""
        if len({found.lines for found in self.figures.values()}) == 1 < len(self.figures):
            hint = ". If line i says the same in every language, give --parallel"
        return f"The texts are not said to be parallel: cost is tokens per byte{hint}"


def check_reference(reference: str, languages: Collection[str]) -> None:
    """Raise unless the reference is one of the languages.

    Raises
    ------
    BadValueError
        If the reference is not one of the languages.
    """
    if reference not in languages:
        raise BadValueError(
            f"There is no text in the language {reference!r}. Choose --reference from "
            f"{', '.join(languages)}."
        )


def check_parallel(lines: Mapping[str, int]) -> None:
    """Raise if the languages have different numbers of lines.

    Raises
    ------
    BadValueError
        If two numbers of lines differ.
    """
    if len({*lines.values()}) > 1:
        few, many = min(lines, key=lambda one: lines[one]), max(lines, key=lambda one: lines[one])
        raise BadValueError(
            f"--parallel: the text of {few} has {lines[few]:,} lines and that of {many} "
            f"{lines[many]:,}. Give texts whose line i says the same, or leave --parallel out."
        )


def languages_of(
    model_type: str,
    drops_spaces: bool,
    sums: Mapping[str, tuple[int, TextSums, ModelSums]],
    reference: str | None,
    parallel: bool,
) -> Languages | None:
    """Return the figures of one model in each language; None if there are no languages.

    Parameters
    ----------
    model_type : str
        The type of the model.
    drops_spaces : bool
        Whether its tokens of spaces are dropped.
    sums : mapping of str to (int, TextSums, ModelSums)
        The number of lines of each language, and the sums of its text and of the model.
    reference : str
        The language that parity refers to.
    parallel : bool
        Whether line i says the same in every language.
    """
    if not sums or reference is None:
        return None
    costs = {
        name: ratio(float(model.tokens), lines if parallel else float(text.bytes))
        for name, (lines, text, model) in sums.items()
    }
    figures = {}
    for name, (lines, text, model) in sums.items():
        shares = ratios_of_one(text, model)
        lost = shares["unknown_rate"], shares["lost_characters"], shares["lost_spaces"]
        figures[name] = LanguageFigures(
            lines=lines,
            words=int(text.words),
            tokens=int(model.tokens),
            tokens_per_line=ratio(float(model.tokens), lines),
            tokens_per_word=shares["tokens_per_word"],
            tokens_per_character=ratio(float(model.tokens), float(text.characters)),
            tokens_per_byte=ratio(float(model.tokens), float(text.bytes)),
            unknown_rate=shares["unknown_rate"],
            lost_characters=shares["lost_characters"],
            parity=ratio(costs[name], costs[reference]),
            loses=describe_loss(model_type, *lost, drops_spaces),
        )
    kept = {name: cost for name, cost in costs.items() if not figures[name].loses}
    known = {name: cost for name, cost in kept.items() if not math.isnan(cost)}
    return Languages(
        reference=reference,
        are_parallel=parallel,
        gini=gini([*kept.values()]),
        worst=max(known, key=lambda name: known[name]) if len(known) > 1 else "",
        left_out=tuple(name for name in sums if name not in kept),
        figures=figures,
    )


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient of costs.

    It is half the mean absolute difference between two costs, divided by the mean of the costs.

    Parameters
    ----------
    costs : sequence of float
        The costs, which are at least 0. The coefficient is NaN if a cost is NaN, if all costs are
        0, or if there are fewer than two costs.
    """
    total = math.fsum(costs)
    count = len(costs)
    if count < 2 or not total > 0:
        return math.nan
    weighted = math.fsum(rank * cost for rank, cost in enumerate(sorted(costs), 1))
    return max((2 * weighted / total - count - 1) / count, 0.0)
