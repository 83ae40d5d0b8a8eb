"""Merging models: ids, scores, pieces that are left out, and refusals."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import pytest

from spmcompat.errors import BadValueError
from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import CONTROL, NORMAL, UNKNOWN, USER_DEFINED, Piece, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.merging_models import merge_models
from spmcompat.tools.edit.vocabulary import lowest_score, to_float32, with_pieces
from spmcompat.tools.evaluate.pretokens import encoder_of_normalized
from tests.kinds import raises_kind
from tests.unit.tools.edit.models import TYPES, by_text, lines, processor, trained

pytestmark = pytest.mark.reference

ENGLISH = tuple(lines()[:2000])
GERMAN = tuple(
    f"{a}{b} {c}{a} über {b}{b} Maß" for a, b, c in itertools.permutations(
        ["haus", "boot", "dach", "decke", "tür", "schloss", "ver", "gang"], 3
    )
)  # fmt: skip


def english(model_type: str, **options: Any) -> ModelProto:
    return trained(model_type, ENGLISH, **options)


def german(model_type: str, **options: Any) -> ModelProto:
    return trained(model_type, GERMAN, **{"vocab_size": 150, **options})


def merged(*models: ModelProto, **options: Any) -> Any:
    before = [model.SerializeToString() for model in models]
    names = [f"{name}.model" for name in "abc"[: len(models)]]
    new, result = merge_models(models, names, **options)
    assert [model.SerializeToString() for model in models] == before
    assert result.model == new.SerializeToString()
    processor(new)
    return SimpleNamespace(**{**result._asdict(), "model": new})


def refused(expected: str, *models: ModelProto, **options: Any) -> None:
    with raises_kind(expected, BadValueError):
        merge_models(models, [f"{name}.model" for name in "abc"[: len(models)]], **options)


def edited(model: ModelProto, **edits: Any) -> ModelProto:
    return edit_model(model, Edits(**edits))[0]


@pytest.mark.parametrize("model_type", TYPES)
def test_a_model_merged_with_itself_is_itself(model_type: str) -> None:
    model = english(model_type)
    result = merged(model, model, model)
    assert result.model == model
    assert (result.added, result.left_out, result.unreachable) == (0, [], [])
    assert result.beyond_size == 0


@pytest.mark.parametrize("model_type", ["unigram", "word", "char"])
def test_probabilities_are_mixed(model_type: str) -> None:
    # The mixture of the scores x and y is log(a e^x + (1-a) e^y); see google/sentencepiece#822.
    one, two = english(model_type), german(model_type)
    result = merged(one, two, weights=[3, 1])
    scores = [{p.text: p.score for p in pieces_of(m) if p.type == NORMAL} for m in (one, two)]
    for piece in pieces_of(result.model):
        if piece.type == NORMAL:
            probability = sum(
                share * math.exp(own[piece.text])
                for own, share in zip(scores, (0.75, 0.25), strict=True)
                if piece.text in own
            )
            assert piece.score == pytest.approx(math.log(probability), rel=1e-6)
    texts = {piece.text for piece in pieces_of(result.model)} | {*result.left_out}
    assert texts == by_text(one).keys() | by_text(two).keys()


@pytest.mark.parametrize("model_type", TYPES)
def test_ids_of_the_first_model_stay_and_the_others_follow_by_score(model_type: str) -> None:
    one, two = english(model_type), german(model_type, control_symbols=("<c>",), pad_id=3)
    result = merged(one, two)
    pieces, size = pieces_of(result.model), len(one.pieces)
    assert [p.text for p in pieces[:size]] == [p.text for p in pieces_of(one)]
    assert [p.text for p in pieces[size : size + 2]] == ["<c>", "<pad>"] or [
        p.text for p in pieces[size : size + 2]
    ] == ["<pad>", "<c>"]
    scores = [p.score for p in pieces[size + 2 :]]
    assert scores == sorted(scores, reverse=True)
    assert result.added == len(pieces) - size > 2
    spec = result.model.trainer_spec
    assert spec.vocab_size == len(pieces)
    assert list(spec.control_symbols) == ["<c>"]
    assert processor(result.model).pad_id() == spec.pad_id == by_text(result.model)["<pad>"][0]


def test_merges_of_the_first_model_stay_and_the_others_continue_in_their_order() -> None:
    one, two = english("bpe"), german("bpe")
    result = merged(one, two)
    pieces, size = pieces_of(result.model), len(one.pieces)
    assert pieces[:size] == pieces_of(one)
    new = pieces[size:]
    assert [p.score for p in new] == [lowest_score(pieces_of(one)) - 1 - i for i in range(len(new))]
    rank = {p.text: -p.score for p in pieces_of(two)}
    ranks = [rank[p.text] for p in new]
    assert ranks == sorted(ranks)
    wanted = {p.text for p in pieces_of(two)} - by_text(one).keys()
    assert {p.text for p in new} | {*result.left_out} == wanted


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_every_new_piece_can_be_used(model_type: str) -> None:
    result = merged(english(model_type), german(model_type))
    encoder = encoder_of_normalized(result.model)
    lost = set(result.unreachable)
    for piece in pieces_of(result.model):
        if piece.type == NORMAL:
            used = encoder.encode(piece.text, out_type=str) == [piece.text]
            assert used == (piece.text not in lost)


def test_pieces_that_are_left_out_could_not_be_used() -> None:
    one, two = english("bpe"), german("bpe")
    result = merged(one, two)
    assert result.left_out
    last = lowest_score(pieces_of(result.model))
    more = [p._replace(score=last - 1) for p in pieces_of(two) if p.text in result.left_out]
    encoder = encoder_of_normalized(with_pieces(one, [*pieces_of(result.model), *more[:1]]))
    assert encoder.encode(more[0].text, out_type=str) != [more[0].text]


@pytest.mark.slow
def test_tokens_of_the_first_bpe_model_are_only_joined() -> None:
    one, two = english("bpe"), german("bpe")
    before = encoder_of(pieces_of(one), one.trainer_spec)
    model = merged(one, two).model
    after = encoder_of(pieces_of(model), model.trainer_spec)
    joined = 0
    for line in [*ENGLISH, *GERMAN]:
        text = processor(one).normalize(line)
        old, new = before(text), after(text)
        assert ends(new) <= ends(old)
        joined += old != new
    assert joined > 300


def ends(tokens: list[str]) -> set[int]:
    return {*itertools.accumulate(map(len, tokens))}


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_a_merged_model_knows_the_characters_and_words_of_all(model_type: str) -> None:
    one = english(model_type, character_coverage=1.0)
    two = german(model_type, character_coverage=1.0)
    third = trained(model_type, tuple("жук мир жуки миры" for _ in range(50)), vocab_size=20)
    new = processor(merged(one, two, third).model)
    for line in [*ENGLISH[:500], *GERMAN[:100], "жуки мир"]:
        ids = new.encode(line)
        assert new.unk_id() not in ids
        assert new.decode(ids) == new.normalize(line).replace("▁", " ").strip()


@pytest.mark.parametrize("model_type", ["bpe", "unigram"])
def test_a_size_keeps_characters_and_the_best_pieces(model_type: str) -> None:
    one, two = english(model_type), german(model_type, control_symbols=("<c>",))
    whole = merged(one, two)
    size = len(whole.model.pieces) - 10
    part = merged(one, two, vocab_size=size)
    assert len(part.model.pieces) == size
    assert part.beyond_size == 10
    texts = [p.text for p in pieces_of(whole.model)[len(one.pieces) :]]
    kept = [p.text for p in pieces_of(part.model)[len(one.pieces) :]]
    assert kept == [text for text in texts if text in kept]
    assert all(len(text) > 1 for text in texts if text not in kept)
    if model_type == "unigram":
        longer = [text for text in texts if len(text) > 1]
        assert [text for text in texts if text not in kept] == longer[-10:]
    encoder = encoder_of_normalized(part.model)
    lost = set(part.unreachable)
    for text in kept[1:]:
        assert encoder.encode(text, out_type=str) == [text] or text in lost
    assert merged(one, two, vocab_size=10**6).model == whole.model
    refused("bad-value vocab_size", one, two, vocab_size=len(one.pieces))


def test_a_piece_comes_with_all_that_it_is_merged_from() -> None:
    # The second model merges ab and c into abc. The first model does not have ab, so abc can only
    # be added together with ab.
    def model(*texts: str) -> ModelProto:
        pieces = [
            Piece("<unk>", 0.0, UNKNOWN),
            *(Piece(one, -float(i)) for i, one in enumerate(texts)),
        ]
        return with_pieces(trained("bpe"), pieces, [None] * len(pieces))

    one, two = model("xb", "a", "b", "c", "x"), model("ab", "abc", "xbc", "bc", "a", "b", "c", "x")
    whole = [p.text for p in pieces_of(merged(one, two).model)]
    assert whole == ["<unk>", "xb", "a", "b", "c", "x", "ab", "abc", "xbc", "bc"]
    third = model("bcx", "cx", "xa", "b", "c", "x", "a")
    taken = [
        [p.text for p in pieces_of(merged(one, third, vocab_size=size).model)[6:]]
        for size in (6, 7, 8, 9)
    ]
    assert taken == [[], ["cx"], ["bcx", "cx"], ["bcx", "cx", "xa"]]


def test_a_removed_piece_stays_removed_in_the_other_model() -> None:
    two = german("unigram")
    gone = next(p.text for p in pieces_of(two) if len(p.text) > 4 and p.type == NORMAL)
    assert gone in by_text(merged(english("unigram"), two).model)
    assert gone not in by_text(merged(english("unigram"), edited(two, remove=[gone])).model)


def test_symbols_of_other_models_are_added_and_cut_out_of_old_pieces() -> None:
    one = english("bpe")
    assert "▁that" in by_text(one)
    assert "hat" not in by_text(one)
    result = merged(one, german("bpe", user_defined_symbols=("hat",)))
    assert by_text(result.model)["hat"] == (len(one.pieces), ("hat", 0.0, USER_DEFINED))
    assert list(result.model.trainer_spec.user_defined_symbols) == ["hat"]
    assert "▁that" in result.unreachable
    assert "hat" in processor(result.model).encode("that", out_type=str)


# ---------------------------------------------------------------- refusals


def test_models_that_normalize_differently_are_refused() -> None:
    one = english("unigram")
    refused(
        "models-differ a.model b.model normalizer_spec.precompiled_charsmap",
        one,
        german("unigram", normalization_rule_name="nfkc"),
    )
    refused(
        "models-differ add_dummy_prefix, normalizer_spec.remove_extra_whitespaces",
        one,
        german("unigram", add_dummy_prefix=False, remove_extra_whitespaces=False),
    )
    other = ModelProto()
    other.CopyFrom(one)
    other.normalizer_spec.escape_whitespaces = False
    other.denormalizer_spec.precompiled_charsmap = b"x"
    names = "normalizer_spec.escape_whitespaces, denormalizer_spec.precompiled_charsmap"
    refused(f"models-differ {names}", one, other)
    refused("models-differ a.model c.model", one, one, other)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"model_type": "bpe"}, "model_type"),
        ({"byte_fallback": True, "vocab_size": 500}, "byte_fallback"),
        ({"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix"),
    ],
)
def test_models_of_other_kinds_are_refused(options: dict[str, Any], field: str) -> None:
    other = german(**{"model_type": "unigram", **options})
    refused(f"models-differ trainer_spec.{field}", english("unigram"), other)


def test_conflicting_types_are_refused() -> None:
    one = english("unigram")
    other = german("unigram", control_symbols=("▁the",))
    refused("models-differ ▁the a.model b.model", one, other)
    refused("models-differ unused a.model b.model", edited(one, remove=["▁the"]), one)


def test_two_unknown_pieces_are_refused() -> None:
    other = german("bpe", unk_piece="[UNK]")
    refused("models-differ <unk> [UNK]", english("bpe"), other)
    merged(english("bpe"), edited(other, rename={"[UNK]": "<unk>"}))


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, 0], [1, -1], [1, math.nan], [1, math.inf]])
def test_wrong_weights_are_refused(weights: list[float]) -> None:
    model = english("unigram")
    refused("bad-value weights", model, model, weights=weights)


def test_weights_that_differ_too_much_are_refused() -> None:
    models = english("unigram"), german("unigram")
    refused("bad-value weights", *models, weights=[1e308, 1e-20])


def test_bpe_takes_no_weights() -> None:
    refused("conflicting-options weights", english("bpe"), english("bpe"), weights=[1, 1])


def test_scores_of_further_merges_differ_below_a_score_of_a_billion() -> None:
    """Near -1e9, float32 can only represent every 64th whole number."""
    first = ModelProto()
    first.CopyFrom(english("bpe"))
    first.pieces[-1].score = -1e9
    new, _ = merge_models([first, german("bpe")], ["a", "b"])
    scores = [piece.score for piece in new.pieces[len(first.pieces) :]]
    assert len(scores) == len(set(scores)) > 50
    assert max(scores) < -1e9
    assert scores == sorted(scores, reverse=True)


def test_one_model_is_too_few() -> None:
    refused("bad-value 1", english("bpe"))


def test_weights_of_any_size() -> None:
    model = english("unigram")
    for weights in ([1e-300, 1e-300], [1e300, 1e300], [1e308, 1e308]):
        assert merged(model, model, weights=weights).model == model
    text, score = next((p.text, p.score) for p in pieces_of(german("unigram")) if p.text == "▁Maß")
    found = by_text(merged(model, german("unigram"), weights=[1, 1e-9]).model)
    expected = to_float32(score + math.log(1e-9 / (1 + 1e-9)))
    assert found[text][1].score == pytest.approx(expected)
    assert found["<s>"][1].type == CONTROL
