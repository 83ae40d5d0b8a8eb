"""The command ``spmcompat compare``, and the function `compare`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from spmcompat.cli.flags import PROGRESS, Command, Flag, from_python, switch
from spmcompat.engine import INT32, naming_keywords
from spmcompat.runtime.libraries import require
from spmcompat.tools.evaluate.command import (
    BOOTSTRAP_FLAGS,
    GOLD,
    LANGUAGE_FLAGS,
    NETWORK_FLAGS,
    with_languages,
)

if TYPE_CHECKING:
    from spmcompat.engine import Progress, StrPath
    from spmcompat.tools.compare.comparison import Comparison


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.tools.compare.configs import BUILT_IN, DEFAULTS

    others = " and ".join(name for name in BUILT_IN if name not in DEFAULTS)
    return Command(
        "spmcompat compare",
        "Trains tokenizers on one text in several ways, evaluates them on held-out lines, and "
        "writes a report. The report marks the best values, but never those of a model that loses "
        "text. Results of earlier runs are kept if nothing has changed.",
        "--text=FILE[,FILE...] --output=FOLDER [flags]",
        _run,
        [
            Flag(
                "text",
                "Texts in UTF-8. LANGUAGE=FILE for each text adds the figures of each language.",
                metavar="FILE,FILE",
                many=True,
                elsewhere="input",
            ),
            *LANGUAGE_FLAGS,
            Flag("output", "The folder for the report.", metavar="FOLDER"),
            Flag(
                "vocab_size",
                "Vocabulary sizes.",
                INT32,
                default=(8000,),
                metavar="N,N",
                least=1,
                many=True,
            ),
            Flag(
                "configs",
                f"Names of built-in configurations, or .toml files; not in the default: {others}.",
                default=tuple(DEFAULTS),
                metavar="NAME,NAME",
                many=True,
            ),
            GOLD,
            Flag(
                "baseline",
                "The baseline of all comparisons; by default unigram, or the first configuration.",
                metavar="NAME",
            ),
            *BOOTSTRAP_FLAGS,
            *NETWORK_FLAGS,
            switch("json", "Print the figures as JSON."),
            switch("quiet", "Print only the path of the report, and errors."),
            PROGRESS,
        ],
        required=[("text",), ("output",)],
        interrupted="Run the same command again to continue.",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    found = _make(given, 2 if given.quiet else 0, stderr)
    if given.json:
        stdout.write(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    else:
        stdout.write(f"{found.report if given.quiet else found}\n")


def compare(
    text: StrPath | Sequence[StrPath] | Mapping[str, StrPath],
    *,
    output: StrPath,
    language_column: str | None = None,
    text_column: str | None = None,
    reference: str | None = None,
    parallel: bool = False,
    vocab_size: int | Sequence[int] | None = None,
    configs: StrPath | Sequence[StrPath] | None = None,
    gold: StrPath | Sequence[StrPath] = (),
    baseline: str | None = None,
    bootstrap: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    embedding_width: int | None = None,
    parameters: float | None = None,
    training_bytes: float | None = None,
    minloglevel: int = 0,
    progress: Progress = "bar",
    logstream: TextIO | None = None,
) -> Comparison:
    """Train tokenizers on one text in several ways, evaluate them, and write a report.

    One of every twenty lines is held out for the evaluation. Results of earlier calls with the same
    `output` are kept if nothing has changed. Needs ``pip install 'spmcompat[compare]'``.

    Parameters
    ----------
    text : path, sequence of paths or mapping
        Texts in UTF-8, one sentence on each line. A mapping from languages to paths adds the
        figures of each language.
    output : path
        The folder for the report.
    language_column, text_column, reference, parallel
        As for `evaluate`.
    vocab_size : int or sequence of int
        Vocabulary sizes; 8000 by default.
    configs : str or sequence of str
        Names of built-in configurations, which ``spmcompat compare --help`` lists, or paths of
        ``.toml`` files.
    gold : path or sequence of paths
        Lists of segmented words, as for `evaluate`.
    baseline : str
        The configuration that all others are compared with; by default ``unigram``, or the first
        one.
    bootstrap, confidence, seed, embedding_width, parameters, training_bytes
        As for `evaluate`.
    minloglevel : int
        0 shows all messages, 1 warnings and errors, 2 errors only.
    progress : {'bar', 'json'}, default 'bar'
        How to show the progress, as for `train`.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.

    Returns
    -------
    Comparison
        The results, and the path of the report.

    Raises
    ------
    TrainingError
        If an argument is wrong, a training run fails, a file cannot be read or written, or a
        library is missing. Earlier results stay in the folder.
    """
    values: dict[str, Any] = {**locals(), "text": with_languages(text)}
    for name in ("minloglevel", "logstream"):
        del values[name]
    with naming_keywords():
        return _make(from_python(command(), [], values), minloglevel, logstream)


def _make(given: SimpleNamespace, minloglevel: int, logstream: TextIO | None) -> Comparison:
    """Import the comparison, which loads NumPy, and run it."""
    require("numpy", "compare", "")
    from spmcompat.runtime.progress import Report
    from spmcompat.tools.compare.comparison import make

    return make(given, Report(minloglevel, logstream, given.progress))
