"""Our encoders and the real library cut the same texts into the same tokens."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import NORMAL, UNKNOWN, UNUSED, USER_DEFINED, Piece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.rounding import to_float32
from tests.searches import examples

LETTERS = "abé漢"


def model_of(pieces: list[Piece], kind: TrainerSpec.ModelType) -> ModelProto:
    """Return a model whose normalizer does not change text."""
    model = ModelProto(trainer_spec=TrainerSpec(model_type=kind))
    spec = model.normalizer_spec
    spec.add_dummy_prefix = spec.remove_extra_whitespaces = spec.escape_whitespaces = False
    for piece in pieces:
        model.pieces.add(piece=piece.text, score=piece.score).type = piece.type  # type: ignore[assignment]
    return model


@st.composite
def vocabularies(draw: st.DrawFn) -> list[Piece]:
    texts = draw(st.lists(st.text(LETTERS, min_size=1, max_size=5), min_size=1, unique=True))
    types = st.sampled_from([NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED])
    scale = draw(st.sampled_from([0.125, 1.0, 1e5, 1e20]))  # sentencepiece resets large sums
    scores = st.integers(-9, 0) | st.floats(-9, 0, width=32)
    pieces = [Piece("<unk>", 0.0, UNKNOWN), Piece(texts[0], -1.0)]
    for text in texts[1:]:
        pieces.append(Piece(text, to_float32(draw(scores) * scale), draw(types)))
    return pieces


@given(
    st.sampled_from([TrainerSpec.UNIGRAM, TrainerSpec.BPE, TrainerSpec.CHAR]),
    vocabularies(),
    st.lists(st.text(LETTERS + "x", max_size=60), min_size=1),
)
@settings(max_examples=examples(300))
def test_texts_are_encoded_as_by_the_library(
    kind: TrainerSpec.ModelType, pieces: list[Piece], texts: list[str]
) -> None:
    library = SentencePieceProcessor(model_proto=model_of(pieces, kind).SerializeToString())
    encode = encoder_of(pieces, TrainerSpec(model_type=kind))
    known = {piece.text for piece in pieces if piece.type in (NORMAL, USER_DEFINED)}
    for text in texts:
        found = library.encode(text, out_type=str)
        assert joined(encode(text), known) == joined(found, known)


def joined(tokens: list[str], known: set[str]) -> list[str]:
    """Join neighbouring unknown tokens, as the library does."""
    found: list[str] = []
    for is_known, group in groupby(tokens, known.__contains__):
        same = list(group)
        found += same if is_known else ["".join(same)]
    return found
