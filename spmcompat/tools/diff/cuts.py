"""Compares how two tokenizers cut the words of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from spmcompat.engine import available_cores
from spmcompat.runtime.workers import Workers
from spmcompat.tools.diff.result import CutDifference, CutWord
from spmcompat.tools.edit.report import changed_words
from spmcompat.tools.evaluate.models import Model, load_model
from spmcompat.tools.evaluate.texts import TextFiles


def compare_words(left: str, right: str, text: str) -> CutDifference:
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
    cuts = [partial(_cut, load_model(path, workers)) for path in (left, right)]
    counts: Counter[str] = Counter()
    for batch in texts.batches():
        for line in batch.lines:
            counts.update(line.decode(errors="replace").split())
    changed = [CutWord(*word) for word in changed_words(counts, *cuts)]
    return CutDifference(counts.total(), sum(word.occurrences for word in changed), changed)


def _cut(model: Model, words: Sequence[str]) -> list[list[str]]:
    return model.cut([f" {word}" for word in words], with_spaces=True)
