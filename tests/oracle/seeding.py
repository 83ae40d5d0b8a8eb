"""Seeds: all characters, and all valid substrings that precede at least two different bytes."""

from __future__ import annotations

import ctypes
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

import numpy as np

from .characters import BOUNDARY, UNKNOWN, Options, Sentence, by_value, is_valid_piece

Pieces = list[tuple[str, np.float32]]
Part = TypeVar("Part", str, bytes)

END = -1
"""What follows the last byte of the text. It differs from every byte."""

LIBM = ctypes.CDLL("libm.so.6")
"""The float functions that the reference calls. Those of numpy round differently."""
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
    """Sort by descending score; ties by descending length in bytes, then by bytes."""
    power = options.seed_piece_length_power
    scored = [
        (text, np.float32(frequency) * length_weight(len(text), power))
        for text, frequency in counts.items()
    ]
    return sorted(scored, key=lambda item: (-item[1], -len(item[0].encode()), item[0]))


def length_weight(length: int, power: float) -> np.float32:
    """Return the length raised to the power, in float32. For the power 1/2, use `sqrt`."""
    if power == 0.5:
        return np.sqrt(np.float32(length))
    return np.float32(LIBM.powf(ctypes.c_float(length), ctypes.c_float(power)))


def least_frequency(chunk: bytes, options: Options) -> int:
    """Return the least count that a candidate of more than three bytes needs, by Zipf's law."""
    size = np.float32(options.vocab_size)
    pieces = size * np.float32(LIBM.logf(ctypes.c_float(options.vocab_size)))
    alpha = np.float32(options.min_freq_alpha)
    return max(2, int(alpha * np.float32(len(chunk)) / max(np.float32(1), pieces)))


def chunks(sentences: Iterable[Sentence], limit: int) -> Iterator[bytes]:
    """Yield the seeding chunks: each sentence, followed by a zero byte, `frequency` times.

    A chunk is full when it contains at least `limit` bytes. If a sentence fills a chunk, the
    remaining repetitions of this sentence are lost.
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
    """Return each character except unknown and boundary marks, with its count."""
    counts: Counter[str] = Counter()
    for text, frequency in sentences:
        for character in text:
            if character not in (UNKNOWN, BOUNDARY):
                counts[character] += frequency
    return [(text, np.float32(count)) for text, count in by_value(counts.items())]


def candidates(chunk: bytes, options: Options) -> Counter[str]:
    """Count the substrings of two or more characters that different bytes follow in the chunk.

    Substrings that are too rare are dropped. After that, the count of a substring that ends with
    the zero byte is added to the count of the same text without the zero byte.
    """
    least = least_frequency(chunk, options)
    result: Counter[str] = Counter()
    for part, count in branching(chunk, 4 * options.max_sentencepiece_length + 1):
        if len(part) > 3 and count < least:
            continue
        try:
            text = part.removesuffix(b"\0").decode()
        except UnicodeDecodeError:
            continue
        if len(text) > 1 and is_valid_piece(text, options):
            result[text] += count
    return result


@lru_cache(maxsize=64)
def branching(chunk: bytes, longest: int) -> list[tuple[bytes, int]]:
    """Count the substrings of up to `longest` bytes that precede at least two different bytes.

    The result is cached: this is the slowest part of the oracle, and tests train one text with many
    options.
    """
    occurrences: Counter[bytes] = Counter()
    followers: defaultdict[bytes, set[int]] = defaultdict(set)
    for begin in range(len(chunk)):
        for end in range(begin + 1, min(begin + longest, len(chunk)) + 1):
            part = chunk[begin:end]
            occurrences[part] += 1
            followers[part].add(chunk[end] if end < len(chunk) else END)
            if part.endswith(b"\0"):
                break
    return [(part, count) for part, count in occurrences.items() if len(followers[part]) > 1]


def log_probabilities(pieces: Pieces) -> Pieces:
    """Return the logarithm of each piece's share of all counts, rounded once from double."""
    total = 0.0
    for _, count in pieces:
        total += float(count)
    return [(text, np.float32(math.log(float(count)) - math.log(total))) for text, count in pieces]


def log_of_float_sum(pieces: Pieces) -> Pieces:
    """Return log probabilities as before release 0.2.3: with a float32 sum and a float32 log."""
    total = np.float32(0)
    for _, count in pieces:
        total += count
    log_total = float(np.float32(math.log(float(total))))
    return [(text, np.float32(math.log(float(count)) - log_total)) for text, count in pieces]


# Seed modes that the reference does not have. A node is a text that is followed by at least two
# different bytes or characters. The parent of a node is its longest proper prefix that is a node.


def text_candidates(chunk: bytes, options: Options) -> Counter[str]:
    """Count as `candidates` does, and add each invalid node's count to its longest valid prefix."""
    result = candidates(chunk, options)
    occurrences: defaultdict[bytes, list[int]] = defaultdict(list)
    for begin in range(len(chunk)):
        for end in range(begin, len(chunk) + 1):
            occurrences[chunk[begin:end]].append(end)
    nodes = {
        part
        for part, ends in occurrences.items()
        if len({chunk[end] if end < len(chunk) else END for end in ends}) > 1
    }

    def accepted(part: bytes) -> bool:
        text = part.decode(errors="replace")
        return len(text) > 1 and text.encode() == part and is_valid_piece(text, options)

    for node in nodes:
        if not accepted(node.removesuffix(b"\0")):
            piece = _longest_valid_prefix(node, nodes, accepted)
            if piece is not None:
                result[piece.decode()] += len(occurrences[node])
    return result


def pretoken_candidates(
    pretokens: Mapping[str, int], is_valid: Callable[[str], bool], recover: bool
) -> Counter[str]:
    """Count the nodes of pretokens, and the pretokens that occur at least twice.

    The ends of different pretokens count as different followers.
    """
    count: Counter[str] = Counter()
    followers: defaultdict[str, set[str]] = defaultdict(set)
    for pretoken, times in pretokens.items():
        for begin in range(len(pretoken)):
            for end in range(begin, len(pretoken) + 1):
                count[pretoken[begin:end]] += times
                after = pretoken[end] if end < len(pretoken) else f"end of {pretoken}"
                followers[pretoken[begin:end]].add(after)
    nodes = {text for text, after in followers.items() if len(after) > 1}

    def accepted(text: str) -> bool:
        return len(text) > 1 and is_valid(text)

    result: Counter[str] = Counter()
    for node in nodes | {text for text, times in pretokens.items() if times > 1}:
        piece: str | None = node if accepted(node) else None
        if piece is None and recover and node in nodes:
            piece = _longest_valid_prefix(node, nodes, accepted)
        if piece is not None:
            result[piece] += count[node]
    return result


def _longest_valid_prefix(
    node: Part, nodes: set[Part], accepted: Callable[[Part], bool]
) -> Part | None:
    for end in range(len(node) - 1, 0, -1):
        if node[:end] in nodes:
            return None
        if accepted(node[:end]):
            return node[:end]
    return None
