"""The comparison that ``spmcompat compare`` and the function `compare` make, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from spmcompat.cli.tables import text_of_tables
from spmcompat.engine import OPTIONS, available_cores
from spmcompat.errors import UsageError
from spmcompat.runtime.libraries import require
from spmcompat.runtime.outputs import write_files
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.compare.configs import read_configs
from spmcompat.tools.compare.folder import OPTION, ReportFolder
from spmcompat.tools.compare.gold_words import GROUPS, group_gold_words, groups_as_json
from spmcompat.tools.compare.report import page, summary, tables
from spmcompat.tools.compare.results import Result
from spmcompat.tools.compare.training import SPLITS, split_text, train_and_evaluate
from spmcompat.tools.evaluate.gold_lists import read_gold_lists, split_subset
from spmcompat.tools.evaluate.languages import check_reference
from spmcompat.tools.evaluate.report import (
    figures_of,
    read_bootstrap,
    read_network,
    read_texts,
)


class Comparison(NamedTuple):
    """The results of all configurations.

    Attributes
    ----------
    report : Path
        The report, an HTML page.
    results : list of Result
        The results by vocabulary size, then by configuration.
    baseline : str
        The configuration that all others are compared with.
    """

    report: Path
    results: Sequence[Result]
    baseline: str

    def to_dict(self) -> dict[str, object]:
        """Return the figures of all results as data that JSON can represent."""
        return {
            "report": str(self.report),
            "baseline": self.baseline,
            "results": [
                {
                    "config": result.config,
                    "vocab_size": result.vocab_size,
                    "command": result.command,
                    "seconds": result.seconds,
                    "mib": result.mib,
                    **figures_of(result.evaluation),
                }
                for result in self.results
            ],
        }

    def __repr__(self) -> str:
        """Return a text with the number of results and the path of the report."""
        return f"<Comparison: {len(self.results)} results, {self.report}>"

    def __str__(self) -> str:
        """Return the main figures and the path of the report, as the command prints them."""
        return f"{text_of_tables(tables(self.results))}\n\n{self.report}"

    def _repr_html_(self) -> str:
        """Return the tables of the report for a notebook."""
        return summary(self.results, self.baseline)


def make(given: SimpleNamespace, report: Report) -> Comparison:
    """Train and evaluate all configurations, and write the report.

    Parameters
    ----------
    given : namespace
        The flags of the command.
    report : Report
        Receives facts, progress and warnings.

    Raises
    ------
    UsageError
        If flags contradict each other.
    TrainingError
        If a file cannot be read or written, or a training run fails.
    """
    for name in ("vocab_size", "configs"):
        if not getattr(given, name):
            raise UsageError(f"--{name} is empty. Give at least one.")
    bootstrap = read_bootstrap(given)
    network = read_network(given)
    names = given.configs
    configs = read_configs(names, {option.name for option in OPTIONS.values() if option.flag})
    baseline = _baseline(given.baseline, [config.name for config in configs])
    gold = read_gold_lists(given.gold)
    source = read_texts(given)
    inputs = [*source.paths, *(split_subset(name)[0] for name in given.gold), *names]
    folder = ReportFolder(Path(given.output), inputs)
    for found in gold:
        report.info(found.summary)
    _check_libraries([config.trainer for config in configs])
    # Checked before the folder is created; later checks name the files of each configuration.
    folder.check("report.html", GROUPS, *SPLITS)
    with folder.lock(report):
        texts = split_text(source, folder, report, given.parallel)
        if given.reference is not None:
            check_reference(given.reference, texts.by_language)
        workers = Workers(available_cores())
        results = train_and_evaluate(
            configs,
            given.vocab_size,
            texts._replace(reference=given.reference, parallel=given.parallel),
            gold,
            folder,
            workers,
            report,
            bootstrap,
        )
        for result in results:
            if result.is_small:
                report.warning(
                    f"{result.label}: the model has only {result.evaluation.pieces:,} pieces."
                )
        groups = group_gold_words(results, gold, texts.held_out)
        path, stored = folder.claim("report.html", GROUPS)
        name = ", ".join(Path(path).name for path in source.paths)
        html = page(results, texts, name, gold, baseline=baseline, network=network, groups=groups)
        files = {path: html, stored: groups_as_json(groups)}
        contents = {
            str(file): [text.encode(errors="backslashreplace")] for file, text in files.items()
        }
        write_files(contents, OPTION)
        return Comparison(path, results, baseline)


def _baseline(name: str | None, names: Sequence[str]) -> str:
    """Return the name of the baseline: the configuration that all others are compared with."""
    if name is None:
        return "unigram" if "unigram" in names else names[0]
    if name not in names:
        raise UsageError(f"--baseline must be one of {', '.join(names)}, not {name!r}.")
    return name


def _check_libraries(trainers: Sequence[str]) -> None:
    """Raise if a library that a configuration needs for training is not installed."""
    for name in ("sentencepiece", "matplotlib"):
        require(name, "the comparison", "compare")
    if any(trainer.startswith("tokenizers.") for trainer in trainers):
        fewer = "Or leave out the configurations that need it."
        require("tokenizers", "the comparison", "compare", otherwise=fewer)
