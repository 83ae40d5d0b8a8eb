"""Cuts a text into pretokens as training would, and encodes each pretoken separately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spmcompat.errors import EmptyCorpusError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.planning import PlanOptions
from spmcompat.plan import TextPlan
from spmcompat.tools.evaluate.segments import (
    MARK,
    LineSegments,
    plan_by_line,
    read_segments,
    with_training_cuts,
)

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

    from spmcompat.runtime.workers import Workers

_NO_LIMIT = 1 << 30  # bytes
_Ids = npt.NDArray[np.int32]


def encoder_of_normalized(model: ModelProto) -> SentencePieceProcessor:
    """Return an encoder for texts that are already normalized, such as pretokens."""
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

    plain = ModelProto()
    plain.CopyFrom(model)
    plain.normalizer_spec.Clear()
    plain.normalizer_spec.name = "identity"
    plain.normalizer_spec.add_dummy_prefix = False
    plain.normalizer_spec.remove_extra_whitespaces = False
    return SentencePieceProcessor(model_proto=plain.SerializeToString())


class PretokenEncoder:
    """Encodes lines so that no token crosses the end of a pretoken.

    Parameters
    ----------
    model : ModelProto
        A model of any type.
    workers : Workers
        The threads to use.
    pretokenizer : str
        See `with_training_cuts`.
    """

    def __init__(self, model: ModelProto, workers: Workers, pretokenizer: str) -> None:
        rules = model.normalizer_spec
        reading = PlanOptions(
            text=TextPlan(max_sentence_length=_NO_LIMIT),
            character_coverage=math.inf,
            add_dummy_prefix=rules.add_dummy_prefix,
            remove_extra_whitespaces=rules.remove_extra_whitespaces,
            treat_whitespace_as_suffix=model.trainer_spec.treat_whitespace_as_suffix,
            seeding_chunk_bytes=1 << 62,
        )
        symbols = [p.piece for p in model.pieces if p.type == p.USER_DEFINED]
        self._plan = plan_by_line(
            with_training_cuts(reading, model, pretokenizer), rules.precompiled_charsmap, symbols
        )
        self._is_symbol = np.array([p.type == p.USER_DEFINED for p in model.pieces])
        self._workers = workers
        self._encoder = encoder_of_normalized(model)

    def encode(self, lines: Sequence[bytes], encoded: Sequence[_Ids]) -> list[_Ids]:
        """Return the token ids of each line, with the user-defined symbols last.

        Parameters
        ----------
        lines : sequence of bytes
            Lines in UTF-8.
        encoded : sequence of arrays of int32
            The token ids of each line when it is encoded as a whole. They are returned unchanged
            for lines with U+2585, because training skips such lines.
        """
        result = list(encoded)
        cut = [i for i, line in enumerate(lines) if len(encoded[i]) and MARK not in line]
        if not cut:
            return result
        for i, ids in zip(cut, self._encode_pretokens([lines[i] for i in cut]), strict=True):
            symbols = encoded[i][self._is_symbol[encoded[i]]]
            result[i] = np.concatenate([ids, symbols]) if len(symbols) else ids
        return result

    def _encode_pretokens(self, lines: Sequence[bytes]) -> list[_Ids]:
        """Return the token ids of each line, without user-defined symbols."""
        try:
            segments = read_segments(self._plan, lines, self._workers)
        except EmptyCorpusError:
            return [np.zeros(0, dtype=np.int32)] * len(lines)
        return self._encode_segments(segments)

    def _encode_segments(self, segments: LineSegments) -> list[_Ids]:
        """Return the token ids of the segments of each line."""
        texts = segments.corpus.segment_texts()
        encoded = self._encoder.encode(texts, return_type="numpy", num_threads=self._workers.count)
        flat = np.concatenate(encoded)
        # A mark stands for a symbol or for a cut of the pretokenizer, so it is not a token.
        lengths = np.array(
            [0 if t == MARK else len(i) for t, i in zip(texts, encoded, strict=True)]
        )
        begins = np.cumsum([0, *map(len, encoded[:-1])])
        used = lengths[segments.segment_of]
        ends = np.cumsum(used)
        ids = flat[
            np.arange(used.sum()) + np.repeat(begins[segments.segment_of] - ends + used, used)
        ]
        line_ends = np.cumsum(np.bincount(segments.line_of, used, segments.lines)).astype(np.int64)
        return np.split(ids, line_ends[:-1])
