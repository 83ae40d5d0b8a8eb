"""The marginal loss of a Unigram model, computed with the lattices of the trainer.

The marginal loss is the negative log likelihood of a text over all its segmentations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.engine import UNKNOWN_MARK, Context, LineCutter, Pieces, Unigram, log_sum
from spmcompat.errors import EmptyCorpusError
from spmcompat.model.pieces import NORMAL, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.progress import Report

if TYPE_CHECKING:
    from spmcompat.runtime.workers import Workers

# The exponentials of log probabilities add up to about 1. If the logarithm of this sum is below
# the limit, the scores are not log probabilities.
_LEAST_SUM = -100.0
_MARK = UNKNOWN_MARK.encode()  # replaces user-defined symbols, and is at the cuts of a pretokenizer

_Floats = npt.NDArray[np.float64]


class LineLosses(NamedTuple):
    """The losses and sizes of some lines: arrays with one item per line, 0 for a skipped line.

    Attributes
    ----------
    raw, renormalized : array of float64
        Losses in nats.
    characters, bytes : array of float64
        Sizes before normalization.
    """

    raw: _Floats
    renormalized: _Floats
    characters: _Floats
    bytes: _Floats


class MarginalLoss:
    """Adds up the negative log likelihood of lines over all their segmentations.

    A character that is not a piece gets the lowest score minus 10, as in the encoder.

    The text is cut at user-defined symbols. A model does not store their probabilities, so they
    would not add to the loss, not even spaces if a space is such a symbol. Therefore the
    probability of each symbol is set to its share of the tokens in the first call of `add`. The
    other pieces share the remaining probability. So the loss of every model
    includes the whole text.

    Parameters
    ----------
    model : ModelProto
        A Unigram model.
    workers : Workers
        The threads to use. Their number does not change the result.
    pretokenizer : str, optional
        Cut the text as in training with this pretokenizer and the model's split options. With
        ``stored``, only the split options are used. No piece crosses these cuts.

    Attributes
    ----------
    raw : float
        The loss in nats, with the scores in the model.
    renormalized : float
        The loss in nats, with the scores shifted so that the probabilities of all pieces add up to
        1.
    skipped : int
        Number of lines with U+2585, which have no loss: training skips them, too.
    """

    def __init__(
        self, model: ModelProto, workers: Workers, pretokenizer: str | None = None
    ) -> None:
        normal = [(p.piece, p.score) for p in model.pieces if p.type == NORMAL]
        self._normal_ids = [i for i, p in enumerate(model.pieces) if p.type == NORMAL]
        self._symbol_ids = [i for i, p in enumerate(model.pieces) if p.type == USER_DEFINED]
        self._size = len(model.pieces)
        self._log_shares: _Floats | None = None  # log probabilities of the symbols
        self._context = Context(workers, Report(min_log_level=3))
        self._reader = LineCutter(model, workers, pretokenizer)
        self._normal = normal
        self._log_total = log_sum([score for _, score in normal])
        self._set_pieces(0.0)
        self.raw = 0.0
        self.renormalized = 0.0
        self.skipped = 0

    def without(self, dropped: npt.NDArray[np.bool_]) -> MarginalLoss | None:
        """Leave dropped user-defined symbols out of this loss, and return it.

        Return None if a normal piece is dropped: the loss is a sum over all segmentations, and some
        of them contain the piece.

        Parameters
        ----------
        dropped : array of bool, one for each piece
            Whether the piece was removed from the token ids that are passed to `add`.
        """
        if dropped[self._normal_ids].any():
            return None
        self._symbol_ids = [i for i in self._symbol_ids if not dropped[i]]
        return self

    def add(
        self,
        lines: Sequence[bytes],
        encoded: Sequence[npt.NDArray[np.int32]],
        *,
        by_line: bool = False,
    ) -> LineLosses:
        """Add the losses of lines to the totals, and return the sizes of each line.

        Parameters
        ----------
        lines : sequence of bytes
            Lines in UTF-8, without their line ends.
        encoded : sequence of arrays of int32
            The token ids of each line. They show how often the symbols are used.
        by_line : bool, optional
            Whether to cut the lines with `pretokenizer` if there is one, and to return the losses
            of each line, too; otherwise, these are 0.

        Raises
        ------
        TrainingError
            If the text cannot be read.
        """
        added = self._choose(lines)
        losses = LineLosses(*np.zeros((4, len(lines))))
        if not added:
            return losses
        losses.bytes[added] = [len(lines[i]) for i in added]
        losses.characters[added] = [len(lines[i].decode(errors="replace")) for i in added]
        if not by_line:
            self._add_sum([lines[i] for i in added], [encoded[i] for i in added])
            return losses
        if self._symbol_ids:
            losses.raw[added] = self._costs_of_symbols([encoded[i] for i in added])
            losses.renormalized[:] = losses.raw
        # Leave out lines that are empty after normalization: they have no tokens.
        filled = [i for i in added if len(encoded[i])]
        if filled:
            self._add_segments([lines[i] for i in filled], filled, losses)
        self.raw += float(losses.raw.sum())
        self.renormalized += float(losses.renormalized.sum())
        return losses

    def _add_sum(self, lines: Sequence[bytes], encoded: Sequence[npt.NDArray[np.int32]]) -> None:
        """Add the loss of all lines to the totals."""
        if self._symbol_ids:
            ids = np.concatenate(encoded)
            cost = -float(self._count_symbols(ids) @ self._prices(ids))
            self.raw += cost
            self.renormalized += cost
        try:
            corpus = self._reader.corpus(lines)
        except EmptyCorpusError:
            return
        unigram = Unigram(corpus, self._pieces, self._context)
        self.raw -= unigram.log_likelihood()
        unigram.rescore(self._shifted)
        self.renormalized -= unigram.log_likelihood()

    def _add_segments(
        self, lines: Sequence[bytes], indices: Sequence[int], losses: LineLosses
    ) -> None:
        """Add the loss of each line to `losses`, at the index of the line."""
        try:
            segments = self._reader.segments(lines)
        except EmptyCorpusError:
            return
        unigram = Unigram(segments.corpus, self._pieces, self._context)
        for part, pieces in ((losses.raw, self._pieces), (losses.renormalized, self._shifted)):
            unigram.rescore(pieces)
            found = np.array(unigram.segment_log_likelihoods())
            part[indices] -= segments.sum_by_line(found)

    def _choose(self, lines: Sequence[bytes]) -> list[int]:
        """Return the indices of the lines that have a loss, and count the skipped lines."""
        skipped = [_MARK in line for line in lines]
        self.skipped += sum(skipped)
        return [i for i, line in enumerate(lines) if line and not skipped[i]]

    def _count_symbols(self, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        return np.bincount(ids, minlength=max(self._symbol_ids) + 1)[self._symbol_ids]

    def _prices(self, ids: npt.NDArray[np.int32]) -> _Floats:
        """Return the log probabilities of the symbols. The first call computes them from `ids`."""
        if self._log_shares is None:
            uses = self._count_symbols(ids)
            # Add 1 to the count of each symbol and to the total count of the other pieces, so that
            # no probability is 0.
            total = len(ids) + len(uses) + 1
            self._log_shares = np.log((uses + 1) / total)
            self._set_pieces(math.log((len(ids) - int(uses.sum()) + 1) / total))
        return self._log_shares

    def _costs_of_symbols(self, encoded: Sequence[npt.NDArray[np.int32]]) -> _Floats:
        """Return the loss that the symbols add in each line."""
        ids = np.concatenate(encoded)
        prices = np.zeros(self._size)
        prices[self._symbol_ids] = self._prices(ids)
        line_of = np.repeat(np.arange(len(encoded)), [len(line) for line in encoded])
        sums: _Floats = np.bincount(line_of, prices[ids], len(encoded)).astype(np.float64)
        return -sums

    def _set_pieces(self, log_share: float) -> None:
        """Set the scores of the normal pieces, given their share of the total probability.

        The remaining probability belongs to the user-defined symbols. The scores in `_pieces` are
        those of the model plus `log_share`, the logarithm of the share. The scores in `_shifted`
        are also normalized, so that the probabilities of the normal pieces add up to the share.
        """
        shift = log_share - self._log_total
        self._pieces = _pieces([(text, score + log_share) for text, score in self._normal])
        self._shifted = _pieces([(text, score + shift) for text, score in self._normal])


def has_loss(model: ModelProto) -> bool:
    """Return whether the scores of the model are log probabilities of a Unigram model."""
    scores = [p.score for p in model.pieces if p.type == NORMAL]
    return (
        model.trainer_spec.model_type == TrainerSpec.UNIGRAM
        and model.normalizer_spec.escape_whitespaces
        and bool(scores)
        and log_sum(scores) > _LEAST_SUM
    )


def _pieces(items: Sequence[tuple[str, float]]) -> Pieces:
    return Pieces([*((text.encode(), score) for text, score in items), (_MARK, 0.0)])
