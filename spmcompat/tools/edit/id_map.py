"""How the ids of a model change, so that the embeddings of a network can be adapted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import (
    BYTE,
    BYTE_PIECES,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Piece,
    pieces_of,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

IdMap = Sequence[tuple[int, ...]]


def id_map(before: ModelProto, after: ModelProto) -> list[tuple[int, ...]]:
    """Return the old ids that each new id corresponds to.

    A piece that both models have corresponds to its old id. A new piece corresponds to the ids of
    the tokens into which the old model encodes the text of the piece. The text is encoded as
    normalized text: its space marks are kept, and no space is put before it.

    Parameters
    ----------
    before, after : ModelProto
        The Unigram or BPE model before and after a change.

    Returns
    -------
    list of tuple of int
        The old ids for each new id, in the order of the new ids. No tuple is empty.
    """
    pieces = pieces_of(before)
    # In a Unigram model, a meta piece and a piece that encoding produces may have the same text.
    own_ids = {(piece.text, piece.type): number for number, piece in enumerate(pieces)}
    is_encoded = [piece.type in (NORMAL, USER_DEFINED) for piece in pieces]
    order = sorted(range(len(pieces)), key=is_encoded.__getitem__)
    ids = {pieces[number].text: number for number in order}
    # A model with byte_fallback has all byte pieces, and may lack the unknown piece.
    unknown = next((number for number, piece in enumerate(pieces) if piece.type == UNKNOWN), -1)
    has_bytes = before.trainer_spec.byte_fallback
    byte_ids = [own_ids[text, BYTE] for text in BYTE_PIECES] if has_bytes else []
    encode = encoder_of(pieces, before.trainer_spec)

    def encoded(text: str) -> Iterator[int]:
        last = -1
        for token in encode(text):
            number = ids.get(token, unknown)
            if number == unknown and has_bytes:
                yield from (byte_ids[byte] for byte in token.encode())
            # The library returns one unknown token for neighbouring unknown characters.
            elif number != unknown or last != unknown:
                yield number
            last = number

    def old_ids(piece: Piece) -> tuple[int, ...]:
        number = own_ids.get((piece.text, piece.type), ids.get(piece.text))
        return tuple(encoded(piece.text)) if number is None else (number,)

    return [old_ids(piece) for piece in pieces_of(after)]


def lines_of(ids: IdMap) -> Iterable[bytes]:
    """Yield the lines of a map file: a new id, a TAB, and its old ids with spaces between them."""
    for number, old in enumerate(ids):
        yield f"{number}\t{' '.join(map(str, old))}\n".encode()
