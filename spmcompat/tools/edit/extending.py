"""Adds pieces that are learned from a new text to a model, and keeps the existing ids."""

from __future__ import annotations

from collections.abc import Sequence

from spmcompat.engine import Context, GivenText, Text, read_like
from spmcompat.errors import BadValueError, TextTooSmallError
from spmcompat.model.pieces import NORMAL, UNUSED, Piece, is_learned, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.progress import Report
from spmcompat.tools.edit.edits import is_placeholder
from spmcompat.tools.edit.growing import check_model
from spmcompat.tools.edit.vocabulary import continued, lowest_score, with_pieces


def extend(
    model: ModelProto, given: GivenText, report: Report, *, add: int, use_unused: bool
) -> ModelProto:
    """Return the model with new pieces, learned from a text.

    Parameters
    ----------
    model : ModelProto
        A Unigram or BPE model. Its specs decide how the text is read.
    given : GivenText
        The text.
    report : Report
        Receives log lines and the progress.
    add : int
        The number of new pieces.
    use_unused : bool
        Whether new pieces take the ids of unused pieces and placeholders first.

    Raises
    ------
    TrainingError
        If the text cannot be read, or does not yield enough pieces.
    """
    check_model(model, "extend")
    if add < 1:
        raise BadValueError(f"add must be at least 1, not {add}.")
    is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
    pieces = pieces_of(model)
    context = given.context(report)
    text = read_like(model, given, context)

    replaced = _replaced(model, add) if use_unused else []
    kept = [piece for piece_id, piece in enumerate(pieces) if piece_id not in replaced]
    characters = _new_characters(text, kept, add)
    if characters:
        report.info(f"{len(characters)} of the new pieces are characters of the text")
    if is_bpe:
        new = _extend_bpe(kept, characters, text, add, context)
    else:
        new = _extend_unigram(kept, characters, text, add, context)
    _check_size(len(new), add, model.trainer_spec, report)
    return with_pieces(model, _with_new(pieces, new, replaced))


def _replaced(model: ModelProto, add: int) -> list[int]:
    """Return the ids of the unused pieces and placeholders that `add` new pieces replace.

    An unused BPE piece still takes part in merging. It is not replaced if another piece is merged
    from it.
    """
    pieces, trainer = pieces_of(model), model.trainer_spec
    unused = {piece.text: piece.score for piece in pieces if piece.type == UNUSED}
    texts = list(unused)
    if unused and trainer.model_type == TrainerSpec.BPE:
        from spmcompat.tools.edit.leaves import least_used_first, parts_of_pieces

        droppable = {text: (False, score) for text, score in unused.items()}
        texts = list(least_used_first(droppable, parts_of_pieces(pieces), {}))
    texts += [piece.text for piece in pieces if is_placeholder(piece, trainer)]
    replaced = set(texts[:add])
    # A meta piece may have the text of an unused piece.
    return [
        piece_id
        for piece_id, piece in enumerate(pieces)
        if piece.text in replaced and (piece.type == UNUSED or is_placeholder(piece, trainer))
    ]


def _new_characters(text: Text, kept: Sequence[Piece], add: int) -> list[bytes]:
    """Return the characters that the text requires and the model lacks, most frequent first."""
    known = {piece.text for piece in kept}
    missing = [
        chr(character)
        for character, count in text.alphabet
        if count > 0 and chr(character) not in known
    ]
    if len(missing) > add:
        raise BadValueError(
            f"The character coverage of the text requires {len(missing)} characters that the model "
            f"lacks, but add is {add}. Raise add, or lower character_coverage."
        )
    return [character.encode() for character in missing]


def _extend_bpe(
    kept: Sequence[Piece],
    characters: Sequence[bytes],
    text: Text,
    add: int,
    context: Context,
) -> list[Piece]:
    """Return the new characters, followed by new merges. All old merges precede the new merges."""
    from spmcompat.engine import make_merges

    initial = [(piece.text.encode(), piece.score) for piece in kept if is_learned(piece)]
    segments = text.segments(context)
    merges = make_merges(segments, add - len(characters), context, initial=initial)
    new = [*characters, *(piece for piece, *_ in merges)]
    return continued((piece.decode() for piece in new), lowest_score(kept))


def _extend_unigram(
    kept: Sequence[Piece],
    characters: Sequence[bytes],
    text: Text,
    add: int,
    context: Context,
) -> list[Piece]:
    """Return the new pieces in descending order of score."""
    from spmcompat.tools.edit.extending_unigram import Extension, learn_pieces

    old = [(piece.text.encode(), piece.score) for piece in kept if piece.type == NORMAL]
    taken = frozenset(piece.text.encode() for piece in kept)
    extension = Extension(old, taken, characters, add)
    corpus = text.corpus(context)
    corpus.alphabet = [(character, count) for character, count in text.alphabet if count > 0]
    new = learn_pieces(corpus, extension, text.unigram, context)
    return [Piece(piece.decode(), score) for piece, score in new]


def _check_size(found: int, add: int, spec: TrainerSpec, report: Report) -> None:
    """Raise or warn if the text does not yield enough pieces, depending on ``hard_vocab_limit``."""
    if found == add:
        return
    problem = f"The text yields only {found} new pieces, but add is {add}."
    if spec.hard_vocab_limit:
        remedy = f"Lower add to {found}, or give" if found else "Give"
        raise TextTooSmallError(f"{problem} {remedy} more text.")
    report.warning(problem)


def _with_new(
    pieces: Sequence[Piece], new: Sequence[Piece], replaced: Sequence[int]
) -> list[Piece]:
    """Return the vocabulary with the new pieces, which get the ids `replaced` first, then new ids.

    The new pieces first take the ids of the replaced pieces, and then new ids. A new piece that has
    the text of a replaced piece takes the id of that piece, so that no text occurs twice.
    """
    grown = list(pieces)
    waiting = {piece.text: piece for piece in new}
    free = []
    for piece_id in replaced:
        text = grown[piece_id].text
        if text in waiting:
            grown[piece_id] = waiting.pop(text)
        else:
            free.append(piece_id)
    others = list(waiting.values())
    for piece_id, piece in zip(free, others, strict=False):
        grown[piece_id] = piece
    return grown + others[len(free) :]
