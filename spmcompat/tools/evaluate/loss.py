"""The marginal loss of a Unigram model, computed with the lattices of the trainer.

It is the negative log likelihood of a text over all its segmentations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spmcompat.errors import EmptyCorpusError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.runtime.progress import Report
from spmcompat.segments.corpus import Corpus
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus
from spmcompat.text.sources import Items
from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK
from spmcompat.unigram.em.e_step import log_likelihood
from spmcompat.unigram.em.probabilities import log_sum
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces

if TYPE_CHECKING:
    from spmcompat.runtime.workers import Workers

_SYMBOL = UNKNOWN_MARK  # reading replaces each user-defined symbol by this character
# Scores whose log-sum is lower than this are not log probabilities.
_LEAST_SUM = -100.0
_NO_LIMIT = 1 << 30  # bytes
_QUIET = Report(min_log_level=3)


class MarginalLoss:
    """Adds up the negative log likelihood of lines over all their segmentations.

    A character without a piece has the lowest score minus 10, as in the encoder. User-defined
    symbols divide the text and cost nothing.

    Parameters
    ----------
    model : ModelProto
        A Unigram model.
    workers : Workers
        Real threads. Their number does not change the sums.

    Attributes
    ----------
    raw : float
        Nats, with the scores in the model.
    renormalized : float
        Nats, with scores shifted so that the probabilities of all pieces add up to 1.
    characters, bytes : int
        Sizes of the added lines before normalization.
    skipped : int
        Number of lines with U+2585. Training skips these lines, so they have no lattice.
    """

    def __init__(self, model: ModelProto, workers: Workers) -> None:
        normal = [(p.piece, p.score) for p in model.pieces if p.type == p.NORMAL]
        symbols = [p.piece for p in model.pieces if p.type == p.USER_DEFINED]
        self._workers = workers
        options = _reading(model, [text for text, _ in normal])
        self._plan = make_plan(options, model.normalizer_spec.precompiled_charsmap, symbols)
        shift = log_sum([score for _, score in normal])
        self._pieces = _pieces(normal)
        self._shifted = _pieces([(text, score - shift) for text, score in normal])
        self.raw = 0.0
        self.renormalized = 0.0
        self.characters = 0
        self.bytes = 0
        self.skipped = 0

    def add(self, lines: Sequence[bytes]) -> None:
        """Add lines in UTF-8, without their line ends.

        Raises
        ------
        TrainingError
            If the text cannot be read.
        """
        kept = [line for line in lines if line and _SYMBOL.encode() not in line]
        self.skipped += sum(_SYMBOL.encode() in line for line in lines)
        if not kept:
            return
        self.bytes += sum(map(len, kept))
        self.characters += sum(len(line.decode(errors="replace")) for line in kept)
        try:
            corpus = self._read(kept)
        except EmptyCorpusError:
            return
        lattices = Lattices(corpus, self._pieces, self._workers)
        self.raw -= log_likelihood(lattices, self._workers)
        lattices.rescore(self._shifted)
        self.renormalized -= log_likelihood(lattices, self._workers)

    def _read(self, lines: Sequence[bytes]) -> Corpus:
        source = Items(lines)
        counts, alphabet = counts_and_alphabet(self._plan, source, self._workers, _QUIET)
        return cut_corpus(counts, alphabet, self._plan, source, self._workers, _QUIET)


def has_loss(model: ModelProto) -> bool:
    """Return whether the scores of the model are log probabilities of a Unigram model."""
    scores = [p.score for p in model.pieces if p.type == p.NORMAL]
    return (
        model.trainer_spec.model_type == TrainerSpec.UNIGRAM
        and model.normalizer_spec.escape_whitespaces
        and bool(scores)
        and log_sum(scores) > _LEAST_SUM
    )


def _reading(model: ModelProto, pieces: Sequence[str]) -> PlanOptions:
    """Return options that read text like the encoder, with pretokens that no piece crosses."""
    suffix = model.trainer_spec.treat_whitespace_as_suffix
    inside = (piece[:-1] if suffix else piece[1:] for piece in pieces)
    return PlanOptions(
        max_sentence_length=_NO_LIMIT,
        character_coverage=math.inf,
        add_dummy_prefix=model.normalizer_spec.add_dummy_prefix,
        remove_extra_whitespaces=model.normalizer_spec.remove_extra_whitespaces,
        treat_whitespace_as_suffix=suffix,
        max_piece_length=max(map(len, pieces)),
        split_by_unicode_script=False,
        split_by_number=False,
        split_by_whitespace=not any(SPACE_MARK in text for text in inside),
        allow_whitespace_only_pieces=False,
        seeding_chunk_bytes=1 << 62,
    )


def _pieces(items: Sequence[tuple[str, float]]) -> Pieces:
    return Pieces([*((text.encode(), score) for text, score in items), (_SYMBOL.encode(), 0.0)])
