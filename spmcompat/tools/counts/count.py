"""The command ``spmcompat count``."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag, switch

if TYPE_CHECKING:
    from spmcompat.engine import GivenText
    from spmcompat.runtime.progress import Report

_OTHER_OPTIONS = ("model_type", "strict", "workers", "minloglevel", "progress", "quiet")


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.engine import OPTIONS, OPTIONS_OF_COUNTING

    names = (*OPTIONS_OF_COUNTING, *_OTHER_OPTIONS)
    return Command(
        "spmcompat count",
        "Counts a text and writes the counts to a Parquet file. Any number of models can be "
        "trained from it:\n\n"
        "  spm_train --counts=FILE --model_prefix=m --vocab_size=8000\n\n"
        "The counts store the flags for reading and normalizing, and training takes them from "
        "there.",
        "--input=FILE,FILE --output=FILE [flags]",
        _run,
        [
            Flag("output", "Where to write the counts.", metavar="FILE"),
            Flag(
                "like",
                "Count the words for spmcompat train_tokenizer: this template, as that command "
                "takes it, cuts the text.",
                metavar="TEMPLATE",
            ),
            switch(
                "allow_empty",
                "Write empty counts if the text contains no sentence, instead of failing. Empty "
                "counts can be merged with other counts.",
            ),
        ],
        {"Flags of spm_train": [OPTIONS[name] for name in names]},
        required=[("input",), ("output",)],
        success="the counts were written",
    )


def _run(given: SimpleNamespace, _: TextIO, stderr: TextIO) -> None:
    from spmcompat.engine import (
        counted,
        text_of_flags,
        write_counts,
    )
    from spmcompat.runtime.outputs import check_output, refuse_inputs

    text = text_of_flags(given.options)
    check_output(given.output, "--output")
    refuse_inputs([given.output], text.files, "--output")
    report = text.report(stderr)
    if given.like is not None:
        _count_words(given, text, report)
        return
    origin, batches = counted(text, report, given.allow_empty)
    report.step("Writing")
    write_counts(given.output, lambda: origin, batches)
    size = os.stat(given.output).st_size
    report.info(
        f"Saved {given.output}: the counts of {origin.sentences:,} sentences, {size:,} bytes"
    )
    report.costs()


def _count_words(given: SimpleNamespace, text: GivenText, report: Report) -> None:
    from spmcompat.engine import WORD_OPTIONS, Template, count_words
    from spmcompat.errors import ConflictError
    from spmcompat.runtime.outputs import refuse_inputs

    other = next((name for name in given.options if name not in WORD_OPTIONS), None)
    if other is not None:
        raise ConflictError(
            f"{other} has no effect with like, whose template decides. Leave it out."
        )
    template = Template.load(given.like)
    refuse_inputs([given.output], template.files, "--output")
    words = count_words(template, text.words(), text.context(report))
    report.step("Writing")
    words.save(given.output)
    report.info(
        f"Saved {given.output}: {len(words):,} words, {os.stat(given.output).st_size:,} bytes"
    )
    report.costs()
