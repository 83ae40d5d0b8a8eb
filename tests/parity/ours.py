"""Trains a case with spmcompat, which is not imported before the first case is trained."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from . import pretokenizers
from .case import SERIALIZED, WRITER, Case, command_line, one_string


class CommandFailed(Exception):
    """The command line returned an exit code other than 0."""


def train(case: Case) -> dict[str, bytes]:
    """Train in the current folder; return the bytes that a ``model_writer`` received."""
    return _from_command_line(case) if case.form == "cli" else _from_python(case)


def _from_python(case: Case) -> dict[str, bytes]:
    import spmcompat

    if case.form == "string":
        spmcompat.SentencePieceTrainer.train(one_string({**case.options, **case.own_options()}))
        return {}
    options: dict[str, Any] = {**case.options, **case.own_options()}
    written = io.BytesIO()
    if case.sentences is not None:
        options["sentence_iterator"] = case.handed_sentences()
    if case.writer:
        options["model_writer"] = written
    if case.normalizer is not None:
        options["normalizer"] = normalizer(case.normalizer)
    if case.pretokenizer is not None:
        options["pretokenizer"] = pretokenizers.BY_NAME[case.pretokenizer]
    spmcompat.SentencePieceTrainer.train(**options)
    return {WRITER: written.getvalue()} if case.writer else {}


class _Serialized:
    """Replaces the real library's normalizer. Has only the one method that spmcompat calls."""

    def __init__(self, spec: bytes) -> None:
        self.serialized_normalizer_spec = lambda: spec


def normalizer(arguments: Mapping[str, Any]) -> Any:
    if SERIALIZED in arguments:
        return _Serialized(arguments[SERIALIZED])
    from . import reference

    return reference.normalizer(arguments)


def _from_command_line(case: Case) -> dict[str, bytes]:
    from spmcompat.cli.train import main

    code = main(command_line(case))
    if code != 0:
        raise CommandFailed(f"exit code {code}")
    return {}
