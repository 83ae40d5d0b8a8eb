"""Reads lines as the trainer does, and returns the segments of each line.

A segment is a slice of a line; no piece may cross its ends. So the figures of a line are sums over
its segments, and equal segments have to be measured only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.pretokenization.pretokenizer import find_cut
from spmcompat.runtime.progress import Report
from spmcompat.segments.corpus import Corpus
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus
from spmcompat.text.sources import Items
from spmcompat.unicode.marks import UNKNOWN_MARK

if TYPE_CHECKING:
    from spmcompat.plan import Plan
    from spmcompat.runtime.workers import Workers

# When a line is read, this character replaces each user-defined symbol. It is also inserted at each
# cut of a pretokenizer.
MARK = UNKNOWN_MARK.encode()
# The name that means: use only the split options of the model, without a pretokenizer.
STORED = "stored"
# The name that means: cut only at white space, as in stored counts.
SPACE = "space"
_QUIET = Report(min_log_level=3)


class LineSegments(NamedTuple):
    """The distinct segments of some lines, and the lines that contain them.

    Attributes
    ----------
    corpus : Corpus
        The distinct segments, in the form that `Lattices` takes.
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


def read_segments(plan: Plan, lines: Sequence[bytes], workers: Workers) -> LineSegments:
    """Return the segments of lines.

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
    source = Items(lines)
    counts, alphabet = counts_and_alphabet(plan, source, workers, _QUIET)
    corpus = cut_corpus(counts, alphabet, plan, source, workers, _QUIET)
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
    return make_plan(options, charsmap, symbols)._replace(
        whole_sentences=True,
        em_reads_sentences=True,
        keeps_order=True,
        keeps_pretokens=False,
        by_raw_tokens=False,
        boundaries_end_pretokens=False,
    )


def with_training_cuts(options: PlanOptions, model: ModelProto, pretokenizer: str) -> PlanOptions:
    """Return options that cut the text as in training with the model's split options.

    Parameters
    ----------
    options : PlanOptions
        How the text is read.
    model : ModelProto
        The model, which stores the split options of its training.
    pretokenizer : str
        ``script`` or ``regex:PATTERN``, which the model does not store; `STORED` for no
        pretokenizer; or `SPACE` to cut only at white space.
    """
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
