"""Seeds of releases before 0.2.3: nodes of a suffix tree over the characters of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .characters import Options, Sentence, is_valid_piece, split
from .seeding import Pieces, characters, log_of_float_sum

END = "\0"
"""The character that ends a sentence."""


Seeder = Callable[[Iterable[Sentence], Options], Pieces]


class Node(NamedTuple):
    """A substring that is followed by at least two different characters in the text.

    The end of the text counts as a character.
    """

    text: str
    count: int
    at_text_end: bool


def seed(sentences: Iterable[Sentence], options: Options) -> Pieces:
    """Return the characters, then the valid nodes; nodes with equal scores stay in tree order."""
    sentences = list(sentences)
    size = options.seed_sentencepiece_size
    scored = [
        (node.text, node.count * len(node.text))
        for node in nodes("".join(text + END for text, _ in sentences))
        if len(node.text) > 1 and not node.at_text_end and is_valid_piece(node.text, options)
    ]
    best = sorted(scored, key=lambda item: -item[1])[:size]
    return log_of_float_sum([*characters(sentences), *as_floats(best)])


def seed_from_cut_nodes(sentences: Iterable[Sentence], options: Options) -> Pieces:
    """Cut nodes at the ends of pretokens. Return the characters, then the valid parts."""
    sentences = list(sentences)
    best: dict[str, int] = {}
    for node in nodes("".join(text + END for text, _ in sentences)):
        if len(node.text) < 2 or node.at_text_end:
            continue
        for text in parts(node.text, options):
            if len(text) > 1 and is_valid_piece(text, options):
                best[text] = max(best.get(text, 0), node.count * len(text))
    ranked = sorted(best.items(), key=lambda item: (-item[1], -len(item[0].encode()), item[0]))
    chosen = ranked[: options.seed_sentencepiece_size]
    return log_of_float_sum([*characters(sentences), *as_floats(chosen)])


def as_floats(scored: Iterable[tuple[str, int]]) -> Pieces:
    """Round each score to float32."""
    return [(text, np.float32(score)) for text, score in scored]


def parts(text: str, options: Options) -> Iterator[str]:
    """Cut the text of a node at sentence ends, and at spaces if `split_by_whitespace` is set."""
    for part in text.split(END):
        yield from split(part, options) if options.split_by_whitespace else [part]


@lru_cache(maxsize=1)
def nodes(text: str) -> list[Node]:
    """Return the nodes in the order in which a walk through the sorted suffixes leaves them."""
    found = []
    order = sorted(range(len(text)), key=lambda begin: text[begin:])
    open_nodes = [(0, 0)]  # for each node: the rank of its first suffix, and the length of its text
    for rank in range(1, len(order) + 1):
        common = 0
        if rank < len(order):
            common = common_prefix(text[order[rank - 1] :], text[order[rank] :])
        first = rank - 1
        while open_nodes[-1][1] > common:
            first, length = open_nodes.pop()
            begin = order[first]
            at_end = begin + length == len(text)
            found.append(Node(text[begin : begin + length], rank - first, at_end))
        if open_nodes[-1][1] < common:
            open_nodes.append((first, common))
    return found


def common_prefix(a: str, b: str) -> int:
    """Return the length of the longest common prefix of two texts."""
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length
