"""The ids of unk, bos, eos and pad are those that the real library finds."""

from typing import Any

import pytest

from spmcompat.model.meta_pieces import RESERVED, reserved_ids
from tests.unit.tools.export.models import changed, train

PLAIN: dict[str, Any] = {"model_type": "char"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pad_id": 3, "bos_id": -1, "eos_piece": "<end>"},
        {"unk_id": 5, "bos_id": 0, "pad_id": 1, "pad_piece": "[PAD]"},
        # A control symbol that has the text of a reserved piece becomes the reserved piece.
        {"bos_id": -1, "control_symbols": ["<pad>", "<s>"]},
        {"eos_id": -1, "user_defined_symbols": ["</s>", "<pad>"]},
        {"eos_id": -1, "eos_piece": "<s>"},
    ],
    ids=str,
)
def test_ids(options: dict[str, Any]) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = train(**PLAIN, **options)
    # A wrong id in the trainer spec has no effect.
    model = changed(model, lambda one: setattr(one.trainer_spec, "pad_id", 7))
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    expected = {kind: getattr(processor, f"{kind}_id")() for kind in RESERVED}
    found = reserved_ids(model.trainer_spec, ((one.piece, one.type) for one in model.pieces))
    assert {kind: found.get(kind, -1) for kind in RESERVED} == expected
