"""Trains with the installed ``sentencepiece`` and with spmcompat, and compares their files.

Each side runs in its own process and its own folder.
"""

import importlib.metadata
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spmcompat.errors import BadValueError, MissingFileError, TrainingError, refuse_impossible
from spmcompat.options.values import split_csv, to_text
from spmcompat.releases import DEFAULT, RELEASES, find_release
from spmcompat.text.arrow_producers import is_arrow_data
from spmcompat.tools.parity.measure import Process, run
from spmcompat.tools.parity.side import OURS, REFERENCE, Training
from spmcompat.version import __version__

_PREFIX = "m"

# Options whose value is the path of a file. Paths are relative to the user's working directory.
_PATHS = (
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
    "seed_sentencepieces_file",
    "normalization_rule_tsv",
    "denormalization_rule_tsv",
)
# Options that the reference does not have, and options that change only messages.
_NOT_OF_REFERENCE = ("workers", "sampling_seed", "compat", "quiet")
# Options that choose the output, or whose values cannot be sent to another process.
_NOT_COMPARED = ("model_writer", "normalizer", "pretokenizer", "logstream")


class Side(NamedTuple):
    """The result of one side. `model` and `vocab` are None if the side did not write them."""

    name: str
    version: str
    process: Process
    model: bytes | None
    vocab: bytes | None

    @property
    def failure(self) -> str:
        """One line that says why the training failed; empty if it succeeded."""
        return self.process.failure


class Parity(NamedTuple):
    """The results of both sides.

    Attributes
    ----------
    reference, ours : Side
        The result of ``sentencepiece``, and the result of spmcompat.
    compat : str
        The release of ``sentencepiece`` that spmcompat reproduced.
    notes : list of str
        Notes for the user about the releases, and about bytes that cannot be equal.
    """

    reference: Side
    ours: Side
    compat: str
    notes: list[str]

    @property
    def both_fail(self) -> bool:
        """Whether both trainings failed."""
        return bool(self.reference.failure and self.ours.failure)

    @property
    def equal(self) -> bool:
        """Whether both trainings succeeded and wrote the same bytes."""
        failed = self.reference.failure or self.ours.failure
        return not failed and self.reference[3:] == self.ours[3:]


Watch = Callable[[str], object]
"""Receives a message before each side starts."""


def from_flags(flags: Mapping[str, str], watch: Watch | None = None) -> Parity:
    """Compare trainings that start like ``spm_train``, which stores every option in the model.

    Parameters
    ----------
    flags : mapping of str to str
        Names and values of the flags; ``model_prefix`` is not needed.
    watch : callable, optional
        Receives a message before each side starts.

    Raises
    ------
    TrainingError
        If an input cannot be read, or the two sides cannot run the same training.
    """
    compat = _compat(flags.get("compat"))
    for name in sorted(find_release(compat).experimental_flags & flags.keys()):
        raise BadValueError(
            f"--{name} cannot be compared: the Python package {REFERENCE} does not take it. "
            "Leave it out."
        )
    texts = {name: to_text(value) for name, value in _with_absolute_paths(flags).items()}
    return _train_both(texts, compat, command_line=True, watch=watch)


def from_keywords(keywords: Mapping[str, Any], watch: Watch | None = None) -> Parity:
    """Compare trainings that start like ``SentencePieceTrainer.train``: it stores given options.

    Parameters
    ----------
    keywords : mapping
        The keywords, except those that choose the output. A ``sentence_iterator`` is read into
        memory.
    watch : callable, optional
        Receives a message before each side starts.

    Raises
    ------
    TrainingError
        If an input cannot be read, or the two sides cannot run the same training.
    """
    for name in _NOT_COMPARED:
        if name in keywords:
            raise BadValueError(f"{name} cannot be sent to two processes. Leave it out.")
    options = _with_absolute_paths(keywords)
    for name in ("sentence_iterator", "sentence_reader"):
        if name in options and is_arrow_data(options[name]):
            raise BadValueError(
                f"{name} must be an iterable of str or bytes here: {REFERENCE} takes no Arrow data."
            )
        if name in options:
            options[name] = list(options[name])
    return _train_both(options, _compat(options.get("compat")), command_line=False, watch=watch)


def installed() -> str:
    """Return the version of the installed ``sentencepiece``.

    Raises
    ------
    TrainingError
        If it is not installed.
    """
    try:
        return importlib.metadata.version(REFERENCE)
    except importlib.metadata.PackageNotFoundError:
        raise TrainingError(
            f"{REFERENCE} is not installed: pip install 'spmcompat[parity]'."
        ) from None


def _compat(release: str | None) -> str:
    """Return the release to reproduce: the chosen release, or by default the installed one."""
    return release or _known(installed())


def _known(version: str) -> str:
    """Return the version if spmcompat knows it, and otherwise the newest known release."""
    return version if version in RELEASES else DEFAULT.version


def _notes(compat: str, options: Mapping[str, Any]) -> list[str]:
    """Return notes about the release and about a random sample."""
    version = installed()
    notes = []
    if version != compat:
        known = "" if version in RELEASES else ", which this spmcompat does not know"
        notes.append(f"{REFERENCE} {version} is installed{known}; spmcompat trains as {compat}.")
    samples = str(options.get("input_sentence_size", 0)) != "0"
    if samples and not find_release(_known(version)).sample_is_repeatable:
        notes.append(
            f"{REFERENCE} {version} draws another sample in every process. The bytes can be equal "
            "only if shuffle_input_sentence is false, or if the sample contains every sentence."
        )
    return notes


def _with_absolute_paths(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with absolute paths, since each side runs in its own folder."""
    absolute = {**options, "model_prefix": _PREFIX}
    for name in _PATHS:
        if absolute.get(name):
            absolute[name] = os.path.abspath(absolute[name])
    if "input" in absolute:
        files = absolute["input"]
        paths = files if isinstance(files, list | tuple) else split_csv(os.fspath(files))
        absolute["input"] = [_input_file(path) for path in paths]
    return absolute


def _input_file(path: str | os.PathLike[str]) -> str:
    """Return the absolute path of an input, which must be a file that both sides can read.

    Raises
    ------
    MissingFileError
        If it cannot be read.
    """
    refuse_impossible(path, "Check --input")
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
        if is_file:
            os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        raise MissingFileError(f'"{path}": {error.strerror}. Check --input.') from error
    if not is_file:
        raise MissingFileError(
            f'"{path}" is not a regular file, so it cannot be read twice. Check --input.'
        )
    return os.path.abspath(path)


def _train_both(
    options: dict[str, Any], compat: str, *, command_line: bool, watch: Watch | None
) -> Parity:
    """Train with the reference, then with spmcompat, and return both results."""
    size = options.get("vocab_size", "")
    if isinstance(size, list | tuple | range) or "," in str(size):
        raise BadValueError(
            f"{REFERENCE} trains one vocab_size in a run, so several cannot be compared. Give one."
        )
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
            ours=side(OURS, __version__, ours, compat),
            compat=compat,
            notes=_notes(compat, options),
        )


def _run(training: Training, version: str, folder: Path) -> Side:
    """Run one side in a new folder."""
    folder.mkdir()
    file = folder.with_suffix(".training")
    file.write_bytes(pickle.dumps(training))
    command = [sys.executable, "-m", "spmcompat.tools.parity.side", str(file)]
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    process = run(command, folder, {"PYTHONPATH": path})
    outputs = [folder / f"{_PREFIX}{ending}" for ending in (".model", ".vocab")]
    written = [output.read_bytes() if output.is_file() else None for output in outputs]
    return Side(training.package, version, process, *written)
