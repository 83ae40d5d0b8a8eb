"""Tests of `extend`: its results equal those of the oracle, and it leaves the old pieces alone."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spmcompat
from spmcompat.errors import BadValueError, MissingFileError, TrainingError, UnknownOptionError
from spmcompat.model.encoding import BpeEncoder
from spmcompat.model.pieces import NORMAL, UNUSED, Piece, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.reach import unreachable
from spmcompat.tools.edit.vocabulary import with_pieces
from tests.kinds import raises_kind
from tests.oracle import growing
from tests.oracle.characters import SPACE, Options
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
    words,
)

OPTIONS: list[dict[str, Any]] = [
    {},
    PLAIN,
    {"normalization_rule_name": "nfkc_cf"},
    {"byte_fallback": True},
    {"user_defined_symbols": ["ab", "<x>"], "control_symbols": ["<c>"]},
    {"treat_whitespace_as_suffix": True},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"split_by_whitespace": False},
    {"pretokenization_delimiter": "a"},
    {"unk_id": 3, "bos_id": 0, "eos_id": -1, "pad_id": 1},
]


def new_pieces(old: ModelProto, new: ModelProto) -> list[tuple[str, float]]:
    return [(one.piece, one.score) for one in new.pieces[len(old.pieces) :]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_nothing_else_changes(kind: str, options: dict[str, Any]) -> None:
    old = trained(words(1), vocab_size=400, model_type=kind, **options)
    grown = extended(old, [*words(2, script="han"), *words(1, 5)], 60)
    assert grown.pieces[: len(old.pieces)] == old.pieces
    assert len(grown.pieces) == len(old.pieces) + 60
    assert grown.trainer_spec.vocab_size == len(grown.pieces)
    for model in (old, grown):
        del model.pieces[:]
        model.trainer_spec.ClearField("vocab_size")
    assert grown == old


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", range(examples(12)))
def test_new_pieces_can_be_reached(kind: str, number: int) -> None:
    first, second = old_and_new(number)
    old = trained(first, vocab_size=300, model_type=kind, **PLAIN)
    grown = extended(old, second, 50)
    texts = [text for text, _ in new_pieces(old, grown)]
    assert unreachable(pieces_of(grown), grown.trainer_spec, texts) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(30))
def test_bpe_is_that_of_the_oracle(number: int) -> None:
    dice = random.Random(f"bpe/{number}")
    first, second = old_and_new(number)
    old = trained(first, vocab_size=dice.choice([60, 120, 300]), model_type="bpe", **PLAIN)
    text, characters = covered(second, old, Options())
    add = len(characters) + dice.choice([1, 10, 40])
    grown = extended(old, second, add, workers=dice.choice([1, 2, 3]))
    merges = growing.extending_merges(text, Options(), scores_of(old), add - len(characters))
    found = [text for text, _ in new_pieces(old, grown)]
    assert found == [*characters, *(piece for piece, _ in merges)]
    lowest = min(scores_of(old).values())
    scores = [score for _, score in new_pieces(old, grown)]
    assert scores == [lowest - 1 - rank for rank in range(add)]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(12)))
def test_unigram_is_that_of_the_oracle(number: int) -> None:
    dice = random.Random(f"unigram/{number}")
    first, second = old_and_new(number)
    options = Options(num_threads=3, num_sub_iterations=dice.choice([1, 2]))
    given = {"num_threads": 3, "num_sub_iterations": options.num_sub_iterations}
    old = trained(first, vocab_size=dice.choice([60, 90, 150]), **PLAIN, **given)
    text, characters = covered(second, old, options)
    add = len(characters) + dice.choice([2, 10, 25])
    grown = extended(old, second, add, workers=dice.choice([1, 2, 3]))
    scored = [(piece, np.float32(score)) for piece, score in scores_of(old).items()]
    oracle = growing.extend_unigram(text, scored, characters, add, options)
    assert new_pieces(old, grown) == [(piece, float(score)) for piece, score in oracle]


def test_bpe_goes_on_with_its_own_text() -> None:
    """A model extended to 400 pieces has the pieces and merges of one trained with 400 pieces."""
    lines = words(5, 300, types=400)
    small = trained(lines, vocab_size=150, model_type="bpe")
    large = trained(lines, vocab_size=400, model_type="bpe")
    grown = extended(small, lines, 250)
    assert scores_of(grown).keys() == scores_of(large).keys()
    merges = [piece for piece in scores_of(large) if len(piece) > 1]
    before = {one.piece for one in small.pieces}
    assert [piece for piece, _ in new_pieces(small, grown)] == [
        piece for piece in merges if piece not in before
    ]


def with_low_space_pieces(model: ModelProto) -> ModelProto:
    """Give a model 16 pieces of spaces with the score -1e9, as in Llama 2."""
    spaces = [Piece(SPACE * size, -1e9) for size in range(2, 18)]
    return with_pieces(model, [*pieces_of(model), *spaces])


@pytest.mark.parametrize("number", range(3))
def test_bpe_merges_in_order_below_a_score_of_a_billion(number: int) -> None:
    """Near -1e9, float32 can only represent every 64th whole number."""
    sp = pytest.importorskip("sentencepiece")
    first, second = words(number, 100), words(number + 10, 300, types=300)
    options = {"model_type": "bpe", "byte_fallback": True, "remove_extra_whitespaces": False}
    old = with_low_space_pieces(trained(first, vocab_size=450, **options))
    grown = extended(old, second, 200)
    texts, scores = zip(*new_pieces(old, grown), strict=True)
    assert scores[0] < -1e9
    assert all(one > other for one, other in itertools.pairwise(scores))

    in_order = [*pieces_of(old), *(Piece(text, -1e10 - rank) for rank, text in enumerate(texts))]
    encoder = BpeEncoder(in_order)
    processor = sp.SentencePieceProcessor(model_proto=grown.SerializeToString())
    for line in [*second[:100], *(line.replace(" ", "   ") for line in second[:20])]:
        normalized = processor.normalize(line)
        assert processor.encode(line, out_type=str) == encoder.encode(normalized)


def test_unigram_scores_that_cannot_be_told_apart_are_refused() -> None:
    old = trained(words(1), vocab_size=100)
    for piece in old.pieces:
        if piece.type == NORMAL:
            piece.score -= 1e9
    with raises_kind("not-finite 32"):
        extended(old, words(2), 20)


def test_text_without_new_pieces_keeps_its_unigram_cuts() -> None:
    sp = pytest.importorskip("sentencepiece")
    first, second = words(1, 300, types=300), words(2, 300, types=300)
    old = trained(first, vocab_size=300)
    grown = extended(old, second, 300)
    before, after = (
        sp.SentencePieceProcessor(model_proto=model.SerializeToString()) for model in (old, grown)
    )
    lines = [*first, *second]
    kept = 0
    for line, ids, new_ids in zip(lines, before.encode(lines), after.encode(lines), strict=True):
        if max(new_ids) < len(old.pieces):
            assert new_ids == ids, line
            kept += 1
    assert 0 < kept < len(lines)


def test_old_pieces_that_new_ones_beat_are_named() -> None:
    old = trained(["abcd a b c d"] * 20, vocab_size=12, **PLAIN)
    for one in old.pieces:
        one.score = -3.0 * len(one.piece)
    old = with_pieces(old, [*pieces_of(old), Piece("abcd", -11.5)])
    assert unreachable(pieces_of(old), old.trainer_spec) == []
    log = io.StringIO()
    grown = extended(old, ["xab cd", "ycd ab", "abx cdy"] * 99, 12, minloglevel=0, logstream=log)
    beaten = unreachable(pieces_of(grown), grown.trainer_spec)
    assert beaten == ["abcd"]
    assert f"keep their ids: {', '.join(beaten)}\n" in log.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_text_comes_back(kind: str) -> None:
    """The old and the extended model decode ten thousand encoded lines to the same text."""
    sp = pytest.importorskip("sentencepiece")
    lines = [*words(1, 5000, types=900), *corpora.mixed_text(3, 5000).split("\n")]
    assert len(lines) >= 10_000
    options = {"vocab_size": 700, "character_coverage": 1.0, "model_type": kind}
    old = trained(lines, **options)
    grown = extended(old, [*lines[::7], *words(4, 300, "kana")], 300)
    before, after = (
        sp.SentencePieceProcessor(model_proto=model.SerializeToString()) for model in (old, grown)
    )
    assert after.decode(after.encode(lines)) == before.decode(before.encode(lines))
    assert after.encode(lines) != before.encode(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_read_as_the_model_reads_it(kind: str) -> None:
    options = {"normalization_rule_name": "nfkc_cf", "user_defined_symbols": ["xy"]}
    old = trained(words(1), vocab_size=120, model_type=kind, **options)
    lines = [f"{line.upper()} 77xy{line} ﬁne Ⅷ" for line in words(2)]
    texts = [piece for piece, _ in new_pieces(old, extended(old, lines, 60))]
    assert any(len(piece) > 3 for piece in texts)
    for piece in texts:
        assert piece == piece.lower()
        assert not set(piece) & {"ﬁ", "Ⅷ"}
        assert "xy" not in piece
        assert SPACE not in piece[1:]
        assert not (set(piece) & set("7") and any(c.isalpha() for c in piece))


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_of_text_gives_the_same(kind: str, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    old = trained(words(1), vocab_size=200, model_type=kind).SerializeToString()
    lines = words(2, 80)
    for name, part in (("a", lines[:30]), ("b", lines[30:])):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in part))
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    (tmp_path / "old.model").write_bytes(old)
    counts = spmcompat.count(input=paths, minloglevel=2)
    table = arrow.table({"id": range(len(lines)), "line": lines})
    output = tmp_path / "new.model"
    models = [
        spmcompat.extend(old, add=30, sentence_iterator=lines, minloglevel=2).model,
        spmcompat.extend(old, add=30, sentence_iterator=table, column="line", minloglevel=2).model,
        spmcompat.extend(old, add=30, input=paths, minloglevel=2, workers=1).model,
        spmcompat.extend(old, add=30, counts=counts, minloglevel=2).model,
        spmcompat.extend(
            tmp_path / "old.model", add=30, input=paths, output=output, minloglevel=2
        ).model,
        output.read_bytes(),
    ]
    assert len(set(models)) == 1
    vocabulary = (tmp_path / "new.vocab").read_text().splitlines()
    assert len(vocabulary) == len(ModelProto.FromString(models[0]).pieces)


def with_unused(model: ModelProto, texts: list[str]) -> ModelProto:
    changed = ModelProto.FromString(model.SerializeToString())
    for one in changed.pieces:
        if one.piece in texts:
            one.type = UNUSED
    return changed


@pytest.mark.parametrize("kind", KINDS)
def test_unused_ids_are_used_if_wanted(kind: str) -> None:
    old = trained(words(1), vocab_size=200, model_type=kind)
    size = len(old.pieces)
    long = sorted((one.piece for one in old.pieces if one.type == NORMAL), key=len)[-5:]
    gaps = with_unused(old, long)
    ids = [i for i, one in enumerate(gaps.pieces) if one.type == UNUSED]
    lines = words(2, 80)
    behind = extended(gaps, lines, 30)
    assert behind.pieces[:size] == gaps.pieces
    filled = extended(gaps, lines, 30, use_unused=True)
    assert len(filled.pieces) == size + 25
    assert all(filled.pieces[i].type == NORMAL for i in ids)
    texts = [one.piece for one in filled.pieces]
    assert len(set(texts)) == len(texts)
    others = [one for i, one in enumerate(filled.pieces[:size]) if i not in ids]
    assert others == [one for i, one in enumerate(gaps.pieces) if i not in ids]


@pytest.mark.parametrize("kind", KINDS)
def test_placeholders_are_free_ids_too(kind: str) -> None:
    symbols = {"user_defined_symbols": ["<unused0>", "<x>"], "control_symbols": ["[unused1]"]}
    old = trained(words(1), vocab_size=120, model_type=kind, **symbols)
    grown = extended(old, words(2), 10, use_unused=True)
    assert len(grown.pieces) == len(old.pieces) + 8
    moved = [i for i, one in enumerate(old.pieces) if one != grown.pieces[i]]
    assert [old.pieces[i].piece for i in moved] == ["[unused1]", "<unused0>"]
    assert all(grown.pieces[i].type == NORMAL for i in moved)
    assert list(grown.trainer_spec.user_defined_symbols) == ["<x>"]
    assert extended(old, words(2), 10).pieces[: len(old.pieces)] == old.pieces


@pytest.mark.parametrize("kind", KINDS)
def test_characters_are_added_beside_bytes_too(kind: str) -> None:
    """Without new characters, pieces could not contain a new script, even with byte fallback."""
    old = trained(words(1), vocab_size=500, model_type=kind, byte_fallback=True)
    grown = extended(old, words(2, script="kana"), 120)
    texts = [text for text, _ in new_pieces(old, grown)]
    assert any(len(text) == 1 for text in texts)
    assert any(len(text) > 2 for text in texts)


def test_a_text_that_is_unused_takes_its_own_id() -> None:
    """The new text needs exactly the pieces that are unused in the model."""
    lines = words(1)
    old = trained(lines, vocab_size=200, model_type="bpe")
    gone = [one.piece for one in old.pieces if len(one.piece) > 1][-4:-2]
    gaps = with_unused(old, gone)
    filled = extended(gaps, lines, 2, use_unused=True)
    texts = [one.piece for one in filled.pieces]
    assert len(set(texts)) == len(texts)


def test_unused_pieces_that_others_are_merged_from_stay() -> None:
    old = trained(["abcd abcd abcd"] * 20, vocab_size=20, model_type="bpe", **PLAIN)
    texts = [one.piece for one in old.pieces if one.type == NORMAL and len(one.piece) > 1]
    inner = with_unused(old, texts[:1])
    grown = extended(inner, ["efgh efgh"] * 30, 6, use_unused=True)
    assert grown.pieces[: len(old.pieces)] == inner.pieces


@pytest.mark.parametrize("kind", KINDS)
def test_too_few_pieces(kind: str) -> None:
    old = trained(words(1), vocab_size=120, model_type=kind)
    lines = ["some words", "some more words"] * 5
    old.trainer_spec.hard_vocab_limit = True
    with raises_kind("text-too-small add") as error:
        extended(old, lines, 5000)
    found = int(str(error.value).split()[4])
    grown = extended(old, lines, found)
    assert len(grown.pieces) == len(old.pieces) + found
    with raises_kind("text-too-small add"):
        extended(grown, lines, 5)
    old.trainer_spec.hard_vocab_limit = False
    log = io.StringIO()
    grown = extended(old, lines, 5000, minloglevel=0, logstream=log)
    assert len(old.pieces) < len(grown.pieces) < len(old.pieces) + 5000
    assert "WARNING spmcompat: The text yields only" in log.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_new_characters_follow_the_coverage(kind: str) -> None:
    old = trained(words(1), vocab_size=120, model_type=kind)
    lines = words(2, 50, "han")
    texts = {piece for piece, _ in new_pieces(old, extended(old, lines, 300))}
    characters = {c for line in lines for c in line if c not in " " and c > "z"}
    assert {piece for piece in texts if len(piece) == 1} >= characters
    with raises_kind("bad-value character_coverage", BadValueError):
        extended(old, lines, 3)
    rare = [*words(1, 400), "Ж"]
    assert "Ж" in {p for p, _ in new_pieces(old, extended(old, rare, 9, character_coverage=1.0))}
    assert "Ж" not in {p for p, _ in new_pieces(old, extended(old, rare, 9))}


@pytest.mark.parametrize("kind", ["word", "char"])
def test_other_models_are_refused(kind: str) -> None:
    old = trained(words(1), vocab_size=60, model_type=kind, use_all_vocab=True)
    with raises_kind(f"wrong-model-type {kind}"):
        extended(old, words(2), 5)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"add": 0}, BadValueError, "bad-value add"),
        ({"add": "5"}, BadValueError, "wrong-type add"),
        ({"add": True}, BadValueError, "wrong-type add"),
        ({"vocab_size": 9}, UnknownOptionError, "unknown-option vocab_size"),
        (
            {"output": "none/m.model"},
            MissingFileError,
            "cannot-write none/m.model No such file or directory",
        ),
        (
            {"input": "none.txt", "sentence_iterator": None},
            MissingFileError,
            "cannot-read none.txt",
        ),
        ({"sentence_iterator": "text"}, BadValueError, "wrong-type sentence_iterator"),
        ({"sentence_iterator": None}, TrainingError, "conflicting-options sentence_iterator"),
        ({"model": b"no model"}, BadValueError, "bad-model"),
        (
            {"model": "none.model"},
            MissingFileError,
            "cannot-read none.model No such file or directory",
        ),
        ({"character_coverage": 0.5}, TrainingError, "bad-value character_coverage 0.98"),
    ],
    ids=str,
)
def test_what_is_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    model = trained(words(1), vocab_size=100).SerializeToString()
    options = {"model": model, "add": 5, "sentence_iterator": words(2), "minloglevel": 2, **given}
    with raises_kind(message):
        spmcompat.extend(**options)
