"""`trim` compared with the oracle, and what it must preserve."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spmcompat
from spmcompat.errors import BadValueError
from spmcompat.model.pieces import NORMAL, UNUSED, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.reach import unreachable
from tests.kinds import raises_kind
from tests.oracle import growing
from tests.oracle.characters import UNKNOWN, Options, pretokens
from tests.parity import corpora
from tests.searches import examples
from tests.unit.tools.edit.growing_models import (
    KINDS,
    PLAIN,
    covered,
    extended,
    old_and_new,
    scores_of,
    trained,
    trimmed,
    words,
)

TEXT = words(1, 200, types=300)
OTHER = [*words(2, 80, types=100), *TEXT[:20]]


def dropped(before: ModelProto, after: ModelProto) -> set[str]:
    return {one.piece for one in before.pieces} - {one.piece for one in after.pieces}


def encoded_counts(lines: list[str], model: ModelProto) -> Counter[str]:
    """Return how often each token occurs in a text; unknown characters are not counted."""
    scores = scores_of(model)
    known = {c for piece in scores for c in piece}
    counts: Counter[str] = Counter()
    for text, count in pretokens(covered(lines, model, Options())[0], Options()):
        for part in "".join(c if c in known else UNKNOWN for c in text).split(UNKNOWN):
            for symbol in growing.encode(part, scores):
                counts[symbol] += count
    return counts


def required_characters(counts: Counter[str], coverage: float) -> set[str]:
    """Return the characters chosen by descending count until the character coverage is reached."""
    single: Counter[str] = Counter()
    for token, count in counts.items():
        for character in token:
            single[character] += count
    chosen: set[str] = set()
    for character in sorted(single, key=lambda c: (-single[c], c)):
        share = np.float32(sum(single[c] for c in chosen) / single.total())
        if share >= np.float32(coverage):
            break
        chosen.add(character)
    return chosen


@pytest.mark.parametrize("number", range(examples(12)))
def test_bpe_leaves_fall_as_in_the_oracle(number: int) -> None:
    dice = random.Random(f"leaves/{number}")
    first, second = old_and_new(number)
    model = trained(first, vocab_size=dice.choice([120, 200]), model_type="bpe", **PLAIN)
    scores, counts = scores_of(model), encoded_counts(second, model)
    size = dice.randint(1, sum(len(piece) > 1 for piece in scores))
    oracle = growing.trimmed_by_leaves(scores, counts, size)
    small = trimmed(model, second, len(model.pieces) - size, workers=dice.choice([1, 2]))
    assert dropped(model, small) == set(oracle)


@pytest.mark.parametrize("number", range(examples(12)))
def test_bpe_characters_fall_as_in_the_oracle(number: int) -> None:
    dice = random.Random(f"characters/{number}")
    first, second = old_and_new(number)
    model = trained([*first, *second], vocab_size=160, model_type="bpe", **PLAIN)
    scores, counts = scores_of(model), encoded_counts(second, model)
    coverage = dice.choice([0.98, 0.9995, 1.0])
    required = required_characters(counts, coverage)
    free = {piece for piece in scores if len(piece) == 1} - required
    size = dice.randint(1, len(scores) - len(required))
    oracle = growing.trimmed_by_leaves(scores, counts, size, free)
    options: dict[str, Any] = {"drop_characters": True, "character_coverage": coverage}
    small = trimmed(model, second, len(model.pieces) - size, **options)
    assert dropped(model, small) == set(oracle)


@pytest.mark.parametrize("number", range(examples(12)))
def test_unigram_pieces_fall_as_in_the_oracle(number: int) -> None:
    dice = random.Random(f"losses/{number}")
    first, second = old_and_new(number)
    options = Options(num_threads=3)
    model = trained(first, vocab_size=dice.choice([120, 200]), num_threads=3, **PLAIN)
    scores = [(piece, np.float32(score)) for piece, score in scores_of(model).items()]
    may_fall = {piece for piece, _ in scores if len(piece) > 1}
    size = dice.randint(1, len(may_fall))
    # Characters that the model lacks stay unknown.
    known = {c for piece, _ in scores for c in piece}
    text = [
        ("".join(c if c in known else UNKNOWN for c in line), count)
        for line, count in covered(second, model, options)[0]
    ]
    oracle = growing.trimmed_by_loss(scores, pretokens(text, options), may_fall, size, options)
    small = trimmed(model, second, len(model.pieces) - size, workers=dice.choice([1, 2]))
    assert dropped(model, small) == oracle


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        PLAIN,
        {"byte_fallback": True},
        {"user_defined_symbols": ["ab", "<x>"], "control_symbols": ["<c>"]},
        {"treat_whitespace_as_suffix": True},
        {"split_by_whitespace": False},
        {"unk_id": 3, "bos_id": 0, "eos_id": -1, "pad_id": 1},
    ],
    ids=str,
)
def test_only_merged_pieces_fall(kind: str, options: dict[str, Any]) -> None:
    model = trained(TEXT, vocab_size=500, model_type=kind, **options)
    keep = len(model.pieces) - 60
    small = trimmed(model, OTHER, keep)
    assert len(small.pieces) == keep == small.trainer_spec.vocab_size
    fallen = dropped(model, small)
    assert all(len(piece) > 1 for piece in fallen)
    assert all(one.type == NORMAL for one in model.pieces if one.piece in fallen)
    assert list(small.pieces) == [one for one in model.pieces if one.piece not in fallen]
    assert unreachable(pieces_of(small), small.trainer_spec) == unreachable(
        [one for one in pieces_of(model) if one.text not in fallen], small.trainer_spec
    )
    for one in (model, small):
        del one.pieces[:]
        one.trainer_spec.ClearField("vocab_size")
    assert small == model


@pytest.mark.parametrize("number", range(8))
def test_no_merge_loses_its_parts(number: int) -> None:
    first, second = old_and_new(number)
    model = trained(first, vocab_size=300, model_type="bpe", **PLAIN)
    small = trimmed(model, second, len(model.pieces) - 70)
    assert unreachable(pieces_of(small), small.trainer_spec) == []


@pytest.mark.parametrize("kind", KINDS)
def test_ids_stay_if_wanted(kind: str) -> None:
    model = trained(TEXT, vocab_size=300, model_type=kind)
    keep = len(model.pieces) - 80
    small = trimmed(model, OTHER, keep)
    gaps = trimmed(model, OTHER, keep, keep_ids=True)
    assert len(gaps.pieces) == len(model.pieces)
    fallen = dropped(model, small)
    for one, before in zip(gaps.pieces, model.pieces, strict=True):
        assert (one.piece, one.score) == (before.piece, before.score)
        assert one.type == (UNUSED if one.piece in fallen else before.type)
    # Pieces that are already unused are dropped first, at no cost.
    again = trimmed(gaps, OTHER, keep)
    assert dropped(model, again) == fallen
    fewer = trimmed(gaps, OTHER, keep - 20, keep_ids=True)
    assert sum(one.type == UNUSED for one in fewer.pieces) == 100


def test_unigram_cuts_the_same_with_gaps_and_without() -> None:
    sp = pytest.importorskip("sentencepiece")
    model = trained(TEXT, vocab_size=300)
    small, gaps = (
        sp.SentencePieceProcessor(
            model_proto=trimmed(model, OTHER, 150, keep_ids=keep_ids).SerializeToString()
        )
        for keep_ids in (False, True)
    )
    for line in [*TEXT, *OTHER]:
        assert small.encode(line, out_type=str) == gaps.encode(line, out_type=str)


def test_text_without_dropped_pieces_keeps_its_unigram_cuts() -> None:
    sp = pytest.importorskip("sentencepiece")
    lines = words(1, 400, types=300)
    model = trained(lines, vocab_size=400)
    small = trimmed(model, lines[:40], len(model.pieces) - 60)
    fallen = dropped(model, small)
    before, after = (
        sp.SentencePieceProcessor(model_proto=one.SerializeToString()) for one in (model, small)
    )
    kept = 0
    for line in lines:
        parts = before.encode(line, out_type=str)
        if not fallen & {*parts}:
            assert after.encode(line, out_type=str) == parts
            kept += 1
    assert 0 < kept < len(lines)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_text_comes_back(kind: str) -> None:
    """The trimmed model encodes and decodes 10,000 lines to the same text as the large model."""
    sp = pytest.importorskip("sentencepiece")
    lines = [*words(1, 5000, types=900), *corpora.mixed_text(3, 5000).split("\n")]
    assert len(lines) >= 10_000
    model = trained(lines, vocab_size=700, character_coverage=1.0, model_type=kind)
    small = trimmed(model, lines[::7], 500)
    before, after = (
        sp.SentencePieceProcessor(model_proto=one.SerializeToString()) for one in (model, small)
    )
    assert after.decode(after.encode(lines)) == before.decode(before.encode(lines))
    assert after.encode(lines) != before.encode(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_growing_and_trimming_by_the_old_text_drops_new_pieces(kind: str) -> None:
    """Pieces that only the new text uses are dropped before pieces that the old text uses."""
    lines = words(1, 300, types=100)
    model = trained(lines, vocab_size=250, model_type=kind, **PLAIN)
    grown = extended(model, words(2, 100, "han"), 150)
    merged = sum(len(one.piece) > 1 for one in grown.pieces[len(model.pieces) :])
    back = trimmed(grown, lines, len(grown.pieces) - merged)
    fallen = dropped(grown, back)
    new = {one.piece for one in grown.pieces[len(model.pieces) :]}
    assert len(fallen & new) > 0.9 * merged


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_counts_give_the_same(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    model = trained(TEXT, vocab_size=200, model_type=kind).SerializeToString()
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in OTHER))
    output = tmp_path / "small.model"
    models = {
        spmcompat.trim(model, keep=150, input=text, minloglevel=2, output=output).model,
        spmcompat.trim(model, keep=150, sentence_iterator=OTHER, minloglevel=2, workers=1).model,
        spmcompat.trim(
            model, keep=150, counts=spmcompat.count(input=text, minloglevel=2), minloglevel=2
        ).model,
        output.read_bytes(),
    }
    assert len(models) == 1
    assert len((tmp_path / "small.vocab").read_text().splitlines()) == 150


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_that_cannot_be_kept(kind: str) -> None:
    model = trained(TEXT, vocab_size=200, model_type=kind)
    fixed = sum(one.type != NORMAL or len(one.piece) == 1 for one in model.pieces)
    assert len(trimmed(model, OTHER, fixed).pieces) == fixed
    with raises_kind(f"bad-value {fixed}", BadValueError):
        trimmed(model, OTHER, fixed - 1)
    size = len(model.pieces)
    with raises_kind(f"bad-value {size} keep", BadValueError):
        trimmed(model, OTHER, size)
    with raises_kind("wrong-type keep"):
        spmcompat.trim(model.SerializeToString(), keep=1.5, sentence_iterator=["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_characters_fall_if_wanted(kind: str) -> None:
    """With `drop_characters`, a model of two scripts keeps only the script of the text."""
    han = words(5, 100, "han", 40)
    model = trained([*TEXT, *han], vocab_size=400, model_type=kind, character_coverage=1.0)
    characters = {one.piece for one in model.pieces if len(one.piece) == 1}
    of_text = {c for line in TEXT for c in line if c != " "} | {"▁"}
    assert len(characters - of_text) > 10
    meta = sum(one.type != NORMAL for one in model.pieces)
    fewest = meta + len(of_text)
    with raises_kind("bad-value drop_char", BadValueError):
        trimmed(model, TEXT, fewest)
    with raises_kind(f"bad-value {fewest}", BadValueError):
        trimmed(model, TEXT, fewest - 1, drop_characters=True)
    smallest = trimmed(model, TEXT, fewest, drop_characters=True)
    assert {one.piece for one in smallest.pieces if one.type == NORMAL} == of_text
    of_han = {one.piece for one in model.pieces if {*one.piece} - of_text and one.type == NORMAL}
    small = trimmed(model, TEXT, len(model.pieces) - len(of_han), drop_characters=True)
    assert of_text <= {one.piece for one in small.pieces}
    assert unreachable(pieces_of(small), small.trainer_spec) == []
    assert len(of_han & dropped(model, small)) > 0.8 * len(of_han)


def test_a_coverage_without_drop_characters_is_refused() -> None:
    model = trained(TEXT, vocab_size=200)
    with raises_kind("conflicting-options drop_characters", BadValueError):
        trimmed(model, TEXT, 150, character_coverage=0.99)


@pytest.mark.parametrize("kind", ["word", "char"])
def test_other_models_are_refused(kind: str) -> None:
    model = trained(TEXT, vocab_size=60, model_type=kind, use_all_vocab=True)
    with raises_kind(f"wrong-model-type {kind}"):
        trimmed(model, OTHER, 5)


@pytest.mark.parametrize("keep_ids", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"space_pieces": "separate"},
        {"user_defined_symbols": ["\u2581"]},
        {"user_defined_symbols": ["\u2581", "e"], "add_dummy_prefix": False},
        {"control_symbols": ["\u2581"]},
        # The text of this model has no spaces, so the space mark is unknown.
        {"add_dummy_prefix": False, "required_chars": "abc"},
    ],
    ids=str,
)
def test_the_space_mark_need_not_be_a_normal_piece(options: dict[str, Any], keep_ids: bool) -> None:
    lines = [line.replace(" ", "") for line in TEXT] if "required_chars" in options else TEXT
    model = trained(lines, vocab_size=150, hard_vocab_limit=False, **options)
    assert "\u2581" not in {one.piece for one in model.pieces if one.type == NORMAL}
    small = trimmed(model, OTHER, len(model.pieces) - 30, keep_ids=keep_ids)
    fallen = {one.piece for one in model.pieces if one.type == NORMAL}
    fallen -= {one.piece for one in small.pieces if one.type == NORMAL}
    assert len(fallen) == 30
    assert all(len(piece) > 1 for piece in fallen)
    # The trimmed model needs few more tokens, because the least useful pieces are gone.
    tokens = [sum(encoded_counts(OTHER, one).values()) for one in (model, small)]
    assert tokens[0] <= tokens[1] < 1.2 * tokens[0]
