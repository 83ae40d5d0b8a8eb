"""Evaluates several models on one text in a single pass."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from spmcompat.engine import not_utf8
from spmcompat.errors import BadValueError
from spmcompat.runtime.progress import Report
from spmcompat.tools.evaluate.alignment import align
from spmcompat.tools.evaluate.bootstrap import (
    COMPARED,
    Bootstrap,
    Interval,
    Resampled,
    UnitSums,
    intervals,
    resample,
)
from spmcompat.tools.evaluate.dropped_spaces import count_boundaries, without_spaces
from spmcompat.tools.evaluate.gold import (
    GoldScores,
    gold_key,
    score_boundaries,
    scores_of_sums,
    sums_by_word,
)
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.languages import (
    Languages,
    check_parallel,
    check_reference,
    describe_loss,
    languages_of,
)
from spmcompat.tools.evaluate.line_sums import (
    ModelSums,
    TextSums,
    count_tokens,
    ratios,
    ratios_of_one,
    text_sums,
)
from spmcompat.tools.evaluate.models import Model
from spmcompat.tools.evaluate.texts import TextFiles, Texts
from spmcompat.tools.evaluate.tokens import ratio, token_figures, words_by_marks
from spmcompat.tools.evaluate.vocabularies import share_texts

# The number of lines to align with their tokens at once. A small number keeps the arrays small.
_ALIGNED_LINES = 1000
_ONE_UNIT = {
    "lines": ("line", "Use a longer text"),
    "documents": ("document", "Separate documents by blank lines, or choose --units lines"),
}


_Floats = npt.NDArray[np.float64]
_Lines = Sequence[npt.NDArray[np.int32]]


class Evaluation(NamedTuple):
    """The figures of one model.

    `uses` contains the number of uses of each piece, sorted from the largest to the smallest.
    Losses are in nats, and NaN for models that are not Unigram. A ratio is NaN if its denominator
    is 0. Characters and bytes are counted before normalization and without line ends. Words are the
    parts of the text between white space, so their number is the same for every model.

    `lost_characters` is the share of the visible characters (those that are not white space) that
    are represented only by unknown tokens or by no token. `lost_spaces` is the number of tokens
    that are marked as the beginning of a word but begin inside a word, divided by the number of
    words. It is 0 unless the model marks the tokens that continue a word.

    `gold` maps the name of each gold list to the scores.

    `drops_spaces` says whether tokens that are only spaces are dropped. If so, all figures describe
    the remaining tokens and pieces, and `lost_spaces` is the share of the word boundaries that
    cannot be seen in the remaining tokens. The loss is NaN if a dropped piece is a normal piece.

    `resampled` has the confidence intervals, if there is a bootstrap, and `languages` has the
    figures of each language, if the texts have languages.
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
    renyi_efficiency_observed: float
    whole_words: float
    unused_pieces: int
    uses: tuple[int, ...]
    gold: Mapping[str, GoldScores]
    drops_spaces: bool = False
    resampled: Resampled | None = None
    languages: Languages | None = None

    def flat(self) -> dict[str, Any]:
        """Return all figures in one dict by name; see `gold_key` for the names of gold figures."""
        row = self._asdict()
        del row["gold"], row["uses"], row["resampled"], row["languages"]
        if self.languages is not None:
            row["gini"], row["worst_language"] = self.languages.gini, self.languages.worst
        for name, scores in self.gold.items():
            row.update((gold_key(k, name, self.gold), v) for k, v in scores._asdict().items())
        return row

    def interval(self, name: str) -> Interval | None:
        """Return the confidence interval of a figure; None if it has none."""
        return self.resampled.intervals.get(name) if self.resampled else None

    def __repr__(self) -> str:
        """Return only the model and the number of tokens, because `uses` is too long."""
        return f"<Evaluation: {self.model}, {self.tokens:,} tokens>"


class Overlap(NamedTuple):
    """The pieces that two vocabularies share.

    `jaccard` is the number of pieces in both vocabularies, divided by the number of pieces in at
    least one of them. The last three fields count the texts of pieces: the pieces without their
    space marks.
    """

    first: str
    second: str
    jaccard: float
    jaccard_without_characters: float
    shared_texts: int
    texts_only_in_first: int
    texts_only_in_second: int


def lost_text(result: Evaluation) -> str:
    """Return a description of the text that the model loses, or "" if it does not lose text.

    A model that loses text needs fewer tokens, and its loss in nats is smaller. So its figures
    cannot be compared with those of other models.
    """
    return describe_loss(
        result.model_type,
        result.unknown_rate,
        result.lost_characters,
        result.lost_spaces,
        result.drops_spaces,
    )


class _Batch(NamedTuple):
    """Some lines as bytes and as text, their sizes, and the indexes of those that are not UTF-8."""

    lines: list[bytes]
    texts: list[str]
    sizes: TextSums
    malformed: list[int]

    @classmethod
    def of(cls, lines: list[bytes]) -> _Batch:
        texts = [line.decode(errors="replace") for line in lines]
        malformed = [
            i
            for i, text in enumerate(texts)
            if "\N{REPLACEMENT CHARACTER}" in text and text.encode() != lines[i]
        ]
        return cls(lines, texts, text_sums(lines, texts), malformed)


class _Measurement:
    """The figures of one model, for the lines added so far."""

    def __init__(self, model: Model, *, drop_spaces: bool, by_line: bool) -> None:
        self.model = model
        self.loss = model.loss
        self.drops_spaces = drop_spaces and bool(model.kinds.blank.any())
        if self.drops_spaces:
            self.loss = model.loss and model.loss.without(model.kinds.blank)
        self.uses = np.zeros(model.size, dtype=np.int64)
        self._by_line = by_line

    def add(self, batch: _Batch) -> _Floats:
        """Add lines to the figures.

        Return `ModelSums`: those of each line, or, without a bootstrap, one sum for all lines.
        """
        kinds = self.model.kinds
        encoded = self.model.encode(batch.lines)
        whole_words, lost_characters, lost_spaces = self._words(batch, encoded)
        spaces: npt.NDArray[Any] = batch.sizes.words
        all_tokens = encoded
        if self.drops_spaces:
            encoded = without_spaces(kinds, all_tokens)
            spaces, lost_spaces = count_boundaries(kinds, all_tokens, encoded)
        cut = encoded
        if self.model.pretokens is not None:
            cut = self.model.pretokens.encode(batch.lines, encoded)
            cut = without_spaces(kinds, cut) if self.drops_spaces else cut
        self.uses += np.bincount(np.concatenate(cut), minlength=len(self.uses))
        losses = np.zeros((4, len(batch.lines)))
        if self.loss is not None:
            by_line = self._by_line or self.model.pretokens is not None
            losses = np.array(self.loss.add(batch.lines, encoded, by_line=by_line))
        counts = count_tokens(kinds, cut)
        rows = np.array([*counts, whole_words, lost_characters, lost_spaces, *losses, spaces])
        return rows if self._by_line else rows.sum(axis=1, keepdims=True)

    def _words(self, batch: _Batch, encoded: _Lines) -> npt.NDArray[np.int64]:
        """Return the numbers of whole words, lost characters and lost spaces in each line.

        If the space marks of the tokens give the right number of words in a line, and no character
        can be lost, the marks also show which words are whole. All other lines are aligned with
        their tokens.
        """
        model, kinds = self.model, self.model.kinds
        marked = words_by_marks(kinds, encoded)
        unclear = (marked.words != batch.sizes.words) | model.drops_characters
        unclear |= count_tokens(kinds, encoded)[1] > 0
        found = np.zeros((3, len(batch.lines)), dtype=np.int64)
        found[0] = np.where(unclear, 0, marked.whole_words)
        tokens = [*encoded]
        if batch.malformed:
            # The encoder may replace invalid bytes with more or fewer U+FFFD than Python does.
            texts = [batch.texts[i].encode() for i in batch.malformed]
            for i, ids in zip(batch.malformed, model.encode(texts), strict=True):
                tokens[i] = ids
        rest = np.flatnonzero(unclear)
        for begin in range(0, len(rest), _ALIGNED_LINES):
            part = rest[begin : begin + _ALIGNED_LINES]
            lines = [batch.texts[i] for i in part]
            flat = np.concatenate([tokens[i] for i in part])
            aligned = align(lines, model.spans(lines), kinds.begins[flat], kinds.unknown[flat])
            lost_spaces = aligned.inner_tokens if model.marks_continuation else 0
            found[0, part] = aligned.whole_words
            found[1, part] = aligned.lost_characters
            found[2, part] = lost_spaces
        return found

    def result(
        self,
        text: TextSums,
        sums: ModelSums,
        gold: Mapping[str, GoldScores],
        resampled: Resampled | None,
        languages: Languages | None,
    ) -> Evaluation:
        """Return the figures, given the sums of the whole text."""
        if self.loss is not None:
            # Without a bootstrap, `sums` need not contain losses.
            raw, renormalized = self.loss.raw, self.loss.renormalized
            sums = sums._replace(raw=np.array(raw), renormalized=np.array(renormalized))
        kinds = self.model.kinds
        uses = self.uses[~kinds.blank] if self.drops_spaces else self.uses
        figures = {
            **ratios_of_one(text, sums),
            **token_figures(kinds, self.uses, drops_spaces=self.drops_spaces),
        }
        return Evaluation(
            model=self.model.path,
            model_type=self.model.model_type,
            words=int(text.words),
            uses=tuple(sorted(uses.tolist(), reverse=True)),
            gold=gold,
            drops_spaces=self.drops_spaces,
            resampled=resampled,
            languages=languages,
            **figures,
        )


def evaluate(
    models: Sequence[Model],
    texts: Sequence[str] | Texts,
    gold: Sequence[GoldList],
    report: Report,
    *,
    drop_spaces: bool = False,
    bootstrap: Bootstrap | None = None,
    reference: str | None = None,
    parallel: bool = False,
) -> list[Evaluation]:
    """Evaluate every model on the lines of all texts.

    The text is read once, and is not kept in memory.

    Parameters
    ----------
    models : sequence of Model
        The models. Load them again before another evaluation, because a loaded model would add the
        new loss to its old one.
    texts : sequence of str, or Texts
        Paths of texts in UTF-8, one sentence on each line; or `Texts`, which may have languages.
    gold : sequence of GoldList
        Lists of segmented words; may be empty.
    report : Report
        Receives the progress, and warnings about skipped lines and lines that are not UTF-8.
    drop_spaces : bool, optional
        Whether to drop tokens that are only spaces after encoding.
    bootstrap : Bootstrap, optional
        Compute confidence intervals with these settings.
    reference : str, optional
        The language that parity refers to; by default the first one.
    parallel : bool, optional
        Whether line i says the same in every language.

    Raises
    ------
    TrainingError
        If a text cannot be read, is empty, has a line that is too long, or has fewer than two lines
        or documents to resample; if there is no text in the reference language; or if parallel
        texts differ in their numbers of lines.
    """
    source = TextFiles(texts) if isinstance(texts, Sequence) else texts
    measurements = [
        _Measurement(model, drop_spaces=drop_spaces, by_line=bootstrap is not None)
        for model in models
    ]
    units = None
    if bootstrap is not None:
        columns = len(TextSums._fields) + len(models) * (len(ModelSums._fields) - 1)
        units = UnitSums(columns, bootstrap.units)
    # The number of lines, and the sums of the text and of all models, by language.
    lines: Counter[str | None] = Counter()
    sums: dict[str | None, _Floats] = {}
    malformed = 0
    with report.stage("Evaluating", source.size, "bytes") as stage:
        for read, file_begins, language, bytes_read in source.batches():
            batch = _Batch.of(read)
            rows = [measurement.add(batch) for measurement in measurements]
            added = np.concatenate([part.sum(axis=1) for part in (np.array(batch.sizes), *rows)])
            sums[language] = sums.get(language, 0) + added
            lines[language] += len(read)
            malformed += len(batch.malformed)
            if units is not None:
                # Leave out `spaces`, which the resamples do not need.
                by_line = np.concatenate([batch.sizes, *(part[:-1] for part in rows)])
                units.add(by_line.T, batch.sizes.words == 0, file_begins)
            stage.advance(bytes_read)
    if not any(_split(found)[0].bytes for found in sums.values()):
        raise BadValueError("The text is empty. Check --text.")
    if malformed:
        report.warning(not_utf8(malformed))
    if skipped := max((m.loss.skipped for m in models if m.loss is not None), default=0):
        report.warning(f"The losses do not include {skipped} lines that contain U+2585.")
    cuts = [[model.cut([w.text for w in found.words]) for found in gold] for model in models]
    resampled: Sequence[Resampled | None] = [None] * len(models)
    if bootstrap is not None and units is not None:
        report.step("Resampling")
        gold_samples = [_resampled_gold(gold, of_model, bootstrap) for of_model in cuts]
        resampled = _resampled(measurements, units, gold_samples, bootstrap)
    by_language = {name: _split(found) for name, found in sums.items() if name is not None}
    if by_language:
        reference = next(iter(by_language)) if reference is None else reference
        check_reference(reference, by_language)
        if parallel:
            check_parallel({name: lines[name] for name in by_language})
    text, of_models = _split(np.sum([*sums.values()], axis=0))
    return [
        measurement.result(
            text,
            of_models[i],
            {
                found.name: score_boundaries(found.words, parts)
                for found, parts in zip(gold, cuts[i], strict=True)
            },
            resampled[i],
            languages_of(
                measurement.model.model_type,
                measurement.drops_spaces,
                {
                    name: (lines[name], size, counts[i])
                    for name, (size, counts) in by_language.items()
                },
                reference,
                parallel,
            ),
        )
        for i, measurement in enumerate(measurements)
    ]


def _split(sums: _Floats) -> tuple[TextSums, list[ModelSums]]:
    """Return the sums of a text, and those of each model."""
    size = len(TextSums._fields)
    of_models = sums[size:].reshape(-1, len(ModelSums._fields))
    return TextSums(*sums[:size]), [ModelSums(*row) for row in of_models]


def _resampled(
    measurements: Sequence[_Measurement],
    units: UnitSums,
    of_gold: Sequence[Mapping[str, _Floats]],
    bootstrap: Bootstrap,
) -> list[Resampled]:
    """Return the confidence intervals of each model's figures."""
    if len(units.sums) < 2:
        unit, choice = _ONE_UNIT[bootstrap.units]
        raise BadValueError(f"The text is one {unit}, but resampling needs several. {choice}.")
    text, *models = np.split(
        resample(units.sums, bootstrap).T,
        range(len(TextSums._fields), units.sums.shape[1], len(ModelSums._fields) - 1),
    )
    sizes = TextSums(*text)
    results = []
    for measurement, drawn, gold in zip(measurements, models, of_gold, strict=True):
        samples = {**ratios(sizes, ModelSums._make([*drawn, sizes.words])), **gold}
        if measurement.loss is None:
            samples = {name: values for name, values in samples.items() if "loss_" not in name}
        if measurement.drops_spaces:
            del samples["lost_spaces"]
        compared = {
            name: tuple(values.tolist())
            for name, values in samples.items()
            if name.partition("[")[0] in COMPARED
        }
        both = intervals(samples, bootstrap.confidence)
        results.append(Resampled(bootstrap, len(units.sums), units.block, both, compared))
    return results


def _resampled_gold(
    gold: Sequence[GoldList], cuts: Sequence[Sequence[Sequence[str]]], bootstrap: Bootstrap
) -> dict[str, _Floats]:
    """Resample the words of each gold list, and return the values of each score by its name."""
    samples = {}
    names = [gold_list.name for gold_list in gold]
    for gold_list, parts in zip(gold, cuts, strict=True):
        sums = sums_by_word(gold_list.words, parts)
        scores = scores_of_sums(resample(sums, bootstrap).T)
        for figure, values in scores.items():
            if not figure.endswith(("words", "words_with_single_tokens")):
                samples[gold_key(figure, gold_list.name, names)] = values
    return samples


def overlaps(models: Sequence[Model]) -> list[Overlap]:
    """Return the overlap of the vocabularies for each pair of models."""
    return [
        Overlap(
            a.path,
            b.path,
            *shares_of_pieces(a.vocabulary, b.vocabulary),
            *share_texts(a.texts, b.texts),
        )
        for a, b in itertools.combinations(models, 2)
    ]


def shares_of_pieces(first: Set[str], second: Set[str]) -> tuple[float, float]:
    """Return the Jaccard index of two vocabularies, with and without single characters."""
    return _jaccard(first, second), _jaccard(_long(first), _long(second))


def _long(pieces: Set[str]) -> Set[str]:
    return {piece for piece in pieces if len(piece) > 1}


def _jaccard(first: Set[str], second: Set[str]) -> float:
    return ratio(len(first & second), len(first | second))
