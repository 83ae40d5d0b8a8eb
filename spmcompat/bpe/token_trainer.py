"""The trainers of the tokens in a tokenizer.json, which merge as those of Hugging Face do.

Source: ``bpe/trainer.rs`` and ``bpe/parity_trainer.rs`` of tokenizers 0.23.3. WordPieceTrainer of
the same release is the first of them with a prefix; its vocabulary is used without the merges. The
second one implements arXiv 2508.04796 like `spmcompat.bpe.parity_aware`, but rounds costs, and has
another window and another order of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from spmcompat.bpe.tokens import (
    INNER,
    LAST,
    FirstTokens,
    Letters,
    count_letters,
    find_parity_tokens,
    find_tokens,
)
from spmcompat.errors import BadValueError
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.words.words import Words


class TokenOptions(NamedTuple):
    """The options of the trainer. They have the names and defaults of Hugging Face's BpeTrainer.

    Attributes
    ----------
    vocab_sizes : sequence of int
        The size of each vocabulary.
    min_frequency : int
        Pairs that occur less often are not merged.
    special_tokens : sequence of str
        The first tokens.
    limit_alphabet : int, optional
        The largest number of letters. The rarest are dropped from all words; of letters with the
        same count, the one with the higher code point is dropped first.
    initial_alphabet : sequence of str
        Letters that become tokens even if they do not occur.
    continuing_subword_prefix : str
        The affix of letters that do not begin their word.
    end_of_word_suffix : str
        The affix of letters that end their word.
    max_token_length : int, optional
        A merge of more than two letters must have fewer letters than this.
    affixed_letters : sequence of str
        The order of the ids of letters with affixes. Others follow by code point: first those that
        only have the prefix, then those with the suffix.
    """

    vocab_sizes: Sequence[int] = (30000,)
    min_frequency: int = 0
    special_tokens: Sequence[str] = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    affixed_letters: Sequence[str] = ()


class ParityTokenOptions(NamedTuple):
    """The other options of Hugging Face's ParityBpeTrainer.

    Attributes
    ----------
    ratio : sequence of float, optional
        The compression of each language is divided by its ratio, so a language with a higher ratio
        gets more merges. Ratios have no effect if there are development words.
    global_merges : int
        The number of merges at the beginning that are chosen by the counts in all languages.
    window : int
        The number of choices in the moving window; 0 without a window.
    alpha : float
        A language cannot choose if it made more than `alpha` times the mean number of choices in
        the window. Where the library would then never end, the window is ignored.
    total_symbols : bool
        Whether `vocab_sizes` are sizes of the vocabulary. Otherwise, they are numbers of merges.
    """

    ratio: Sequence[float] | None = None
    global_merges: int = 0
    window: int = 0
    alpha: float = 2.0
    total_symbols: bool = False


class Tokens(NamedTuple):
    """A trained vocabulary.

    Attributes
    ----------
    texts : list of str
        The tokens by id.
    merges : list of (str, str)
        The pairs of tokens that are merged, the first merge first.
    """

    texts: list[str]
    merges: list[tuple[str, str]]


def train(words: Words, are_bytes: bool, options: TokenOptions, context: Context) -> list[Tokens]:
    """Train a vocabulary for each size. A smaller one is the beginning of the largest one.

    Parameters
    ----------
    words : Words
        The words of the text. Afterwards, they are empty.
    are_bytes : bool
        Whether the letters are bytes. Otherwise, they are characters.
    options : TokenOptions
        The options of the trainer.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Raises
    ------
    TrainingError
        If the text is too large.
    """
    first = _first_tokens([words], [], are_bytes, options)
    known, wanted = len(first), max(options.vocab_sizes)
    _warn_of_letters(known, options, context)
    with context.report.stage("Merging", max(wanted - known, 0), "merges") as stage:
        texts, merges = find_tokens(words, first, wanted, context.workers, stage=stage)
    if len(texts) < wanted:
        context.report.warning(
            f"Nothing is left to merge: the vocabulary has {len(texts)} tokens, not {wanted}."
        )
    return_freed_memory()
    return [_tokens_of_size(size, texts, merges, known) for size in options.vocab_sizes]


def train_parity(
    languages: Sequence[tuple[Words, Words | None]],
    are_bytes: bool,
    options: TokenOptions,
    parity: ParityTokenOptions,
    context: Context,
) -> list[Tokens]:
    """Train a vocabulary for each size; several languages choose the merges one after another.

    Parameters
    ----------
    languages : sequence of (Words, Words or None)
        The words of each language for training, and its development words. With development words,
        the language with the most tokens in them chooses each merge; a language without them then
        has no tokens. Afterwards, all words are empty. No two of them may be the same object.
    are_bytes, options, context
        As for `train`.
    parity : ParityTokenOptions
        The other options of the trainer.

    Raises
    ------
    BadValueError
        If there is no language, or an option has a bad value.
    TooLargeError
        If a text is too large.
    """
    if any(development is not None for _, development in languages):
        languages = [(training, development or Words()) for training, development in languages]
        parity = parity._replace(ratio=None)
    _check(len(languages), parity)
    first = _first_tokens(
        [training for training, _ in languages],
        [development for _, development in languages if development is not None],
        are_bytes,
        options,
    )
    known = len(first) if parity.total_symbols else 0
    _warn_of_letters(known, options, context)
    numbers = [max(size - known, 0) for size in options.vocab_sizes]
    wanted = max(numbers)
    with context.report.stage("Merging", wanted, "merges") as stage:
        texts, merges, library_would_end = find_parity_tokens(
            languages,
            first,
            wanted,
            context.workers,
            first_merges=parity.global_merges,
            ratios=parity.ratio or (),
            window=parity.window,
            largest_share=parity.alpha / len(languages),
            stage=stage,
        )
    if not library_would_end:
        context.report.warning(
            "No language was allowed to choose a merge: Hugging Face's trainer would never end. "
            "Give a larger alpha or window_size, or no languages without words."
        )
    if len(merges) < wanted:
        context.report.warning(f"Nothing is left to merge after {len(merges)} of {wanted} merges.")
    return [
        _tokens_of_size(len(texts) + 1, texts, merges[:number], len(first)) for number in numbers
    ]


def _check(languages: int, options: ParityTokenOptions) -> None:
    if languages == 0:
        raise BadValueError("There are no languages: give the words of at least one.")
    if options.ratio is not None and len(options.ratio) != languages:
        raise BadValueError(
            f"ratio has {len(options.ratio)} values for {languages} languages: give one for each."
        )
    for ratio in options.ratio or ():
        if not 0 < ratio < math.inf:
            raise BadValueError(f"ratio must have positive finite values, not {ratio}.")
    if options.window and not 0 < options.alpha < math.inf:
        raise BadValueError(f"alpha must be positive and finite, not {options.alpha}.")


def _warn_of_letters(first: int, options: TokenOptions, context: Context) -> None:
    size = min(options.vocab_sizes)
    if first > size:
        context.report.warning(
            f"The special tokens and the letters alone are {first} tokens, more than the "
            f"vocab_size {size}."
        )


def byte_texts() -> dict[int, str]:
    """Return the character that represents each byte in byte-level tokens, as in GPT-2."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    codes = {byte: byte for byte in plain} | {byte: 256 + n for n, byte in enumerate(others)}
    return {byte: chr(codes[byte]) for byte in range(256)}


def _first_tokens(
    training: Sequence[Words],
    development: Sequence[Words],
    are_bytes: bool,
    options: TokenOptions,
) -> FirstTokens:
    """Return the tokens before the first merge.

    Letters that occur only in development words get a token, too, but not with an affix.
    """
    prefix, suffix = options.continuing_subword_prefix, options.end_of_word_suffix
    text_of = byte_texts().__getitem__ if are_bytes else chr
    counted = count_letters([*training, *development], Letters(are_bytes))
    counts = {text_of(code): count for code, count in counted}
    ids = _number([*options.special_tokens, *_alphabet(counts, options)])
    kept = [
        code for code in (range(256) if are_bytes else map(ord, counts)) if text_of(code) in ids
    ]
    letters = Letters(are_bytes, bool(prefix), bool(suffix), kept)

    def with_affixes(words: Sequence[Words]) -> dict[int, str]:
        return {
            code: (prefix if code & INNER else "")
            + text_of(code & ~(INNER | LAST))
            + (suffix if code & LAST else "")
            for code, _ in count_letters(words, letters)
        }

    codes = {code: text_of(code) for code in kept}
    if prefix or suffix:
        trained = with_affixes(training)
        ids = _number([*ids, *options.affixed_letters, *trained.values()])
        others = with_affixes(development).items()
        codes = trained | {code: text for code, text in others if text in ids}
    return FirstTokens(
        letters,
        [(code, ids[text]) for code, text in codes.items()],
        [text.encode() for text in ids],
        prefix=prefix.encode(),
        least_count=max(options.min_frequency, 1),
        length_limit=options.max_token_length,
    )


def _alphabet(counts: Mapping[str, int], options: TokenOptions) -> list[str]:
    """Return the letters that become tokens, by code point."""
    initial = {text[0] for text in options.initial_alphabet if text}
    letters = sorted({*counts, *initial})
    if options.limit_alphabet is not None and len(letters) > options.limit_alphabet:
        letters.sort(key=lambda letter: (letter not in initial, -counts.get(letter, 0)))
        letters = sorted(letters[: options.limit_alphabet])
    return letters


def _number(texts: Iterable[str]) -> dict[str, int]:
    """Return an id for each distinct text, in the order in which they first occur."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def _tokens_of_size(
    size: int, texts: Sequence[str], merges: Iterable[tuple[int, int, int]], first: int
) -> Tokens:
    """Return the vocabulary of a size. A pair that is merged twice keeps its last place."""
    pairs: dict[tuple[int, int], None] = {}
    known = first
    for left, right, token in merges:
        if known >= size:
            break
        pairs.pop((left, right), None)
        pairs[left, right] = None
        known = max(known, token + 1)
    return Tokens([*texts[:known]], [(texts[left], texts[right]) for left, right in pairs])
