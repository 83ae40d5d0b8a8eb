"""Evaluates models on stored counts: each distinct pretoken is encoded once.

No piece of the models may cross the end of a pretoken. So the tokens of a line are those of its
pretokens, with two exceptions: ``sentencepiece`` joins unknown tokens that are neighbours, and it
adds the scores of a Unigram model in float32 over a whole line, so that rounding can decide between
segmentations whose scores are nearly equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.engine import SPACE_MARK, CountTable, Origin, SymbolCheck, add_up, digest
from spmcompat.errors import BadValueError, CountsMismatchError, printable
from spmcompat.model.pieces import NORMAL, UNUSED, USER_DEFINED, texts_of_type
from spmcompat.model.reading import read_model
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold import GoldScores, gold_key, score_boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.models import Model
from spmcompat.tools.evaluate.pretokens import encoder_of_normalized
from spmcompat.tools.evaluate.tokens import ratio, token_figures

if TYPE_CHECKING:
    import pyarrow as pa

_Ints = npt.NDArray[np.int64]

# Evaluation refuses counts made with these rules: such counts lack tokens of the text, or their
# pretokens are not the words between spaces.
_REFUSED_RULES = {
    "spaces_apart": "do not contain the spaces (space_pieces)",
    "script_runs": "are cut by a pretokenizer",
    "calls_pretokenizer": "are cut by a pretokenizer",
}
# The counts of a larger text are refused, because the number of its tokens could exceed 64 bits.
_MOST_BYTES = 2**60
_USE_TEXT = "Give the text itself with --text."


class CountsEvaluation(NamedTuple):
    """The figures of one model that can be computed from counts.

    Fields that `Evaluation` also has mean the same in both classes. There are no intervals and no
    languages, because counts do not contain lines. `pretokens` is the number of pretokens in the
    text, and `left_out` is the number of pretokens that the figures do not include, because they
    contain a mark for a meta piece. Normalized characters and bytes are counted in the pretokens,
    where each space mark counts as one character and one byte.

    The tokens are the same as with ``--pretokenizer=space``: each pretoken is encoded separately.
    """

    model: str
    model_type: str
    pieces: int
    tokens: int
    pretokens: int
    left_out: int
    tokens_per_pretoken: float
    normalized_characters_per_token: float
    normalized_bytes_per_token: float
    unknown_rate: float
    byte_piece_rate: float
    renyi_efficiency: float
    renyi_efficiency_observed: float
    unused_pieces: int
    gold: Mapping[str, GoldScores]
    drops_spaces: bool = False

    resampled: None = None
    languages: None = None

    def flat(self) -> dict[str, Any]:
        """Return all figures in one dict by name; see `gold_key` for the names of gold figures."""
        row = self._asdict()
        del row["gold"], row["resampled"], row["languages"]
        for name, scores in self.gold.items():
            row.update((gold_key(k, name, self.gold), v) for k, v in scores._asdict().items())
        return row

    def __repr__(self) -> str:
        """Return the number of tokens."""
        return f"<CountsEvaluation: {self.model}, {self.tokens:,} tokens>"


class _Sizes:
    """The sizes of the pretokens added so far."""

    def __init__(self) -> None:
        self.pretokens = 0
        self.left_out = 0
        self.characters = 0
        self.bytes = 0


class _TokenCounter:
    """Counts the tokens of one model in the pretokens added so far."""

    def __init__(self, model: Model, table: CountTable, workers: Workers) -> None:
        message = read_model(model.path)
        _check(message, table, model.path)
        symbols = texts_of_type(message, USER_DEFINED)
        # The space mark may be a user-defined symbol. It needs no check: counting has turned every
        # space into a space mark, whether or not the space mark is a symbol.
        added = [symbol for symbol in symbols if symbol != SPACE_MARK]
        origin = table.origin
        self._symbols = SymbolCheck(
            table.name, origin, {*origin.symbols, *added}, chr(origin.rules["boundary"])
        )
        self._model = model
        self.path = model.path
        self._encoder = encoder_of_normalized(message)
        self._threads = workers.count
        self._begins_pretokens = not origin.rules["whitespace_as_suffix"]
        self._has_unknown_begin = False
        self._has_unknown_end = False
        self.uses = np.zeros(model.size, dtype=np.int64)

    def add(self, rows: pa.RecordBatch, pretokens: Sequence[str], counts: _Ints) -> None:
        self._symbols.check(rows)
        # The encoder returns lists, because it would need more time to return arrays.
        encoded = self._encoder.encode(pretokens, return_type=int, num_threads=self._threads)
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        ids = np.fromiter(chain.from_iterable(encoded), dtype=np.int32, count=int(lengths.sum()))
        # `np.add.at` adds integers exactly; `np.bincount` would convert its weights to float64.
        np.add.at(self.uses, ids, np.repeat(counts, lengths))
        self._look_for_unknown(pretokens, ids, lengths)

    def _look_for_unknown(
        self, pretokens: Sequence[str], ids: npt.NDArray[np.int32], lengths: _Ints
    ) -> None:
        """Record whether unknown tokens begin a pretoken, and whether unknown tokens end one."""
        unknown = self._model.kinds.unknown[ids]
        if not unknown.any():
            return
        filled = np.flatnonzero(lengths)
        ends = np.cumsum(lengths)[filled]
        self._has_unknown_end |= bool(unknown[ends - 1].any())
        begins = filled[unknown[ends - lengths[filled]]]
        self._has_unknown_begin |= any(
            not self._begins_pretokens or pretokens[i].startswith(SPACE_MARK) for i in begins
        )

    @property
    def may_join_unknown(self) -> bool:
        """Whether ``sentencepiece`` may join unknown tokens of neighbouring pretokens into one."""
        return self._has_unknown_begin and self._has_unknown_end

    def result(
        self, sizes: _Sizes, gold: Mapping[str, GoldScores], *, drop_spaces: bool
    ) -> CountsEvaluation:
        model = self._model
        drops_spaces = drop_spaces and bool(model.kinds.blank.any())
        figures = token_figures(model.kinds, self.uses, drops_spaces=drops_spaces)
        tokens = figures["tokens"]
        return CountsEvaluation(
            model=model.path,
            model_type=model.model_type,
            pretokens=sizes.pretokens,
            left_out=sizes.left_out,
            tokens_per_pretoken=ratio(tokens, sizes.pretokens - sizes.left_out),
            normalized_characters_per_token=ratio(sizes.characters, tokens),
            normalized_bytes_per_token=ratio(sizes.bytes, tokens),
            gold=gold,
            drops_spaces=drops_spaces,
            **figures,
        )


def evaluate_counts(
    models: Sequence[Model],
    table: CountTable,
    gold: Sequence[GoldList],
    workers: Workers,
    report: Report,
    *,
    drop_spaces: bool = False,
) -> list[CountsEvaluation]:
    """Evaluate every model on the text that was counted.

    Parameters
    ----------
    models : sequence of Model
        Models from ``.model`` files.
    table : CountTable
        The counts. They are read once, in batches.
    gold : sequence of GoldList
        Lists of segmented words; may be empty.
    workers : Workers
        The threads to use.
    report : Report
        Receives the progress, and warnings about the text that the counts do not contain.
    drop_spaces : bool, optional
        Whether to drop tokens that are only spaces after encoding.

    Raises
    ------
    TrainingError
        If the counts cannot be read, or do not determine the tokens of a model.
    """
    counters = [_TokenCounter(model, table, workers) for model in models]
    sizes = _Sizes()
    boundary = chr(table.origin.rules["boundary"])
    with report.stage("Evaluating", len(table), "rows") as stage:
        for batch in table.batches():
            rows = add_up(batch, ["pretoken"])
            kept = _without_marks(rows, boundary, sizes)
            pretokens = kept.column("pretoken").to_pylist()
            counts = kept.column("count").to_numpy()
            _add_sizes(sizes, kept, table.name)
            for counter in counters:
                counter.add(kept, pretokens, counts)
            stage.advance(batch.num_rows)
    _warn(table.origin, sizes, report)
    for counter in counters:
        if counter.may_join_unknown:
            report.warning(
                f"{counter.path}: unknown words are separate tokens, as with --pretokenizer=space. "
                "In a whole line, sentencepiece joins those that are neighbours."
            )
    return [
        counter.result(
            sizes,
            {g.name: score_boundaries(g.words, model.cut([w.text for w in g.words])) for g in gold},
            drop_spaces=drop_spaces,
        )
        for model, counter in zip(models, counters, strict=True)
    ]


def _without_marks(rows: pa.RecordBatch, boundary: str, sizes: _Sizes) -> pa.RecordBatch:
    """Leave out the pretokens that contain a boundary mark, and add their number to `sizes`."""
    import pyarrow.compute as pc

    is_marked = pc.match_substring(rows.column("pretoken"), boundary)
    if not pc.any(is_marked).as_py():
        return rows
    left_out = pc.sum(rows.filter(is_marked).column("count")).as_py()
    sizes.left_out += left_out
    sizes.pretokens += left_out
    return rows.filter(pc.invert(is_marked))


def _add_sizes(sizes: _Sizes, rows: pa.RecordBatch, name: str) -> None:
    import pyarrow.compute as pc

    pretokens = rows.column("pretoken")
    counts = rows.column("count").to_numpy()
    characters = pc.utf8_length(pretokens).to_numpy().astype(np.int64)
    marks = pc.count_substring(pretokens, SPACE_MARK).to_numpy().astype(np.int64)
    lengths = pc.binary_length(pretokens).to_numpy() - (len(SPACE_MARK.encode()) - 1) * marks
    if sizes.bytes + float(lengths.astype(np.float64) @ counts) > _MOST_BYTES:
        raise BadValueError(f"{name}: the counts are too large to add up. Count the text again.")
    sizes.pretokens += int(counts.sum())
    sizes.characters += int(characters @ counts)
    sizes.bytes += int(lengths @ counts)


def _warn(origin: Origin, sizes: _Sizes, report: Report) -> None:
    """Warn about text that the figures do not include, and about counts that were changed."""
    if skipped := origin.too_long + origin.reserved + origin.broken:
        report.warning(f"The counts do not contain {skipped:,} lines that counting skipped.")
    if sizes.left_out:
        report.warning(
            f"The figures do not include {sizes.left_out:,} of {sizes.pretokens:,} pretokens: they "
            "contain a meta piece such as <s>, which counts replace by a mark."
        )
    for change in origin.changes:
        report.warning(f"The counts were changed after counting: {printable(change)}.")


def _check(model: ModelProto, table: CountTable, path: str) -> None:
    """Raise unless the tokens of the text are the tokens of the counted pretokens."""
    origin, rules = table.origin, table.origin.rules
    stored = {
        "add_dummy_prefix": model.normalizer_spec.add_dummy_prefix,
        "remove_extra_whitespaces": model.normalizer_spec.remove_extra_whitespaces,
        "treat_whitespace_as_suffix": model.trainer_spec.treat_whitespace_as_suffix,
    }
    for name, reason in _REFUSED_RULES.items():
        if rules[name]:
            raise _refusal(table, reason)
    for name, value in stored.items():
        if rules[name] != value:
            raise _refusal(
                table,
                f"were made with a different {name} than {path}",
                f"Count the text with --{name}={str(value).lower()}, or give it with --text.",
            )
    charsmap = model.normalizer_spec.precompiled_charsmap
    if origin.charsmap != digest(charsmap) or not model.normalizer_spec.escape_whitespaces:
        raise _refusal(
            table,
            f"were made with different normalization rules than {path}",
            "Count the text with the rules of the model, or give it with --text.",
        )
    if origin.delimiter:
        raise _refusal(table, "were cut at a pretokenization_delimiter, but do not contain it")
    crossing = next((p.piece for p in model.pieces if _may_cross(p, origin)), None)
    if crossing is not None:
        raise _refusal(
            table, f"are of text that was cut inside the piece {printable(crossing)!r} of {path}"
        )


def _may_cross(piece: ModelProto.SentencePiece, origin: Origin) -> bool:
    """Return whether a piece can represent text on both sides of the end of a pretoken."""
    if piece.type not in (NORMAL, USER_DEFINED, UNUSED):
        return False
    rules = origin.rules
    text = piece.piece[::-1] if rules["whitespace_as_suffix"] else piece.piece
    if rules["allow_whitespace_only_pieces"]:
        text = text.lstrip(SPACE_MARK)
    return SPACE_MARK in text[0 if rules["allow_whitespace_only_pieces"] else 1 :]


def _refusal(table: CountTable, reason: str, remedy: str = _USE_TEXT) -> BadValueError:
    return CountsMismatchError(f"{table.name}: the counts {reason}. {remedy}")
