"""Converts the vocabulary of a model to plain pieces, and puts pieces back into a model.

Every module of this package works on a list of `Piece`, in which the id of a piece is its index.
`with_pieces` puts such a list back into a model and leaves all other fields unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from types import MappingProxyType

from spmcompat.engine import LARGEST_FLOAT32, SPACE_MARK, to_float32
from spmcompat.errors import BadModelError, BadValueError, refuse_impossible
from spmcompat.model.loading import check_loads
from spmcompat.model.meta_pieces import RESERVED, reserved_ids
from spmcompat.model.pieces import (
    CONTROL,
    NORMAL,
    USER_DEFINED,
    Piece,
    is_learned,
    pieces_of,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.model.vocabulary import vocabulary_lines
from spmcompat.runtime.outputs import check_output, is_special, outputs, refuse_inputs
from spmcompat.tools.edit.read_file import ReadFile

_NAMED = 5  # how many texts a message lists


def a_few(texts: Sequence[str]) -> str:
    """Return one line with the first few texts, and the number of the remaining texts."""
    more = len(texts) - _NAMED
    return ", ".join(texts[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def lowest_score(pieces: Iterable[Piece]) -> float:
    """Return the lowest score of the normal and unused pieces, or 0 if there are none."""
    return min((one.score for one in pieces if is_learned(one)), default=0.0)


def below(score: float, step: float) -> float:
    """Return a float32 value below a score: lower by `step`, or by more if rounding requires it.

    Raises
    ------
    BadValueError
        If float32 has no lower finite value.
    """
    if to_float32(score) <= -LARGEST_FLOAT32:
        raise BadValueError(
            f"no score below {score:g} can be stored in 32 bits. Raise the lowest scores of the "
            "model with spmcompat edit --set_score."
        )
    while (lower := to_float32(score - step)) >= score:
        step *= 2
    return max(lower, -LARGEST_FLOAT32)


def continued(texts: Iterable[str], lowest: float) -> list[Piece]:
    """Return normal BPE pieces that are merged in the given order, after all existing pieces.

    As in training, each score is 1 lower than the previous score. If the scores are so low that
    float32 cannot represent a step of 1, the score is the next lower float32 value.

    Raises
    ------
    BadValueError
        If float32 has too few values below the lowest score.
    """
    pieces = []
    for text in texts:
        lowest = below(lowest, 1.0)
        pieces.append(Piece(text, lowest))
    return pieces


def ids_of(pieces: Iterable[Piece]) -> dict[str, int]:
    """Return the id of each text.

    Raises
    ------
    BadValueError
        If two pieces have the same text.
    """
    ids: dict[str, int] = {}
    for piece_id, piece in enumerate(pieces):
        if piece.text in ids:
            raise BadModelError(
                f"{piece.text} is already defined: it is the piece of id {ids[piece.text]} and of "
                f"id {piece_id}. Give one of them another text."
            )
        ids[piece.text] = piece_id
    return ids


def with_pieces(
    model: ModelProto, pieces: Sequence[Piece], origins: Sequence[int | None] | None = None
) -> ModelProto:
    """Return a copy of a model with another vocabulary.

    The fields of the trainer spec that describe pieces are updated: ``vocab_size``,
    ``control_symbols``, ``user_defined_symbols``, and the ids of unk, bos, eos and pad. Self-test
    samples are dropped. The new vocabulary may cut them differently, and ``sentencepiece`` 0.2.0
    does not load a model whose samples are cut differently. All other fields stay, including
    unknown ones.

    Parameters
    ----------
    model : ModelProto
        The model.
    pieces : sequence of Piece
        The new vocabulary, in the order of ids.
    origins : sequence of int or None, optional
        The id of each piece in `model`, or None for a new piece. By default, the ids of `model`
        stay, and any further pieces are new.

    Returns
    -------
    ModelProto
        The new model.

    Raises
    ------
    BadValueError
        If ``sentencepiece`` would not load the model.
    """
    old_size = len(model.pieces)
    if origins is None:
        origins = [i if i < old_size else None for i in range(len(pieces))]
    changed = ModelProto()
    changed.CopyFrom(model)
    changed.ClearField("pieces")
    changed.ClearField("self_test_data")
    for piece, origin in zip(pieces, origins, strict=True):
        entry = changed.pieces.add()
        if origin is not None:
            entry.CopyFrom(model.pieces[origin])
        _store(entry, piece)
    old = pieces_of(model)
    _store_reserved(changed.trainer_spec, old, pieces, origins)
    _store_symbols(changed.trainer_spec, old, pieces, origins)
    if len(pieces) != old_size:
        changed.trainer_spec.vocab_size = len(pieces)
    check_loads(changed)
    return changed


def _store(entry: ModelProto.SentencePiece, piece: Piece) -> None:
    """Set only the fields that changed. A field that stores its default value is not cleared."""
    if entry.piece != piece.text or not entry.HasField("piece"):
        entry.piece = piece.text
    if entry.score != piece.score or not entry.HasField("score"):
        entry.score = piece.score
    if entry.type != piece.type:
        if piece.type == NORMAL:
            entry.ClearField("type")
        else:
            entry.type = piece.type  # type: ignore[assignment]


def _store_symbols(
    trainer: TrainerSpec,
    old: Sequence[Piece],
    new: Sequence[Piece],
    origins: Sequence[int | None],
) -> None:
    """Update the trainer spec's lists of control symbols and of user-defined symbols.

    The lists are not rebuilt from the types of the pieces, because a list may lack pieces of its
    type: it never contains bos, eos and pad, and other programs may have changed the model.
    """
    now = {origin: piece for piece, origin in zip(new, origins, strict=True)}
    reserved = {getattr(trainer, f"{kind}_piece") for kind in RESERVED}
    for field, symbol_type in (
        (trainer.control_symbols, CONTROL),
        (trainer.user_defined_symbols, USER_DEFINED),
    ):
        old_ids: dict[str, list[int]] = {}
        for piece_id, piece in enumerate(old):
            if piece.type == symbol_type:
                old_ids.setdefault(piece.text, []).append(piece_id)
        kept: list[str] = []
        for symbol in field:
            # A symbol without a piece of its type stays in the list: the trainer, too, lists some
            # symbols that it does not add to the vocabulary.
            moved = [now[i] for i in old_ids.get(symbol, ()) if i in now]
            texts = [piece.text for piece in moved if piece.type == symbol_type]
            kept += texts if symbol in old_ids else [symbol]
        added = [
            piece.text
            for piece, origin in zip(new, origins, strict=True)
            if piece.type == symbol_type
            and piece.text not in reserved
            and (origin is None or old[origin].text not in old_ids)
        ]
        # For a word model, training adds each listed symbol also with a space mark before it.
        if trainer.model_type == TrainerSpec.WORD:
            marked = {SPACE_MARK + text for text in [*kept, *added]}
            added = [text for text in added if text not in marked]
        if [*kept, *added] != list(field):
            del field[:]
            field.extend(dict.fromkeys([*kept, *added]))


def _store_reserved(
    trainer: TrainerSpec,
    old: Sequence[Piece],
    new: Sequence[Piece],
    origins: Sequence[int | None],
) -> None:
    """Store those texts and ids of unk, bos, eos and pad that changed."""
    old_ids = reserved_ids(trainer, _texts_and_types(old))
    for kind, index in old_ids.items():
        if index in origins:
            piece = new[origins.index(index)]
            if piece.type == old[index].type and piece.text != getattr(trainer, f"{kind}_piece"):
                setattr(trainer, f"{kind}_piece", piece.text)
    new_ids = reserved_ids(trainer, _texts_and_types(new))
    for kind in RESERVED:
        index = new_ids.get(kind, -1)
        if index != old_ids.get(kind, -1):
            setattr(trainer, f"{kind}_id", index)


def _texts_and_types(pieces: Sequence[Piece]) -> Iterable[tuple[str, int]]:
    return ((piece.text, piece.type) for piece in pieces)


def write_model(
    model: ModelProto,
    path: str | PathLike[str],
    read: Iterable[ReadFile],
    others: Mapping[str, Iterable[bytes]] = MappingProxyType({}),
) -> None:
    """Write a model, and the ``.vocab`` file next to it if the name ends in ``.model``.

    Either all files are written, or none.

    Parameters
    ----------
    model : ModelProto
        The model.
    path : path
        The path of the model.
    read : iterable of ReadFile
        The files from which the model was made.
    others : mapping of str to iterable of bytes, optional
        The contents of other files to write together with the model, by path.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    BadValueError
        If two of the files are the same.
    TrainingError
        If a file that was read would be replaced, but has changed since.
    """
    contents = files_of(model, path)
    with ExitStack() as locks, outputs("--output") as files:
        files.write({name: [content] for name, content in contents.items()})
        files.write(others)
        for one in read:
            # The lock is held until the files have been replaced.
            if any(one.is_at(replaced) for replaced in contents):
                locks.enter_context(one.unchanged())


def check_model_output(
    path: str | PathLike[str],
    model: str | PathLike[str] | None,
    others: Iterable[str | PathLike[str]],
) -> None:
    """Raise if `write_model` could not write its files, or would destroy an input.

    Parameters
    ----------
    path : path
        The path of the new model.
    model : path, optional
        The original model. The new model may replace it, but a ``.vocab`` file may not, and neither
        may an open descriptor, which is written in place.
    others : iterable of paths
        The other inputs.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    BadValueError
        If writing would replace an input that must not be replaced.
    """
    paths = paths_of(path)
    for one in paths:
        check_output(one, "--output")
    refuse_inputs(paths, others, "--output")
    if model is not None:
        refuse_inputs(paths if is_special(path) else paths[1:], [model], "--output")


def files_of(model: ModelProto, path: str | PathLike[str]) -> Mapping[str, bytes]:
    """Return the contents of the files that `write_model` writes, by path."""
    name, *vocab = paths_of(path)
    files = {name: model.SerializeToString()}
    if vocab:
        lines = [(one.piece.encode(), one.score) for one in model.pieces]
        with_scores = model.trainer_spec.vocabulary_output_piece_score
        files[vocab[0]] = vocabulary_lines(lines, with_scores)
    return files


def paths_of(path: str | PathLike[str]) -> list[str]:
    """Return the path of the model and, if it has one, the path of its ``.vocab`` file."""
    refuse_impossible(path, "Check --output")
    name = os.fspath(path)
    stem = name.removesuffix(".model")
    return [name] if stem == name else [name, f"{stem}.vocab"]
