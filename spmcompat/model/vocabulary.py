"""The final vocabulary: meta pieces on their ids, learned pieces on the ids between.

Source: ``TrainerInterface::Serialize`` of ``sentencepiece`` 0.2.3.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from spmcompat.errors import TrainingError
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec


def assemble(
    pieces: Sequence[tuple[bytes, float]],
    meta: Mapping[int, MetaPiece],
    trainer: TrainerSpec,
    normalizer: NormalizerSpec,
    denormalizer: NormalizerSpec,
) -> ModelProto:
    """Build the model from what was learned.

    Parameters
    ----------
    pieces : sequence of (bytes, float)
        Learned pieces in UTF-8 with their scores (float32 log probabilities), best first.
    meta : mapping of int to MetaPiece
        Meta pieces by id.
    trainer, normalizer, denormalizer : message
        The specs to store, charsmaps included.

    Returns
    -------
    ModelProto
        The complete model.

    Raises
    ------
    TrainingError
        If the pieces do not fill the vocabulary, or one of them stands in it twice.
    """
    model = ModelProto()
    _add_pieces(model, pieces, meta, trainer.vocab_size)
    _check_pieces(model)
    _check_size(model, trainer)
    model.trainer_spec.CopyFrom(trainer)
    model.normalizer_spec.CopyFrom(normalizer)
    if denormalizer.normalization_rule_tsv:
        model.denormalizer_spec.CopyFrom(denormalizer)
    if not trainer.hard_vocab_limit:
        model.trainer_spec.vocab_size = len(model.pieces)
    return model


def _add_pieces(
    model: ModelProto,
    pieces: Sequence[tuple[bytes, float]],
    meta: Mapping[int, MetaPiece],
    vocab_size: int,
) -> None:
    """Fill the ids from 0 on, each by its meta piece or by the next learned piece."""
    learned = iter(pieces)
    used = 0
    for piece_id in range(min(vocab_size, max(meta, default=-1) + 1 + len(pieces))):
        fixed = meta.get(piece_id)
        if fixed is not None:
            if len(model.pieces) != piece_id:
                raise TrainingError(
                    f"id {piece_id} of {fixed.piece} cannot be reached: only {len(model.pieces)} "
                    "pieces come before it. Choose a smaller id."
                )
            model.pieces.add(piece=fixed.piece, score=0.0, type=fixed.type)
        elif used < len(pieces):
            used += 1
            text, score = next(learned)
            model.pieces.add(piece=_decode(text), score=score)
    if used != len(pieces):
        raise TrainingError(
            f"{len(pieces) - used} learned pieces do not fit into vocab_size {vocab_size}."
        )


def _decode(piece: bytes) -> str:
    """Return the text of a learned piece."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        raise TrainingError(f"the piece {piece!r} is not valid UTF-8.") from None


def _check_pieces(model: ModelProto) -> None:
    """Raise if a piece is empty or stands in the vocabulary twice."""
    counts = Counter(entry.piece for entry in model.pieces)
    if "" in counts:
        raise TrainingError("a piece is empty.")
    for piece, count in counts.items():
        if count > 1:
            raise TrainingError(
                f"{piece} is already defined. It was learned from the text and is a symbol "
                "too: remove the symbol or take it out of the text."
            )


def _check_size(model: ModelProto, trainer: TrainerSpec) -> None:
    """Raise if a hard limit is not met."""
    size = len(model.pieces)
    if trainer.hard_vocab_limit and trainer.vocab_size != size:
        raise TrainingError(
            f"Vocabulary size too high ({trainer.vocab_size}). Please set it to a value <= "
            f"{size}. Or pass hard_vocab_limit=false to take the pieces that there are."
        )
