"""Models trained for the fewest tokens: the real library encodes with the fewest tokens."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any

import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.fewest_tokens import GRID, PRICE, priced
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import prune_flat
from spmcompat.unigram.trainer import make_seeds
from tests.parity import corpora, reference
from tests.parity.harness import Trainers
from tests.unit import stages
from tests.unit.stages import QUIET

SPACE = "\u2581"
TEXTS = {
    "topics": corpora.topics_text(),
    "ties": corpora.ties_text(3, 300, "ab"),
    "han": corpora.words_text(5, 300, "han", 300).replace(" ", ""),
    "mixed": corpora.mixed_text(7, 400),
}

Steps = dict[str, int]
Cost = tuple[int, int, tuple[int, ...]]


def train(text: str, **others: object) -> bytes:
    written = io.BytesIO()
    options: dict[str, Any] = {"recipe": "mingram", "vocab_size": 900, "character_coverage": 1}
    options |= others
    spmcompat.train(
        sentence_iterator=text.split("\n"),
        model_writer=written,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def steps_of(model: bytes) -> Steps:
    """Return the negative log-probability of each piece, as a whole number of grid steps."""
    pieces = [piece for piece in ModelProto.FromString(model).pieces if piece.type == piece.NORMAL]
    steps = {piece.piece: (-PRICE - piece.score) / GRID for piece in pieces}
    assert all(step == int(step) >= 0 for step in steps.values())
    return {piece: int(step) for piece, step in steps.items()}


def cost(path: tuple[str, ...], steps: Steps) -> Cost:
    """Return the keys by which paths are compared, the most important key first.

    The keys are the number of tokens, the sum of their steps, and the negative lengths of the
    tokens from last to first.
    """
    return len(path), sum(steps[piece] for piece in path), tuple(-len(p) for p in reversed(path))


def all_paths(word: str, steps: Steps) -> Iterator[tuple[str, ...]]:
    if not word:
        yield ()
    for size in range(1, len(word) + 1):
        if word[:size] in steps:
            yield from ((word[:size], *rest) for rest in all_paths(word[size:], steps))


def best_path(word: str, steps: Steps) -> tuple[str, ...]:
    """Return the path with the lowest cost, computed from the best paths of the prefixes."""
    best: list[tuple[str, ...]] = [()]
    for end in range(1, len(word) + 1):
        paths = [(*best[i], word[i:end]) for i in range(end) if word[i:end] in steps]
        best.append(min(paths, key=lambda path: cost(path, steps)))
    return best[-1]


def words_of(pieces: list[str], steps: Steps) -> Iterator[tuple[str, ...]]:
    """Group the pieces of a line by word; user-defined symbols belong to no word."""
    word: list[str] = []
    for piece in pieces:
        if piece.startswith(SPACE) and word:
            yield tuple(word)
            word = []
        if piece in steps:
            word.append(piece)
    if word:
        yield tuple(word)


@pytest.mark.parametrize("space_pieces", ["prefix", "separate"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_real_library_takes_the_fewest_tokens(name: str, space_pieces: str) -> None:
    model = train(TEXTS[name], space_pieces=space_pieces)
    steps = steps_of(model)
    encoder = reference.load(model)
    lines = TEXTS[name].split("\n")
    one_line = " ".join(lines)  # in a long line, sums are exact because they restart at each word
    cut = {
        w
        for line in [*lines, one_line]
        for w in words_of(encoder.encode(line, out_type=str), steps)
    }
    expected = {word: best_path(word, steps) for word in map("".join, cut)}
    assert cut == set(expected.values())
    short = [word for word in expected if len(word) <= 10]
    assert len(short) > 10
    for word in short:
        assert expected[word] == min(all_paths(word, steps), key=lambda path: cost(path, steps))


def test_the_texts_have_ties() -> None:
    """Words have several paths with the same number of tokens; some paths are equally probable."""
    tokens = probability = 0
    for text in TEXTS.values():
        steps = steps_of(train(text))
        words = {SPACE + word for word in text.split() if len(word) < 9}
        for word in words:
            if not all(c in steps for c in word):
                continue
            costs = sorted(cost(path, steps) for path in all_paths(word, steps))
            tokens += len(costs) > 1 and costs[0][0] == costs[1][0]
            probability += len(costs) > 1 and costs[0][:2] == costs[1][:2]
    assert tokens > 100
    assert probability > 5


@pytest.mark.parametrize("name", TEXTS)
def test_seeds_are_those_of_bpe(name: str, trainers: Trainers) -> None:
    lines = [line for line in TEXTS[name].split("\n") if line]
    bpe = {"model_type": "bpe", "normalization_rule_name": "identity", "minloglevel": 2}
    chosen = {**bpe, "vocab_size": 703, "character_coverage": 1, "hard_vocab_limit": False}
    model = trainers.check_sentences(chosen, lines).reference.output(".model")
    assert model is not None
    expected = [p.piece for p in ModelProto.FromString(model).pieces if p.type == p.NORMAL]
    workers = Workers(2)
    corpus = stages.read(lines, remove_extra_whitespaces=True, character_coverage=1)
    options = UnigramOptions(vocab_size=700, seed_mode="bpe", seed_factor=1)
    seeds = [piece.decode() for piece, _ in make_seeds(corpus, options, Context(workers, QUIET))]
    characters = len(corpus.alphabet)
    assert seeds[characters:] == expected[: len(expected) - characters]
    assert seeds[:characters] == expected[len(expected) - characters :]


def test_scores_are_multiples_of_the_grid() -> None:
    scores = [0.0, -0.12, -0.13, -3.3, -15.7, -99.0, -math.inf]
    prices = [score + PRICE for _, score in priced([(b"a", score) for score in scores])]
    assert prices == [0.0, 0.0, -0.25, -3.25, -15.75, -15.75, -15.75]


def test_flat_pruning_keeps_required_pieces_first() -> None:
    items = [(b"a", -3.0), (b"b", -1.0), (b"c", -2.0), (b"d", -9.0)]
    assert list(prune_flat(Pieces(items), 2, frozenset([b"d"]))[0]) == [items[1], items[3]]
