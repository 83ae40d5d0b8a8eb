"""Trains one side of a comparison: ``python -m spmcompat.tools.parity.side FILE``.

The file is a pickled `SideTraining`. Every error becomes one line on standard error.
"""

import pickle
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from spmcompat.engine import find_release, split_csv, stored_defaults

REFERENCE, OURS = "sentencepiece", "spmcompat"


class SideTraining(NamedTuple):
    """A training run on one side of the comparison.

    Attributes
    ----------
    package : str
        `REFERENCE` or `OURS`.
    options : dict
        Keywords, or flags of the command line as text if `command_line` is not empty.
    command_line : str
        The release of the command line; empty if the options are keywords.
    """

    package: str
    options: dict[str, Any]
    command_line: str


def main(path: str) -> int:
    """Train in the current folder; return the exit status."""
    package, options, command_line = pickle.loads(Path(path).read_bytes())
    if command_line and package == OURS:
        from spmcompat.cli.train import main as spm_train

        return spm_train([f"--{name}={text}" for name, text in options.items()])
    try:
        if command_line:
            options = _all_stored(options, command_line)
        for name in ("sentence_iterator", "sentence_reader"):
            if name in options:
                options[name] = iter(options[name])
        import_module(package).SentencePieceTrainer.train(**options)
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


def _all_stored(flags: Mapping[str, str], release: str) -> dict[str, Any]:
    """Return the keywords with which the Python package stores the same options as ``spm_train``.

    The package contains no ``spm_train``, and stores only the options that it is given.
    """
    options: dict[str, Any] = {**stored_defaults(find_release(release)), **flags}
    options.pop("random_seed", None)
    for name in ("control_symbols", "user_defined_symbols"):
        if path := options.pop(f"{name}_file", ""):
            options[name] = [*split_csv(options.get(name, "")), *_lines(path)]
    if path := options.pop("required_chars_file", ""):
        options["required_chars"] = "".join(_lines(path))
    return options


def _lines(path: str) -> list[str]:
    text = Path(path).read_bytes().decode()
    return text.removesuffix("\n").split("\n") if text else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
