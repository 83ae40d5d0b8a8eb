"""Trains with the installed ``sentencepiece`` and with spmcompat, and compares what they write.

Each side is a fresh process in a folder of its own.
"""

import importlib.metadata
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import spmcompat
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.options.values import split_csv, to_text
from spmcompat.releases import DEFAULT, RELEASES, find_release
from spmcompat.tools.parity.measure import Process, run
from spmcompat.tools.parity.side import OURS, REFERENCE, Training

_PREFIX = "m"

# Options that name a file, which is looked for where the user stands.
_PATHS = (
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
    "seed_sentencepieces_file",
    "normalization_rule_tsv",
    "denormalization_rule_tsv",
)
# What the reference does not take, and what changes only what is told.
_NOT_OF_REFERENCE = ("workers", "sampling_seed", "compat", "quiet")
# What cannot be handed to another process, or names where to write.
_NOT_COMPARED = ("model_writer", "normalizer", "pretokenizer", "logstream")


class Side(NamedTuple):
    """What one side did; `model` and `vocab` are None if it wrote none."""

    name: str
    version: str
    process: Process
    model: bytes | None
    vocab: bytes | None

    @property
    def failure(self) -> str:
        """Why it failed, in one line; empty if it trained."""
        return self.process.failure


class Parity(NamedTuple):
    """Both sides of a training.

    Attributes
    ----------
    reference, ours : Side
        What they did.
    compat : str
        The release as which ours trained.
    notes : list of str
        What the user should know of that choice, and of what cannot be equal.
    """

    reference: Side
    ours: Side
    compat: str
    notes: list[str]

    @property
    def both_fail(self) -> bool:
        """Whether neither side trained."""
        return bool(self.reference.failure and self.ours.failure)

    @property
    def equal(self) -> bool:
        """Whether both trained and wrote the same bytes."""
        failed = self.reference.failure or self.ours.failure
        return not failed and self.reference[3:] == self.ours[3:]


Watch = Callable[[str], object]
"""Is told what begins."""


def from_flags(flags: Mapping[str, str], watch: Watch | None = None) -> Parity:
    """Train as the command line ``spm_train`` does, which stores every option.

    Parameters
    ----------
    flags : mapping of str to str
        Names and values of the flags; ``model_prefix`` is not needed.
    watch : callable, optional
        Is told which side begins to train.

    Raises
    ------
    TrainingError
        If the two sides cannot be asked for the same training.
    """
    compat = _compat(flags.get("compat"))
    for name in sorted(find_release(compat).experimental_flags & flags.keys()):
        raise BadValueError(
            f"--{name} cannot be compared: the Python package {REFERENCE} does not take it. "
            "Leave it out."
        )
    texts = {name: to_text(value) for name, value in _placed(flags).items()}
    return _train_both(texts, compat, command_line=True, watch=watch)


def from_keywords(keywords: Mapping[str, Any], watch: Watch | None = None) -> Parity:
    """Train as ``SentencePieceTrainer.train`` does, which stores the options that are given.

    Parameters
    ----------
    keywords : mapping
        The keywords, but for those that name where to write. A ``sentence_iterator`` is read
        into memory.
    watch : callable, optional
        Is told which side begins to train.

    Raises
    ------
    TrainingError
        If the two sides cannot be asked for the same training.
    """
    for name in _NOT_COMPARED:
        if name in keywords:
            raise BadValueError(f"{name} cannot be given to two processes. Leave it out.")
    options = _placed(keywords)
    for name in ("sentence_iterator", "sentence_reader"):
        if name in options:
            options[name] = list(options[name])
    return _train_both(options, _compat(options.get("compat")), command_line=False, watch=watch)


def installed() -> str:
    """Return the version of the installed ``sentencepiece``.

    Raises
    ------
    TrainingError
        If there is none.
    """
    try:
        return importlib.metadata.version(REFERENCE)
    except importlib.metadata.PackageNotFoundError:
        raise TrainingError(
            f"{REFERENCE} is not installed: pip install 'spmcompat[parity]'."
        ) from None


def _compat(asked: str | None) -> str:
    """Return the release to train as: the one that is asked for, or the installed one."""
    return asked or _known(installed())


def _known(version: str) -> str:
    """Return a version, or the newest release that is known in its place."""
    return version if version in RELEASES else DEFAULT.version


def _notes(compat: str, options: Mapping[str, Any]) -> list[str]:
    """Return what there is to say of the release, and of a sample that it draws."""
    version = installed()
    notes = []
    if version != compat:
        known = "" if version in RELEASES else ", which this spmcompat does not know"
        notes.append(f"{REFERENCE} {version} is installed{known}; spmcompat trains as {compat}.")
    samples = str(options.get("input_sentence_size", 0)) != "0"
    if samples and not find_release(_known(version)).sample_is_repeatable:
        notes.append(
            f"{REFERENCE} {version} draws another sample in every process: equal bytes cannot be "
            "expected unless shuffle_input_sentence is false or the sample holds everything."
        )
    return notes


def _placed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the paths that each side finds from its own folder."""
    placed = {**options, "model_prefix": _PREFIX}
    for name in _PATHS:
        if placed.get(name):
            placed[name] = os.path.abspath(placed[name])
    if "input" in placed:
        given = placed["input"]
        paths = given if isinstance(given, list | tuple) else split_csv(os.fspath(given))
        placed["input"] = [os.path.abspath(path) for path in paths]
    return placed


def _train_both(
    options: dict[str, Any], compat: str, *, command_line: bool, watch: Watch | None
) -> Parity:
    """Run both sides, one after the other."""
    version = installed()
    theirs = {name: value for name, value in options.items() if name not in _NOT_OF_REFERENCE}
    ours = {**options, "compat": compat}
    with tempfile.TemporaryDirectory() as scratch:

        def side(package: str, version: str, given: dict[str, Any], release: str) -> Side:
            if watch is not None:
                watch(f"training with {package} {version}")
            training = Training(package, given, release if command_line else "")
            return _run(training, version, Path(scratch) / package)

        return Parity(
            reference=side(REFERENCE, version, theirs, _known(version)),
            ours=side(OURS, spmcompat.__version__, ours, compat),
            compat=compat,
            notes=_notes(compat, options),
        )


def _run(training: Training, version: str, folder: Path) -> Side:
    """Run one side in a new folder."""
    folder.mkdir()
    file = folder.with_suffix(".training")
    file.write_bytes(pickle.dumps(training))
    command = [sys.executable, "-m", "spmcompat.tools.parity.side", str(file)]
    root = str(Path(spmcompat.__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    process = run(command, folder, {"PYTHONPATH": path})
    outputs = [folder / f"{_PREFIX}{ending}" for ending in (".model", ".vocab")]
    written = [output.read_bytes() if output.is_file() else None for output in outputs]
    return Side(training.package, version, process, *written)
