"""The command ``spmcompat compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

from spmcompat.cli.flags import Command, Flag, UsageError, switch
from spmcompat.options.option import INT32
from spmcompat.runtime.libraries import require
from spmcompat.tools.evaluate.bootstrap_options import BOOTSTRAP_FLAGS, read_bootstrap
from spmcompat.tools.evaluate.command import GOLD, LANGUAGE_FLAGS, read_texts
from spmcompat.tools.evaluate.network_options import NETWORK_FLAGS, read_network


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.tools.compare.configs import BUILT_IN, DEFAULTS  # noqa: PLC0415

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
                f"Names of built-in configurations, or .toml files; there are also {others}.",
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
            switch("quiet", "Print only the path of the report, and errors."),
        ],
        required=[("text",), ("output",)],
        interrupted="Run the same command again to continue.",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.options.settings import available_cores  # noqa: PLC0415
    from spmcompat.options.table import OPTIONS  # noqa: PLC0415
    from spmcompat.runtime.outputs import write_files  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.runtime.workers import Workers  # noqa: PLC0415
    from spmcompat.tools.compare.configs import read_configs  # noqa: PLC0415
    from spmcompat.tools.compare.folder import OPTION, ReportFolder  # noqa: PLC0415
    from spmcompat.tools.compare.gold_words import (  # noqa: PLC0415
        GROUPS,
        group_gold_words,
        groups_as_json,
    )
    from spmcompat.tools.compare.report import page  # noqa: PLC0415
    from spmcompat.tools.compare.training import split_text, train_and_evaluate  # noqa: PLC0415
    from spmcompat.tools.evaluate.gold_lists import read_gold_lists, split_subset  # noqa: PLC0415
    from spmcompat.tools.evaluate.languages import check_reference  # noqa: PLC0415

    bootstrap = read_bootstrap(given)
    network = read_network(given)
    names = given.configs
    configs = read_configs(names, {option.name for option in OPTIONS.values() if option.flag})
    baseline = _baseline(given.baseline, [config.name for config in configs])
    gold = read_gold_lists(given.gold)
    source = read_texts(given)
    inputs = [*source.paths, *(split_subset(name)[0] for name in given.gold), *names]
    folder = ReportFolder(Path(given.output), inputs)
    report = Report(2 if given.quiet else 0, stderr)
    for found in gold:
        report.info(found.summary)
    _check_libraries([config.trainer for config in configs])
    folder.check("report.html", GROUPS)
    texts = split_text(source, folder, report)
    if given.reference is not None:
        check_reference(given.reference, texts.by_language)
    workers = Workers(available_cores())
    results = train_and_evaluate(
        configs,
        given.vocab_size,
        texts._replace(reference=given.reference),
        gold,
        folder,
        workers,
        report,
        bootstrap,
    )
    groups = group_gold_words(results, gold, texts.held_out)
    path, stored = folder.claim("report.html", GROUPS)
    name = ", ".join(Path(path).name for path in source.paths)
    html = page(results, texts, name, gold, baseline=baseline, network=network, groups=groups)
    files = {path: html, stored: groups_as_json(groups)}
    write_files(
        {str(file): [content.encode(errors="backslashreplace")] for file, content in files.items()},
        OPTION,
    )
    stdout.write(f"{path}\n")


def _baseline(name: str | None, names: Sequence[str]) -> str:
    """Return the name of the baseline: the configuration that all others are compared with."""
    if name is None:
        return "unigram" if "unigram" in names else names[0]
    if name not in names:
        raise UsageError(f"--baseline must be one of {', '.join(names)}, not {name!r}.")
    return name


def _check_libraries(trainers: Sequence[str]) -> None:
    """Raise if a library that a training will need is not installed."""
    for name in ("sentencepiece", "matplotlib"):
        require(name, "the comparison", "compare")
    if any(trainer.startswith("tokenizers.") for trainer in trainers):
        fewer = "Or leave out the configurations that need it."
        require("tokenizers", "the comparison", "compare", otherwise=fewer)
