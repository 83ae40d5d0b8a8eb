"""Who trains: spmcompat, the installed ``sentencepiece``, and others to compare with.

A side is a command that a user could type; every run of it is a process of its own.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    """One trainer as it is started.

    Attributes
    ----------
    role
        The bytes of all but ``other`` must be equal.
    name, version
        Of the package.
    command
        From options, ``input`` and ``model_prefix`` among them, to a command line.
    environment
        Variables to set.
    workers
        Real threads of ours; 0 for the others.
    """

    role: Role
    name: str
    version: str
    command: Callable[[Options], list[str]] = field(repr=False)
    environment: Mapping[str, str] = field(default_factory=dict)
    workers: int = 0

    @property
    def label(self) -> str:
        """What tables and the figure call it."""
        if self.role == "stages":
            return f"{self.name}, its stages"
        if self.workers:
            return f"{self.name}, {self.workers} worker{'s' if self.workers > 1 else ''}"
        return f"{self.name} {self.version}"


class MissingSideError(Exception):
    """A package that is not there; the message says how to get it."""


def ours(workers: int, as_command: bool = False) -> Side:
    """Return spmcompat: as installed, else as built in the checkout."""
    version, environment = _find_ours()

    def command(options: Options) -> list[str]:
        if as_command:
            flags = one_string({**options, "workers": workers}).split(" ")
            return [sys.executable, "-m", "spmcompat", "train", *flags]
        return [sys.executable, "-c", _call("spmcompat", {**options, "workers": workers})]

    return Side("ours", "spmcompat", version, command, environment, workers)


def stages(workers: int) -> Side:
    """Return spmcompat with a stopwatch."""
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
    """Return another release of ``sentencepiece``, in an environment of its own.

    The environment is made when it is first asked for, in the user's cache folder.
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
    """Return the Unigram trainer of Hugging Face with the settings it names SentencePiece.

    It splits and sums in other ways: other pieces come out, and not always the same ones.
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

    threads_of_it = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true"}
    return Side("other", "tokenizers", version, command, threads_of_it)


def imports() -> list[Side]:
    """Return what it costs to start: Python alone, and with either package."""
    version, environment = _find_ours()

    def starting(statement: str) -> Callable[[Options], list[str]]:
        return lambda _: [sys.executable, "-c", statement]

    return [
        Side("other", "Python", sys.version.split()[0], starting("pass")),
        Side("ours", "spmcompat", version, starting("import spmcompat"), environment),
        Side("reference", "sentencepiece", reference().version, starting("import sentencepiece")),
    ]


@functools.cache
def other(name: str, threads: int) -> Side:
    """Return the side of a name: ``tokenizers`` or ``sentencepiece==VERSION``."""
    if name == "tokenizers":
        return tokenizers(threads)
    package, _, version = name.partition("==")
    if package != "sentencepiece" or not version:
        raise MissingSideError(f"{name}: no such side. Say tokenizers or sentencepiece==VERSION")
    return release(version)


def _call(package: str, options: Options) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"import {package}; {package}.SentencePieceTrainer.train({arguments})"


@functools.cache
def _find_ours() -> tuple[str, dict[str, str]]:
    """Return the version of spmcompat and the variables that make Python find it."""
    built = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Modules are compiled to files, which pip does when it installs.
    checkout = {"PYTHONPATH": built, "PYTHONDONTWRITEBYTECODE": ""}
    for environment in ({}, checkout):
        # Sources that are not compiled have a version too.
        version = version_of(sys.executable, "spmcompat", environment, "spmcompat.unigram.trainer")
        if version:
            return version, environment
    raise MissingSideError(
        "spmcompat is neither installed nor built: pip install . or "
        "python setup.py build_ext --inplace"
    )
