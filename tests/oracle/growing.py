"""Larger and smaller vocabularies: learning new pieces for a model, and dropping pieces."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from .characters import UNKNOWN, Options, Sentence, is_valid_piece, pretokens
from .merging import count_pairs, replace
from .seeding import Pieces, seed
from .training import e_step, losses, m_step, unreachable


def encode(text: str, scores: Mapping[str, float]) -> list[str]:
    """Repeatedly merge the neighbours whose joined text scores highest; the leftmost wins a tie."""
    symbols = list(text)
    while True:
        joined = [left + right for left, right in pairwise(symbols)]
        found = [(-scores[text], at) for at, text in enumerate(joined) if text in scores]
        if not found:
            return symbols
        _, at = min(found)
        symbols[at : at + 2] = [joined[at]]


def extending_merges(
    sentences: Iterable[Sentence], options: Options, scores: Mapping[str, float], wanted: int
) -> Iterator[tuple[str, int]]:
    """Yield the merges that extend a BPE model, with their counts.

    The characters outside the alphabet are already replaced in the sentences.
    """
    counted = pretokens(sentences, options)
    text = [
        (encode(part, scores), count) for text, count in counted for part in text.split(UNKNOWN)
    ]
    known = set(scores)
    for _ in range(wanted):
        counts = {
            pair: count
            for pair, count in count_pairs(text).items()
            if "".join(pair) not in known and is_valid_piece("".join(pair), options)
        }
        if not counts:
            return
        best = min(counts, key=lambda pair: (-counts[pair], len("".join(pair)), "".join(pair)))
        known.add("".join(best))
        yield "".join(best), counts[best]
        text = [(replace(symbols, best, set()), count) for symbols, count in text]


def parts(piece: str, scores: Mapping[str, float]) -> list[str]:
    """Return the two symbols that are merged into the piece; more symbols if no merge yields it."""
    return encode(piece, {text: score for text, score in scores.items() if text != piece})


def trimmed_by_leaves(
    scores: Mapping[str, float],
    counts: Mapping[str, int],
    dropped: int,
    characters: Collection[str] = (),
) -> list[str]:
    """Return the pieces to drop, in order.

    The piece with the lowest count is dropped first, on ties the one with the lowest score. The
    count of a dropped piece is added to its parts. Pieces that are parts of other pieces stay, and
    so do single characters that are not in `characters`.
    """
    left = dict(scores)
    uses = Counter(counts)
    fallen = []
    for _ in range(dropped):
        needed = {part for piece in left if len(piece) > 1 for part in parts(piece, left)}
        free = [piece for piece in left if len(piece) > 1 or piece in characters]
        leaves = [piece for piece in free if piece not in needed]
        if not leaves:
            break
        worst = min(leaves, key=lambda piece: (uses[piece], left[piece]))
        for part in parts(worst, left) if len(worst) > 1 else ():
            uses[part] += uses[worst]
        fallen.append(worst)
        del left[worst]
    return fallen


def extend_unigram(
    sentences: Sequence[Sentence],
    old: Pieces,
    characters: Sequence[str],
    add: int,
    options: Options,
) -> Pieces:
    """Return the new pieces for a Unigram model.

    The characters outside the alphabet are already replaced in the sentences. All pieces take part
    in EM. Only new pieces are pruned, except those that are new characters.
    """
    seeds = seed(sentences, options)
    required = [*(text for text, _ in old), *characters]
    scores, lowest = dict(seeds), min(score for _, score in seeds)
    pieces = [(text, scores.get(text, lowest)) for text in required]
    pieces += [piece for piece in seeds if piece[0] not in required]
    counted = pretokens(sentences, options)
    most = int(1.1 * add)
    while True:
        for _ in range(options.num_sub_iterations):
            expected = e_step(pieces, counted, options.num_threads)[0]
            pieces = m_step(pieces, expected, 0.5, required)
        new = len(pieces) - len(old)
        if new <= most:
            break
        shrunk = int(np.float32(options.shrinking_factor) * np.float32(new))
        size = len(old) + max(most, shrunk)
        found = losses(pieces, counted, options)
        ranked = [
            (-loss, number)
            for number, loss in enumerate(found)
            if loss is not None and pieces[number][0] not in required
        ]
        stay = {number for _, number in sorted(ranked)[: size - len(required)]}
        pieces = [
            piece for number, piece in enumerate(pieces) if number in stay or piece[0] in required
        ]

    weights = e_step(pieces, counted, options.num_threads)[0][: len(old)]
    total = math.fsum(map(float, weights))
    differences = [
        float(weight) * (float(score) - float(estimate))
        for weight, (_, score), (_, estimate) in zip(weights, old, pieces, strict=False)
    ]
    shift = math.fsum(differences) / total if total else 0.0
    moved = [(text, np.float32(float(score) + shift)) for text, score in pieces[len(old) :]]
    beaten = unreachable([*old, *moved])
    stay_new = [
        (text, score)
        for number, (text, score) in enumerate(moved, len(old))
        if text in characters or number not in beaten
    ]
    stay_new.sort(key=lambda item: (item[0] not in characters, -item[1], item[0]))
    return sorted(stay_new[:add], key=lambda item: (-item[1], item[0]))


def trimmed_by_loss(
    pieces: Pieces,
    sentences: list[Sentence],
    may_fall: Collection[str],
    dropped: int,
    options: Options,
) -> set[str]:
    """Return the pieces to drop from a Unigram model, in rounds and without EM."""
    fallen: set[str] = set()
    while len(fallen) < dropped:
        found = losses(pieces, sentences, options)
        ranked = sorted(
            (loss is not None, float(score) if loss is None else float(loss), number)
            for number, ((text, score), loss) in enumerate(zip(pieces, found, strict=True))
            if text in may_fall
        )
        kept = int(np.float32(options.shrinking_factor) * np.float32(len(pieces)))
        round_size = min(dropped - len(fallen), max(len(pieces) - kept, 1))
        fallen |= {pieces[number][0] for *_, number in ranked[:round_size]}
        pieces = [piece for piece in pieces if piece[0] not in fallen]
    return fallen
