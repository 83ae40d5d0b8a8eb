"""One training run, described so that it can be sent to another process and run on both sides."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Option = str | int | float | bool | list[str]
Form = Literal["python", "string", "cli"]
Handing = Literal["iterator", "generator", "list", "list itself"]

DEFAULT_RELEASE = "0.2.3"
"""The release that tests are held against unless they name another one."""

WRITER = "<model_writer>"
"""Name under which the bytes given to ``model_writer`` stand among the outputs."""

SERIALIZED = "serialized"
"""The argument of a normalizer that is given to ours as another release serialized it."""


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
        Given as ``sentence_iterator`` when not None; how, `handing` says. The reference takes a
        true iterator only, and is given one unless that is ``list itself``.
    writer
        Whether the model goes to ``model_writer`` instead of to files.
    form
        ``python``: keywords; ``string``: one string of flags; ``cli``: ours is started from the
        command line, the reference gets every field.
    normalizer
        Arguments of the ``SentencePieceNormalizer`` that is given as ``normalizer``, if any.
    pretokenizer
        Name, in `pretokenizers`, of the function that is given as ``pretokenizer``, if any; or
        what ours takes as ``pretokenizer`` itself (``script``, ``regex:PATTERN``).
    workers
        Real threads of ours; never part of the reference's options.
    spelling
        Seeds the choice among the spellings of a flag in the cli form.
    release
        Of the reference; ours is given it as ``compat``.
    """

    options: Mapping[str, Option]
    files: Mapping[str, bytes] = field(default_factory=dict)
    links: Mapping[str, Path] = field(default_factory=dict)
    sentences: Sequence[str | bytes] | None = None
    handing: Handing = "iterator"
    writer: bool = False
    form: Form = "python"
    normalizer: Mapping[str, Any] | None = None
    pretokenizer: str | None = None
    workers: int | None = None
    spelling: int = 0
    release: str = DEFAULT_RELEASE

    def own_options(self) -> dict[str, Option]:
        """Return the options that ours takes beside those of the reference."""
        own: dict[str, Option] = {}
        if self.workers is not None:
            own["workers"] = self.workers
        if self.release != DEFAULT_RELEASE:
            own["compat"] = self.release
        return own

    def handed_sentences(self) -> Any:
        """Return the sentences in the kind of object that the case asks for."""
        assert self.sentences is not None
        if self.handing.startswith("list"):
            return list(self.sentences)
        if self.handing == "generator":
            return (sentence for sentence in self.sentences)
        return iter(list(self.sentences))


@dataclass(frozen=True)
class Failure:
    """An exception, or the death of the process (then the only type is ``Crash``)."""

    types: tuple[str, ...]
    message: str

    @property
    def crashed(self) -> bool:
        return self.types[0] in ("Crash", "Timeout")

    def __str__(self) -> str:
        return f"{self.types[0]}: {self.message}"


@dataclass(frozen=True)
class Outcome:
    """What one side did: the files it left behind, or how it failed."""

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
    """Join values as the reference's Python face does for lists."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def flag_text(value: Option) -> str:
    """Write a value as it stands after ``--flag=``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return one_csv_line(value)
    return str(value)


def one_string(options: Mapping[str, Option]) -> str:
    """Write options as the one string that the trainer's first argument may be."""
    return " ".join(f"--{name}={flag_text(value)}" for name, value in options.items())


def command_line(case: Case) -> list[str]:
    """Spell the options of a case as arguments of ``spm_train``, each in one legal spelling."""
    dice = random.Random(case.spelling)
    arguments: list[str] = []
    for name, value in case.options.items():
        text = flag_text(value)
        if value is True and dice.random() < 0.3:
            arguments.append(f"--{name}")
        # Those that begin so are truth values, which take no second argument.
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
