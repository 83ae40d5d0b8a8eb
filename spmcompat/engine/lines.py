"""Reads lines as a model does, and cuts them into segments.

A segment is a slice of a line; no piece may cross its ends. So the figures of a line are sums over
its segments, and equal segments have to be measured only once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.pieces import NORMAL, USER_DEFINED, texts_of_type
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import TextPlan
from spmcompat.pretokenization.pretokenizer import find_cut
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.segments.corpus import Corpus
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus
from spmcompat.text.sources import Items
from spmcompat.unicode.marks import SPACE_MARK

if TYPE_CHECKING:
    from spmcompat.plan import Plan
    from spmcompat.runtime.workers import Workers

# The name that means: use only the split options of the model, without a pretokenizer.
STORED = "stored"
# The name that means: cut only at white space, as in stored counts.
SPACE = "space"
_NO_LIMIT = 1 << 30  # bytes
_QUIET = Report(min_log_level=3)


class LineSegments(NamedTuple):
    """The distinct segments of some lines, and the lines that contain them.

    Attributes
    ----------
    corpus : Corpus
        The distinct segments, in the form that `Unigram` takes.
    lines : int
        The number of lines.
    line_of, segment_of : array of int64
        For each occurrence of a segment, the index of its line, and the index of the segment among
        the distinct segments.
    """

    corpus: Corpus
    lines: int
    line_of: npt.NDArray[np.int64]
    segment_of: npt.NDArray[np.int64]

    def sum_by_line(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return, for each line, the sum of its segments' `values` (one per distinct segment)."""
        sums: npt.NDArray[np.float64] = np.bincount(
            self.line_of, values[self.segment_of], self.lines
        ).astype(np.float64)
        return sums


class LineCutter:
    """Reads lines as a model's encoder does, and cuts them into segments.

    User-defined symbols, and the cuts of a pretokenizer, become U+2585.

    Parameters
    ----------
    model : ModelProto
        The model.
    workers : Workers
        The threads to use. Their number does not change the result.
    pretokenizer : str, optional
        How `segments` cuts lines: ``script`` or ``regex:PATTERN`` as in training with this
        pretokenizer and the split options that the model stores; `STORED` for these options
        without a pretokenizer; or `SPACE` to cut only at white space. By default, only at positions
        that no piece of the model crosses.
    """

    def __init__(
        self, model: ModelProto, workers: Workers, pretokenizer: str | None = None
    ) -> None:
        options = _as_encoder(model)
        charsmap = model.normalizer_spec.precompiled_charsmap
        symbols = texts_of_type(model, USER_DEFINED)
        self._workers = workers
        self._plan = make_plan(options, charsmap, symbols)
        if pretokenizer is not None:
            options = with_training_cuts(options, model, pretokenizer)
        self._plan_by_line = plan_by_line(options, charsmap, symbols)

    def corpus(self, lines: Sequence[bytes]) -> Corpus:
        """Return the distinct segments of lines, without a pretokenizer.

        Raises
        ------
        EmptyCorpusError
            If the lines contain nothing but user-defined symbols.
        """
        return _corpus(self._plan, lines, self._workers)

    def segments(self, lines: Sequence[bytes]) -> LineSegments:
        """Return the segments of each line. See `segments_by_line`."""
        return segments_by_line(self._plan_by_line, lines, self._workers)


def segments_by_line(plan: Plan, lines: Sequence[bytes], workers: Workers) -> LineSegments:
    """Return the segments of each line.

    Parameters
    ----------
    plan : Plan
        A plan from `plan_by_line`.
    lines : sequence of bytes
        Lines that are not empty after normalization.
    workers : Workers
        The threads to use.

    Raises
    ------
    EmptyCorpusError
        If the lines contain nothing but user-defined symbols.
    """
    corpus = _corpus(plan, lines, workers)
    lengths, segments = corpus.segments_of_pretokens()
    if len(lengths) != len(lines):
        raise TrainingError(f"INTERNAL: {len(lines)} lines were read as {len(lengths)}.")
    return LineSegments(
        corpus,
        len(lines),
        np.repeat(np.arange(len(lines)), lengths),
        np.array(segments, dtype=np.int64),
    )


def plan_by_line(options: PlanOptions, charsmap: bytes, symbols: Sequence[str]) -> Plan:
    """Return a plan that keeps the order of the lines, and reads each line as one pretoken.

    The cuts of a pretokenizer become unknown marks, like user-defined symbols.
    """
    plan = make_plan(options, charsmap, symbols)
    return plan._replace(
        counting=plan.counting._replace(
            whole_sentences=True, keeps_order=True, keeps_pretokens=False, by_raw_tokens=False
        ),
        cutting=plan.cutting._replace(em_reads_sentences=True, boundaries_end_pretokens=False),
    )


def _corpus(plan: Plan, lines: Sequence[bytes], workers: Workers) -> Corpus:
    source = Items(lines)
    context = Context(workers, _QUIET)
    counts, alphabet = counts_and_alphabet(plan, source, context)
    return cut_corpus(counts, alphabet, plan, source, context)


def check_pretokenizer(name: str) -> None:
    """Raise if a pretokenizer cannot be used.

    Raises
    ------
    BadValueError
        If the name is unknown, or contains an invalid pattern.
    """
    if name not in (STORED, SPACE, "script") and not name.startswith("regex:"):
        raise BadValueError(
            f"There is no pretokenizer {name!r}. Choose from stored, space, script and "
            "regex:PATTERN."
        )
    if name not in (STORED, SPACE):
        find_cut(name)


def _as_encoder(model: ModelProto) -> PlanOptions:
    """Return options that make the trainer read text as the encoder of a model does."""
    pieces = texts_of_type(model, NORMAL)
    suffix = model.trainer_spec.treat_whitespace_as_suffix
    inside = (piece[:-1] if suffix else piece[1:] for piece in pieces)
    return PlanOptions(
        text=TextPlan(max_sentence_length=_NO_LIMIT),
        character_coverage=math.inf,
        add_dummy_prefix=model.normalizer_spec.add_dummy_prefix,
        remove_extra_whitespaces=model.normalizer_spec.remove_extra_whitespaces,
        treat_whitespace_as_suffix=suffix,
        max_piece_length=max(map(len, pieces), default=1),
        split_by_unicode_script=False,
        split_by_number=False,
        split_by_whitespace=not any(SPACE_MARK in text for text in inside),
        allow_whitespace_only_pieces=False,
        seeding_chunk_bytes=1 << 62,
    )


def with_training_cuts(options: PlanOptions, model: ModelProto, pretokenizer: str) -> PlanOptions:
    """Return options that cut the text as in training. See `LineCutter`."""
    stored = model.trainer_spec
    if pretokenizer == SPACE:
        return options._replace(
            split_by_whitespace=True,
            split_by_unicode_script=False,
            split_by_number=False,
            split_digits=False,
            allow_whitespace_only_pieces=stored.allow_whitespace_only_pieces,
        )
    return options._replace(
        split_by_whitespace=stored.split_by_whitespace,
        split_by_unicode_script=stored.split_by_unicode_script,
        split_by_number=stored.split_by_number,
        split_digits=stored.split_digits,
        allow_whitespace_only_pieces=stored.allow_whitespace_only_pieces,
        pretokenization_delimiter=stored.pretokenization_delimiter,
        pretokenizer=None if pretokenizer == STORED else pretokenizer,
    )
