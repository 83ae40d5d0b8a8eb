"""The final vocabulary: meta pieces on their ids, learned pieces on the ids between.

Source: ``TrainerInterface::Serialize`` of ``sentencepiece`` 0.2.3.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from spmcompat.errors import TrainingError
from spmcompat.model.entries import model_entries
from spmcompat.model.meta_pieces import MetaPiece
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec


def fill_ids(
    pieces: Sequence[tuple[bytes, float]], meta: Mapping[int, MetaPiece], trainer: TrainerSpec
) -> list[tuple[bytes, float]]:
    """Give every piece its id.

    Parameters
    ----------
    pieces : sequence of (bytes, float)
        Learned pieces in UTF-8 with their scores (float32 log probabilities), best first.
    meta : mapping of int to MetaPiece
        Meta pieces by id.
    trainer : message
        The options of the run.

    Returns
    -------
    list of (bytes, float)
        The vocabulary: all pieces and their scores in the order of their ids.

    Raises
    ------
    TrainingError
        If the pieces do not fill the vocabulary, or one of them stands in it twice.
    """
    vocabulary = list(pieces)
    for piece_id, fixed in sorted(meta.items()):
        if piece_id > len(vocabulary):
            raise TrainingError(
                f"id {piece_id} of {fixed.piece} cannot be reached: only {len(vocabulary)} pieces "
                "come before it. Choose a smaller id."
            )
        vocabulary.insert(piece_id, (fixed.piece.encode(), 0.0))
    size, limit = len(vocabulary), trainer.vocab_size
    if size > limit and not trainer.use_all_vocab:
        raise TrainingError(f"{size - limit} learned pieces do not fit into vocab_size {limit}.")
    _check_pieces([piece for piece, _ in vocabulary])
    if size < limit and _is_hard(trainer):
        raise TrainingError(
            f"Vocabulary size too high ({limit}). Please set it to a value <= {size}. Or pass "
            "hard_vocab_limit=false to take the pieces that there are."
        )
    return vocabulary


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
    trainer, normalizer, denormalizer : message
        The specs to store, charsmaps included.

    Returns
    -------
    ModelProto
        The complete model.
    """
    types = {piece_id: fixed.type for piece_id, fixed in meta.items()}
    model = ModelProto.FromString(model_entries(vocabulary, types))
    model.trainer_spec.CopyFrom(trainer)
    if not _is_hard(trainer):
        model.trainer_spec.vocab_size = len(vocabulary)
    model.normalizer_spec.CopyFrom(normalizer)
    if denormalizer.normalization_rule_tsv:
        model.denormalizer_spec.CopyFrom(denormalizer)
    return model


def _is_hard(trainer: TrainerSpec) -> bool:
    """Tell whether the vocabulary must be as large as it was asked to be."""
    is_flexible = trainer.use_all_vocab or trainer.model_type == TrainerSpec.CHAR
    return trainer.hard_vocab_limit and not is_flexible


def _check_pieces(pieces: Sequence[bytes]) -> None:
    """Raise if a piece is no text, is empty or stands in the vocabulary twice."""
    text = b"\n".join(pieces)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        begin = text.rfind(b"\n", 0, error.start) + 1
        raise TrainingError(f"the piece {text[begin : error.end]!r} is not valid UTF-8.") from None
    if b"" in pieces:
        raise TrainingError("a piece is empty.")
    if len(set(pieces)) < len(pieces):
        piece = next(piece for piece, count in Counter(pieces).items() if count > 1)
        raise TrainingError(
            f"{piece.decode()} is already defined. It was learned from the text and is a symbol "
            "too: remove the symbol or take it out of the text."
        )
