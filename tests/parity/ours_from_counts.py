"""Our side of a case: counts the text, saves and loads the counts, and trains on them."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

from . import ours, pretokenizers
from .case import WRITER, Case

# Substrings of the error messages that say that training needs the order of the sentences, or that
# a training option would change how sentences begin.
_REASONS = (
    "counts do not contain sentences",
    "which counts do not contain",
    "a different auto_character_coverage",
)


class NeedsSentences(Exception):
    """Counts do not suffice: training needs the sentences."""


def train(case: Case) -> dict[str, bytes]:
    """Count, save, load and train in the current folder."""
    import spmcompat
    from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
    from spmcompat.options.from_keywords import from_kwargs

    options: dict[str, Any] = {**case.options, **case.own_options()}
    if case.pretokenizer is not None:
        options["pretokenizer"] = pretokenizers.BY_NAME[case.pretokenizer]
    if case.normalizer is not None:
        options["normalizer"] = ours.normalizer(case.normalizer)
    from_kwargs(options)  # the reference reads all options before the text
    of_counting = {"normalizer", "workers", "minloglevel", "model_type"}
    counted = {
        name: value
        for name, value in options.items()
        if name in OPTIONS_OF_COUNTING or name in of_counting
    }
    training = {name: value for name, value in options.items() if name != "input"}
    for name in ("input", "control_symbols", "user_defined_symbols"):
        if isinstance(counted.get(name), str):
            counted[name] = next(csv.reader([counted[name]]), [])
    if case.sentences is not None:
        counted["sentence_iterator"] = case.handed_sentences()
    written = io.BytesIO()
    if case.writer:
        training["model_writer"] = written
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "text.counts"
            spmcompat.count(**counted, allow_empty=True).save(path)
            spmcompat.SentencePieceTrainer.train(counts=path, **training)
    except spmcompat.TrainingError as error:
        if any(reason in str(error) for reason in _REASONS):
            raise NeedsSentences(str(error)) from error
        raise
    return {WRITER: written.getvalue()} if case.writer else {}
