"""Parity-aware BPE merges: all pairs and all tokens are counted before each merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .characters import UNKNOWN, Options, Sentence, is_valid_piece, pretokens
from .merging import Pair, count_pairs, replace

Text = list[tuple[list[str], int]]


@dataclass(frozen=True)
class Language:
    """The sentences of a language, after character coverage, and the weight of the language."""

    training: list[Sentence]
    development: list[Sentence]
    weight: Fraction


def merges(
    languages: Sequence[Language],
    options: Options,
    wanted: int,
    first_merges: int = 0,
    window: int = 0,
    alpha: Fraction = Fraction(2),
) -> Iterator[tuple[str, int, list[int]]]:
    """Yield each merge, the language that chose it, and the number of tokens of each language.

    The language is an index into `languages`. The tokens are counted after the merge. The first
    `first_merges` merges are chosen on all languages together; for these merges, the number of
    languages is yielded as the index.
    """
    training = [_split(language.training, options) for language in languages]
    development = [_split(language.development, options) for language in languages]
    characters = [sum(len(text) * n for text, n in one.development) for one in languages]
    start = [_tokens(text) for text in development]
    merged: set[str] = set()
    latest: list[int] = []
    for number in range(wanted):
        best = [_best([text], merged, options) for text in training]
        tokens = [
            c - s + _tokens(t) for c, s, t in zip(characters, start, development, strict=True)
        ]
        if number < first_merges:
            chosen: int | None = len(languages)
            pair = _best(training, merged, options)
        else:
            chosen = _chosen(
                tokens, languages, best, latest[-window:] if window else [], window, alpha
            )
            pair = None if chosen is None else best[chosen]
            latest += [] if chosen is None else [chosen]
        if pair is None or chosen is None:
            return
        merged.add("".join(pair))
        for texts in (training, development):
            texts[:] = [[(replace(part, pair, set()), n) for part, n in text] for text in texts]
        tokens = [
            c - s + _tokens(t) for c, s, t in zip(characters, start, development, strict=True)
        ]
        yield "".join(pair), chosen, tokens


def _chosen(
    tokens: list[int],
    languages: Sequence[Language],
    best: list[Pair | None],
    latest: list[int],
    window: int,
    alpha: Fraction,
) -> int | None:
    left = [i for i in range(len(languages)) if best[i] is not None]
    allowed = [i for i in left if latest.count(i) * len(languages) <= alpha * window]
    return max(allowed or left, key=lambda i: tokens[i] * languages[i].weight, default=None)


def _split(sentences: list[Sentence], options: Options) -> Text:
    """Return the pretokens as lists of characters, cut at unknown characters."""
    counted = pretokens(sentences, options)
    return [(list(part), n) for text, n in counted for part in text.split(UNKNOWN)]


def _tokens(text: Text) -> int:
    return sum(len(part) * n for part, n in text)


def _best(texts: list[Text], merged: set[str], options: Options) -> Pair | None:
    """Return the most frequent pair in the texts.

    Pairs with the same count are compared by the length of the joined text, then by the joined text
    itself, then by the length of the left part. The lowest wins.
    """
    counts = count_pairs([item for text in texts for item in text])
    left = [
        pair
        for pair, count in counts.items()
        if count and "".join(pair) not in merged and is_valid_piece("".join(pair), options)
    ]
    return min(
        left,
        key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair), len(pair[0])),
        default=None,
    )
