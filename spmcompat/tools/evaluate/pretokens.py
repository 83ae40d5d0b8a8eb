"""Cuts a text into pretokens as training would, and encodes each pretoken separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spmcompat.engine import UNKNOWN_MARK, LineCutter, LineSegments
from spmcompat.errors import EmptyCorpusError
from spmcompat.model.pieces import USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

    from spmcompat.runtime.workers import Workers

_MARK = UNKNOWN_MARK.encode()
_Ids = npt.NDArray[np.int32]


def encoder_of_normalized(model: ModelProto) -> SentencePieceProcessor:
    """Return an encoder for texts that are already normalized, such as pretokens."""
    from sentencepiece import SentencePieceProcessor

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
        See `LineCutter`.
    """

    def __init__(self, model: ModelProto, workers: Workers, pretokenizer: str) -> None:
        self._reader = LineCutter(model, workers, pretokenizer)
        self._is_symbol = np.array([p.type == USER_DEFINED for p in model.pieces])
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
        cut = [i for i, line in enumerate(lines) if len(encoded[i]) and _MARK not in line]
        if not cut:
            return result
        for i, ids in zip(cut, self._encode_pretokens([lines[i] for i in cut]), strict=True):
            symbols = encoded[i][self._is_symbol[encoded[i]]]
            result[i] = np.concatenate([ids, symbols]) if len(symbols) else ids
        return result

    def _encode_pretokens(self, lines: Sequence[bytes]) -> list[_Ids]:
        """Return the token ids of each line, without user-defined symbols."""
        try:
            segments = self._reader.segments(lines)
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
            [0 if t == _MARK else len(i) for t, i in zip(texts, encoded, strict=True)]
        )
        begins = np.cumsum([0, *map(len, encoded[:-1])])
        used = lengths[segments.segment_of]
        ends = np.cumsum(used)
        ids = flat[
            np.arange(used.sum()) + np.repeat(begins[segments.segment_of] - ends + used, used)
        ]
        line_ends = np.cumsum(np.bincount(segments.line_of, used, segments.lines)).astype(np.int64)
        return np.split(ids, line_ends[:-1])
