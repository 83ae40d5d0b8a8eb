"""Trains with the installed ``sentencepiece`` and with spmcompat, and compares their files.

Each side runs in its own process and its own folder.
"""

from __future__ import annotations

import importlib.metadata
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spmcompat.cli.tables import Table, html_of, table
from spmcompat.engine import (
    DEFAULT,
    FILE_OPTIONS,
    OPTIONS,
    OWN_FORMATS,
    RELEASES,
    __version__,
    find_release,
    is_arrow_data,
    naming_keywords,
    other_data,
    split_csv,
    to_text,
    unknown_option,
)
from spmcompat.errors import BadValueError, MissingFileError, WrongFormatError, refuse_impossible
from spmcompat.runtime.libraries import MissingLibraryError
from spmcompat.runtime.measure import Process, run
from spmcompat.tools.diff.difference import compare, first_difference
from spmcompat.tools.diff.report import Difference, report_lines
from spmcompat.tools.parity.side import OURS, REFERENCE, SideTraining

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from spmcompat.engine import SentencePieceOptions


class NotComparableError(BadValueError):
    """``sentencepiece`` does not have an option, so nothing can be compared."""

    kind = "not-comparable"


_PREFIX = "m"

# Options of spmcompat that are not passed to the reference.
_NOT_OF_REFERENCE = ("workers", "sampling_seed", "compat", "quiet")
# Options that choose the output, or whose values cannot be sent to another process.
_NOT_COMPARED = ("model_writer", "normalizer", "pretokenizer", "logstream", "on_round")


class Side(NamedTuple):
    """The result of one package. `model` and `vocab` are None if they were not written."""

    name: str
    version: str
    process: Process
    model: bytes | None
    vocab: bytes | None

    @property
    def failure(self) -> str:
        """One line that says why training failed; empty if training succeeded."""
        return self.process.failure

    def __repr__(self) -> str:
        """Return the package, its version and the time, without the bytes of the files."""
        result = self.failure or f"{self.process.seconds:.2f} s"
        return f"<Side: {self.name} {self.version}, {result}>"

    def to_dict(self) -> dict[str, object]:
        """Return the figures as data that JSON can represent."""
        return {
            "name": self.name,
            "version": self.version,
            "failure": self.failure,
            "seconds": self.process.seconds,
            "cpu_seconds": self.process.cpu_seconds,
            "peak_kib": self.process.peak_kib,
            "model_bytes": None if self.model is None else len(self.model),
            "vocab_bytes": None if self.vocab is None else len(self.vocab),
        }


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
        """Whether training failed on both sides."""
        return bool(self.reference.failure and self.ours.failure)

    @property
    def equal(self) -> bool:
        """Whether training succeeded on both sides and wrote the same bytes."""
        failed = self.reference.failure or self.ours.failure
        return not failed and self.reference[3:] == self.ours[3:]

    @property
    def difference(self) -> Difference | None:
        """The differences between the models; None if a side did not write a model."""
        reference, ours = self.reference.model, self.ours.model
        return compare(reference, ours) if reference and ours else None

    def to_dict(self) -> dict[str, object]:
        """Return everything except the files as data that JSON can represent."""
        difference = self.difference
        return {
            "equal": self.equal,
            "both_fail": self.both_fail,
            "compat": self.compat,
            "notes": self.notes,
            "reference": self.reference.to_dict(),
            "ours": self.ours.to_dict(),
            "difference": None if difference is None else difference.to_dict(),
        }

    def __repr__(self) -> str:
        """Return whether the files are equal."""
        return f"<Parity: {self._result().rstrip(':')}>"

    def __str__(self) -> str:
        """Return the report, as the command prints it."""
        failures = [f"  {side.name}: {side.failure}" for side in self[:2] if side.failure]
        lines = [*table(*self._costs()), "", *self.notes, self._result(), *failures]
        return "\n".join([*lines, *_differences(self)])

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        head, rows = self._costs()
        lines = [*self.notes, self._result(), *(side.failure for side in self[:2] if side.failure)]
        text = "".join(f"<p>{escape(line)}</p>" for line in lines)
        difference = None if self.equal else self.difference
        details = "" if difference is None else difference._repr_html_()
        return html_of(Table(head, rows, 1)) + text + details

    def _result(self) -> str:
        if self.equal:
            return "equal, byte for byte"
        return "both fail, perhaps for different reasons:" if self.both_fail else "DIFFERENT"

    def _costs(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """Return the head and the rows of a table of time, memory and sizes."""
        sides = (self.reference, self.ours)
        rows = [
            ("time", *(f"{side.process.seconds:.2f} s" for side in sides)),
            ("CPU time", *(f"{side.process.cpu_seconds:.2f} s" for side in sides)),
            ("memory", *(f"{side.process.peak_kib / 1024:,.0f} MiB" for side in sides)),
            (".model", *(_size(side.model) for side in sides)),
            (".vocab", *(_size(side.vocab) for side in sides)),
        ]
        return ["", *(f"{side.name} {side.version}" for side in sides)], rows


def _size(data: bytes | None) -> str:
    return "-" if data is None else f"{len(data):,} bytes"


def _differences(found: Parity) -> Iterator[str]:
    """Yield the differences between the files."""
    reference, ours = found.reference, found.ours
    if reference.model != ours.model and (difference := found.difference) is not None:
        yield ".model:"
        yield from report_lines(difference, (reference.name, ours.name))
    if reference.vocab != ours.vocab and reference.vocab and ours.vocab:
        lines = reference.vocab.splitlines(), ours.vocab.splitlines()
        i = first_difference(*lines) or 0
        shown = [repr(file[i]) if i < len(file) else "missing" for file in lines]
        yield f".vocab: line {i + 1:,} is {shown[0]} and {shown[1]}"


Watch = Callable[[str], object]
"""Receives a message before each side starts."""


def compare_flags(flags: Mapping[str, str], watch: Watch | None = None) -> Parity:
    """Train with both packages as ``spm_train`` does, and compare the results.

    ``spm_train`` stores every option in the model.

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
        raise NotComparableError(
            f"--{name} cannot be compared: the Python package {REFERENCE} does not take it. "
            "Leave it out."
        )
    _refuse_own_options(flags)
    texts = {name: to_text(value) for name, value in _with_absolute_paths(flags).items()}
    return _train_both(texts, compat, command_line=True, watch=watch)


@naming_keywords()
def parity(**options: Unpack[SentencePieceOptions]) -> Parity:
    """Train with the installed ``sentencepiece`` and with spmcompat, and compare their files.

    Both sides call ``SentencePieceTrainer.train`` with the same keywords, each in its own process.
    (``spmcompat parity`` compares the command lines, which store every option in the model.)

    Parameters
    ----------
    **options
        The keywords, except those that choose the output, and those that cannot be sent to
        another process: `model_writer`, `normalizer`, `pretokenizer` and `on_round`. A
        `sentence_iterator` is read into memory. `compat` is the release to train as; by default,
        the installed one.

    Returns
    -------
    Parity
        `equal` is true if both sides wrote the same bytes. If they did not, `difference` explains
        the differences between the models. A failed training is not an exception: see `failure` of
        `reference` and `ours`.

    Raises
    ------
    TrainingError
        If an input cannot be read, ``sentencepiece`` is not installed, or the two sides cannot run
        the same training.
    """
    keywords = dict(options)
    for name in keywords:
        if name not in OPTIONS:
            raise unknown_option(name, DEFAULT)
        if name in _NOT_COMPARED:
            raise NotComparableError(f"{name} cannot be sent to two processes. Leave it out.")
    _refuse_own_options(keywords)
    given = _with_absolute_paths(keywords)
    for name in ("sentence_iterator", "sentence_reader"):
        if name in given:
            given[name] = _sentences(name, given[name])
    return _train_both(given, _compat(given.get("compat")), command_line=False)


def _refuse_own_options(options: Mapping[str, Any]) -> None:
    """Raise if only spmcompat has an option or a format."""
    for name in options:
        option = OPTIONS.get(name)
        if option is not None and not option.in_reference and name not in _NOT_OF_REFERENCE:
            raise NotComparableError(
                f"{name} cannot be compared: {REFERENCE} lacks it. Leave it out."
            )
    if options.get("input_format") in OWN_FORMATS:
        raise NotComparableError(
            f"input_format={options['input_format']} cannot be compared: {REFERENCE} reads text "
            "and tsv. Give one of these, or leave it out."
        )


def _sentences(name: str, sentences: Any) -> list[str | bytes]:
    """Return the sentences as a list. Raise if ``sentencepiece`` cannot read them."""
    items = [sentences] if is_arrow_data(sentences) else list(sentences)
    if not all(isinstance(item, str | bytes) for item in items):
        raise NotComparableError(
            f"{name} must be an iterable of str or bytes here: {REFERENCE} takes nothing else."
        )
    return items


def installed() -> str:
    """Return the version of the installed ``sentencepiece``.

    Raises
    ------
    MissingLibraryError
        If it is not installed.
    """
    try:
        return importlib.metadata.version(REFERENCE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingLibraryError(
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
    for name in FILE_OPTIONS:
        if absolute.get(name):
            absolute[name] = os.path.abspath(absolute[name])
    if "input" in absolute:
        files = absolute["input"]
        paths = files if isinstance(files, list | tuple) else split_csv(os.fspath(files))
        input_format = options.get("input_format") or ""
        absolute["input"] = [_input_file(path, input_format) for path in paths]
    return absolute


def _input_file(path: str | os.PathLike[str], input_format: str) -> str:
    """Return the absolute path of an input, which must be a file that both sides can read.

    Raises
    ------
    MissingFileError
        If it cannot be read.
    TrainingError
        If it is not a text file. Of other files, ``sentencepiece`` would read the bytes.
    """
    refuse_impossible(path, "Check --input")
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
        what = other_data(os.fspath(path), input_format) if is_file else ""
    except OSError as error:
        raise MissingFileError(f'"{path}": {error.strerror}. Check --input.') from error
    if not is_file:
        raise MissingFileError(
            f'"{path}" is not a regular file, so it cannot be read twice. Check --input.'
        )
    if what:
        raise WrongFormatError(
            f'"{path}" contains {what} data, of which {REFERENCE} would read the bytes. Write its '
            "texts to a text file, one on each line."
        )
    return os.path.abspath(path)


def _train_both(
    options: dict[str, Any], compat: str, *, command_line: bool, watch: Watch | None = None
) -> Parity:
    """Train with the reference, then with spmcompat, and return both results."""
    size = options.get("vocab_size", "")
    if isinstance(size, list | tuple | range) or "," in str(size):
        raise NotComparableError(
            f"{REFERENCE} trains one vocab_size in a run, so several cannot be compared. Give one."
        )
    version = installed()
    theirs = {name: value for name, value in options.items() if name not in _NOT_OF_REFERENCE}
    ours = {**options, "compat": compat}
    with tempfile.TemporaryDirectory() as scratch:

        def side(package: str, version: str, given: dict[str, Any], release: str) -> Side:
            if watch is not None:
                watch(f"training with {package} {version}")
            training = SideTraining(package, given, release if command_line else "")
            return _run(training, version, Path(scratch) / package)

        return Parity(
            reference=side(REFERENCE, version, theirs, _known(version)),
            ours=side(OURS, __version__, ours, compat),
            compat=compat,
            notes=_notes(compat, options),
        )


def _run(training: SideTraining, version: str, folder: Path) -> Side:
    """Train with one package in a new folder."""
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
