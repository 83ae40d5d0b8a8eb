"""The trainers to measure: spmcompat, the installed ``sentencepiece``, and others.

A side is a command that a user could type. Every run of it is a new process.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Literal

from benchmarks import ROOT
from spmcompat.releases import DEFAULT
from tests.parity.case import Option, one_string
from tests.parity.environments import (
    NOTHING_ELSE,
    MissingEnvironmentError,
    python_of_release,
    version_of,
)
from tests.parity.fields_of_spm_train import every_field

MODEL_TYPES = ("unigram", "bpe", "word", "char")

Role = Literal["ours", "stages", "reference", "other"]
Options = Mapping[str, Option]


@dataclass(frozen=True)
class Side:
    """One trainer, and how to start it.

    Attributes
    ----------
    role
        All sides must write the same bytes, except those whose role is ``other``.
    name, version
        Name and version of the package.
    command
        Turns options, which include ``input`` and ``model_prefix``, into a command line.
    environment
        Environment variables to set.
    workers
        Number of worker threads of spmcompat; 0 for other trainers.
    """

    role: Role
    name: str
    version: str
    command: Callable[[Options], list[str]] = field(repr=False)
    environment: Mapping[str, str] = field(default_factory=dict)
    workers: int = 0

    @property
    def label(self) -> str:
        """The name of the side in tables and in the figure."""
        if self.role == "stages":
            return f"{self.name}, its stages"
        if self.workers:
            return f"{self.name}, {self.workers} worker{'s' if self.workers > 1 else ''}"
        return f"{self.name} {self.version}"


class MissingSideError(Exception):
    """A package is missing; the message says how to get it."""


def ours(workers: int, as_command: bool = False) -> Side:
    """Return the side of spmcompat: the installed package, or else the one built in place."""
    version, environment = _find_ours()
    return _ours("spmcompat", version, environment, workers, as_command)


def built_in(folder: Path, name: str, workers: int, as_command: bool = False) -> Side:
    """Return the side of the spmcompat package that was built in place in `folder`."""
    environment = _import_from(folder)
    version = version_of(sys.executable, "spmcompat", environment)
    if not version:
        raise MissingSideError(f"spmcompat cannot be imported from {folder}: delete this folder")
    return _ours(name, version, environment, workers, as_command)


def stages(workers: int) -> Side:
    """Return the side that trains with spmcompat and measures the time of each stage."""
    version, environment = _find_ours()
    script = str(ROOT / "benchmarks" / "stages.py")

    def command(options: Options) -> list[str]:
        return [sys.executable, script, one_string({**options, "workers": workers})]

    return Side("stages", "spmcompat", version, command, environment, workers)


@functools.cache
def reference(as_command: bool = False) -> Side:
    """Return the side of the installed ``sentencepiece``."""
    version = version_of(sys.executable, "sentencepiece")
    if not version:
        raise MissingSideError("sentencepiece is not installed: pip install '.[bench]'")

    def command(options: Options) -> list[str]:
        if as_command:
            options = every_field(options, DEFAULT)
        return [sys.executable, "-c", _call("sentencepiece", options)]

    return Side("reference", "sentencepiece", version, command)


def release(version: str) -> Side:
    """Return the side of another release of ``sentencepiece``, in its own virtual environment.

    The first call makes the environment in the user's cache folder.
    """
    try:
        python = python_of_release(version)
    except MissingEnvironmentError as error:
        raise MissingSideError(str(error)) from error
    return Side(
        "other",
        "sentencepiece",
        version,
        lambda options: [str(python), "-c", _call("sentencepiece", options)],
        NOTHING_ELSE,
    )


_LINES = "(line.rstrip('\\n') for line in open({input!r}, encoding='utf-8', errors='replace'))"
"""A Python expression that yields the lines of the text, for trainers that take an iterator."""

_PATTERN = r"\s?\w+|\s?[^\s\w]+|\s+"
"""Where byte-level trainers cut the text: at white space and between letters and other symbols."""

OTHERS: Mapping[str, Mapping[str, str]] = {
    "tokenizers": {
        "unigram": (
            "from tokenizers import SentencePieceUnigramTokenizer as T; t = T(); "
            "t.train({input!r}, vocab_size={vocab_size}, show_progress=False, "
            "special_tokens=['<unk>', '<s>', '</s>'], unk_token='<unk>'); "
            "t.save({model_prefix!r} + '.json')"
        ),
        "bpe": (
            "from tokenizers import SentencePieceBPETokenizer as T; t = T(); "
            "t.train({input!r}, vocab_size={vocab_size}, show_progress=False, "
            "special_tokens=['<unk>', '<s>', '</s>'], limit_alphabet=10**6); "
            "t.save({model_prefix!r} + '.json')"
        ),
    },
    "bpeasy": {
        "bpe": (
            "import bpeasy; v = bpeasy.train_bpe(" + _LINES + ", {pattern!r}, 128, {vocab_size}); "
            "bpeasy.save_vocab_to_tiktoken(v, {model_prefix!r} + '.txt')"
        ),
    },
    "rustbpe": {
        "bpe": (
            "import rustbpe; t = rustbpe.Tokenizer(); "
            "t.train_from_iterator(" + _LINES + ", {vocab_size}, pattern={pattern!r}); "
            "open({model_prefix!r} + '.txt', 'w').write(repr(t.get_mergeable_ranks()))"
        ),
    },
}
"""The programs of other trainers, by package and model type. Their models have the same size as
ours, but other pieces: these trainers cut the text and break ties in other ways, and bpeasy and
rustbpe merge bytes."""


def of_package(package: str, model_type: str, threads: int) -> Side:
    """Return a trainer of `OTHERS`."""
    programs = OTHERS[package]
    if model_type not in programs:
        kinds = " or ".join(programs)
        raise MissingSideError(f"{package} is only measured with --type {kinds}")
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        raise MissingSideError(f"{package} is not installed: pip install {package}") from None

    def command(options: Options) -> list[str]:
        code = programs[model_type].format(**{**options, "pattern": _PATTERN})
        return [sys.executable, "-c", code]

    variables = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true"}
    return Side("other", package, version, command, variables)


def imports() -> list[Side]:
    """Return the sides that measure start-up: Python alone, and the import of each package."""
    version, environment = _find_ours()
    installed = reference().version
    return [
        Side("other", "Python", sys.version.split()[0], _starting("pass")),
        Side("ours", "spmcompat", version, _starting("import spmcompat"), environment),
        Side("reference", "sentencepiece", installed, _starting("import sentencepiece")),
    ]


def importing(side: Side) -> Side:
    """Return a copy of a side of spmcompat. The copy only imports the package."""
    return replace(side, command=_starting("import spmcompat"), workers=0)


@functools.cache
def other(name: str, model_type: str, threads: int) -> Side:
    """Return the side with this name: a package of `OTHERS`, or ``sentencepiece==VERSION``."""
    if name in OTHERS:
        return of_package(name, model_type, threads)
    package, _, version = name.partition("==")
    if package != "sentencepiece" or not version:
        names = ", ".join(OTHERS)
        raise MissingSideError(
            f"unknown trainer {name}. Give sentencepiece==VERSION or one of these: {names}"
        )
    return release(version)


def _ours(
    name: str, version: str, environment: Mapping[str, str], workers: int, as_command: bool
) -> Side:
    def command(options: Options) -> list[str]:
        if as_command:
            flags = one_string({**options, "workers": workers}).split(" ")
            return [sys.executable, "-m", "spmcompat", "train", *flags]
        return [sys.executable, "-c", _call("spmcompat", {**options, "workers": workers})]

    return Side("ours", name, version, command, environment, workers)


def _starting(statement: str) -> Callable[[Options], list[str]]:
    return lambda _: [sys.executable, "-c", statement]


def _call(package: str, options: Options) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"import {package}; {package}.SentencePieceTrainer.train({arguments})"


def _import_from(folder: Path) -> dict[str, str]:
    """Return the variables that make Python import spmcompat from a folder."""
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    # Let Python cache the bytecode of the modules. For an installed package, pip has done so, and
    # both should be imported equally fast.
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}


@functools.cache
def _find_ours() -> tuple[str, dict[str, str]]:
    """Return the version of spmcompat, and the variables that make Python find it."""
    for environment in ({}, _import_from(ROOT)):
        # version_of imports a compiled module, so it finds no version if the sources are not built.
        version = version_of(sys.executable, "spmcompat", environment, "spmcompat.unigram.trainer")
        if version:
            return version, environment
    raise MissingSideError(
        "spmcompat is neither installed nor built: pip install . or "
        "python setup.py build_ext --inplace"
    )
