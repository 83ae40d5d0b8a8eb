"""Trains a case with spmcompat in a run with several sizes, one of which is that of the case."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import ours, pretokenizers
from .case import WRITER, Case


def of_one_size(case: Case) -> Case:
    """Add the size to the name of a case's model, as a run with several sizes does."""
    size, prefix = case.options.get("vocab_size"), case.options.get("model_prefix")
    if prefix is None or not isinstance(size, int):
        return case
    return replace(case, options={**case.options, "model_prefix": f"{prefix}-{size}"})


def train(case: Case) -> dict[str, bytes]:
    """Train the size of the case together with other sizes, and keep only the files of that size.

    Other sizes that cannot be trained are skipped.
    """
    import spmcompat

    size = case.options.get("vocab_size")
    prefix = str(case.options.get("model_prefix", ""))
    if not isinstance(size, int) or (prefix and not prefix.endswith(f"-{size}")):
        return ours.train(case)
    others = [other for other in (2 * size, size + 1, size // 2) if other not in (0, size)]
    while True:
        try:
            return _train(case, size, others)
        except spmcompat.TrainingError as error:
            bad = [other for other in others if str(error).startswith(f"vocab_size {other}: ")]
            if not bad:
                raise
            others.remove(bad[0])


def _train(case: Case, size: int, others: list[int]) -> dict[str, bytes]:
    import spmcompat

    options: dict[str, Any] = {**case.options, **case.own_options()}
    options["vocab_size"] = [*others[:1], size, *others[1:]]
    if case.sentences is not None:
        options["sentence_iterator"] = case.handed_sentences()
    written = {one: io.BytesIO() for one in options["vocab_size"]}
    if case.writer:
        options["model_writer"] = written.get
    else:
        options["model_prefix"] = options["model_prefix"].removesuffix(f"-{size}")
    if case.normalizer is not None:
        options["normalizer"] = ours.normalizer(case.normalizer)
    if case.pretokenizer is not None:
        options["pretokenizer"] = pretokenizers.BY_NAME[case.pretokenizer]
    spmcompat.SentencePieceTrainer.train(**options)
    if case.writer:
        return {WRITER: written[size].getvalue()}
    for other in others:
        for end in (".model", ".vocab"):
            Path(f"{options['model_prefix']}-{other}{end}").unlink()
    return {}
