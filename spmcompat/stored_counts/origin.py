"""What a table of counts was made from, and by which rules: the metadata of its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from spmcompat.errors import TrainingError, printable
from spmcompat.plan import Plan
from spmcompat.stored_counts.metadata import RULES, fault_of
from spmcompat.text.sources import LineFacts

VERSION = 2
"""The version of the file format. A reader refuses all others."""


_LONGEST_FAULT = 300


class Origin(NamedTuple):
    """What a table of counts was made from.

    Attributes
    ----------
    options : dict of str to str
        The options of reading and normalizing that were given, as text.
    rules : dict of str to bool or int
        The fields of the plan that decide which rows there are.
    charsmap : str
        The SHA-256 of the compiled normalization rules.
    symbols : tuple of str
        Meta pieces: no pretoken contains one.
    delimiter : str
        The pretokenization delimiter.
    sentences : int
        Number of sentences without the empty ones.
    first_character : int
        The character that the text begins with.
    lines : int
        Number of lines that are sentences, with the empty ones.
    too_long, reserved : int
        Number of lines that were skipped, because they are too long or hold U+2585.
    bytes_read : int
        Size of the text that was read; 0 where it is not known, as of a sample.
    huge_characters : float
        An upper bound of the sum of all counts of characters, for a TSV.
    changes : tuple of str
        What was done to the counts since: merging with weights, dropping rare pretokens.
    nulls : int
        Number of rows of Arrow data, or of a data frame, that were skipped because they hold no
        text.
    broken : int
        Number of records that were skipped, because they cannot be read.
    normalization_rules : str
        The rules of the file that the option ``normalization_rule_tsv`` names, in the form of such
        a file; empty without that option.
    """

    options: dict[str, str]
    rules: dict[str, bool | int]
    charsmap: str
    symbols: tuple[str, ...]
    delimiter: str
    sentences: int
    first_character: int
    lines: int
    too_long: int
    reserved: int
    huge_characters: float
    bytes_read: int = 0
    changes: tuple[str, ...] = ()
    nulls: int = 0
    broken: int = 0
    normalization_rules: str = ""

    @property
    def facts(self) -> LineFacts:
        """What became of the lines."""
        return LineFacts(
            self.lines,
            self.too_long,
            self.reserved,
            self.huge_characters,
            self.bytes_read,
            self.nulls,
            self.broken,
        )

    def to_json(self) -> bytes:
        """Return the metadata of a file."""
        return json.dumps({"version": VERSION, **self._asdict()}, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, text: bytes, name: str) -> Origin:
        """Read the metadata of a file.

        Parameters
        ----------
        text : bytes
            The metadata.
        name : str
            The name of the file in messages.

        Raises
        ------
        TrainingError
            If another release wrote the file, or the metadata are invalid.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        version = document.pop("version", None) if isinstance(document, dict) else None
        if type(version) is int and version != VERSION:
            age, remedy = ("a newer", "Install a newer spmcompat")
            if version < VERSION:
                age, remedy = ("an older", "Count the text again")
            raise TrainingError(
                f"{name}: {age} spmcompat wrote this file (its format has the version "
                f"{_short(version)}, and this release reads version {VERSION}). {remedy}."
            )
        fault = fault_of(document) if version == VERSION else "they are not those of counts"
        if fault is not None:
            raise invalid_metadata(name, fault)
        origin = cls(**document)
        return origin._replace(symbols=tuple(origin.symbols), changes=tuple(origin.changes))

    def check(self, name: str) -> None:
        """Raise if the fields have values that no counts have.

        Raises
        ------
        TrainingError
            If a number is too large, or numbers contradict each other.
        """
        lists = {"symbols": [*self.symbols], "changes": [*self.changes]}
        fault = fault_of({**self._asdict(), **lists})
        if fault is not None:
            raise invalid_metadata(name, fault)


def invalid_metadata(name: str, fault: str) -> TrainingError:
    """Return the error for metadata that no counts have. A long fault is cut off."""
    shown = fault if len(fault) <= _LONGEST_FAULT else f"{fault[:_LONGEST_FAULT]}..."
    return TrainingError(
        f"{name}: its metadata are invalid: {printable(shown)}. Give a file that spmcompat count "
        "wrote, or count the text again."
    )


def _short(version: int) -> str:
    """Return the version for a message. Python refuses to write numbers of thousands of digits."""
    return str(version) if abs(version) < 10**9 else "beyond 10**9"


def rules_of(plan: Plan) -> dict[str, bool | int]:
    """Return the fields of the plan that decide which rows there are."""
    fields = plan._asdict()
    return {name: fields[name] for name in RULES}


def symbols_of(plan: Plan) -> tuple[str, ...]:
    """Return the meta pieces of the plan, in a fixed order."""
    return tuple(sorted(symbol.decode() for symbol in plan.symbols))


def digest(charsmap: bytes) -> str:
    """Return the digest of compiled normalization rules."""
    return hashlib.sha256(charsmap).hexdigest()


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the names whose values differ."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
