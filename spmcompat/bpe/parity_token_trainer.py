"""The trainer of a tokenizer.json's tokens that merges as Hugging Face's ParityBpeTrainer does.

Source: ``bpe/parity_trainer.rs`` of tokenizers 0.23.3, which implements arXiv 2508.04796 like
`spmcompat.bpe.parity_aware`, but rounds costs, and has another window and another order of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spmcompat.bpe.token_trainer import (
    NO_LIMIT,
    TokenOptions,
    Tokens,
    first_tokens,
    tokens_of_size,
    warn_of_letters,
)
from spmcompat.bpe.tokens import parity_tokens
from spmcompat.errors import BadValueError
from spmcompat.runtime.context import Context
from spmcompat.words.words import Words

_COUNTS = ("num_merges", "min_frequency", "global_merges", "limit_alphabet", "max_token_length")


class ParityTokenOptions(NamedTuple):
    """The options of the trainer, with the names and defaults of Hugging Face's ParityBpeTrainer.

    The options that are not listed here are those of `TokenOptions`.

    Attributes
    ----------
    num_merges : int
        The number of merges.
    variant : str
        ``"base"``, or ``"window"`` for a moving window.
    ratio : sequence of float, optional
        The compression of each language is divided by its ratio, so a language with a higher ratio
        gets more merges. Ratios have no effect if there are development words.
    global_merges : int
        The number of merges at the beginning that are chosen by the counts in all languages.
    window_size : int
        The number of choices in the moving window.
    alpha : float
        A language cannot choose if it made more than `alpha` times the mean number of choices in
        the window. Where the library would then never end, the window is ignored.
    total_symbols : bool
        Whether `num_merges` is the size of the vocabulary instead.
    initial_alphabet : sequence of str
        Single characters.
    """

    num_merges: int = 32000
    variant: str = "base"
    min_frequency: int = 0
    ratio: Sequence[float] | None = None
    global_merges: int = 0
    window_size: int = 100
    alpha: float = 2.0
    total_symbols: bool = False
    special_tokens: Sequence[str] = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    affixed_letters: Sequence[str] = ()


def train(
    languages: Sequence[tuple[Words, Words | None]],
    letter_texts: Mapping[int, str] | None,
    options: ParityTokenOptions,
    context: Context,
) -> Tokens:
    """Train a vocabulary. The parameters and errors are those of `train_sizes`."""
    return train_sizes(languages, letter_texts, options, [options.num_merges], context)[0]


def train_sizes(
    languages: Sequence[tuple[Words, Words | None]],
    letter_texts: Mapping[int, str] | None,
    options: ParityTokenOptions,
    sizes: Sequence[int],
    context: Context,
) -> list[Tokens]:
    """Train a vocabulary for each size. A smaller one is the beginning of the largest one.

    Parameters
    ----------
    languages : sequence of (Words, Words or None)
        The words of each language for training, and its development words. With development words,
        the language with the most tokens in them chooses each merge; a language without them then
        has no tokens. Afterwards, all words are empty. No two of them may be the same object.
    letter_texts : mapping of int to str, optional
        The text of the token for each byte. If it is None, the letters are characters.
    options : ParityTokenOptions
        The options of the trainer.
    sizes : sequence of int
        The values that `num_merges` has, one after another.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Raises
    ------
    BadValueError
        If there is no language, two texts are the same object, or an option has a bad value.
    TooLargeError
        If a text is too large.
    """
    if any(development is not None for _, development in languages):
        languages = [(training, development or Words()) for training, development in languages]
        options = options._replace(ratio=None)
    _check(languages, options)
    letters, tokens, texts = first_tokens(
        [training for training, _ in languages],
        [development for _, development in languages if development is not None],
        letter_texts,
        _without_parity(options),
    )
    known = len(texts) if options.total_symbols else 0
    warn_of_letters(known, min(sizes), context)
    numbers = [max(size - known, 0) for size in sizes]
    wanted = max(numbers)
    with context.report.stage("Merging", wanted, "merges") as stage:
        all_texts, merges, library_would_end = parity_tokens(
            languages,
            letters,
            tokens,
            texts,
            context.workers,
            wanted=wanted,
            prefix=options.continuing_subword_prefix.encode(),
            least_count=max(options.min_frequency, 1),
            length_limit=NO_LIMIT if options.max_token_length is None else options.max_token_length,
            first_merges=options.global_merges,
            ratios=options.ratio or (),
            window=options.window_size if options.variant == "window" else 0,
            largest_share=options.alpha / len(languages),
            stage=stage,
        )
    if not library_would_end:
        context.report.warning(
            "No language was allowed to choose a merge: Hugging Face's trainer would never end. "
            "Give a larger alpha or window_size, or no languages without words."
        )
    if len(merges) < wanted:
        context.report.warning(f"Nothing is left to merge after {len(merges)} of {wanted} merges.")
    decoded = [text.decode() for text in all_texts]
    return [
        tokens_of_size(len(decoded) + 1, decoded, merges[:number], len(texts)) for number in numbers
    ]


def _without_parity(options: ParityTokenOptions) -> TokenOptions:
    shared = {*TokenOptions._fields} & {*ParityTokenOptions._fields}
    return TokenOptions(**{name: getattr(options, name) for name in shared})


def _check(languages: Sequence[tuple[Words, Words | None]], options: ParityTokenOptions) -> None:
    if not languages:
        raise BadValueError("There are no languages: give the words of at least one.")
    texts = [id(words) for language in languages for words in language if words is not None]
    if len({*texts}) < len(texts):
        raise BadValueError("Two of the languages' words are the same object: give copies.")
    for name in _COUNTS:
        if (getattr(options, name) or 0) < 0:
            raise BadValueError(f"{name} must not be negative, but is {getattr(options, name)}.")
    if options.variant not in ("base", "window"):
        raise BadValueError(f'variant must be "base" or "window", not {options.variant!r}.')
    ratios = options.ratio
    if ratios is not None and len(ratios) != len(languages):
        raise BadValueError(
            f"ratio has {len(ratios)} values for {len(languages)} languages: give one for each."
        )
    for ratio in ratios or ():
        if not 0 < ratio < math.inf:
            raise BadValueError(f"ratio must have positive finite values, not {ratio}.")
    if options.variant == "window" and options.window_size < 1:
        raise BadValueError(f"window_size must be at least 1, not {options.window_size}.")
    if options.variant == "window" and not 0 < options.alpha < math.inf:
        raise BadValueError(f"alpha must be positive and finite, not {options.alpha}.")
    for letter in options.initial_alphabet:
        if len(letter) != 1:
            raise BadValueError(f"initial_alphabet must have single characters, not {letter!r}.")
