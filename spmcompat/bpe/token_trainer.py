"""The trainer of the tokens in a tokenizer.json, which merges as Hugging Face's BpeTrainer does.

Source: ``bpe/trainer.rs`` of tokenizers 0.23.3. WordPieceTrainer of the same release is this
trainer with a prefix; its vocabulary is used without the merges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from spmcompat.bpe.tokens import INNER, LAST, Letters, TokenMerges, count_letters
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.words.words import Words

_STEP = 1000  # the number of tokens between two updates of the progress
NO_LIMIT = 2**64 - 1
"""The length limit if there is no `max_token_length`."""


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


def train(
    words: Words, letter_texts: Mapping[int, str] | None, options: TokenOptions, context: Context
) -> list[Tokens]:
    """Train a vocabulary for each size. A smaller one is the beginning of the largest one.

    Parameters
    ----------
    words : Words
        The words of the text. Afterwards, they are empty.
    letter_texts : mapping of int to str, optional
        The text of the token for each byte. If it is None, the letters are characters.
    options : TokenOptions
        The options of the trainer.
    context : Context
        The worker threads, whose number never changes the result, and the report.

    Raises
    ------
    TrainingError
        If the text is too large.
    """
    letters, ids, first = first_tokens([words], [], letter_texts, options)
    wanted = max(options.vocab_sizes)
    warn_of_letters(len(first), min(options.vocab_sizes), context)
    merges = TokenMerges(
        words,
        letters,
        ids,
        first,
        context.workers,
        prefix=options.continuing_subword_prefix.encode(),
        least_count=max(options.min_frequency, 1),
        length_limit=NO_LIMIT if options.max_token_length is None else options.max_token_length,
        expected=max(wanted - len(first), 1),
    )
    _make(merges, len(first), wanted, context)
    merges.finish()
    return_freed_memory()
    texts, made = [text.decode() for text in merges.texts()], merges.merges()
    return [tokens_of_size(size, texts, made, len(first)) for size in options.vocab_sizes]


def warn_of_letters(first: int, size: int, context: Context) -> None:
    """Warn if the number of first tokens is larger than the size of the vocabulary."""
    if first > size:
        context.report.warning(
            f"The special tokens and the letters alone are {first} tokens, more than the "
            f"vocab_size {size}."
        )


def first_tokens(
    training: Sequence[Words],
    development: Sequence[Words],
    letter_texts: Mapping[int, str] | None,
    options: TokenOptions,
) -> tuple[Letters, list[tuple[int, int]], list[bytes]]:
    """Return what `TokenMerges` needs: the letters, their codes and ids, and the first texts.

    Letters that occur only in development words get a token, too, but not with an affix.
    """
    prefix, suffix = options.continuing_subword_prefix, options.end_of_word_suffix
    are_bytes = letter_texts is not None
    text_of = letter_texts.__getitem__ if letter_texts is not None else chr
    counted = count_letters([*training, *development], Letters(are_bytes))
    counts = {text_of(code): count for code, count in counted}
    ids = _number([*options.special_tokens, *_alphabet(counts, options)])
    kept = [code for code in (letter_texts or map(ord, counts)) if text_of(code) in ids]
    letters = Letters(are_bytes, bool(prefix), bool(suffix), kept)
    codes = {code: text_of(code) for code in kept}
    if prefix or suffix:
        trained, others = (
            {
                code: _with_affixes(code, text_of, prefix, suffix)
                for code, _ in count_letters(words, letters)
            }
            for words in (training, development)
        )
        ids = _number([*ids, *options.affixed_letters, *trained.values()])
        codes = trained | {code: text for code, text in others.items() if text in ids}
    texts = [text.encode() for text in ids]
    return letters, [(code, ids[text]) for code, text in codes.items()], texts


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


def _with_affixes(code: int, text_of: Callable[[int], str], prefix: str, suffix: str) -> str:
    letter = text_of(code & ~(INNER | LAST))
    return (prefix if code & INNER else "") + letter + (suffix if code & LAST else "")


def _make(merges: TokenMerges, known: int, wanted: int, context: Context) -> None:
    with context.report.stage("Merging", max(wanted - known, 0), "merges") as stage:
        while known < wanted:
            goal = min(known + _STEP, wanted)
            made = merges.make(goal)
            stage.advance(made - known)
            known = made
            if known < goal:
                context.report.warning(
                    f"Nothing is left to merge: the vocabulary has {known} tokens, not {wanted}."
                )
                return


def tokens_of_size(
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
