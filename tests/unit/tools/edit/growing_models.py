"""Small models for the tests of editing, and texts to train them on."""

from __future__ import annotations

import io
import random
from typing import Any

import spmcompat
from spmcompat.model.pieces import NORMAL
from spmcompat.model.reading import parse
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.oracle.characters import UNKNOWN, Options, Sentence, cover, normalized
from tests.parity import corpora

PLAIN: dict[str, Any] = {
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
}
"""Options of a normalizer that does not change text, which the oracle requires."""

KINDS = ("unigram", "bpe")


def trained(lines: list[str], **options: Any) -> ModelProto:
    """Train a model on the lines, with at most `vocab_size` pieces."""
    written = io.BytesIO()
    given = {"hard_vocab_limit": False, "minloglevel": 2, **options}
    spmcompat.train(sentence_iterator=iter(lines), model_writer=written, **given)
    return parse(written.getvalue())


def extended(model: ModelProto, lines: list[str], add: int, **options: Any) -> ModelProto:
    given = {"minloglevel": 2, **options}
    return parse(
        spmcompat.extend(
            model.SerializeToString(), add=add, sentence_iterator=iter(lines), **given
        ).model
    )


def trimmed(model: ModelProto, lines: list[str], keep: int, **options: Any) -> ModelProto:
    given = {"minloglevel": 2, **options}
    return parse(
        spmcompat.trim(
            model.SerializeToString(), keep=keep, sentence_iterator=iter(lines), **given
        ).model
    )


def words(seed: int, lines: int = 60, script: str = "latin", types: int = 60) -> list[str]:
    return [line for line in corpora.words_text(seed, lines, script, types).split("\n") if line]


def old_and_new(number: int) -> tuple[list[str], list[str]]:
    """Draw the text of a model and another text that shares some words with it."""
    dice = random.Random(f"old and new/{number}")
    script = dice.choice(["latin", "han", "kana", "hangul"])
    old = words(dice.randrange(1 << 30), 30, dice.choice(["latin", script]), 30)
    new = words(dice.randrange(1 << 30), 30, script, 30)
    return old, [*new, *dice.sample(old, 5)]


def scores_of(model: ModelProto) -> dict[str, float]:
    """Return the normal pieces and their scores."""
    return {one.piece: one.score for one in model.pieces if one.type == NORMAL}


def covered(
    lines: list[str], model: ModelProto, options: Options
) -> tuple[list[Sentence], list[str]]:
    """Return the sentences for the oracle, and the required characters that the model lacks.

    The sentences contain the unknown mark instead of every character that is neither in the model
    nor required by the character coverage.
    """
    known = {c for piece in scores_of(model) for c in piece}
    by_coverage = Options(**{**vars(options), "required_chars": "".join(sorted(known))})
    sentences = [(normalized(line, options, True), 1) for line in lines]
    _, required = cover(sentences, by_coverage)
    stay = known | {*required}
    text = [("".join(c if c in stay else UNKNOWN for c in line), n) for line, n in sentences]
    missing = [c for c, count in required.items() if count and c not in scores_of(model)]
    return text, sorted(missing, key=lambda c: (-required[c], c))
