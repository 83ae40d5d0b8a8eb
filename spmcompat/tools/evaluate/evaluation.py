"""Evaluates several models on one text in a single pass."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.errors import BadValueError, MissingFileError, refuse_impossible
from spmcompat.runtime.progress import Report
from spmcompat.tools.evaluate.alignment import align
from spmcompat.tools.evaluate.bootstrap import (
    Bootstrap,
    Difference,
    Resampled,
    UnitSums,
    draws,
    interval,
    intervals,
    resample,
)
from spmcompat.tools.evaluate.gold import GoldScores, GoldWord, score_boundaries
from spmcompat.tools.evaluate.models import Model
from spmcompat.tools.evaluate.tokens import TokenCounts, ratio, words_by_marks

# Size of the lines that are encoded at once. Memory use is a few times this size.
_BATCH_BYTES = 4 << 20
# The number of lines that are aligned at once, so that the arrays stay small.
_ALIGNED_LINES = 1000
# A model may lose this share of the characters, and of the spaces. The usual character coverage,
# 0.9995, gives up a tenth of it. In Chinese and Japanese, new characters take about a third of it.
_TOLERATED_LOSS = 0.005
# The unknown token of these models replaces a whole word, with characters that the model knows.
_WORD_MODELS = ("word", "tokenizers WordPiece", "tokenizers WordLevel")
# The figures that are compared with those of a baseline, resample by resample.
COMPARED = (
    "loss_per_character",
    "renormalized_loss_per_character",
    "tokens",
    "gold_f1",
    "gold_morph_score",
)

_ONE_UNIT = {
    "lines": ("line", "Use a longer text"),
    "documents": ("document", "Separate documents by blank lines, or choose --units lines"),
}

_Floats = npt.NDArray[np.float64]


class Evaluation(NamedTuple):
    """The figures of one model.

    `uses` has the number of uses of each piece, in descending order. Losses are in nats. They are
    NaN for models that are not Unigram. A ratio is NaN if its denominator is 0. Characters and
    bytes are counted before normalization and without line ends. Words are what the text has
    between white space, so their number is the same for every model.

    `lost_characters` is the share of characters, except white space, that unknown tokens or no
    tokens stand for. `lost_spaces` is the number of tokens that seem to begin a word but stand
    inside one, divided by the number of words.

    `resampled` has the confidence intervals, if a bootstrap was asked for.
    """

    model: str
    model_type: str
    pieces: int
    loss_per_character: float
    loss_per_byte: float
    renormalized_loss_per_character: float
    renormalized_loss_per_byte: float
    tokens: int
    words: int
    tokens_per_word: float
    characters_per_token: float
    bytes_per_token: float
    unknown_rate: float
    lost_characters: float
    lost_spaces: float
    byte_piece_rate: float
    renyi_efficiency: float
    whole_words: float
    unused_pieces: int
    uses: tuple[int, ...]
    gold: GoldScores | None
    resampled: Resampled | None = None


class Overlap(NamedTuple):
    """The overlap of two vocabularies: shared pieces divided by all pieces of the two."""

    first: str
    second: str
    jaccard: float
    jaccard_without_characters: float


def lost_text(result: Evaluation) -> str:
    """Return how the model loses text; empty if its figures compare with those of other models.

    A model that loses text needs fewer tokens, and has a lower loss, for that reason alone.
    """
    lost = result.lost_characters
    if result.unknown_rate > 0 and result.model_type in _WORD_MODELS:
        return f"it replaces whole words, with {lost:.3%} of the characters"
    if lost > _TOLERATED_LOSS:
        return f"it loses {lost:.3%} of the characters"
    if result.lost_spaces > _TOLERATED_LOSS:
        return f"it does not show where spaces are, in {result.lost_spaces:.3%} of the words"
    return ""


class _Batch(NamedTuple):
    """Some lines of the text as bytes and as text, and the number of words in each."""

    lines: list[bytes]
    texts: list[str]
    words: npt.NDArray[np.int64]
    visible_characters: int


def _batch(lines: list[bytes]) -> _Batch:
    texts = [line.decode(errors="replace") for line in lines]
    words = np.zeros(len(texts), dtype=np.int64)
    visible_characters = 0
    for i, text in enumerate(texts):
        parts = text.split()
        words[i] = len(parts)
        visible_characters += sum(map(len, parts))
    return _Batch(lines, texts, words, visible_characters)


class _TextSums(NamedTuple):
    """Sizes of lines, or of the whole text; visible characters are those without white space."""

    bytes: _Floats
    characters: _Floats
    visible_characters: _Floats
    words: _Floats


class _ModelSums(NamedTuple):
    """What a model does with lines, or with the whole text: everything that ratios are made of.

    Losses have sizes of their own, because they do not include all lines.
    """

    tokens: _Floats
    unknown: _Floats
    byte_pieces: _Floats
    whole_words: _Floats
    lost_characters: _Floats
    lost_spaces: _Floats
    raw: _Floats
    renormalized: _Floats
    loss_characters: _Floats
    loss_bytes: _Floats


def _text_sums(batch: _Batch) -> _TextSums:
    """Return the sizes of each line."""
    return _TextSums(
        np.array([len(line) for line in batch.lines], dtype=np.float64),
        np.array([len(text) for text in batch.texts], dtype=np.float64),
        np.array([sum(map(len, text.split())) for text in batch.texts], dtype=np.float64),
        batch.words.astype(np.float64),
    )


def _ratios(text: _TextSums, model: _ModelSums) -> dict[str, _Floats]:
    """Return the figures that follow from sums."""
    pairs = {
        "loss_per_character": (model.raw, model.loss_characters),
        "loss_per_byte": (model.raw, model.loss_bytes),
        "renormalized_loss_per_character": (model.renormalized, model.loss_characters),
        "renormalized_loss_per_byte": (model.renormalized, model.loss_bytes),
        "tokens_per_word": (model.tokens, text.words),
        "characters_per_token": (text.characters, model.tokens),
        "bytes_per_token": (text.bytes, model.tokens),
        "unknown_rate": (model.unknown, model.tokens),
        "lost_characters": (model.lost_characters, text.visible_characters),
        "lost_spaces": (model.lost_spaces, text.words),
        "byte_piece_rate": (model.byte_pieces, model.tokens),
        "whole_words": (model.whole_words, text.words),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            name: np.where(whole == 0, math.nan, part / whole)
            for name, (part, whole) in pairs.items()
        }
    return {"tokens": model.tokens, **found}


class _TextSize:
    """The size of the lines added so far; visible characters are those that are not white space."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self.visible_characters = 0
        self.words = 0

    def add(self, batch: _Batch) -> None:
        self.bytes += sum(map(len, batch.lines))
        self.characters += sum(map(len, batch.texts))
        self.visible_characters += batch.visible_characters
        self.words += int(batch.words.sum())


class _Measurement:
    """The figures of one model, for the lines added so far."""

    def __init__(self, model: Model, *, by_line: bool) -> None:
        self.model = model
        self.tokens = TokenCounts(model.kinds)
        self.whole_words = 0
        self.lost_characters = 0
        self.lost_spaces = 0
        self._by_line = by_line

    def add(self, batch: _Batch) -> _ModelSums | None:
        """Add lines. Return what the model does with each, if figures are needed by line."""
        model = self.model
        encoded = model.encode(batch.lines)
        words = self._add_words(batch, encoded)
        cut = encoded if model.pretokens is None else model.pretokens.encode(batch.lines, encoded)
        self.tokens.add(cut)
        if model.loss is not None and not self._by_line and model.pretokens is None:
            model.loss.add(batch.lines, encoded)
            return None
        losses = np.zeros((4, len(batch.lines)))
        if model.loss is not None:
            losses = np.array(model.loss.add_by_line(batch.lines, encoded))
        return _ModelSums(*_count_tokens(model, cut), *words, *losses) if self._by_line else None

    def _add_words(
        self, batch: _Batch, encoded: Sequence[npt.NDArray[np.int32]]
    ) -> npt.NDArray[np.int64]:
        """Count whole words, lost characters and lost spaces; return them for each line.

        Where the marks of the tokens show the words of the text, no alignment is needed.
        """
        model, kinds = self.model, self.model.kinds
        marked = words_by_marks(kinds, encoded)
        unclear = (marked.words != batch.words) | model.drops_characters
        unclear |= [bool(kinds.unknown[line].any()) for line in encoded]
        found = np.zeros((3, len(batch.lines)), dtype=np.int64)
        found[0] = np.where(unclear, 0, marked.whole_words)
        rest = np.flatnonzero(unclear)
        for begin in range(0, len(rest), _ALIGNED_LINES):
            part = rest[begin : begin + _ALIGNED_LINES]
            texts = [batch.texts[i] for i in part]
            ids = np.concatenate([encoded[i] for i in part])
            aligned = align(texts, model.spans(texts), kinds.begins[ids], kinds.unknown[ids])
            lost_spaces = aligned.inner_tokens if model.marks_continuation else 0
            found[0, part] = aligned.whole_words
            found[1, part] = aligned.lost_characters
            found[2, part] = lost_spaces
        self.whole_words += int(found[0].sum())
        self.lost_characters += int(found[1].sum())
        self.lost_spaces += int(found[2].sum())
        return found

    def result(
        self, text: _TextSize, gold: GoldScores | None, resampled: Resampled | None
    ) -> Evaluation:
        model, tokens = self.model, self.tokens
        raw, renormalized, loss_characters, loss_bytes = math.nan, math.nan, 0, 0
        if model.loss is not None:
            raw, renormalized = model.loss.raw, model.loss.renormalized
            loss_characters, loss_bytes = model.loss.characters, model.loss.bytes
        return Evaluation(
            model=model.path,
            model_type=model.model_type,
            pieces=model.size,
            loss_per_character=ratio(raw, loss_characters),
            loss_per_byte=ratio(raw, loss_bytes),
            renormalized_loss_per_character=ratio(renormalized, loss_characters),
            renormalized_loss_per_byte=ratio(renormalized, loss_bytes),
            tokens=tokens.tokens,
            words=text.words,
            tokens_per_word=ratio(tokens.tokens, text.words),
            characters_per_token=ratio(text.characters, tokens.tokens),
            bytes_per_token=ratio(text.bytes, tokens.tokens),
            unknown_rate=tokens.unknown_rate,
            lost_characters=ratio(self.lost_characters, text.visible_characters),
            lost_spaces=ratio(self.lost_spaces, text.words),
            byte_piece_rate=tokens.byte_rate,
            renyi_efficiency=tokens.renyi_efficiency,
            whole_words=ratio(self.whole_words, text.words),
            unused_pieces=tokens.unused,
            uses=tuple(sorted(tokens.uses.tolist(), reverse=True)),
            gold=gold,
            resampled=resampled,
        )


def _count_tokens(model: Model, encoded: Sequence[npt.NDArray[np.int32]]) -> _Floats:
    """Return the numbers of tokens, unknown tokens and byte pieces in each line."""
    lengths = np.array([len(line) for line in encoded])
    ids = np.concatenate(encoded)
    line_of = np.repeat(np.arange(len(encoded)), lengths)
    return np.array(
        [
            lengths,
            np.bincount(line_of, model.kinds.unknown[ids], len(encoded)),
            np.bincount(line_of, model.kinds.byte[ids], len(encoded)),
        ]
    )


def evaluate(
    models: Sequence[Model],
    texts: Sequence[str],
    gold: Sequence[GoldWord],
    report: Report,
    bootstrap: Bootstrap | None = None,
) -> list[Evaluation]:
    """Evaluate every model on the lines of all texts.

    The text is read once, and is not kept in memory.

    Parameters
    ----------
    models : sequence of Model
        The models. A model can be evaluated only once.
    texts : sequence of str
        Paths of texts in UTF-8, one sentence in each line.
    gold : sequence of GoldWord
        Segmented words; may be empty.
    report : Report
        Receives the progress, and a warning about skipped lines.
    bootstrap : Bootstrap, optional
        Find confidence intervals.

    Raises
    ------
    TrainingError
        If a text cannot be read, is empty, or has too few units for a bootstrap.
    """
    for path in texts:
        refuse_impossible(path, "check its name")
    measurements = [_Measurement(model, by_line=bootstrap is not None) for model in models]
    size = _TextSize()
    units = None
    if bootstrap is not None:
        columns = len(_TextSums._fields) + len(models) * len(_ModelSums._fields)
        units = UnitSums(columns, bootstrap.units)
    with report.stage("Evaluating", _size(texts), "bytes") as stage:
        for lines, file_begins in _batches(texts):
            batch = _batch(lines)
            sums = [measurement.add(batch) for measurement in measurements]
            size.add(batch)
            if units is not None:
                rows = np.concatenate([_text_sums(batch), *(s for s in sums if s is not None)])
                units.add(rows.T, batch.words == 0, file_begins)
            stage.advance(sum(map(len, lines)) + len(lines))
    if size.bytes == 0:
        raise BadValueError("The text is empty. Check --text.")
    if skipped := max((m.loss.skipped for m in models if m.loss is not None), default=0):
        report.warning(f"The losses do not include {skipped} lines that contain U+2585.")
    scores = _GoldScorer(gold)
    resampled: list[Resampled | None] = [None] * len(models)
    if bootstrap is not None and units is not None:
        resampled = [*_resampled(models, units, scores, bootstrap, report)]
    return [
        measurement.result(size, scores.of_model(measurement.model), of_model)
        for measurement, of_model in zip(measurements, resampled, strict=True)
    ]


class _GoldScorer:
    """Scores the cuts of gold words, of all words or of the words of a resample."""

    def __init__(self, words: Sequence[GoldWord]) -> None:
        self._words = words

    def of_model(self, model: Model) -> GoldScores | None:
        if not self._words:
            return None
        return score_boundaries(self._words, model.cut([word.text for word in self._words]))

    def samples(self, model: Model, bootstrap: Bootstrap) -> dict[str, list[float]]:
        """Return the values of each score in the resamples of words."""
        if not self._words:
            return {}
        cuts = model.cut([word.text for word in self._words])
        scores = [
            score_boundaries([self._words[i] for i in drawn], [cuts[i] for i in drawn])
            for drawn in (drawn.tolist() for drawn in draws(len(self._words), bootstrap))
        ]
        names = [name for name in GoldScores._fields if not name.endswith("words")]
        return {f"gold_{name}": [getattr(score, name) for score in scores] for name in names}


def _resampled(
    models: Sequence[Model],
    units: UnitSums,
    scores: _GoldScorer,
    bootstrap: Bootstrap,
    report: Report,
) -> Iterator[Resampled]:
    """Yield for each model its intervals."""
    sums = units.sums
    if len(sums) < 2:
        unit, choice = _ONE_UNIT[bootstrap.units]
        raise BadValueError(f"The text is one {unit}, but resampling needs several. {choice}.")
    report.step("Resampling")
    drawn = resample(sums, bootstrap).T
    text = _TextSums(*drawn[: len(_TextSums._fields)])
    for i, model in enumerate(models):
        begin = len(text) + i * len(_ModelSums._fields)
        of_model = _ModelSums(*drawn[begin : begin + len(_ModelSums._fields)])
        samples: dict[str, npt.ArrayLike] = {**_ratios(text, of_model)}
        if model.loss is None:
            samples = {name: values for name, values in samples.items() if "loss_" not in name}
        samples |= scores.samples(model, bootstrap)
        yield Resampled(
            bootstrap,
            len(sums),
            units.block,
            intervals(samples, bootstrap.confidence),
            {
                name: tuple(np.asarray(samples[name]).tolist())
                for name in COMPARED
                if name in samples
            },
        )


def differences(results: Sequence[Evaluation], baseline: Evaluation) -> list[Difference]:
    """Compare each result with the baseline, resample by resample.

    All results must come from the same text and the same bootstrap. A figure is left out where one
    of the two has none, or no interval.
    """
    return [
        difference
        for result in results
        if result is not baseline
        for figure in COMPARED
        if (difference := _difference(result, baseline, figure)) is not None
    ]


def figure_of(result: Evaluation, name: str) -> float:
    """Return a figure by its name; NaN if there is none. Names of gold figures begin with gold_."""
    if name.startswith("gold_"):
        value: float = getattr(result.gold, name.removeprefix("gold_"), math.nan)
    else:
        value = getattr(result, name)
    return value


def _difference(result: Evaluation, baseline: Evaluation, figure: str) -> Difference | None:
    if result.resampled is None or baseline.resampled is None:
        return None
    own = result.resampled.samples.get(figure)
    other = baseline.resampled.samples.get(figure)
    if own is None or other is None:
        return None
    is_relative = not figure.startswith("gold_")
    change = _relative_change if is_relative else np.subtract
    with np.errstate(divide="ignore", invalid="ignore"):
        both = interval(
            change(np.array(own), np.array(other)), result.resampled.settings.confidence
        )
        whole = change(np.float64(figure_of(result, figure)), figure_of(baseline, figure))
    if both is None or not all(map(math.isfinite, (*both, whole))):
        return None
    return Difference(
        model=result.model,
        baseline=baseline.model,
        figure=figure,
        is_relative=is_relative,
        difference=float(whole),
        low=both.low,
        high=both.high,
        excludes_zero=both.low > 0 or both.high < 0,
    )


def _relative_change(value: npt.ArrayLike, base: npt.ArrayLike) -> _Floats:
    return np.divide(value, base) - 1


def overlaps(models: Sequence[Model]) -> list[Overlap]:
    """Compare the vocabularies of each pair of models."""
    return [
        Overlap(
            a.path,
            b.path,
            _jaccard(a.vocabulary, b.vocabulary),
            _jaccard(_long(a.vocabulary), _long(b.vocabulary)),
        )
        for a, b in itertools.combinations(models, 2)
    ]


def _long(pieces: set[str]) -> set[str]:
    return {piece for piece in pieces if len(piece) > 1}


def _jaccard(first: set[str], second: set[str]) -> float:
    return ratio(len(first & second), len(first | second))


def _batches(paths: Sequence[str]) -> Iterator[tuple[list[bytes], list[int]]]:
    """Yield batches of lines without their line ends, and which of the lines begin a file."""
    lines: list[bytes] = []
    file_begins: list[int] = []
    size = 0
    for path in paths:
        try:
            with open(path, "rb") as file:
                for number, line in enumerate(file):
                    if number == 0:
                        file_begins.append(len(lines))
                    lines.append(line.rstrip(b"\r\n"))
                    size += len(line)
                    if size >= _BATCH_BYTES:
                        yield lines, file_begins
                        lines, file_begins, size = [], [], 0
        except OSError as error:
            raise _unreadable(path, error) from error
    if lines:
        yield lines, file_begins


def _size(paths: Sequence[str]) -> int | None:
    try:
        return sum(os.stat(path).st_size for path in paths)
    except OSError:
        return None


def _unreadable(path: str, error: OSError) -> MissingFileError:
    return MissingFileError(f"{path}: {os.strerror(error.errno or 0)}: check its name.")
