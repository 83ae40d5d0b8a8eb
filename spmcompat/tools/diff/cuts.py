"""Compares how two tokenizers cut the words of a text."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from spmcompat.engine import available_cores
from spmcompat.runtime.workers import Workers
from spmcompat.tools.diff.result import CutDifference, CutWord
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.texts import TextFiles

_BATCH = 10_000  # the number of words to encode at a time


def compare_cuts(left: str, right: str, text: str) -> CutDifference:
    """Cut each word of a text, after a space, with two tokenizers. White space divides words.

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
    workers = Workers(available_cores())
    models = load_model(left, workers), load_model(right, workers)
    counts: Counter[str] = Counter()
    for batch in texts.batches():
        for line in batch.lines:
            counts.update(line.decode(errors="replace").split())
    words = iter(sorted(counts))
    changed = []
    while batch_of_words := [*islice(words, _BATCH)]:
        spaced = [f" {word}" for word in batch_of_words]
        cuts = (model.cut(spaced, with_spaces=True) for model in models)
        changed += [
            CutWord(word, counts[word], before, after)
            for word, before, after in zip(batch_of_words, *cuts, strict=True)
            if before != after
        ]
    changed.sort(key=lambda one: -one.occurrences)
    return CutDifference(counts.total(), sum(one.occurrences for one in changed), changed)
