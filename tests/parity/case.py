"""One training run, described so that it can be sent to another process and run on both sides."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from spmcompat.releases import DEFAULT

Option = str | int | float | bool | list[str]
Form = Literal["python", "string", "cli"]
Handing = Literal["iterator", "generator", "list", "list itself"]

DEFAULT_RELEASE = DEFAULT.version
"""The release of the installed library, with which a case is compared by default."""

WRITER = "<model_writer>"
"""The name, among the outputs, of the bytes that ``model_writer`` received."""

SERIALIZED = "serialized"
"""The name of the bytes of a normalizer that the library of another release serialized."""


@dataclass(frozen=True)
class Case:
    """Options and data of one run; every path is relative to the folder of the run.

    Attributes
    ----------
    options
        Keywords of ``SentencePieceTrainer.train``, or flags of ``spm_train`` in the cli form.
    files
        Small files to write into the folder before training.
    links
        Large files to link into the folder instead of copying them.
    sentences
        What to pass as ``sentence_iterator``, in the form that `handing` names; None for no
        sentences. The reference accepts only a true iterator, so it gets one unless `handing` is
        ``list itself``.
    fails
        An exception that the iterator raises after the last of the sentences.
    writer
        Whether the model goes to ``model_writer`` instead of to files.
    form
        ``python``: keywords; ``string``: one string of flags; ``cli``: ours is started from the
        command line, and the reference gets a value for every field, as from ``spm_train``.
    normalizer
        Arguments of the ``SentencePieceNormalizer`` to pass as ``normalizer``, if any.
    pretokenizer
        Name, in `pretokenizers`, of the function to pass as ``pretokenizer``, if any.
    workers
        Worker threads of ours; the reference has no such option.
    spelling
        Seed for the random choice of the spelling of each flag in the cli form.
    release
        Release of the reference; ours gets it as ``compat``.
    """

    options: Mapping[str, Option]
    files: Mapping[str, bytes] = field(default_factory=dict)
    links: Mapping[str, Path] = field(default_factory=dict)
    sentences: Sequence[str | bytes] | None = None
    handing: Handing = "iterator"
    fails: BaseException | None = None
    writer: bool = False
    form: Form = "python"
    normalizer: Mapping[str, Any] | None = None
    pretokenizer: str | None = None
    workers: int | None = None
    spelling: int = 0
    release: str = DEFAULT_RELEASE

    def own_options(self) -> dict[str, Option]:
        """Return the options that only spmcompat has."""
        own: dict[str, Option] = {}
        if self.workers is not None:
            own["workers"] = self.workers
        if self.release != DEFAULT_RELEASE:
            own["compat"] = self.release
        return own

    def handed_sentences(self) -> Any:
        """Return the sentences in the form that `handing` names."""
        assert self.sentences is not None
        if self.handing.startswith("list"):
            return list(self.sentences)
        if self.handing == "generator" or self.fails is not None:
            return self._generated(self.sentences)
        return iter(list(self.sentences))

    def _generated(self, sentences: Sequence[str | bytes]) -> Iterator[str | bytes]:
        yield from sentences
        if self.fails is not None:
            raise self.fails


@dataclass(frozen=True)
class Failure:
    """An exception, a crash (type ``Crash``) or a timeout (type ``Timeout``)."""

    types: tuple[str, ...]
    message: str

    @property
    def crashed(self) -> bool:
        return self.types[0] in ("Crash", "Timeout")

    def __str__(self) -> str:
        return f"{self.types[0]}: {self.message}"


@dataclass(frozen=True)
class Outcome:
    """The outcome of one side: the files that it wrote, or its error."""

    outputs: Mapping[str, bytes]
    failure: Failure | None
    seconds: float
    log: str = ""

    def output(self, suffix: str) -> bytes | None:
        """Return the one output whose name ends with `suffix` (``.model``, ``.vocab``)."""
        for name, data in self.outputs.items():
            if name.endswith(suffix) or (name == WRITER and suffix == ".model"):
                return data
        return None


def one_csv_line(values: Sequence[str]) -> str:
    """Join values as the reference's Python module does for lists."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def flag_text(value: Option) -> str:
    """Return a value as it is written after ``--flag=``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return one_csv_line(value)
    return str(value)


def one_string(options: Mapping[str, Option]) -> str:
    """Return options as one string, which the trainer takes as its first argument."""
    return " ".join(f"--{name}={flag_text(value)}" for name, value in options.items())


def command_line(case: Case) -> list[str]:
    """Return the options of a case as arguments of ``spm_train``, in random legal spellings."""
    dice = random.Random(case.spelling)
    arguments: list[str] = []
    for name, value in case.options.items():
        text = flag_text(value)
        if value is True and dice.random() < 0.3:
            arguments.append(f"--{name}")
        # A boolean flag, such as those that begin with split_, does not take the next argument as
        # its value.
        elif (
            isinstance(value, bool)
            or name.startswith("split_")
            or dice.random() < 0.7
            or text.startswith("-")
        ):
            arguments.append(f"--{name}={text}")
        else:
            arguments += [f"--{name}", text]
    return arguments + [f"--{name}={value}" for name, value in case.own_options().items()]
