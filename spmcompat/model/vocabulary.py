"""The final vocabulary: meta pieces have fixed ids, learned pieces get the ids between them.

Source: ``TrainerInterface::Serialize`` of ``sentencepiece`` 0.2.3.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spmcompat.errors import BadSymbolError, LargeVocabularyError, SmallVocabularyError
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.unicode.marks import SPACE_MARK

_BREAKS = re.compile(rb"[ \t\r\n]")


def reachable_ids(
    meta: Mapping[int, MetaPiece], pieces: int, trainer: TrainerSpec
) -> dict[int, MetaPiece]:
    """Return the meta pieces that fit into the vocabulary.

    Parameters
    ----------
    meta : mapping of int to MetaPiece
        Meta pieces by id.
    pieces : int
        The number of learned pieces.
    trainer : TrainerSpec
        The options of the run.

    Returns
    -------
    dict of int to MetaPiece
        Without ``use_all_vocab``, all meta pieces. With ``use_all_vocab``, the reference fills the
        ids up to the number of all pieces, and drops meta pieces with higher ids without a message.
        If ``hard_vocab_limit`` is also set, the reference fails instead, so all meta pieces are
        returned. But the char model ignores ``hard_vocab_limit``.
    """
    is_char = trainer.model_type == TrainerSpec.CHAR
    if not trainer.use_all_vocab or (trainer.hard_vocab_limit and not is_char):
        return dict(meta)
    size = pieces + len(meta)
    return {piece_id: fixed for piece_id, fixed in meta.items() if piece_id < size}


def fill_ids(
    pieces: Sequence[tuple[bytes, float]], meta: Mapping[int, MetaPiece], trainer: TrainerSpec
) -> list[tuple[bytes, float]]:
    """Give every piece its id.

    Parameters
    ----------
    pieces : sequence of (bytes, float)
        Learned pieces in UTF-8 and their scores (float32 log probabilities), best first.
    meta : mapping of int to MetaPiece
        Meta pieces by id.
    trainer : TrainerSpec
        The options of the run.

    Returns
    -------
    list of (bytes, float)
        The vocabulary: all pieces and their scores in the order of their ids.

    Raises
    ------
    TrainingError
        If there are too few or too many pieces, or a piece occurs twice.
    """
    vocabulary = list(pieces)
    for piece_id, fixed in sorted(meta.items()):
        if piece_id > len(vocabulary):
            raise BadSymbolError(
                f"id {piece_id} of {fixed.piece} cannot be reached: there are only "
                f"{len(vocabulary)} pieces before it. Choose a smaller id."
            )
        vocabulary.insert(piece_id, (fixed.piece.encode(), 0.0))
    size, limit = len(vocabulary), trainer.vocab_size
    if size > limit and not trainer.use_all_vocab:
        raise SmallVocabularyError(
            f"{size - limit} learned pieces do not fit into vocab_size {limit}."
        )
    _check_pieces([piece for piece, _ in vocabulary])
    if size < limit and _is_hard(trainer):
        raise LargeVocabularyError(
            f"Vocabulary size too high ({limit}). Please set it to a value <= {size}. Or pass "
            "hard_vocab_limit=false to accept a smaller vocabulary."
        )
    return vocabulary


def append_space(
    vocabulary: list[tuple[bytes, float]], meta: Mapping[int, MetaPiece]
) -> dict[int, MetaPiece]:
    """Append the space mark to a vocabulary, as a user-defined symbol.

    Parameters
    ----------
    vocabulary : list of (bytes, float)
        All pieces and their scores in the order of their ids. The space mark is appended.
    meta : mapping of int to MetaPiece
        Meta pieces by id.

    Returns
    -------
    dict of int to MetaPiece
        All meta pieces by id, with the space mark.
    """
    space = MetaPiece(SPACE_MARK, ModelProto.SentencePiece.USER_DEFINED)
    complete = {**meta, len(vocabulary): space}
    vocabulary.append((SPACE_MARK.encode(), 0.0))
    return complete


def assemble(
    vocabulary: list[tuple[bytes, float]],
    meta: Mapping[int, MetaPiece],
    trainer: TrainerSpec,
    normalizer: NormalizerSpec,
    denormalizer: NormalizerSpec,
) -> ModelProto:
    """Build the model from its vocabulary.

    Parameters
    ----------
    vocabulary : list of (bytes, float)
        All pieces and their scores in the order of their ids.
    meta : mapping of int to MetaPiece
        Meta pieces by id.
    trainer : TrainerSpec
    normalizer, denormalizer : NormalizerSpec
        The specs to store, charsmaps included.

    Returns
    -------
    ModelProto
        The complete model.
    """
    model = ModelProto(trainer_spec=trainer, normalizer_spec=normalizer)
    add = model.pieces.add
    for piece, score in vocabulary:
        entry = add()  # faster than with keyword arguments
        entry.piece = piece.decode()
        entry.score = score
    for piece_id, fixed in meta.items():  # learned pieces have the default type
        model.pieces[piece_id].type = fixed.type
    if not _is_hard(trainer) or len(vocabulary) > trainer.vocab_size:
        model.trainer_spec.vocab_size = len(vocabulary)
    if denormalizer.precompiled_charsmap:
        model.denormalizer_spec.CopyFrom(denormalizer)
    return model


def vocabulary_lines(vocabulary: Iterable[tuple[bytes, float]], with_scores: bool) -> bytes:
    """Return the content of the ``.vocab`` file, with one line per piece.

    Parameters
    ----------
    vocabulary : iterable of (bytes, float)
        Pieces and scores, in the order of their ids.
    with_scores : bool
        Whether a tab and the score, with 6 significant digits, follow each piece.
    """
    if not with_scores:
        return b"".join(b"%b\n" % piece for piece, _ in vocabulary)
    return b"".join(b"%b\t%b\n" % (piece, _score_text(score)) for piece, score in vocabulary)


def breaking_pieces(vocabulary: Iterable[tuple[bytes, float]]) -> list[bytes]:
    """Return the pieces with white space that breaks the format of the ``.vocab`` file."""
    return [piece for piece, _ in vocabulary if _BREAKS.search(piece)]


def _score_text(score: float) -> bytes:
    """Return a score as C++ streams write it. Unlike Python, they write the sign of a NaN."""
    if math.isnan(score):
        return b"-nan" if math.copysign(1, score) < 0 else b"nan"
    return b"%g" % score


def _is_hard(trainer: TrainerSpec) -> bool:
    """Return whether the vocabulary must have exactly the requested size."""
    is_flexible = trainer.use_all_vocab or trainer.model_type == TrainerSpec.CHAR
    return trainer.hard_vocab_limit and not is_flexible


def _check_pieces(pieces: list[bytes]) -> None:
    """Raise if a piece is not UTF-8, is empty or occurs twice."""
    try:
        b"\n".join(pieces).decode()
    except UnicodeDecodeError as error:
        text = error.object
        begin = text.rfind(b"\n", 0, error.start) + 1
        raise BadSymbolError(f"the piece {text[begin : error.end]!r} is not valid UTF-8.") from None
    if b"" in pieces:
        raise BadSymbolError("a piece is empty.")
    if len({*pieces}) < len(pieces):
        [(piece, _)] = Counter(pieces).most_common(1)
        raise BadSymbolError(
            f"{piece.decode()} is already defined. It is a symbol, and it was also learned from "
            "the text: remove the symbol, or remove it from the text."
        )
