"""Reads the words of a text as a tokenizer cuts it: with a scanner, or with ``tokenizers``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.libraries import require
from spmcompat.runtime.progress import Report
from spmcompat.text.sources import LineSource
from spmcompat.words.reading import buffers_of
from spmcompat.words.words import Words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BATCH_BYTES = 1 << 26


def tokenizer_of(document: dict[str, Any]) -> Tokenizer:
    """Return the tokenizer that ``tokenizers`` makes from a tokenizer.json.

    Raises
    ------
    MissingLibraryError
        If ``tokenizers`` is not installed.
    ValueError
        If it cannot read the document.
    """
    require("tokenizers", "Training this tokenizer", "tokenizers")
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(json.dumps(document))
    except Exception as error:  # the library raises Exception itself
        raise ValueError(str(error)) from error


def read_with_tokenizer(
    source: LineSource, tokenizer: Tokenizer, context: Context, plan: TextPlan
) -> Words:
    """Read a text and count the words into which ``tokenizers`` cuts it.

    A trainer of this library counts the words before it trains. So here it trains on a part of the
    text at a time, without any merge, and its counts are added up.

    Parameters
    ----------
    source : LineSource
        The text.
    tokenizer : tokenizers.Tokenizer
        The tokenizer. It is not changed.
    context : Context
        The report. The library chooses the number of its threads itself.
    plan : TextPlan
        As for `read_words`.

    Raises
    ------
    TrainingError
        If the text cannot be read, or is not well-formed UTF-8.
    """
    from tokenizers import trainers

    words = Words()
    splitter = without_vocabulary(tokenizer)
    with context.report.stage("Reading", source.size(), "bytes") as stage:
        for size, texts in _batches(source, plan, context.report):
            trainer = trainers.BpeTrainer(vocab_size=0, show_progress=False)
            splitter.train_from_iterator(texts, trainer)
            counts = json.loads(trainer.__getstate__())["BpeTrainer"]["words"]
            for word, count in counts.items():
                if word:
                    words.add_word(word.encode(), count)
            stage.advance(size)
    return words


def without_vocabulary(tokenizer: Tokenizer, with_added_tokens: bool = True) -> Tokenizer:
    """Return a tokenizer that cuts texts in the same way, but has no vocabulary."""
    from tokenizers import Tokenizer, models

    splitter = Tokenizer(models.BPE())
    if tokenizer.normalizer is not None:
        splitter.normalizer = tokenizer.normalizer
    if tokenizer.pre_tokenizer is not None:
        splitter.pre_tokenizer = tokenizer.pre_tokenizer
    added = tokenizer.get_added_tokens_decoder() if with_added_tokens else {}
    splitter.add_tokens([token for _, token in sorted(added.items())])
    return splitter


def _batches(source: LineSource, plan: TextPlan, report: Report) -> Iterator[tuple[int, list[str]]]:
    """Yield parts of the text with their sizes in bytes."""
    size, texts = 0, []
    with closing(buffers_of(source, plan, report)) as buffers:
        for buffer in buffers:
            texts += buffer.texts()
            size += buffer.input_size
            if size >= _BATCH_BYTES:
                yield size, texts
                size, texts = 0, []
    if texts:
        yield size, texts
