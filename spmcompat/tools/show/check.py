"""Finds what is wrong with a tokenizer, before a model is trained on it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.cli.help import rows
from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Table, html_of
from spmcompat.errors import BadModelError, printable
from spmcompat.runtime.inputs import open_file
from spmcompat.tools.show.findings import EXPLANATIONS, NOTES

if TYPE_CHECKING:
    from spmcompat.engine import StrPath

_SHOWN = 3


class Finding(NamedTuple):
    """Something that is wrong with a tokenizer.

    Attributes
    ----------
    name : str
        What is wrong, such as ``unreachable-pieces``. Names never change.
    explanation : str
        What this means, and what to do about it.
    found : list of str
        The pieces, characters, patterns or ids that are concerned.
    """

    name: str
    explanation: str
    found: list[str]

    def row(self) -> tuple[str, str]:
        """Return the name, and a text with the first examples. It is printable."""
        shown = ", ".join(f'"{printable(one[:60])}"' for one in self.found[:_SHOWN])
        more = len(self.found) - _SHOWN
        name = f"note: {self.name}" if self.name in NOTES else self.name
        return name, f"{self.explanation} {shown}{f' and {more:,} more' if more > 0 else ''}"


class Check(NamedTuple):
    """What is wrong with a tokenizer.

    Attributes
    ----------
    findings : list of Finding
        What is wrong; empty if nothing was found.
    notes : list of Finding
        What could be better. ``--strict`` ignores it.
    """

    findings: list[Finding]
    notes: list[Finding]

    def to_dict(self) -> dict[str, object]:
        """Return the fields as data that JSON can represent."""
        return plain_fields(self)

    def rows(self) -> list[tuple[str, str]]:
        """Return the name and the explanation of each finding, and then of each note."""
        return [one.row() for one in [*self.findings, *self.notes]]

    def __repr__(self) -> str:
        """Return a summary: the names of the findings."""
        return f"<Check: {', '.join(one.name for one in self.findings) or 'nothing found'}>"

    def __str__(self) -> str:
        """Return the report, as the command prints it."""
        head = [] if self.findings else ["  nothing found"]
        return "\n".join([*head, *rows(self.rows(), 6)])

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        return html_of(Table(("", ""), self.rows(), 2))


def check(tokenizer: StrPath | bytes, text: StrPath | Iterable[str] | None = None) -> Check:
    """Return what is wrong with a tokenizer, before a model is trained on it.

    Parameters
    ----------
    tokenizer : path or bytes
        A ``.model`` file, a ``tokenizer.json``, a folder that contains one, or the content of a
        file.
    text : path or iterable of str, optional
        A text in UTF-8, or its lines. The characters that the tokenizer lacks are a finding.

    Raises
    ------
    TrainingError
        If a file cannot be read, or is neither a model nor a tokenizer.json.
    MissingLibraryError
        If a tokenizer.json is given, and ``tokenizers`` is not installed.
    """
    from spmcompat.tools.diff.documents import is_document
    from spmcompat.tools.export.document import (
        CannotImportError,
        TokenizerJsonError,
        document_path,
    )
    from spmcompat.tools.export.exporting import lines_of
    from spmcompat.tools.show.check_json import json_findings
    from spmcompat.tools.show.check_model import model_findings

    lines = lines_of(text) or ()
    name, content = "", tokenizer
    if not isinstance(content, bytes):
        name = os.fspath(content)
        with open_file(document_path(name), "Check the path") as file:
            content = file.read()
    findings = json_findings if is_document(content) else model_findings
    found: dict[str, list[str]] = {one: [] for one in EXPLANATIONS}
    try:
        for kind, texts in findings(content, lines):
            found[kind] += texts
    except (BadModelError, CannotImportError, TokenizerJsonError) as error:
        raise type(error)(f'"{printable(name)}": {error}' if name else str(error)) from None
    every = [Finding(one, EXPLANATIONS[one], texts) for one, texts in found.items() if texts]
    return Check(
        [one for one in every if one.name not in NOTES], [one for one in every if one.name in NOTES]
    )
