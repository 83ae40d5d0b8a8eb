"""For each piece of a new model, the id map has the ids that sentencepiece finds in the old one."""

from __future__ import annotations

import pytest

import spmcompat
from spmcompat.model.pieces import NORMAL, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.id_map import id_map, lines_of
from spmcompat.tools.evaluate.pretokens import encoder_of_normalized
from tests.unit.tools.edit.growing_models import KINDS, trained, words

pytestmark = pytest.mark.reference

NEW = [*words(2, 80), "日本語 日本人", "naïve café 日", "日本語 naïve"]


def check(before: ModelProto, ids: list[tuple[int, ...]], after: ModelProto) -> None:
    """Check that `ids` has, for each piece, the ids of the tokens to which `before` encodes it."""
    assert len(ids) == len(after.pieces)
    old = {piece.piece: number for number, piece in enumerate(before.pieces)}
    encoder = encoder_of_normalized(before)
    for piece, found in zip(after.pieces, ids, strict=True):
        expected = [old[piece.piece]] if piece.piece in old else encoder.encode(piece.piece)
        assert list(found) == expected, piece.piece


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("suffix", [False, True])
def test_new_pieces_have_the_ids_of_their_old_tokens(
    kind: str, byte_fallback: bool, suffix: bool
) -> None:
    before = trained(
        words(1, 200, types=300),
        vocab_size=500,
        model_type=kind,
        byte_fallback=byte_fallback,
        treat_whitespace_as_suffix=suffix,
        user_defined_symbols=["qx"],
    )
    model = before.SerializeToString()
    result = spmcompat.extend(model, sentence_iterator=NEW, add=60, minloglevel=2)
    check(before, result.ids, ModelProto.FromString(result.model))
    assert result.ids[: result.old_size] == [(number,) for number in range(result.old_size)]
    assert any(len(ids) > 1 for ids in result.ids)


@pytest.mark.parametrize("keep_ids", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_remaining_pieces_have_their_old_ids(kind: str, keep_ids: bool) -> None:
    before = trained(words(1, 200, types=300), vocab_size=200, model_type=kind)
    result = spmcompat.trim(
        before.SerializeToString(),
        sentence_iterator=words(2, 80),
        keep=120,
        keep_ids=keep_ids,
        minloglevel=2,
    )
    check(before, result.ids, ModelProto.FromString(result.model))
    assert all(len(ids) == 1 for ids in result.ids)
    assert (result.ids == [(number,) for number in range(200)]) == keep_ids


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_with_bytes_may_lack_the_unknown_piece(kind: str) -> None:
    options = {"vocab_size": 500, "model_type": kind, "byte_fallback": True, "unk_id": -1}
    before = trained(words(1, 200, types=300), **options)
    model = before.SerializeToString()
    longer = spmcompat.extend(model, sentence_iterator=NEW, add=60, minloglevel=2)
    check(before, longer.ids, ModelProto.FromString(longer.model))
    shorter = spmcompat.trim(model, sentence_iterator=NEW, keep=450, minloglevel=2)
    check(before, shorter.ids, ModelProto.FromString(shorter.model))


def test_a_reused_id_does_not_keep_its_old_meaning() -> None:
    before = trained(words(1, 200, types=300), vocab_size=200, user_defined_symbols=["<unused0>"])
    place = next(i for i, piece in enumerate(before.pieces) if piece.piece == "<unused0>")
    assert before.pieces[place].type == USER_DEFINED
    result = spmcompat.extend(
        before.SerializeToString(),
        sentence_iterator=words(2, 80),
        add=5,
        use_unused=True,
        minloglevel=2,
    )
    after = ModelProto.FromString(result.model)
    assert after.pieces[place].type == NORMAL
    assert result.ids[place] != (place,)
    check(before, result.ids, after)


def test_an_unknown_piece_has_one_unknown_id() -> None:
    before = trained(words(1, 200, types=300), vocab_size=200)
    after = ModelProto.FromString(before.SerializeToString())
    after.pieces.add(piece="日本", score=-20.0)
    assert id_map(before, after)[-1] == (before.trainer_spec.unk_id,)
    check(before, id_map(before, after), after)


def test_lines() -> None:
    assert b"".join(lines_of([(0,), (7, 3, 3)])) == b"0\t0\n1\t7 3 3\n"
