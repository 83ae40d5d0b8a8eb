"""Editing and merging models changes only what it must, and the reports about it are true.

The real library loads every model, and encodes with it.
"""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import sentencepiece
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import spmcompat
from spmcompat.errors import BadValueError
from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import NORMAL, UNUSED, USER_DEFINED, Piece, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.merging_models import merge_models
from spmcompat.tools.edit.reach import unreachable
from spmcompat.tools.evaluate.pretokens import encoder_of_normalized
from tests.parity import corpora
from tests.searches import examples

TEXT = corpora.words_text(seed=11, lines=300, types=60).splitlines()
KINDS = st.sampled_from(["unigram", "bpe", "word", "char"])
MODELS: list[dict[str, Any]] = [
    {},
    {"byte_fallback": True, "vocab_size": 400},
    {"user_defined_symbols": ["<unused0>", "<unused1>", "ab"], "control_symbols": ["<c>"]},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "split_by_whitespace": False},
    {"treat_whitespace_as_suffix": True, "pad_id": 5, "normalization_rule_name": "nmt_nfkc_cf"},
]


def load(model: ModelProto) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


@cache
def base(kind: str, number: int) -> ModelProto:
    return train(kind, TEXT, **MODELS[number])


def train(kind: str, text: list[str], **options: Any) -> ModelProto:
    written = io.BytesIO()
    if kind in ("word", "char"):
        options.pop("byte_fallback", None)
    spmcompat.train(
        sentence_iterator=text,
        model_type=kind,  # type: ignore[arg-type]
        model_writer=written,
        **{"vocab_size": 120, "hard_vocab_limit": False, "minloglevel": 2, **options},
    )
    return ModelProto.FromString(written.getvalue())


def an_edit(draw: st.DrawFn, model: ModelProto) -> Edits:
    """Draw the edits of one call, often of existing pieces, sometimes with nonsensical texts."""
    texts = [piece.text for piece in pieces_of(model)]
    old = st.sampled_from(texts)
    new = st.one_of(
        st.tuples(old, old).map("".join),
        st.text("abcdeЖ▁ <>", min_size=1, max_size=4),
        st.sampled_from(["<x>", "<y>", "Ａ", "ing", "▁Ж", "ЖЩ", "the"]),
    )
    scores = st.floats(-40, -0.5, width=32)
    parts: dict[str, Any] = {
        "add_control": st.lists(new, max_size=2),
        "add_user_defined": st.lists(new, max_size=1),
        "add": st.lists(st.one_of(new, old), max_size=2),
        "rename": st.dictionaries(old, new, max_size=1),
        "remove": st.lists(old, max_size=2),
        "set_score": st.dictionaries(old, scores, max_size=1),
        "use_unused": st.booleans(),
    }
    asked = draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=2, unique=True))
    return Edits(**{name: draw(parts[name]) for name in asked})


@given(KINDS, st.integers(0, len(MODELS) - 1), st.data())
@settings(max_examples=examples(120))
def test_what_edits_leave_alone_stays(kind: str, number: int, data: st.DataObject) -> None:
    first = model = base(kind, number)
    done = 0
    for _ in range(data.draw(st.integers(1, 6))):
        edits = data.draw(st.composite(an_edit)(model))
        try:
            model = edit_model(model, edits)[0]
            done += 1
        except BadValueError:
            continue
    event(f"{done} edits")
    before = {p.text: (i, p) for i, p in enumerate(pieces_of(first))}
    after = {p.text: (i, p) for i, p in enumerate(pieces_of(model))}
    changed = {text for text in before | after if before.get(text) != after.get(text)}
    old, new = load(first), load(model)
    for text in TEXT:
        normalized = old.normalize(text)
        if not any(piece in normalized or piece in text for piece in changed):
            assert new.encode(text) == old.encode(text)
    gone = [i for i, piece in enumerate(pieces_of(model)) if piece.type == UNUSED]
    assert not {i for ids in new.encode(TEXT) for i in ids} & {*gone}
    assert model.trainer_spec.vocab_size in (len(model.pieces), first.trainer_spec.vocab_size)
    assert_symbols_are_listed(model)
    assert [new.bos_id(), new.eos_id(), new.pad_id()] == [
        model.trainer_spec.bos_id, model.trainer_spec.eos_id, model.trainer_spec.pad_id
    ]  # fmt: skip


def assert_symbols_are_listed(model: ModelProto) -> None:
    symbols = {p.text for p in pieces_of(model) if p.type == USER_DEFINED}
    listed = [*model.trainer_spec.user_defined_symbols]
    # A word model contains each symbol a second time, with a space mark before it.
    if model.trainer_spec.model_type == TrainerSpec.WORD:
        assert symbols >= {*listed}
    else:
        assert sorted(listed) == sorted(symbols)


@given(KINDS, st.integers(0, len(MODELS) - 1), st.data())
@settings(max_examples=examples(100))
def test_reordering_changes_only_ids(kind: str, number: int, data: st.DataObject) -> None:
    model = base(kind, number)
    normal = [piece.text for piece in pieces_of(model) if piece.type == NORMAL]
    gone = data.draw(st.lists(st.sampled_from(normal), min_size=1, max_size=4, unique=True))
    removed = edit_model(model, Edits(remove=gone))[0]
    try:
        reordered = edit_model(removed, Edits(reorder_ids=True))[0]
    except BadValueError:
        # The edit is refused if other pieces are merged from a dropped piece.
        assume(kind == "bpe")
        event("refused")
        return
    left = [piece for piece in pieces_of(removed) if piece.type != UNUSED]
    assert sorted(pieces_of(reordered)) == sorted(left)
    one, other = load(removed), load(reordered)
    assert one.encode(TEXT, out_type=str) == other.encode(TEXT, out_type=str)


@given(st.sampled_from(["unigram", "bpe"]), st.integers(0, len(MODELS) - 1), st.data())
@settings(max_examples=examples(200))
def test_a_piece_is_refused_exactly_if_it_would_never_be_used(
    kind: str, number: int, data: st.DataObject
) -> None:
    model = base(kind, number)
    plain = [piece.text for piece in pieces_of(model) if piece.type == NORMAL]
    text = "".join(data.draw(st.lists(st.sampled_from(plain), min_size=2, max_size=3)))
    score = data.draw(st.floats(-40, -2, width=32))
    known = {piece.text for piece in pieces_of(model)}
    assume(text not in known and "▁▁" not in text)
    worst = min(p.score for p in pieces_of(model))
    assume(kind == "unigram" or score < worst)
    appended = ModelProto()
    appended.CopyFrom(model)
    appended.pieces.add(piece=text, score=score)
    found = encoder_of_normalized(appended).encode(text, out_type=str) == [text]
    message = ""
    try:
        edit_model(model, Edits(add=[text], set_score={text: score}))
    except BadValueError as error:
        message = str(error)
    event("refused" if message else "taken")
    # The edit is also refused if other pieces would become unusable.
    assert found == (not message) or "could no longer be used" in message


WORDS = st.text("abcd", min_size=1, max_size=7)
TEXTS = st.lists(WORDS, min_size=5, max_size=25).map(lambda words: [" ".join(words)] * 3)


@given(TEXTS, TEXTS, TEXTS, st.integers(8, 40), st.booleans())
@settings(max_examples=examples(100))
def test_merged_merges(
    one: list[str], two: list[str], three: list[str], size: int, limited: bool
) -> None:
    models = [train("bpe", text, vocab_size=size) for text in (one, two, three)]
    vocabularies = [pieces_of(model) for model in models]
    whole = pieces_of(merge_models(models, "abc")[0])
    limit = len(vocabularies[0]) + 8 if limited else len(whole)
    model = merge_models(models, "abc", vocab_size=limit)[0]
    pieces = pieces_of(model)
    assert len(pieces) == min(limit, len(whole))
    first, new = vocabularies[0], pieces[len(vocabularies[0]) :]
    assert pieces[: len(first)] == first
    assert [p.score for p in new] == sorted({p.score for p in new}, reverse=True)
    assert all(p.score < min(one.score for one in first) for p in new)
    owners = [min(i for i in (1, 2) if p.text in texts(vocabularies[i])) for p in new]
    assert owners == sorted(owners)
    for i in (1, 2):
        scores = texts(vocabularies[i])
        ranks = [scores[p.text] for p, own in zip(new, owners, strict=True) if own == i]
        assert ranks == sorted(ranks, reverse=True)
    encoder = encoder_of_normalized(model)
    old_lost = set(unreachable(first, model.trainer_spec))
    for piece in pieces:
        if piece.type == NORMAL:
            used = encoder.encode(piece.text, out_type=str) == [piece.text]
            assert used == (piece.text not in old_lost)
    before, after = encoder_of(first, model.trainer_spec), encoder_of(pieces, model.trainer_spec)
    everything = all_merges(vocabularies, model.trainer_spec)
    for line in (one[0], two[0], three[0]):
        text = encoder.normalize(load(model).normalize(line))
        assert ends(after(text)) <= ends(before(text))
        if not limited:
            assert after(text) == everything(text)


def all_merges(vocabularies: list[list[Piece]], trainer: TrainerSpec) -> Callable[[str], list[str]]:
    """Return an encoder with the merges of all models, including merges that can never be used."""
    found = {piece.text: piece for piece in vocabularies[0]}
    score = min(piece.score for piece in vocabularies[0])
    for pieces in vocabularies[1:]:
        for piece in sorted(pieces, key=lambda piece: -piece.score):
            if piece.type == NORMAL and piece.text not in found:
                score -= 1
                found[piece.text] = Piece(piece.text, score)
    return encoder_of(found.values(), trainer)


def texts(pieces: list[Piece]) -> dict[str, float]:
    return {piece.text: piece.score for piece in pieces if piece.type == NORMAL}


def ends(tokens: list[str]) -> set[int]:
    return {*itertools.accumulate(map(len, tokens))}


@given(TEXTS, TEXTS, st.integers(8, 40), st.floats(0.1, 10))
@settings(max_examples=examples(100))
def test_mixed_models(one: list[str], two: list[str], size: int, weight: float) -> None:
    models = [train("unigram", text, vocab_size=size) for text in (one, two)]
    merged, result = merge_models(models, "ab", weights=[weight, 1])
    pieces = pieces_of(merged)
    size = len(models[0].pieces)
    assert [p.text for p in pieces[:size]] == [p.text for p in pieces_of(models[0])]
    if not result.left_out:
        one_sum, two_sum = map(probability, map(pieces_of, models))
        expected = (weight * one_sum + two_sum) / (weight + 1)
        assert abs(probability(pieces) - expected) < 1e-4 * expected
    encoder = encoder_of_normalized(merged)
    lost = set(unreachable(pieces, merged.trainer_spec))
    assert not lost & {p.text for p in pieces[size:]}
    for line in [*one[:1], *two[:1]]:
        ids = encoder.encode(load(merged).normalize(line))
        assert encoder.unk_id() not in ids


def probability(pieces: list[Piece]) -> float:
    return math.fsum(math.exp(piece.score) for piece in pieces if piece.type == NORMAL)


@given(KINDS, st.integers(0, len(MODELS) - 1), st.text("abcdefgЖ▁<unsd0> ", max_size=30))
@settings(max_examples=examples(300))
def test_texts_are_cut_as_the_library_cuts_them(kind: str, number: int, text: str) -> None:
    model = base(kind, number)
    encoder = encoder_of_normalized(model)
    normalized = text.replace(" ", "▁")
    found = encoder.encode(normalized, out_type="proto").pieces
    cut = encoder_of(pieces_of(model), model.trainer_spec)(normalized)
    # The library joins neighbouring unknown tokens, and may encode an unknown character as several
    # byte pieces. Therefore, `cut` may have token ends that the tokens of the library lack.
    assert ends([p.surface for p in found if p.surface]) <= ends(cut)
    known = {p.text for p in pieces_of(model) if p.type in (NORMAL, USER_DEFINED)}
    assert [t for t in cut if t in known] == [p.piece for p in found if p.piece in known]
