"""The pieces that are not learned: unk, bos, eos and pad; control and user-defined symbols; bytes.

Source: ``TrainerInterface::InitMetaPieces`` of ``sentencepiece``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spmcompat.errors import BadSymbolError
from spmcompat.model.pieces import BYTE, BYTE_PIECES, CONTROL, UNKNOWN, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.releases import DEFAULT, Release
from spmcompat.unicode.marks import SPACE_MARK

RESERVED = ("unk", "bos", "eos", "pad")
"""The names that options use for the pieces with a special meaning."""

_DUPLICATE = "is already defined. duplicated symbols are not allowed."


class MetaPiece(NamedTuple):
    """A piece with a fixed id.

    Attributes
    ----------
    piece : str
        The text.
    type : ModelProto.SentencePiece.Type
    """

    piece: str
    type: ModelProto.SentencePiece.Type


def meta_pieces(spec: TrainerSpec, release: Release = DEFAULT) -> dict[int, MetaPiece]:
    """Give every meta piece its id.

    Parameters
    ----------
    spec : TrainerSpec
        The options of the run.
    release : Release
        The release to train as.

    Returns
    -------
    dict of int to MetaPiece
        The meta pieces by ascending id. Learned pieces take the ids between them.

    Raises
    ------
    TrainingError
        If two pieces have the same id, a piece is defined twice, or an id is out of range.
    """
    pieces = _reserved_pieces(spec, release)
    _add_symbols(pieces, spec, release)
    pieces = dict(sorted(pieces.items()))
    _refuse_duplicates(pieces)
    return pieces


def reserved_ids(spec: TrainerSpec, pieces: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Map the names unk, bos, eos and pad to ids. Leave out pieces that the vocabulary lacks.

    Like ``sentencepiece``, this function finds the pieces by their texts and types.

    Parameters
    ----------
    spec : TrainerSpec
        The spec with the texts of these pieces.
    pieces : iterable of (str, int)
        The text and type of each piece, in the order of ids.
    """
    ids = {piece: index for index, piece in enumerate(pieces)}
    found: dict[str, int] = {}
    for kind in RESERVED:
        piece_type = UNKNOWN if kind == "unk" else CONTROL
        piece = (getattr(spec, f"{kind}_piece"), piece_type)
        if piece in ids:
            found[kind] = ids[piece]
    return found


def _reserved_pieces(spec: TrainerSpec, release: Release) -> dict[int, MetaPiece]:
    """Return unk, bos, eos and pad by id. A negative id leaves the piece out."""
    pieces: dict[int, MetaPiece] = {}
    has_unk = False
    for kind in RESERVED:
        piece_id: int = getattr(spec, f"{kind}_id")
        piece: str = getattr(spec, f"{kind}_piece")
        if piece_id < 0:
            continue
        if piece_id >= spec.vocab_size:
            raise BadSymbolError(
                f"{kind}_id is {piece_id}, but the last id is {spec.vocab_size - 1}. "
                f"Set {kind}_id below vocab_size, or to -1 to leave {piece} out."
            )
        if piece_id in pieces:
            raise BadSymbolError(
                f"{kind}_id {piece_id} is already taken by {pieces[piece_id].piece}. "
                f"Give {piece} another id, or -1 to leave it out."
            )
        is_unk = piece == spec.unk_piece
        if is_unk and has_unk:
            raise BadSymbolError(
                f"{kind}_piece {piece} is already defined as unk_piece. Give it another text."
            )
        has_unk |= is_unk
        pieces[piece_id] = MetaPiece(piece, UNKNOWN if is_unk else CONTROL)
    if not has_unk and not (spec.byte_fallback and release.unk_is_optional):
        remedy = ", or use byte_fallback" if release.unk_is_optional else ""
        raise BadSymbolError(f"{spec.unk_piece} must be defined. Set unk_id to 0 or more{remedy}.")
    return pieces


def _add_symbols(pieces: dict[int, MetaPiece], spec: TrainerSpec, release: Release) -> None:
    """Give the symbols and the bytes the lowest free ids."""
    with_marks = spec.model_type == TrainerSpec.WORD and release.symbols_begin_words
    symbols = [(symbol, CONTROL) for symbol in spec.control_symbols]
    for symbol in spec.user_defined_symbols:
        symbols.append((symbol, USER_DEFINED))
        # A word begins with a space mark, so also add the symbol with a space mark before it.
        if with_marks and not symbol.startswith(SPACE_MARK):
            symbols.append((SPACE_MARK + symbol, USER_DEFINED))
    if spec.byte_fallback:
        symbols += [(piece, BYTE) for piece in BYTE_PIECES]

    # A symbol with the text of bos, eos or pad only changes the type of that piece.
    reserved: dict[str, int] = {}
    for kind in ("bos", "eos", "pad"):
        if getattr(spec, f"{kind}_id") >= 0:
            reserved.setdefault(getattr(spec, f"{kind}_piece"), getattr(spec, f"{kind}_id"))

    seen: set[str] = set()
    free_id = 0
    for symbol, kind_of_piece in symbols:
        if symbol in seen:
            raise BadSymbolError(f"{symbol} {_DUPLICATE} Remove one of the two.")
        seen.add(symbol)
        if not symbol:
            option = "control_symbols" if kind_of_piece == CONTROL else "user_defined_symbols"
            raise BadSymbolError(
                f"{option} contains an empty symbol, or one that begins with U+0000. Look for two "
                "commas in a row, an empty line in a file, or a NUL character."
            )
        if symbol == spec.unk_piece:
            raise BadSymbolError(
                f"{symbol} must not be defined with --control_symbols and "
                "--user_defined_symbols. Remove it there, or change --unk_piece."
            )
        if symbol in reserved:
            pieces[reserved[symbol]] = MetaPiece(symbol, kind_of_piece)
            continue
        while free_id in pieces:
            free_id += 1
        pieces[free_id] = MetaPiece(symbol, kind_of_piece)


def _refuse_duplicates(pieces: dict[int, MetaPiece]) -> None:
    """Raise if two ids have the same text. The reference fails only when it writes the model."""
    owner: dict[str, int] = {}
    for piece_id, meta in pieces.items():
        if meta.piece in owner:
            raise BadSymbolError(
                f"{meta.piece} is already defined: it is the piece of id {owner[meta.piece]} and "
                f"of id {piece_id}. Give each id another text."
            )
        owner[meta.piece] = piece_id
