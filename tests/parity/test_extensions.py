"""Extensions: spelled out as their defaults, the reference's bytes; else models that it loads."""

from __future__ import annotations

import io
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.extensions import DEFAULT, RECIPES
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.parity import corpora, reference
from tests.parity.harness import Trainers

TEXT = corpora.topics_text()
SPACE = "\u2581"

CONFIGURATIONS: list[dict[str, object]] = [
    {"recipe": "paper"},
    {"recipe": "fsp"},
    {"recipe": "fsp", "shrinking_factor": 0},
    {"seed_mode": "pretokens", "prefix_recovery": True},
    {"prefix_recovery": True},
    {"seed_factor": 7.5},
    {"m_step": "ml"},
    {"early_prune_threshold": 0},
    {"early_prune_threshold": 3},
    {"prune": "exact"},
    {"prune": "exact", "prune_overshoot": 1},
    {"prune_overshoot": 1},
    {"prune_overshoot": 2},
    {"final_estimate": "renormalize"},
    {"final_estimate": "em:3"},
    {"final_estimate": "em:2", "m_step": "ml", "prune_overshoot": 1},
    {"space_pieces": "separate"},
    {"space_pieces": "separate", "model_type": "bpe"},
    {"space_pieces": "separate", "prune": "exact", "seed_mode": "pretokens"},
]


def train(options: dict[str, object], text: str = TEXT, **others: object) -> bytes:
    written = io.BytesIO()
    given: dict[str, Any] = {
        "vocab_size": 400,
        "character_coverage": 1,
        "minloglevel": 2,
        **others,
        **options,
    }
    lines = text.split("\n")
    spmcompat.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, **given
    )
    return written.getvalue()


def test_the_defaults_are_those_of_the_reference() -> None:
    spelled_out = {**DEFAULT._asdict(), "seed_factor": 0}
    assert train(spelled_out) == train({})
    assert train({"space_pieces": "prefix"}, model_type="bpe") == train({}, model_type="bpe")


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_models_load_and_give_the_text_back(options: dict[str, object]) -> None:
    model = train(options, hard_vocab_limit=False)
    encoder = reference.load(model)
    assert 350 < encoder.get_piece_size() <= 400
    for line in TEXT.split("\n")[:200]:
        assert encoder.decode(encoder.encode(line)) == " ".join(line.split())
    assert train(options, hard_vocab_limit=False, workers=1) == model
    assert train(options, hard_vocab_limit=False, workers=3) == model


@pytest.mark.parametrize("options", CONFIGURATIONS, ids=str)
def test_each_changes_something(options: dict[str, object]) -> None:
    given = {"hard_vocab_limit": False, "model_type": options.get("model_type", "unigram")}
    assert train(options, **given) != train({}, **given)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("kind", ["latin", "han", "kana"])
def test_spaces_stand_apart(model_type: str, kind: str, trainers: Trainers) -> None:
    """It is what the reference gives with the mark as a user-defined symbol."""
    text = corpora.words_text(4, 300, kind, 100)
    given = {"vocab_size": 400, "hard_vocab_limit": False, "model_type": model_type}
    model = train({"space_pieces": "separate", **given}, text)
    apart = {"user_defined_symbols": SPACE, "add_dummy_prefix": False}
    trainers.check_sentences({**given, **apart, "minloglevel": 2}, text.split("\n"))
    pieces = [(p.piece, p.score) for p in ModelProto.FromString(model).pieces]
    assert pieces == [
        (p.piece, p.score) for p in ModelProto.FromString(train({**given, **apart}, text)).pieces
    ]
    assert not any(SPACE in piece and piece != SPACE for piece, _ in pieces)
    encoder = reference.load(model)
    for line in text.split("\n"):
        for piece in encoder.encode(line, return_type=str):
            assert piece == SPACE or SPACE not in piece


def test_what_is_given_beside_a_recipe_counts_more() -> None:
    fsp = {**RECIPES["fsp"]}
    assert train({"recipe": "fsp"}) == train(dict(fsp))
    assert train({"recipe": "fsp", "prune": "exact"}) == train({**fsp, "prune": "exact"})


def test_a_recipe_tells_what_it_set() -> None:
    log = io.StringIO()
    train({"recipe": "paper", "seed_factor": 3}, minloglevel=0, logstream=log)
    assert "--recipe=paper sets --seed_mode=pretokens\n" in log.getvalue()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed_mode": "words"}, '"words" is none of full_text, pretokens'),
        ({"recipe": "cake"}, 'no recipe "cake". Choose from paper, fsp'),
        ({"prune_overshoot": 0.9}, "0.9 is no number from 1 on"),
        ({"early_prune_threshold": -1}, "-1 is no number from 0 on"),
        ({"final_estimate": "em:0"}, '"em:0" is none of none, renormalize'),
        ({"final_estimate": "em"}, '"em" is none of none, renormalize'),
        ({"m_step": "ml", "model_type": "bpe"}, "m_step is for unigram models only"),
        ({"space_pieces": "separate", "model_type": "word"}, "is for unigram and bpe models only"),
        ({"prune": "exact", "use_sparse_pruning": True}, "does not know prune"),
        ({"shrinking_factor": 0}, "shrinking_factor must be from 0.5"),
        ({"shrinking_factor": 1, "prune": "flat"}, "shrinking_factor must be from 0.5"),
    ],
    ids=str,
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises((BadValueError, TrainingError)) as error:
        train(options)
    assert message in str(error.value)
