"""Compares how two tokenizers cut the words of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from spmcompat.runtime.workers import Workers, cores
from spmcompat.tools.diff.result import CutDifference, CutWord
from spmcompat.tools.evaluate.models import Model, load_model
from spmcompat.tools.evaluate.texts import TextFiles

_BATCH = 10_000  # the number of words to encode at a time


def compare_cuts(left: str, right: str, text: str) -> CutDifference:
    """Cut the words of a text with two tokenizers. A word is the text between white space.

    Parameters
    ----------
    left, right : str
        The files of the tokenizers.
    text : str
        A file in UTF-8.

    Raises
    ------
    TrainingError
        If a file cannot be read, or a library is not installed.
    """
    texts = TextFiles([text])
    texts.check()
    workers = Workers(cores())
    models = load_model(left, workers), load_model(right, workers)
    counts: Counter[str] = Counter()
    for batch in texts.batches():
        for line in batch.lines:
            counts.update(line.decode(errors="replace").split())
    words = iter(sorted(counts))
    changed = []
    while batch_of_words := [*islice(words, _BATCH)]:
        cuts = (_cut(model, batch_of_words) for model in models)
        changed += [
            CutWord(word, counts[word], before, after)
            for word, before, after in zip(batch_of_words, *cuts, strict=True)
            if before != after
        ]
    changed.sort(key=lambda one: -one.occurrences)
    return CutDifference(counts.total(), sum(one.occurrences for one in changed), changed)


def _cut(model: Model, words: Sequence[str]) -> list[list[str]]:
    """Return the texts of the tokens of each word, as it is cut after a space."""
    cut = model.cut([f" {word}" for word in words])
    return [[tokens[0].lstrip(), *tokens[1:]] if tokens else [] for tokens in cut]
