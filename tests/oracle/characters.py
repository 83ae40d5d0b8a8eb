"""Finds the covered characters and the pretokens of normalized sentences."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

SPACE = "\u2581"
UNKNOWN = "\u2585"
BOUNDARY = "\x1f"

Sentence = tuple[str, int]


@dataclass(frozen=True)
class Options:
    """The training options that the oracle supports, with the defaults of the reference."""

    vocab_size: int = 8000
    num_threads: int = 16
    num_sub_iterations: int = 2
    shrinking_factor: float = 0.75
    character_coverage: float = 0.9995
    required_chars: str = ""
    seed_sentencepiece_size: int = 1_000_000
    max_sentencepiece_length: int = 16
    split_by_whitespace: bool = True
    split_by_unicode_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    treat_whitespace_as_suffix: bool = False
    allow_whitespace_only_pieces: bool = False
    chunk_bytes: int = 500 << 20
    auto_character_coverage: bool = False
    use_sparse_pruning: bool = False
    post_l1_debias: bool = True
    seed_piece_length_power: float = 1.0
    min_freq_alpha: float = 0.0
    meta_pieces: int = field(default=3, metadata={"why": "<unk>, <s>, </s>"})


def cover(sentences: Iterable[Sentence], options: Options) -> tuple[list[Sentence], dict[str, int]]:
    """Replace the characters that the coverage excludes.

    Return the sentences and the required characters. The covered share and the option
    ``character_coverage`` are compared as float32. With ``auto_character_coverage``, no character
    is replaced, and no character is required.
    """
    sentences = list(sentences)
    if options.auto_character_coverage:
        return sentences, {}
    counts: Counter[str] = Counter()
    for text, frequency in sentences:
        for character in text:
            if character not in "\0 ":
                counts[character] += frequency
    total = sum(counts.values())
    forced = set(options.required_chars) - {"\0"}
    for character in forced:
        counts[character] += 0

    required: dict[str, int] = {}
    covered = 0
    for character in sorted(counts, key=lambda c: (c not in forced, -counts[c], c)):
        if np.float32(covered / total) >= np.float32(options.character_coverage):
            break
        covered += counts[character]
        if character != BOUNDARY:
            required[character] = counts[character]

    def known(text: str) -> str:
        return "".join(c if c in required else UNKNOWN for c in text)

    return [(known(text), frequency) for text, frequency in sentences], required


def normalized(line: str, options: Options, dummy: bool) -> str:
    """Normalize a line with the "identity" rules, without removing any white space."""
    text = line.replace(" ", SPACE)
    if not dummy:
        return text
    return text + SPACE if options.treat_whitespace_as_suffix else SPACE + text


def pretokens(sentences: Iterable[Sentence], options: Options) -> list[Sentence]:
    """Return the input of EM: distinct pretokens, most frequent first, or whole sentences.

    The order decides to which partial sum a pretoken is added.
    """
    if not options.split_by_whitespace:
        return list(sentences)
    counts: Counter[str] = Counter()
    for text, frequency in sentences:
        for pretoken in split(text, options):
            counts[pretoken] += frequency
    return by_value(counts.items())


def by_value(items: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sort by descending value, then by code points, which sorts texts like their UTF-8 bytes."""
    return sorted(items, key=lambda item: (-item[1], item[0]))


def split(text: str, options: Options) -> list[str]:
    """Split a sentence at U+2581, which begins a pretoken, or ends one if it is a suffix."""
    together = options.allow_whitespace_only_pieces
    result: list[str] = []
    previous = ""
    for character in text:
        space, after_space = character == SPACE, previous == SPACE
        if options.treat_whitespace_as_suffix:
            opens = after_space and not (together and space)
        else:
            opens = space and not (together and after_space)
        if opens or not result:
            result.append("")
        result[-1] += character
        previous = character
    return result


def is_digit(character: str) -> bool:
    return character in "0123456789０１２３４５６７８９"


SCRIPT_NAMES = ("LATIN", "CYRILLIC", "GREEK", "HANGUL", "ARABIC", "DEVANAGARI", "THAI", "HEBREW")
HAN_NAMES = ("CJK UNIFIED", "HIRAGANA", "KATAKANA")


@cache
def script(character: str) -> str:
    """Return the script of a character. This is only correct for the alphabets of the tests."""
    name = unicodedata.name(character, "")
    if character == "\u30fc" or name.startswith(HAN_NAMES):
        return "Han"
    if unicodedata.category(character) == "Mn" and name.startswith("COMBINING"):
        return "Inherited"
    letter = unicodedata.category(character)[0] in "LM" or name.startswith("DEVANAGARI")
    return next((s for s in SCRIPT_NAMES if letter and name.startswith(s)), "Common")


def is_valid_piece(text: str, options: Options) -> bool:
    """Return whether a substring may become a piece."""
    if not 0 < len(text) <= options.max_sentencepiece_length:
        return False
    if any(character in (UNKNOWN, "\0", BOUNDARY, " ") for character in text):
        return False
    return (
        _spaces_stand_right(text, options)
        and not (options.split_digits and len(text) > 1 and any(map(is_digit, text)))
        and not (options.split_by_unicode_script and _mixes_scripts(text, options))
    )


def _spaces_stand_right(text: str, options: Options) -> bool:
    if options.allow_whitespace_only_pieces and set(text) == {SPACE}:
        return True
    last = len(text) - 1
    for at, character in enumerate(text):
        if character != SPACE:
            continue
        outer, inner = (last, 0) if options.treat_whitespace_as_suffix else (0, last)
        if at != outer and (options.split_by_whitespace or at == inner):
            return False
    return True


def _mixes_scripts(text: str, options: Options) -> bool:
    """Return whether the scripts of a text differ, ignoring None and inherited scripts."""
    previous: str | None = None
    for character in text:
        if character == SPACE:
            continue
        current: str | None = script(character)
        if current == "Inherited":
            current = previous
        if not options.split_by_number and is_digit(character):
            current = None
        if None not in (current, previous) and current != previous:
            return True
        previous = current
    return False
