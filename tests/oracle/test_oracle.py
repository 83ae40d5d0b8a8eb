"""The oracle itself compared with the real library: pieces and scores, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest

from spmcompat.model.reading import parse
from tests.oracle.characters import SPACE, Options, Sentence, by_value, cover, normalized
from tests.oracle.heap import Agenda
from tests.oracle.merging import merges
from tests.oracle.training import train
from tests.parity import corpora, difference
from tests.parity.case import Option, Outcome
from tests.parity.harness import sentences_case
from tests.parity.sides import REFERENCE, Side
from tests.searches import examples

PLAIN: dict[str, Option] = {
    "hard_vocab_limit": False,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
}
"""With these options, normalization only replaces spaces."""


@pytest.fixture(scope="module")
def reference() -> Iterator[Side]:
    side = Side(REFERENCE)
    yield side
    side.close()


def random_lines(dice: random.Random) -> list[str]:
    seed, lines = dice.randrange(1 << 30), dice.randint(3, 40)
    text = dice.choice(
        [
            corpora.ties_text(
                seed, lines, dice.choice(["ab", "abc", "aあ漢ñ1", "a1あ", "ab\u0301"])
            ),
            corpora.words_text(seed, lines, dice.choice(["latin", "han", "kana", "cyrillic"]), 30),
            corpora.words_text(seed, lines, "hangul", 20),
            corpora.fibonacci_text(dice.randint(4, 9), dice.randint(5, 30)),
        ]
    )
    return [line for line in text.split("\n") if line]


def random_options(dice: random.Random) -> dict[str, int | float | bool]:
    return {
        "vocab_size": dice.choice([30, 45, 60, 100, 200, 100_000]),
        "num_threads": dice.choice([1, 2, 3, 16]),
        "num_sub_iterations": dice.choice([1, 2, 3]),
        "shrinking_factor": dice.choice([0.75, 0.5, 0.9]),
        "character_coverage": dice.choice([1.0, 0.9995, 0.98]),
        "seed_sentencepiece_size": dice.choice([1_000_000, 0, 20]),
        "max_sentencepiece_length": dice.choice([16, 4, 1, 30]),
        "split_by_whitespace": dice.random() < 0.7,
        "split_by_unicode_script": dice.random() < 0.7,
        "split_by_number": dice.random() < 0.7,
        "split_digits": dice.random() < 0.3,
        "treat_whitespace_as_suffix": dice.random() < 0.3,
        "allow_whitespace_only_pieces": dice.random() < 0.3,
    }


def require_pieces(outcome: Outcome, sentences: list[Sentence], options: Options) -> None:
    """Require that oracle and reference have the same pieces and scores, or that both fail."""
    if outcome.failure is not None:
        with pytest.raises(ValueError, match="Vocabulary size is smaller"):
            train(sentences, options)
        assert "Vocabulary size is smaller" in outcome.failure.message
        return
    model = outcome.output(".model")
    assert model is not None
    expected = [(p.piece, p.score) for p in parse(model).pieces if p.type == 1]
    assert [(text, float(score)) for text, score in train(sentences, options)] == expected


@pytest.mark.parametrize("number", range(examples(80)))
def test_the_oracle_trains_as_the_real_library(reference: Side, number: int) -> None:
    dice = random.Random(f"oracle/{number}")
    lines = random_lines(dice)
    drawn, dummy = random_options(dice), dice.random() < 0.7
    outcome = reference.run(sentences_case({**PLAIN, **drawn, "add_dummy_prefix": dummy}, lines))
    options = Options(**drawn)  # type: ignore[arg-type]
    sentences = [(normalized(line, options, dummy), 1) for line in lines]
    require_pieces(outcome, sentences, options)


@pytest.mark.parametrize("number", range(examples(40)))
def test_the_oracle_prunes_sparsely_as_the_real_library(reference: Side, number: int) -> None:
    dice = random.Random(f"sparse/{number}")
    lines = random_lines(dice)
    drawn = random_options(dice) | {
        "use_sparse_pruning": dice.random() < 0.8,
        "post_l1_debias": dice.random() < 0.5,
        "seed_piece_length_power": dice.choice([1.0, 0.5, 0.0, 0.3, 2.0]),
        "min_freq_alpha": dice.choice([0.0, 0.5, 3.0]),
    }
    more: dict[str, Option] = {}
    if drawn["use_sparse_pruning"] and dice.random() < 0.5:
        drawn["auto_character_coverage"] = more["byte_fallback"] = True
        drawn["vocab_size"] = 256 + int(drawn["vocab_size"])
        drawn["meta_pieces"] = 259
    stated = {name: value for name, value in drawn.items() if name != "meta_pieces"}
    outcome = reference.run(sentences_case({**PLAIN, **stated, **more}, lines))
    options = Options(**drawn)  # type: ignore[arg-type]
    sentences = [(normalized(line, options, True), 1) for line in lines]
    require_pieces(outcome, sentences, options)


@pytest.mark.parametrize("number", range(examples(60)))
def test_the_oracle_merges_as_the_real_library(reference: Side, number: int) -> None:
    dice = random.Random(f"merges/{number}")
    lines = random_lines(dice)
    drawn, dummy = random_options(dice), dice.random() < 0.7
    drawn["vocab_size"] = dice.choice([30, 60, 100, 400])
    more: dict[str, Option] = {"model_type": "bpe", "add_dummy_prefix": dummy}
    outcome = reference.run(sentences_case({**PLAIN, **drawn, **more}, lines))
    options = Options(**drawn)  # type: ignore[arg-type]
    covered, required = cover([(normalized(line, options, dummy), 1) for line in lines], options)
    wanted = options.vocab_size - options.meta_pieces - len(required)
    if wanted < 0:
        assert outcome.failure is not None
        return
    model = outcome.output(".model")
    assert model is not None
    pieces = [text for text, _ in merges(covered, options, wanted)]
    pieces += [character for character, _ in by_value(required.items())]
    found = [(p.piece, p.score) for p in parse(model).pieces if p.type == 1]
    assert found == [(text, -float(rank)) for rank, text in enumerate(pieces)]


def test_the_oracle_reports_the_objective_of_the_log(reference: Side) -> None:
    lines = corpora.words_text(5, 30, types=40).split("\n")[:-1]
    outcome = reference.run(sentences_case({**PLAIN, "vocab_size": 60, "num_threads": 3}, lines))
    found: list[tuple[str, str]] = []

    def report(stage: str, value: object) -> None:
        if stage == "e_step":
            _, objective, tokens = cast("tuple[object, float, int]", value)
            found.append((f"{float(objective):g}", str(tokens)))

    train(
        [(SPACE + line.replace(" ", SPACE), 1) for line in lines],
        Options(vocab_size=60, num_threads=3),
        report=report,
    )
    facts = difference.facts(outcome.log)
    assert found
    assert found == list(zip(facts["objective"], facts["tokens"], strict=True))


def test_the_agenda_returns_the_largest_first_and_loses_nothing() -> None:
    dice = random.Random(1)
    for size in range(40):
        agenda: Agenda[int] = Agenda()
        keys = [np.float32(dice.randrange(5)) for _ in range(size)]
        for number, key in enumerate(keys):
            agenda.push(key, number)
        popped = [agenda.pop() for _ in range(size)]
        assert [key for key, _ in popped] == sorted(keys, reverse=True)
        assert sorted(number for _, number in popped) == list(range(size))
