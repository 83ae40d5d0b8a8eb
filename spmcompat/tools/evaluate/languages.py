"""Figures for each language of a text, and how evenly a model treats the languages."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.errors import BadValueError
from spmcompat.tools.evaluate.tokens import ratio

_Ints = npt.NDArray[np.int64]


class TextCounts(NamedTuple):
    """The sizes of a text before normalization, without line ends."""

    lines: int
    bytes: int
    characters: int
    words: int


class LanguageFigures(NamedTuple):
    """The figures of one model for one language; a ratio is NaN if its denominator is 0.

    `parity` is the cost of the language divided by that of the reference; see `Languages`.
    """

    lines: int
    words: int
    tokens: int
    tokens_per_line: float
    tokens_per_word: float
    tokens_per_character: float
    tokens_per_byte: float
    unknown_rate: float
    parity: float


class Languages(NamedTuple):
    """The figures of one model in several languages.

    If all texts have the same number of lines, they are taken to be parallel: line i says the same
    in every language. The cost of a language is then its tokens per line, and parity is the premium
    of Petrov et al. (2023). Otherwise, the cost is its tokens per byte.

    Attributes
    ----------
    reference : str
        The language that parity refers to.
    are_parallel : bool
        Whether all texts have the same number of lines.
    gini : float
        The Gini coefficient of the costs (Foroutan et al. 2025, arXiv 2508.04796): 0 if all costs
        are equal. NaN for fewer than two languages, or if there are no tokens.
    worst : str
        The language with the highest cost. If several languages have it, the first of them.
    figures : mapping of str to LanguageFigures
        The figures of each language, in the order of the texts.
    """

    reference: str
    are_parallel: bool
    gini: float
    worst: str
    figures: Mapping[str, LanguageFigures]

    @property
    def summary(self) -> str:
        """One sentence that says what the costs are."""
        if self.are_parallel:
            return (
                "All texts have the same number of lines and are taken to be parallel: cost is "
                "tokens per line"
            )
        return (
            "The texts are not parallel, since their numbers of lines differ: cost is tokens per "
            "byte"
        )


class LanguageSums:
    """Adds up the sizes and the tokens of each language.

    Parameters
    ----------
    models : int
        The number of models.
    """

    def __init__(self, models: int) -> None:
        self._counted = np.zeros(len(TextCounts._fields) + 2 * models, dtype=np.int64)
        self._sums: dict[str, _Ints] = {}

    def add(
        self, language: str, text: TextCounts, tokens: Iterable[int], unknown: Iterable[int]
    ) -> None:
        """Add the part of the text that was read since the last call. It is in one language.

        Parameters
        ----------
        language : str
            The language.
        text : TextCounts
            The size of the whole text so far.
        tokens, unknown : iterable of int
            For each model, the number of tokens and unknown tokens in the whole text so far.
        """
        counted = np.array([*text, *tokens, *unknown], dtype=np.int64)
        before = self._sums.get(language, 0)
        self._sums[language] = before + counted - self._counted
        self._counted = counted

    def of_models(self, reference: str | None = None) -> list[Languages]:
        """Return the figures of each model.

        Parameters
        ----------
        reference : str, optional
            The language that parity refers to; by default the first one.

        Raises
        ------
        BadValueError
            If there is no text in the reference language.
        """
        chosen = next(iter(self._sums)) if reference is None else reference
        check_reference(chosen, self._sums)
        sizes = len(TextCounts._fields)
        texts = {name: TextCounts(*sums[:sizes].tolist()) for name, sums in self._sums.items()}
        models = (len(self._counted) - sizes) // 2
        return [
            _languages(
                texts,
                {name: int(sums[sizes + model]) for name, sums in self._sums.items()},
                {name: int(sums[sizes + models + model]) for name, sums in self._sums.items()},
                chosen,
            )
            for model in range(models)
        ]


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


def _languages(
    texts: Mapping[str, TextCounts],
    tokens: Mapping[str, int],
    unknown: Mapping[str, int],
    reference: str,
) -> Languages:
    are_parallel = len({text.lines for text in texts.values()}) == 1
    costs = {
        name: ratio(tokens[name], text.lines if are_parallel else text.bytes)
        for name, text in texts.items()
    }
    figures = {
        name: LanguageFigures(
            lines=text.lines,
            words=text.words,
            tokens=tokens[name],
            tokens_per_line=ratio(tokens[name], text.lines),
            tokens_per_word=ratio(tokens[name], text.words),
            tokens_per_character=ratio(tokens[name], text.characters),
            tokens_per_byte=ratio(tokens[name], text.bytes),
            unknown_rate=ratio(unknown[name], tokens[name]),
            parity=ratio(costs[name], costs[reference]),
        )
        for name, text in texts.items()
    }
    known = {name: cost for name, cost in costs.items() if not math.isnan(cost)}
    return Languages(
        reference=reference,
        are_parallel=are_parallel,
        gini=gini([*costs.values()]),
        worst=max(known, key=lambda name: known[name], default=""),
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
