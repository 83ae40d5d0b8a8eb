"""Runs a case with the reference, the real ``sentencepiece`` library."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import sentencepiece

from spmcompat.releases import RELEASES

from . import pretokenizers
from .case import WRITER, Case, one_string
from .fields_of_spm_train import every_field
from .reference_flags import DEFAULTS, flags_set

VERSION: str = sentencepiece.__version__


def train(case: Case) -> dict[str, bytes]:
    """Train in the current folder; return the bytes that a ``model_writer`` received."""
    flags = {name: value for name, value in case.options.items() if name in DEFAULTS}
    known = {name: value for name, value in case.options.items() if name not in DEFAULTS}
    with flags_set(flags):
        return _train(replace(case, options=known))


def _train(case: Case) -> dict[str, bytes]:
    if case.form == "cli" and "random_seed" in case.options:
        sentencepiece.set_random_generator_seed(int(str(case.options["random_seed"])))
    if case.form == "string":
        sentencepiece.SentencePieceTrainer.train(one_string(case.options))
        return {}
    options: dict[str, Any] = dict(case.options)
    if case.form == "cli":
        options = dict(every_field(case.options, RELEASES[case.release]))
    written = io.BytesIO()
    if case.sentences is not None:
        handed = case.handed_sentences()
        options["sentence_iterator"] = handed if case.handing == "list itself" else iter(handed)
    if case.writer:
        options["model_writer"] = written
    if case.normalizer is not None:
        options["normalizer"] = normalizer(case.normalizer)
    if case.pretokenizer is not None:
        options["pretokenizer"] = pretokenizers.BY_NAME[case.pretokenizer]
    sentencepiece.SentencePieceTrainer.train(**options)
    return {WRITER: written.getvalue()} if case.writer else {}


def schema() -> ModuleType:
    """Return the library's own compiled message classes."""
    from sentencepiece import sentencepiece_model_pb2

    return sentencepiece_model_pb2


def normalizer(arguments: Mapping[str, Any]) -> Any:
    """Return the library's own normalizer object."""
    return sentencepiece.SentencePieceNormalizer(**arguments)


def normalize(lines: list[str], **options: Any) -> list[str]:
    """Normalize lines with the library, for tests that need normalized text."""
    rules = normalizer(options)
    return [rules.Normalize(line) for line in lines]


def load(model: bytes) -> Any:
    """Load model bytes as the library's users do."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)
