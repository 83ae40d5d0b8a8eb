"""Merges models: the ids of the first model stay, and new pieces of the other models follow.

Unigram: a text is regarded as a mixture of the texts that the models were trained on. So the
probability of a piece is the weighted mean of its probabilities in the models. In a model that does
not have the piece, its probability is 0.

BPE: the merges of the first model come first, then the merges of the second model, and so on. The
merges of each model keep their order. So a text is first merged as in the first model, and then the
other merges are applied. Each token of the merged model consists of one or more tokens of the first
model. A piece that merges can no longer reach would never be used, so it is left out. This does not
change how any text is cut.

Word and char models are merged like Unigram models; their scores have no effect.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.engine import to_float32
from spmcompat.errors import BadValueError, ConflictError
from spmcompat.model.encoding import BpeEncoder
from spmcompat.model.pieces import (
    BYTE,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    pieces_of,
    type_name,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.reach import containing, unreachable
from spmcompat.tools.edit.vocabulary import continued, lowest_score, with_pieces


class ModelsDifferError(BadValueError):
    """Two models differ in a way that does not allow merging."""

    kind = "models-differ"


# The fields that must be equal, by spec.
_FIELDS = {
    "trainer_spec": ("model_type", "byte_fallback", "treat_whitespace_as_suffix"),
    "normalizer_spec": (
        "precompiled_charsmap",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "escape_whitespaces",
    ),
    "denormalizer_spec": ("precompiled_charsmap",),
}


class MergeResult(NamedTuple):
    """The result of a merge.

    Attributes
    ----------
    model : bytes
        The new model.
    size : int
        The number of pieces of the new model.
    added : int
        The number of pieces that the first model does not have.
    left_out : list of str
        Pieces of the other models that were left out because they would never be used.
    unreachable : list of str
        Pieces of the first model that can no longer be used. They keep their ids.
    beyond_size : int
        The number of pieces that did not fit into `vocab_size`.
    dropped_samples : int
        The number of self-test samples that were dropped because they may no longer be valid.
    """

    model: bytes
    size: int
    added: int
    left_out: list[str]
    unreachable: list[str]
    beyond_size: int
    dropped_samples: int

    def to_dict(self) -> dict[str, object]:
        """Return all attributes except `model`, as data that JSON can represent."""
        return plain_fields(self)

    def __repr__(self) -> str:
        """Return a summary: the number of pieces, and how many of them are new."""
        return f"<MergeResult: {self.size:,} pieces, {self.added:,} of them new>"


def merge_models(
    models: Sequence[ModelProto],
    names: Sequence[str],
    weights: Sequence[float] | None = None,
    vocab_size: int | None = None,
) -> tuple[ModelProto, MergeResult]:
    """Return a model merged from several models, and what changed.

    Parameters
    ----------
    models : sequence of ModelProto
        The models. Options, symbols and ids come from the first model.
    names : sequence of str
        The names of the models in messages.
    weights : sequence of float, optional
        The weight of each model in the mixture, by default equal. BPE does not accept weights.
    vocab_size : int, optional
        The largest number of pieces. Meta pieces and single characters are taken first, then the
        best of the remaining pieces.

    Raises
    ------
    BadValueError
        If the models cannot be merged because they normalize differently, are of different types,
        or contain pieces with the same text but different types; or if `vocab_size` is too small.
    """
    if len(models) < 2:
        raise BadValueError(f"at least two models are needed, not {len(models)}.")
    for model, name in zip(models[1:], names[1:], strict=True):
        _check_fields(models[0], model, names[0], name)
    vocabularies = [pieces_of(model) for model in models]
    _check_types(vocabularies, names)
    first, *others = vocabularies
    is_bpe = models[0].trainer_spec.model_type == TrainerSpec.BPE
    if is_bpe and weights is not None:
        raise ConflictError(
            "a BPE model has an order of merges instead of weights. Leave the weights out."
        )
    symbols = _new_symbols(first, others)
    kept = first
    if is_bpe:
        candidates, needs, left_out = _further_merges([*first, *symbols], others)
    else:
        mixed = _mixture(vocabularies, _shares(weights, len(models)))
        kept = [
            piece._replace(score=mixed[piece.text]) if piece.type == NORMAL else piece
            for piece in first
        ]
        candidates, left_out = _new_pieces(kept, symbols, mixed, models[0].trainer_spec)
        needs = dict(zip((one.text for one in candidates), itertools.count()))
    chosen = _chosen(candidates, needs, len(first) + len(symbols), vocab_size)
    if is_bpe:
        chosen = continued((piece.text for piece in chosen), lowest_score(first))
    pieces = [*kept, *symbols, *chosen]
    merged = with_pieces(models[0], pieces)
    return merged, MergeResult(
        merged.SerializeToString(),
        len(pieces),
        len(symbols) + len(chosen),
        left_out,
        _lost(first, pieces, models[0].trainer_spec),
        len(candidates) - len(chosen),
        len(models[0].self_test_data.samples),
    )


def _check_fields(first: ModelProto, other: ModelProto, first_name: str, name: str) -> None:
    """Raise if two models normalize differently, or are of different kinds."""
    different = [
        f"{spec}.{field}"
        for spec, fields in _FIELDS.items()
        for field in fields
        if getattr(getattr(first, spec), field) != getattr(getattr(other, spec), field)
    ]
    if different:
        raise ModelsDifferError(
            f"{first_name} and {name} cannot be merged: {', '.join(different)} "
            f"{'differs' if len(different) == 1 else 'differ'}. Train them with the same options."
        )


def _check_types(vocabularies: Sequence[Sequence[Piece]], names: Sequence[str]) -> None:
    """Raise if a piece has different types in two models. Ignore unused pieces of later models."""
    owner: dict[str, tuple[Piece, str]] = {}
    for number, (pieces, name) in enumerate(zip(vocabularies, names, strict=True)):
        for piece in pieces:
            if number and piece.type == UNUSED:
                continue
            other, other_name = owner.setdefault(piece.text, (piece, name))
            if other.type != piece.type:
                raise ModelsDifferError(
                    f"{piece.text} is a piece of the type {type_name(other.type)} in "
                    f"{other_name}, and {type_name(piece.type)} in {name}. Rename or remove one of "
                    "them with spmcompat edit."
                )
    unknown = [piece.text for piece, _ in owner.values() if piece.type == UNKNOWN]
    if len(unknown) > 1:
        raise ModelsDifferError(
            f"the unknown piece is {' in one model and '.join(unknown)} in another. Give it one "
            "name with spmcompat edit --rename."
        )


def _new_symbols(first: Sequence[Piece], others: Sequence[Sequence[Piece]]) -> list[Piece]:
    """Return the control pieces and user-defined symbols that the first model does not have."""
    known = {piece.text for piece in first}
    found: dict[str, Piece] = {}
    for piece in (piece for pieces in others for piece in pieces):
        if piece.type not in (NORMAL, UNUSED, UNKNOWN, BYTE) and piece.text not in known:
            found.setdefault(piece.text, piece)
    return list(found.values())


def _shares(weights: Sequence[float] | None, models: int) -> list[float]:
    """Return the share of each model in the mixture."""
    weights = [1.0] * models if weights is None else list(weights)
    if len(weights) != models or not all(0 < one < math.inf for one in weights):
        raise BadValueError(
            f"weights must be one number above 0 for each of the {models} models, not "
            f"{','.join(f'{one:g}' for one in weights)}."
        )
    # The sum of the weights may be too large for a float. Dividing by a power of 2 is exact.
    _, exponent = math.frexp(max(weights))
    scaled = [math.ldexp(one, -exponent) for one in weights]
    shares = [one / math.fsum(scaled) for one in scaled]
    if not all(shares):
        raise BadValueError("weights differ so much that one share is 0. Raise the lowest weight.")
    return shares


def _mixture(vocabularies: Sequence[Sequence[Piece]], shares: Sequence[float]) -> dict[str, float]:
    """Return the score of each normal piece: the logarithm of its mean probability."""
    terms: dict[str, list[tuple[float, float]]] = {}
    for pieces, share in zip(vocabularies, shares, strict=True):
        for piece in pieces:
            if piece.type == NORMAL:
                terms.setdefault(piece.text, []).append((piece.score, share))
    return {text: to_float32(_log_mean(found)) for text, found in terms.items()}


def _log_mean(terms: Sequence[tuple[float, float]]) -> float:
    """Return log(w1 e^x1 + w2 e^x2 + ...) for the pairs (x1, w1), (x2, w2), ..."""
    best = max(score for score, _ in terms)
    return best + math.log(math.fsum(share * math.exp(score - best) for score, share in terms))


def _new_pieces(
    kept: Sequence[Piece], symbols: Sequence[Piece], mixed: dict[str, float], trainer: TrainerSpec
) -> tuple[list[Piece], list[str]]:
    """Return the new pieces, best first, and the texts of those that would never be used."""
    known = {piece.text for piece in kept}
    new = [Piece(text, score) for text, score in mixed.items() if text not in known]
    new.sort(key=lambda piece: -piece.score)
    useless = unreachable([*kept, *symbols, *new], trainer, [piece.text for piece in new])
    dropped = set(useless)
    return [piece for piece in new if piece.text not in dropped], useless


def _further_merges(
    first: Sequence[Piece], others: Sequence[Sequence[Piece]]
) -> tuple[list[Piece], dict[str, int], list[str]]:
    """Return the new pieces of the other BPE models, without those that would never be used.

    Returns
    -------
    pieces : list of Piece
        The new pieces, model after model, and in the merge order of each model.
    needs : dict of str to int
        For each new piece, the highest position in the merge order among the piece itself and the
        pieces that it is merged from. If only the pieces for which this number is below a limit are
        kept, all of them can still be used: their parts are kept, too, and removing the other
        pieces does not change how the texts of the kept pieces are merged.
    useless : list of str
        The pieces that would never be used, because no sequence of merges produces them.
    """
    known = {piece.text for piece in first}
    new: list[Piece] = []
    for pieces in others:
        normal = [piece for piece in pieces if piece.type == NORMAL and piece.text not in known]
        known.update(piece.text for piece in normal)
        new += sorted(normal, key=lambda piece: -piece.score)
    new = continued((piece.text for piece in new), lowest_score(first))
    encoder = BpeEncoder([*first, *new])
    position = {piece.text: i for i, piece in enumerate(new)}
    found: list[Piece] = []
    needs: dict[str, int] = {}
    useless: list[str] = []
    for piece in new:
        if encoder.encode(piece.text) != [piece.text]:
            useless.append(piece.text)
            continue
        inside = [position.get(one, 0) for one, _, _ in encoder.merges(piece.text)]
        needs[piece.text] = max([position[piece.text], *inside])
        found.append(piece)
    return found, needs, useless


def _chosen(
    candidates: Sequence[Piece], needs: Mapping[str, int], before: int, vocab_size: int | None
) -> list[Piece]:
    """Return the candidates that fit into `vocab_size`, in unchanged order.

    Single characters are taken first, then the pieces with the lowest numbers in `needs`. Of pieces
    with equal numbers, the shortest is taken first, because the longer ones are merged from it.
    """
    if vocab_size is None:
        return list(candidates)
    longer = [piece.text for piece in candidates if len(piece.text) > 1]
    least = before + len(candidates) - len(longer)
    if vocab_size < least:
        raise BadValueError(
            f"vocab_size is {vocab_size:,}, but at least {least:,} is needed for the pieces of the "
            "first model and for the symbols and characters of all models."
        )
    longer.sort(key=lambda text: (needs[text], len(text)))
    dropped = set(longer[vocab_size - least :])
    return [piece for piece in candidates if piece.text not in dropped]


def _lost(first: Sequence[Piece], pieces: Sequence[Piece], trainer: TrainerSpec) -> list[str]:
    """Return those pieces of the first model that become unreachable."""
    texts = [piece.text for piece in first if piece.type == NORMAL]
    if trainer.model_type == TrainerSpec.BPE:  # new merges come last, so only new symbols matter
        new = pieces[len(first) :]
        texts = containing(first, [piece.text for piece in new if piece.type == USER_DEFINED])
    lost = unreachable(pieces, trainer, texts)
    before = set(unreachable(first, trainer, lost))
    return [text for text in lost if text not in before]
