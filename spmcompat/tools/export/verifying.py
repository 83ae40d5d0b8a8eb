"""Encodes lines with sentencepiece and with a target's library, and reports the differences."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from itertools import islice
from typing import NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Table, html_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import MissingLibraryError, require
from spmcompat.tools.export.causes import TIE, Reference, cause_of
from spmcompat.tools.export.targets import VERIFYING, Loaded, NotVerifiableError, Target

_KEPT = 20
_BATCH = 1000


class EncodingDifference(NamedTuple):
    """A line that the two libraries encode differently.

    Attributes
    ----------
    line : str
        The text of the line.
    cause : str
        One of `spmcompat.tools.export.causes.CAUSES`.
    expected, actual : list of str
        The pieces into which ``sentencepiece`` and the library of the target cut the line.
    """

    line: str
    cause: str
    expected: list[str]
    actual: list[str]


_NO_LINES = "not verified: there are no lines to compare."

REQUIRED, IF_POSSIBLE, NO = MODES = ("required", "if_possible", "no")
"""Whether an export must be verified, is verified if that is possible, or is not verified."""


class Verification(NamedTuple):
    """How closely an export agrees with ``sentencepiece``.

    Attributes
    ----------
    lines : int
        The number of lines that both libraries encoded.
    causes : dict of str to int
        The number of lines that differ, by cause.
    differences : list of EncodingDifference
        The first few lines that differ.
    problem : str
        Why no lines were compared, such as a missing library; empty if lines were compared.
    """

    lines: int
    causes: dict[str, int]
    differences: list[EncodingDifference]
    problem: str = ""

    @property
    def different(self) -> int:
        """The number of lines that differ."""
        return sum(self.causes.values())

    @property
    def ok(self) -> bool:
        """Whether lines were compared and all agree, apart from ties, which cannot be avoided."""
        return not self.problem and self.different == self.causes.get(TIE, 0)

    def to_dict(self) -> dict[str, object]:
        """Return the fields and `ok` as data that JSON can represent."""
        return {"ok": self.ok, **plain_fields(self)}

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: a summary, and a table of the first lines that differ."""
        rows = [
            (one.cause, repr(one.line), " ".join(one.expected), " ".join(one.actual))
            for one in self.differences
        ]
        head = ("cause", "line", "sentencepiece", "the export")
        table = html_of(Table(head, rows, len(head))) if rows else ""
        return f"<p>{escape(repr(self))}</p>{table}"

    def __repr__(self) -> str:
        """Return a summary: how many lines were compared, and how many of them differ."""
        if self.problem:
            return f"<Verification: {self.problem}>"
        return f"<Verification: {self.lines:,} lines, {self.different:,} differ, ok={self.ok}>"


def verify(
    model: ModelProto, target: Target, files: Mapping[str, bytes], lines: Iterable[str] | None
) -> Verification:
    """Load an export with the library of its target, and compare it with ``sentencepiece``.

    Parameters
    ----------
    model : ModelProto
        The model that was exported.
    target : module
        The target of the export.
    files : mapping of str to bytes
        The result of `Target.files`. The files are written to a temporary folder.
    lines : iterable of str, optional
        The lines that both libraries encode. If it is None, nothing is compared.

    Returns
    -------
    Verification
        The number of lines that differ, by cause.
    """
    if lines is None:
        return Verification(0, {}, [], "not verified, because this was not asked for.")
    try:
        require("sentencepiece", VERIFYING, "formats")
        with tempfile.TemporaryDirectory(prefix="spmcompat-") as folder:
            path = os.path.join(folder, "export")
            if "" not in files:
                os.mkdir(path)
            for name, content in files.items():
                with open(os.path.join(path, name) if name else path, "wb") as file:
                    file.write(content)
            loaded = target.load(path)
            found = compare_encodings(Reference(model), loaded, lines)
            return found if found.lines else found._replace(problem=_NO_LINES)
    except (NotVerifiableError, MissingLibraryError) as error:
        return Verification(0, {}, [], f"not verified: {error}")


def compare_encodings(reference: Reference, loaded: Loaded, lines: Iterable[str]) -> Verification:
    """Encode lines with both libraries, and determine the cause of each difference."""
    causes: Counter[str] = Counter()
    differences: list[EncodingDifference] = []
    total = 0
    remaining = iter(lines)
    while batch := [*islice(remaining, _BATCH)]:
        total += len(batch)
        for line, expected, actual in zip(
            batch, reference.encode(batch), loaded.encode(batch), strict=True
        ):
            if expected == actual:
                continue
            cause = cause_of(reference, loaded, line, expected, actual)
            causes[cause] += 1
            if len(differences) < _KEPT:
                differences.append(
                    EncodingDifference(
                        line, cause, reference.pieces(expected), reference.pieces(actual)
                    )
                )
    return Verification(total, dict(causes), differences)
