"""The entries of a model are the bytes that protobuf writes."""

from hypothesis import given
from hypothesis import strategies as st

from spmcompat.model.entries import model_entries
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

TYPES = ModelProto.SentencePiece.Type.values()

# Lengths are written in one byte or in several.
ENTRIES = st.lists(
    st.tuples(
        st.text(max_size=3) | st.text(min_size=118, max_size=130),
        st.floats(width=32, allow_nan=False),
        st.none() | st.sampled_from(TYPES),
    ),
    max_size=5,
)


@given(ENTRIES)
def test_entries_are_those_of_protobuf(entries: list[tuple[str, float, int | None]]) -> None:
    model = ModelProto()
    for piece, score, kind in entries:
        model.pieces.add(piece=piece, score=score, type=kind)
    types = {number: kind for number, (_, _, kind) in enumerate(entries) if kind is not None}
    pieces = [(piece.encode(), score) for piece, score, _ in entries]
    assert model_entries(pieces, types) == model.SerializeToString()
