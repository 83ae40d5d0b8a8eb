"""The command ``spmcompat evaluate``, and the function `evaluate`."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, TextIO

from spmcompat.cli.flags import PROGRESS, QUIET, Command, Flag, from_python, switch
from spmcompat.engine import CHOICE, FLOAT, UINT64, as_list, naming_keywords
from spmcompat.runtime.libraries import require

if TYPE_CHECKING:
    from spmcompat.engine import CountTable, Progress, StrPath
    from spmcompat.tools.evaluate.report import EvaluationReport

GOLD = Flag(
    "gold",
    "Lists of segmented words: files in which each line is a word, a tab and the word's morphs; or "
    "files of MorphScore, LADEC, MorphyNet, MorphoLex or DagoBERT. FILE:prefixes selects the words "
    "whose affixes are all prefixes; FILE:suffixes, those whose affixes are all suffixes.",
    metavar="FILE,FILE",
    many=True,
)

AFFIXES = Flag(
    "affixes",
    "Count the prefixes and suffixes of this list in each vocabulary. Each line is a prefix, such "
    "as un-, or a suffix, such as -ness.",
    metavar="FILE",
)

LANGUAGE_FLAGS = (
    Flag(
        "language_column",
        "The texts are JSON Lines or Parquet files. The column with this name states the "
        "language of each row.",
        metavar="NAME",
    ),
    Flag(
        "text_column",
        "With --language_column: the column of the text, by default text.",
        metavar="NAME",
        needs=["language_column"],
    ),
    Flag(
        "reference",
        "The language that parity refers to; by default the first.",
        metavar="LANGUAGE",
    ),
    switch(
        "parallel",
        "Line i says the same in every language. So the cost of a language is its tokens per line, "
        "not per byte.",
    ),
)

BOOTSTRAP_FLAGS = (
    Flag(
        "bootstrap",
        "Compute confidence intervals from N resamples of the text, for example 1000. Every model "
        "gets the same resamples.",
        UINT64,
        least=100,
        most=100_000,
    ),
    Flag(
        "confidence",
        "With --bootstrap: confidence level, 95 by default.",
        FLOAT,
        metavar="PERCENT",
        least=1,
        most=99.99,
        needs=["bootstrap"],
    ),
    Flag(
        "seed",
        "With --bootstrap: seed of the resamples, 0 by default.",
        UINT64,
        least=0,
        needs=["bootstrap"],
    ),
)

NETWORK_FLAGS = (
    Flag(
        "embedding_width",
        "Width of the embeddings of a network that uses the model: report the number of parameters "
        "of its embedding table.",
        UINT64,
        least=1,
        most=1 << 20,
    ),
    Flag(
        "parameters",
        "With --embedding_width and --training_bytes: number of parameters of the network without "
        "embeddings, for example 7e9. Report how many operations its training takes.",
        FLOAT,
        least=1,
        most=1e15,
        needs=["embedding_width", "training_bytes"],
    ),
    Flag(
        "training_bytes",
        "With --parameters: size of the text that the network is trained on, in bytes without line "
        "ends, for example 1e12; a text that is read twice counts twice.",
        FLOAT,
        least=1,
        most=1e18,
        needs=["embedding_width", "parameters"],
    ),
)

# The flags that cannot be combined with --counts.
_OF_TEXTS = (
    *("text", "language_column", "reference", "parallel", "pretokenizer", "bootstrap"),
    *(flag.name for flag in NETWORK_FLAGS),
)


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.engine import MOST_WORKERS

    return Command(
        "spmcompat evaluate",
        "Evaluates SentencePiece models and other tokenizers on a text. Words are the parts of "
        "the text between white space, so their number is the same for every model.",
        "MODEL... {--text=FILE[,FILE...]|--counts=FILE} [flags]",
        _run,
        [
            Flag(
                "text",
                "Texts in UTF-8, one sentence on each line. LANGUAGE=FILE for each text adds the "
                "figures of each language.",
                metavar="FILE,FILE",
                many=True,
                elsewhere="input",
            ),
            *LANGUAGE_FLAGS,
            Flag(
                "counts",
                "Stored counts of a text (spmcompat count) instead of the text. Each distinct "
                "pretoken is encoded once.",
                metavar="FILE",
            ),
            GOLD,
            AFFIXES,
            switch(
                "drop_spaces",
                "Leave out tokens that are only spaces. Then the spaces of the text cannot be "
                "restored from the tokens.",
            ),
            Flag(
                "pretokenizer",
                "Cut the text into pretokens as in training, encode each one separately, and "
                "compute tokens and losses from them. stored: cut by the split options in the "
                "model. space: cut at white space only. script or regex:PATTERN: cut by this "
                "pretokenizer in addition to the split options.",
                metavar="NAME",
            ),
            Flag(
                "workers",
                "Number of threads; by default, one for each core.",
                UINT64,
                least=1,
                most=MOST_WORKERS,
            ),
            *BOOTSTRAP_FLAGS,
            Flag(
                "units",
                "With --bootstrap: resample lines that are not blank (the default), or documents. "
                "A document ends at a blank line or at the end of a file.",
                CHOICE,
                choices=("lines", "documents"),
                needs=["bootstrap"],
            ),
            Flag(
                "baseline",
                "With --bootstrap: compare the other models with this one; by default, with the "
                "first.",
                metavar="MODEL",
                needs=["bootstrap"],
            ),
            *NETWORK_FLAGS,
            switch("json", "Print JSON."),
            switch("csv", "Print CSV, one line for each model and language."),
            switch("tsv", "Print the lines of --csv with tabs."),
            switch("html", "Print an HTML page."),
            QUIET,
            PROGRESS,
        ],
        required=[("text", "counts")],
        exclusive=[
            *combinations(("json", "csv", "tsv", "html"), 2),
            *(("counts", name) for name in _OF_TEXTS),
        ],
        positionals=("at least one model is", 1, None),
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.cli.tables import page_of

    found = _measure(given, 2 if given.quiet else 0, stderr)
    if given.json:
        stdout.write(json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    elif given.csv or given.tsv:
        _write_csv(found.rows(), "," if given.csv else "\t", stdout)
    else:
        stdout.write(page_of(found.tables(), "Evaluation") if given.html else f"{found}\n")


def _write_csv(rows: Sequence[dict[str, object]], delimiter: str, stdout: TextIO) -> None:
    from spmcompat.cli.tables import is_nan

    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stdout, names, restval="", lineterminator="\n", delimiter=delimiter)
    writer.writeheader()
    writer.writerows({k: "" if is_nan(v) else v for k, v in row.items()} for row in rows)


def evaluate(
    models: StrPath | Sequence[StrPath],
    *,
    text: StrPath | Sequence[StrPath] | Mapping[str, StrPath] | None = None,
    language_column: str | None = None,
    text_column: str | None = None,
    reference: str | None = None,
    parallel: bool = False,
    counts: CountTable | StrPath | None = None,
    gold: StrPath | Sequence[StrPath] = (),
    affixes: StrPath | None = None,
    drop_spaces: bool = False,
    pretokenizer: str | None = None,
    workers: int | None = None,
    bootstrap: int | None = None,
    confidence: float | None = None,
    seed: int | None = None,
    units: Literal["lines", "documents"] | None = None,
    baseline: StrPath | None = None,
    embedding_width: int | None = None,
    parameters: float | None = None,
    training_bytes: float | None = None,
    minloglevel: int = 0,
    progress: Progress = "bar",
    logstream: TextIO | None = None,
) -> EvaluationReport:
    """Evaluate models and other tokenizers on a text. Needs ``sentencepiece``.

    Parameters
    ----------
    models : path or sequence of paths
        ``.model`` files, and ``tokenizer.json`` files of Hugging Face or the folders that contain
        them.
    text : path, sequence of paths or mapping
        Texts in UTF-8, one sentence on each line. A mapping from languages to paths adds the
        figures of each language. Give either `text` or `counts`.
    language_column, text_column : str
        The texts are JSON Lines or Parquet files with these columns; `text_column` is ``text`` by
        default.
    reference : str
        The language that parity refers to; by default the first.
    parallel : bool
        Whether line i says the same in every language, so that the cost of a language is its tokens
        per line, not per byte.
    counts : CountTable or path
        Counts of a text, instead of the text. Each distinct pretoken is encoded once.
    gold : path or sequence of paths
        Lists of segmented words, in one of the formats that ``spmcompat evaluate --help`` lists.
    affixes : path
        A list of prefixes such as ``un-`` and suffixes such as ``-ness``, one on each line, to
        count in each vocabulary.
    drop_spaces : bool
        Whether to leave out tokens that are only spaces.
    pretokenizer : str
        Cut the text into pretokens as in training, and encode each separately: ``stored``,
        ``space``, ``script`` or ``regex:PATTERN``.
    workers : int
        Number of threads; by default, one for each core.
    bootstrap : int
        Compute confidence intervals from this number of resamples of the text.
    confidence : float
        With `bootstrap`: the confidence level in percent, 95 by default.
    seed : int
        With `bootstrap`: the seed of the resamples, 0 by default.
    units : str
        With `bootstrap`: resample ``lines`` (the default) or ``documents``.
    baseline : path
        With `bootstrap`: the model that all other models are compared with; by default the first.
    embedding_width, parameters, training_bytes : number
        Properties of a neural network that uses the models: the width of its embeddings, the
        number of its parameters without embeddings, and the size of its training text in bytes.
    minloglevel : int
        0 shows all messages, 1 warnings and errors, 2 errors only.
    progress : {'bar', 'json'}, default 'bar'
        How to show the progress, as for `train`.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.

    Returns
    -------
    EvaluationReport
        The figures of each model, and comparisons of the models.

    Raises
    ------
    TrainingError
        If an argument is wrong, a file cannot be read, or a library is missing.
    """
    paths = as_list("models", models)
    values: dict[str, Any] = {**locals(), "text": with_languages(text)}
    for name in ("paths", "models", "minloglevel", "logstream"):
        del values[name]
    # The flag --counts takes a string. The table itself is passed on below.
    values["counts"] = None if counts is None else str(counts)
    with naming_keywords():
        given = from_python(command(), paths, values)
        given.counts = counts
        return _measure(given, minloglevel, logstream)


def _measure(
    given: SimpleNamespace, minloglevel: int, logstream: TextIO | None
) -> EvaluationReport:
    """Import the evaluation, which loads NumPy, and run it."""
    require("numpy", "evaluate", "")
    from spmcompat.runtime.progress import Report
    from spmcompat.tools.evaluate.report import measure

    return measure(given, Report(minloglevel, logstream, given.progress))


def with_languages(text: object) -> object:
    """Convert a mapping of languages to paths into values of ``--text``.

    A `text` that is not a mapping is returned unchanged.
    """
    if isinstance(text, Mapping):
        return [f"{language}={os.fspath(path)}" for language, path in text.items()]
    return text
