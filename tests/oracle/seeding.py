"""Seeds: every character, and every valid substring that two different bytes can follow."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from .characters import BOUNDARY, UNKNOWN, Options, Sentence, by_value, is_valid_piece

Pieces = list[tuple[str, np.float32]]

END = -1
"""What follows the last byte of the text; it differs from every byte."""


def seed(sentences: Iterable[Sentence], options: Options) -> Pieces:
    """Return the seeds with their log probabilities: characters first, then the candidates."""
    sentences = list(sentences)
    size = options.seed_sentencepiece_size or max(100_000, 8 * options.vocab_size)
    counts: Counter[str] = Counter()
    for chunk in chunks(sentences, options.chunk_bytes):
        counts.update(candidates(chunk, options))
        if len(counts) > 16 * size:
            counts = Counter({text: counts[text] for text, _ in ranked(counts)[: 8 * size]})
    return log_probabilities([*characters(sentences), *ranked(counts)[:size]])


def ranked(counts: Counter[str]) -> Pieces:
    """Sort by score descending; of equal ones the longer in bytes first, then by bytes."""
    scored = [
        (text, np.float32(frequency) * np.float32(len(text))) for text, frequency in counts.items()
    ]
    return sorted(scored, key=lambda item: (-item[1], -len(item[0].encode()), item[0]))


def chunks(sentences: Iterable[Sentence], limit: int) -> Iterator[bytes]:
    """Join sentences, each closed by a zero byte and repeated by its frequency, up to a limit.

    A chunk is full once it holds `limit` bytes; what is left of the frequency then is lost.
    """
    chunk = b""
    for text, frequency in sentences:
        for _ in range(frequency):
            if len(chunk) >= limit:
                break
            chunk += text.encode() + b"\0"
        if len(chunk) >= limit:
            yield chunk
            chunk = b""
    if chunk:
        yield chunk


def seed_from_file(
    sentences: Iterable[Sentence], lines: Iterable[tuple[str, int]], options: Options
) -> Pieces:
    """Return the characters and the valid pieces of a seed file, all sorted by score."""
    pieces = characters(sentences)
    seen = {text for text, _ in pieces}
    for text, frequency in lines:
        if not is_valid_piece(text, options) or text in seen:
            continue
        seen.add(text)
        if len(pieces) >= options.seed_sentencepiece_size:
            break
        pieces.append((text, np.float32(frequency * len(text))))
    return log_probabilities(sorted(pieces, key=lambda item: (-item[1], item[0])))


def characters(sentences: Iterable[Sentence]) -> Pieces:
    """Return every known character with its count."""
    counts: Counter[str] = Counter()
    for text, frequency in sentences:
        for character in text:
            if character not in (UNKNOWN, BOUNDARY):
                counts[character] += frequency
    return [(text, np.float32(count)) for text, count in by_value(counts.items())]


def candidates(chunk: bytes, options: Options) -> Counter[str]:
    """Count, in one chunk, the substrings of several characters that branch.

    A substring is looked at in bytes: what follows it must be two different bytes. One that ends
    in the zero byte is trimmed, and its count is added to that of the text before it.
    """
    occurrences: Counter[bytes] = Counter()
    followers: defaultdict[bytes, set[int]] = defaultdict(set)
    longest = 4 * options.max_sentencepiece_length + 1
    for begin in range(len(chunk)):
        for end in range(begin + 1, min(begin + longest, len(chunk)) + 1):
            part = chunk[begin:end]
            occurrences[part] += 1
            followers[part].add(chunk[end] if end < len(chunk) else END)
            if part.endswith(b"\0"):
                break

    result: Counter[str] = Counter()
    for part, count in occurrences.items():
        if len(followers[part]) < 2:
            continue
        try:
            text = part.removesuffix(b"\0").decode()
        except UnicodeDecodeError:
            continue
        if len(text) > 1 and is_valid_piece(text, options):
            result[text] += count
    return result


def log_probabilities(pieces: Pieces) -> Pieces:
    """Turn counts into logarithms of shares; the sum is a double, each result rounded once."""
    total = 0.0
    for _, count in pieces:
        total += float(count)
    return [(text, np.float32(math.log(float(count)) - math.log(total))) for text, count in pieces]


def log_of_float_sum(pieces: Pieces) -> Pieces:
    """Do the same as releases before 0.2.3: the sum and its logarithm are floats."""
    total = np.float32(0)
    for _, count in pieces:
        total += count
    log_total = float(np.float32(math.log(float(total))))
    return [(text, np.float32(math.log(float(count)) - log_total)) for text, count in pieces]
