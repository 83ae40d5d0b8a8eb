"""Seeds: every character, and every valid substring that two different bytes can follow."""

from __future__ import annotations

import ctypes
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from .characters import BOUNDARY, UNKNOWN, Options, Sentence, by_value, is_valid_piece

Pieces = list[tuple[str, np.float32]]

END = -1
"""What follows the last byte of the text; it differs from every byte."""

LIBM = ctypes.CDLL("libm.so.6")
"""For functions of a float, which numpy rounds in its own way."""
for function in (LIBM.powf, LIBM.logf):
    function.restype = ctypes.c_float


def seed(sentences: Iterable[Sentence], options: Options) -> Pieces:
    """Return the seeds with their log probabilities: characters first, then the candidates."""
    sentences = list(sentences)
    size = options.seed_sentencepiece_size or max(100_000, 8 * options.vocab_size)
    counts: Counter[str] = Counter()
    for chunk in chunks(sentences, options.chunk_bytes):
        counts.update(candidates(chunk, options))
        if len(counts) > 16 * size:
            kept = ranked(counts, options)[: 8 * size]
            counts = Counter({text: counts[text] for text, _ in kept})
    return log_probabilities([*characters(sentences), *ranked(counts, options)[:size]])


def ranked(counts: Counter[str], options: Options) -> Pieces:
    """Sort by score descending; of equal ones the longer in bytes first, then by bytes."""
    power = options.seed_piece_length_power
    scored = [
        (text, np.float32(frequency) * length_weight(len(text), power))
        for text, frequency in counts.items()
    ]
    return sorted(scored, key=lambda item: (-item[1], -len(item[0].encode()), item[0]))


def length_weight(length: int, power: float) -> np.float32:
    """Raise the length to the power, in float32; the power 1/2 is a square root."""
    if power == 0.5:
        return np.sqrt(np.float32(length))
    return np.float32(LIBM.powf(ctypes.c_float(length), ctypes.c_float(power)))


def least_frequency(chunk: bytes, options: Options) -> int:
    """Return how often a candidate of more than three bytes must occur, by Zipf's law."""
    size = np.float32(options.vocab_size)
    pieces = size * np.float32(LIBM.logf(ctypes.c_float(options.vocab_size)))
    alpha = np.float32(options.min_freq_alpha)
    return max(2, int(alpha * np.float32(len(chunk)) / max(np.float32(1), pieces)))


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
    in the zero byte is trimmed, and its count is added to that of the text before it. Both
    are judged apart by whether they are too rare.
    """
    least = least_frequency(chunk, options)
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
        if len(followers[part]) < 2 or (len(part) > 3 and count < least):
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
