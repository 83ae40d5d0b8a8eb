"""Shrinks the vocabulary of a model by dropping the pieces that a text needs least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from spmcompat.engine import SPACE_MARK, Context, GivenText, Text, Unigram, read_like
from spmcompat.errors import BadValueError, ConflictError
from spmcompat.model.pieces import NORMAL, UNUSED, Piece, characters_of, is_learned, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.progress import Report
from spmcompat.tools.edit.growing import check_model
from spmcompat.tools.edit.vocabulary import lowest_score, with_pieces


def trim(
    model: ModelProto,
    given: GivenText,
    report: Report,
    *,
    keep: int,
    keep_ids: bool,
    drop_characters: bool,
) -> ModelProto:
    """Return the model with only the pieces that a text needs most.

    Meta pieces stay, and so do single characters unless `drop_characters` allows dropping them. The
    scores of the remaining pieces do not change. So if a Unigram model cut a text into pieces that
    were kept, the new model cuts the text in the same way.

    Parameters
    ----------
    model : ModelProto
        A Unigram or BPE model. Its specs decide how the text is read.
    given : GivenText
        The text.
    report : Report
        Receives log lines and progress.
    keep : int
        The number of pieces to keep, including meta pieces.
    keep_ids : bool
        Whether ids stay, so that dropped pieces become unused. Otherwise, the pieces are renumbered
        without gaps.
    drop_characters : bool
        Whether characters that the coverage of the text does not require may be dropped too.

    Raises
    ------
    TrainingError
        If the text cannot be read, or not enough pieces can be dropped.
    """
    check_model(model, "trim")
    if "character_coverage" in given.options and not drop_characters:
        raise ConflictError(
            "character_coverage decides which characters to drop: give drop_characters, too."
        )
    pieces = pieces_of(model)
    counted = [p for p in pieces if not (keep_ids and p.type == UNUSED)]
    _check_keep(keep, counted, frozenset() if drop_characters else None)
    context = given.context(report)
    text = read_like(model, given, context)
    # The other characters are unknown. The space mark stays even if the model does not have it, so
    # that the pretokens of a sentence need not be joined.
    known = {*characters_of(model), SPACE_MARK}
    text = text._replace(alphabet=[one for one in text.alphabet if chr(one[0]) in known])
    characters = None
    if drop_characters:
        required = model.trainer_spec.required_chars
        characters = frozenset(text.required_characters(required))
        _check_keep(keep, counted, characters)
    droppable = [piece for piece in counted if _may_drop(piece, characters)]
    size = len(counted) - keep
    if model.trainer_spec.model_type == TrainerSpec.BPE:
        dropped = _least_used_leaves(pieces, droppable, size, text, context)
    else:
        dropped = _least_losses(pieces, droppable, size, text, context)
    report.info(f"Dropped {len(dropped)} of {len(counted)} pieces")
    # A meta piece may have the text of a dropped piece.
    fallen = {
        piece_id
        for piece_id, piece in enumerate(pieces)
        if is_learned(piece) and piece.text in dropped
    }
    if keep_ids:
        marked = [p._replace(type=UNUSED) if i in fallen else p for i, p in enumerate(pieces)]
        return with_pieces(model, marked)
    origins = [piece_id for piece_id in range(len(pieces)) if piece_id not in fallen]
    return with_pieces(model, [pieces[origin] for origin in origins], origins)


def _may_drop(piece: Piece, characters: frozenset[str] | None) -> bool:
    """Return whether a piece may be dropped. If `characters` is None, all characters stay."""
    if piece.text == "\0":  # sentencepiece ignores such pieces, and several may have this text
        return False
    if piece.type != NORMAL or len(piece.text) > 1:
        return is_learned(piece)
    return characters is not None and piece.text not in characters


def _check_keep(keep: int, counted: Sequence[Piece], characters: frozenset[str] | None) -> None:
    """Raise if `keep` is not below the model's size, or is too small for the pieces that stay."""
    size = len(counted)
    if keep >= size:
        raise BadValueError(f"The model has {size} pieces. keep must be below that, not {keep}.")
    fixed = sum(not _may_drop(piece, characters) for piece in counted)
    if keep >= fixed:
        return
    stay, remedy = "required characters", ""
    if characters is None:
        stay, remedy = "single characters, which stay", ", or give drop_characters"
    raise BadValueError(
        f"{fixed} pieces are meta pieces or {stay}. Raise keep to at least {fixed} instead of "
        f"{keep}{remedy}."
    )


def _least_used_leaves(
    pieces: Sequence[Piece],
    droppable: Sequence[Piece],
    size: int,
    text: Text,
    context: Context,
) -> set[str]:
    """Return the pieces to drop from a BPE model."""
    from spmcompat.engine import count_in_encoded
    from spmcompat.tools.edit.leaves import least_used_first, parts_of_pieces

    merged = [piece for piece in pieces if is_learned(piece)]
    scores = [(piece.text.encode(), piece.score) for piece in merged]
    segments = text.segments(context)
    context.report.step("Encoding")
    counted = count_in_encoded(segments, scores, context.workers)
    context.report.step("Dropping leaves")
    ranks = {piece.text: (piece.type == NORMAL, piece.score) for piece in droppable}
    parts = parts_of_pieces(pieces)
    uses = Counter(dict(zip((piece.text for piece in merged), counted, strict=True)))
    _count_characters(uses, text.alphabet, ranks)
    # Merges may produce an unused piece, but encoding then splits it into its parts. So move the
    # count of each unused piece to its parts, beginning with the longest piece.
    unused = [piece.text for piece in merged if piece.type == UNUSED]
    for piece in sorted(unused, key=len, reverse=True):
        for part in parts.get(piece, ()):
            uses[part] += uses[piece]
        del uses[piece]
    # A part is dropped only after all pieces that are merged from it. With `keep_ids`, unused
    # pieces are never dropped, but their parts may be. So pass only the parts of droppable pieces.
    parts = {one: both for one, both in parts.items() if one in ranks}
    return set(islice(least_used_first(ranks, parts, uses), size))


def _count_characters(
    uses: Counter[str], alphabet: Sequence[tuple[int, int]], droppable: Collection[str]
) -> None:
    """Set the count of each droppable character to its number of uses outside longer tokens."""
    single = {piece for piece in droppable if len(piece) == 1}
    if not single:
        return
    inside: Counter[str] = Counter()
    for piece, count in uses.items():
        for character in single.intersection(piece):
            inside[character] += count * piece.count(character)
    for code_point, count in alphabet:
        if chr(code_point) in single:
            uses[chr(code_point)] = count - inside[chr(code_point)]


def _least_losses(
    pieces: Sequence[Piece],
    droppable: Sequence[Piece],
    size: int,
    text: Text,
    context: Context,
) -> set[str]:
    """Return the pieces to drop from a Unigram model: unused pieces, then those of lowest loss."""
    from spmcompat.tools.edit.trimming_unigram import least_losses

    # Drop unused pieces first: they are not on any path.
    unused = [piece.text for piece in droppable if piece.type == UNUSED][:size]
    normal = [(piece.text.encode(), piece.score) for piece in pieces if piece.type == NORMAL]
    if all(piece != SPACE_MARK.encode() for piece, _ in normal):
        # Where it occurs, it is an unknown character, whose score is that low when encoding.
        normal.append((SPACE_MARK.encode(), lowest_score(pieces) - 10))
    candidates = frozenset(piece.text.encode() for piece in droppable if piece.type == NORMAL)
    if size == len(unused):
        return set(unused)
    unigram = Unigram(text.corpus(context), normal, context, text.unigram)
    dropped = least_losses(unigram, candidates, size - len(unused), text.unigram, context.report)
    return {*unused, *(piece.decode() for piece in dropped)}
