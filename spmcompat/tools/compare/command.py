"""The command ``spmcompat compare``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from spmcompat.cli.flags import training_flags
from spmcompat.cli.process import run_command
from spmcompat.errors import BadValueError
from spmcompat.options.values import to_int
from spmcompat.runtime.libraries import require
from spmcompat.tools.evaluate.bootstrap_options import add_bootstrap_options, read_bootstrap


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat compare`` and return its exit status."""
    stdout = sys.stdout if stdout is None else stdout
    stderr = sys.stderr if stderr is None else stderr
    arguments = _parser().parse_args(argv)
    return run_command(
        "spmcompat compare",
        lambda: _run(arguments, stdout, stderr),
        stderr,
        interrupted="Run the same command again to continue.",
    )


def _parser() -> argparse.ArgumentParser:
    from spmcompat.tools.compare.configs import BUILT_IN, DEFAULTS  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="spmcompat compare",
        description="Trains tokenizers on one text in several ways, evaluates them on held-out "
        "lines, and writes a report. The report marks the best values, but never those of a model "
        "that loses text. Results of earlier runs are kept if nothing has changed.",
    )
    parser.add_argument("--text", required=True, metavar="FILE", help="text in UTF-8")
    parser.add_argument(
        "--vocab_size", default="8000", metavar="N,N", help="vocabulary sizes [8000]"
    )
    parser.add_argument(
        "--configs",
        default=",".join(DEFAULTS),
        metavar="NAME,NAME",
        help="names of built-in configurations, or .toml files; there are also "
        f"{' and '.join(name for name in BUILT_IN if name not in DEFAULTS)} [%(default)s]",
    )
    parser.add_argument("--report", required=True, metavar="DIR", help="folder to write to")
    parser.add_argument(
        "--gold",
        nargs="+",
        default=[],
        metavar="FILE",
        help="lists of segmented words, as in spmcompat evaluate",
    )
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="the configuration to compare the others with [unigram, or the first]",
    )
    add_bootstrap_options(parser)
    parser.add_argument("--quiet", action="store_true", help="print only the path of the report")
    return parser


def _run(arguments: argparse.Namespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.options.settings import available_cores  # noqa: PLC0415
    from spmcompat.runtime.outputs import write_files  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.runtime.workers import Workers  # noqa: PLC0415
    from spmcompat.tools.compare.configs import read_configs  # noqa: PLC0415
    from spmcompat.tools.compare.folder import OPTION, ReportFolder  # noqa: PLC0415
    from spmcompat.tools.compare.report import page  # noqa: PLC0415
    from spmcompat.tools.compare.training import split_text, train_and_evaluate  # noqa: PLC0415
    from spmcompat.tools.evaluate.gold_lists import read_gold_lists  # noqa: PLC0415

    names = arguments.configs.split(",")
    configs = read_configs(names, training_flags())
    sizes = _sizes(arguments.vocab_size)
    baseline = _baseline(arguments.baseline, [config.name for config in configs])
    bootstrap = read_bootstrap(arguments)
    gold = read_gold_lists(arguments.gold)
    folder = ReportFolder(Path(arguments.report), [arguments.text, *arguments.gold, *names])
    report = Report(2 if arguments.quiet else 0, stderr)
    for found in gold:
        report.info(found.summary)
    _check_libraries([config.trainer for config in configs])
    folder.check("report.html")
    texts = split_text(arguments.text, folder, report)
    workers = Workers(available_cores())
    results = train_and_evaluate(configs, sizes, texts, gold, folder, workers, report, bootstrap)
    (path,) = folder.claim("report.html")
    html = page(results, texts, Path(arguments.text).name, gold, baseline=baseline)
    write_files({str(path): [html.encode(errors="backslashreplace")]}, OPTION)
    stdout.write(f"{path}\n")


def _baseline(name: str | None, names: Sequence[str]) -> str:
    """Return the name of the configuration to compare the others with."""
    if name is None:
        return "unigram" if "unigram" in names else names[0]
    if name not in names:
        raise BadValueError(f"--baseline must be one of {', '.join(names)}, not {name!r}.")
    return name


def _sizes(text: str) -> list[int]:
    parts = text.split(",")
    sizes = [to_int(part) for part in parts if part.isascii() and part.isdecimal()]
    if len(sizes) < len(parts) or not all(0 < size < 2**31 for size in sizes):
        raise BadValueError(
            f"--vocab_size takes whole numbers above 0 and below 2147483648, not {text!r}."
        )
    return sizes


def _check_libraries(trainers: Sequence[str]) -> None:
    """Raise before the first training if a library is not installed."""
    for name in ("sentencepiece", "matplotlib"):
        require(name, "the comparison", "compare")
    if any(trainer.startswith("tokenizers.") for trainer in trainers):
        fewer = "Or leave out the configurations that need it."
        require("tokenizers", "the comparison", "compare", otherwise=fewer)
