"""The tables of English words and affixes: boundaries, groups of gold words, vocabularies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.papers.measure import cut
from benchmarks.papers.tables import (
    PUBLISHED_BOUNDARIES,
    PUBLISHED_GROUPS,
    PUBLISHED_VOCABULARIES,
)
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.bootstrap import Bootstrap, Interval, interval, resample
from spmcompat.tools.evaluate.gold import boundaries, score_boundaries, scores_of_sums, sums_by_word
from spmcompat.tools.evaluate.gold_groups import GoldGroup, count_listed_words, group_words
from spmcompat.tools.evaluate.gold_lists import GoldList, split_subset
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.vocabularies import Affixes, count_vocabulary, share_texts

_BOOTSTRAP = Bootstrap(1000)


def boundary_lines(models: Mapping[str, Path], gold: GoldList) -> Iterator[str]:
    """Yield a table of boundary scores, with the published scores for the list if there are any."""
    published = PUBLISHED_BOUNDARIES.get((gold.format, split_subset(gold.name)[1]), {})
    yield (
        f"{'':22}{'precision':>10}{'recall':>8}{'F1':>8}{'±':>7}{'length':>8}"
        f"{'MorphScore':>12}{'±':>7}{'words':>8}{'prec. by cuts':>15}{'by tokens':>11}"
        f"{'with single':>13}{'words':>8}"
        + (f"{'published: precision':>22}{'F1':>8}{'length':>8}" if published else "")
    )
    for label, model in models.items():
        parts = cut(model, gold)
        g = score_boundaries(gold.words, parts)
        sampled = scores_of_sums(resample(sums_by_word(gold.words, parts), _BOOTSTRAP).T)
        f1, score = (
            _half(interval(sampled[name], _BOOTSTRAP.confidence)) for name in ("f1", "morph_score")
        )
        line = (
            f"{label:22}{g.precision:>10.3f}{g.recall:>8.3f}{g.f1:>8.3f}{f1:>7}"
            f"{g.mean_length:>8.2f}{g.morph_score:>12.3f}{score:>7}{g.morph_score_words:>8,}"
            f"{g.morph_score_precision:>15.3f}{g.morph_score_token_precision:>11.3f}"
            f"{g.morph_score_with_single_tokens:>13.3f}"
            f"{g.morph_score_words_with_single_tokens:>8,}"
        )
        if label in published:
            theirs = published[label]
            line += f"{theirs.precision / 100:>22.3f}{theirs.f1 / 100:>8.3f}{theirs.length:>8.2f}"
        yield line


def group_lines(models: Mapping[str, Path], gold: GoldList, text: Path) -> Iterator[str]:
    """Yield a table of gold words with examples, grouped by which models find the boundaries."""
    with open(text, "rb") as file:
        counted = count_listed_words(file, frozenset(word.text for word in gold.words))
    cuts = [[boundaries(parts) for parts in cut(model, gold)] for model in models.values()]
    groups = group_words(gold.words, [*models], cuts, counted, _BOOTSTRAP)
    yield f"{'':40}{'words':>6}{'±':>6}{'share':>9}{'±':>8}{'published':>16}"
    for group in groups:
        words, share = PUBLISHED_GROUPS.get(group.name, (None, None))
        theirs = "" if words is None else f"{words:,} / {share:.1f}"
        yield (
            f"{group.name:40}{group.words:>6,}{_half(group.words_interval, '{:.0f}'):>6}"
            f"{100 * group.share:>9.4f}{_half(group.share_interval, '{:.4f}', 100):>8}{theirs:>16}"
        )
    yield ""
    yield f"{'':40}{'share':>8}  {'gold':20}" + "".join(f"{name:22}" for name in models)
    for group in groups:
        yield from _example_lines(group)


def _example_lines(group: GoldGroup) -> Iterator[str]:
    for i, example in enumerate(group.examples):
        shown = [" ".join(parts) for parts in example.parts]
        yield (
            f"{group.name if i == 0 else '':40}{100 * example.share:>8.4f}  "
            f"{' '.join(example.gold):20}" + "".join(f"{parts:22}" for parts in shown)
        ).rstrip()


def vocabulary_lines(
    models: Mapping[str, Path], pairs: Sequence[tuple[str, str]], affixes: Affixes
) -> Iterator[str]:
    """Yield a table that compares the vocabularies of pairs of models, ignoring space marks."""
    yield (
        f"{'':22}{'pieces':>8}{'equal':>8}{'in %':>7}{'texts':>8}{'not in other':>14}"
        f"{'prefixes':>10}{'suffixes':>10}{'published: texts, not in other, affixes':>42}"
    )
    for pair in pairs:
        loaded = [load_model(str(models[label]), Workers(1)) for label in pair]
        shared = share_texts(loaded[0].texts, loaded[1].texts)
        only = (shared.only_first, shared.only_second)
        for label, model, only_here in zip(pair, loaded, only, strict=True):
            counts = count_vocabulary(model.vocabulary, model.texts, affixes)
            equal = counts.equal_without_spaces
            theirs = ", ".join(f"{value:,}" for value in PUBLISHED_VOCABULARIES[label])
            yield (
                f"{label:22}{counts.normal_pieces:>8,}{equal:>8,}"
                f"{100 * equal / counts.normal_pieces:>7.1f}{len(model.texts):>8,}{only_here:>14,}"
                f"{counts.prefixes:>10,}{counts.suffixes:>10,}{theirs:>42}"
            )
        share = shared.shared / len(loaded[0].texts)
        yield f"{share:.1%} of the texts of {pair[0]!r} are in {pair[1]!r} (published: about 90 %)"


def _half(both: Interval | None, form: str = "{:.3f}", factor: float = 1) -> str:
    """Return half of an interval's width as text, or "-" if there is no interval."""
    return "-" if both is None else form.format(factor * (both.high - both.low) / 2)
