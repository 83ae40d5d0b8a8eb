"""The trainers to measure: spmcompat, the installed ``sentencepiece``, and others.

A side is a command that a user could type. Every run of it is a new process.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from benchmarks import ROOT
from spmcompat.releases import DEFAULT
from spmcompat.tools.parity.reference import every_field
from tests.parity.case import Option, one_string
from tests.parity.environments import (
    NOTHING_ELSE,
    MissingEnvironmentError,
    python_of_release,
    version_of,
)

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
        Of the package.
    command
        Turns options, which include ``input`` and ``model_prefix``, into a command line.
    environment
        Environment variables to set.
    workers
        Number of real threads of our trainer; 0 for other trainers.
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
    """Return spmcompat: the installed package, or else the one built in the checkout."""
    version, environment = _find_ours()
    return _ours("spmcompat", version, environment, workers, as_command)


def built_in(folder: Path, name: str, workers: int, as_command: bool = False) -> Side:
    """Return the spmcompat that was built in place in a folder."""
    environment = _import_from(folder)
    version = version_of(sys.executable, "spmcompat", environment)
    if not version:
        raise MissingSideError(f"spmcompat cannot be imported from {folder}: delete this folder")
    return _ours(name, version, environment, workers, as_command)


def stages(workers: int) -> Side:
    """Return spmcompat with a stopwatch for its stages."""
    version, environment = _find_ours()
    script = str(ROOT / "benchmarks" / "stages.py")

    def command(options: Options) -> list[str]:
        return [sys.executable, script, one_string({**options, "workers": workers})]

    return Side("stages", "spmcompat", version, command, environment, workers)


@functools.cache
def reference(as_command: bool = False) -> Side:
    """Return the installed ``sentencepiece``."""
    version = version_of(sys.executable, "sentencepiece")
    if not version:
        raise MissingSideError("sentencepiece is not installed: pip install '.[bench]'")

    def command(options: Options) -> list[str]:
        if as_command:
            options = every_field(options, DEFAULT)
        return [sys.executable, "-c", _call("sentencepiece", options)]

    return Side("reference", "sentencepiece", version, command)


def release(version: str) -> Side:
    """Return another release of ``sentencepiece``, in a virtual environment of its own.

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


def tokenizers(threads: int) -> Side:
    """Return the Unigram trainer of Hugging Face, with the settings it calls SentencePiece.

    It splits text and adds numbers in other ways, so its pieces are different. They may even
    differ from one run to the next.
    """
    version = version_of(sys.executable, "tokenizers")
    if not version:
        raise MissingSideError("tokenizers is not installed: pip install '.[bench]'")

    def command(options: Options) -> list[str]:
        code = (
            "from tokenizers import SentencePieceUnigramTokenizer\n"
            "tokenizer = SentencePieceUnigramTokenizer()\n"
            f"tokenizer.train({options['input']!r}, vocab_size={options['vocab_size']}, "
            "show_progress=False, special_tokens=['<unk>', '<s>', '</s>'], unk_token='<unk>')\n"
            f"tokenizer.save({options['model_prefix']!r} + '.json')"
        )
        return [sys.executable, "-c", code]

    variables = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true"}
    return Side("other", "tokenizers", version, command, variables)


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
    """Return a side of ours that only imports the package."""
    return replace(side, command=_starting("import spmcompat"), workers=0)


@functools.cache
def other(name: str, threads: int) -> Side:
    """Return the side with this name: ``tokenizers`` or ``sentencepiece==VERSION``."""
    if name == "tokenizers":
        return tokenizers(threads)
    package, _, version = name.partition("==")
    if package != "sentencepiece" or not version:
        raise MissingSideError(f"unknown trainer {name}. Give tokenizers or sentencepiece==VERSION")
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
    # Python may keep compiled files, because pip compiles them when it installs a package.
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}


@functools.cache
def _find_ours() -> tuple[str, dict[str, str]]:
    """Return the version of spmcompat, and the variables that make Python find it."""
    for environment in ({}, _import_from(ROOT)):
        # The import of a compiled module fails if the sources were not built.
        version = version_of(sys.executable, "spmcompat", environment, "spmcompat.unigram.trainer")
        if version:
            return version, environment
    raise MissingSideError(
        "spmcompat is neither installed nor built: pip install . or "
        "python setup.py build_ext --inplace"
    )
