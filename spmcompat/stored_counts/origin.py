"""The metadata of a counts file: the input of the counts, and the rules by which they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from spmcompat.errors import BadCountsError, TrainingError, printable
from spmcompat.plan import Plan
from spmcompat.stored_counts.metadata import RULES, fault_of
from spmcompat.text.sources import LineFacts
from spmcompat.unicode.marks import SPACE_MARK


class CountsVersionError(TrainingError):
    """The format of the file of counts is older or newer than this release reads."""

    kind = "counts-version"


VERSION = 2
"""The version of the file format. A reader refuses all other versions."""


LINE_FACTS = ("lines", "too_long", "reserved", "huge_characters", "bytes_read", "nulls", "broken")
"""The fields of `LineFacts` that an origin also has."""

_LONGEST_FAULT = 300


class Origin(NamedTuple):
    """The input of a table of counts, and the rules by which it was made.

    Attributes
    ----------
    options : dict of str to str
        The options for reading and normalizing that the user set, as text.
    rules : dict of str to bool or int
        The fields of the plan that determine the rows.
    charsmap : str
        The SHA-256 of the compiled normalization rules.
    symbols : tuple of str
        The meta pieces, at which the text was cut. Pretokens do not contain them.
    delimiter : str
        The pretokenization delimiter.
    sentences : int
        The number of non-empty sentences.
    first_character : int
        The first character of the text.
    lines : int
        The number of lines that are sentences, including empty ones.
    too_long, reserved : int
        The number of lines that were skipped because they are too long or contain U+2585.
    bytes_read : int
        The size of the text that was read, or 0 if it is not known, for example for a sample.
    huge_characters : float
        For a TSV, an upper bound of the sum of all character counts.
    changes : tuple of str
        Later changes to the counts: merging with weights, dropping rare pretokens.
    nulls : int
        The number of rows of Arrow data or of a data frame that were skipped because they are null.
    broken : int
        The number of records that were skipped because they cannot be read.
    normalization_rules : str
        The content of the rules file that the ``normalization_rule_tsv`` option names; empty if
        the option is not set.
    """

    options: dict[str, str]
    rules: dict[str, bool | int]
    charsmap: str
    symbols: tuple[str, ...]
    delimiter: str
    sentences: int = 0
    first_character: int = ord(SPACE_MARK)
    lines: int = 0
    too_long: int = 0
    reserved: int = 0
    huge_characters: float = 0.0
    bytes_read: int = 0
    changes: tuple[str, ...] = ()
    nulls: int = 0
    broken: int = 0
    normalization_rules: str = ""

    @property
    def facts(self) -> LineFacts:
        """The numbers of lines used and skipped."""
        return LineFacts(**{name: getattr(self, name) for name in LINE_FACTS})

    def to_json(self) -> bytes:
        """Return the metadata for a file."""
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
            If a release with another file format wrote the file, or the metadata are invalid.
        """
        document = document_of(text, VERSION, name)
        fault = fault_of(document)
        if fault is not None:
            raise invalid_metadata(name, fault)
        origin = cls(**document)
        return origin._replace(symbols=tuple(origin.symbols), changes=tuple(origin.changes))

    def check(self, name: str) -> None:
        """Raise if the fields have values that are impossible for counts.

        Raises
        ------
        TrainingError
            If a number is too large, or fields contradict each other.
        """
        lists = {"symbols": [*self.symbols], "changes": [*self.changes]}
        fault = fault_of({**self._asdict(), **lists})
        if fault is not None:
            raise invalid_metadata(name, fault)


def document_of(text: bytes, version: int, name: str) -> dict[str, Any]:
    """Return the metadata of a file without the version of its format.

    Raises
    ------
    TrainingError
        If the file has another version, or the metadata are not JSON.
    """
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    found = document.pop("version", None) if isinstance(document, dict) else None
    if type(found) is int and found != version:
        age, remedy = ("a newer", "Install a newer spmcompat")
        if found < version:
            age, remedy = ("an older", "Count the text again")
        raise CountsVersionError(
            f"{name}: {age} spmcompat wrote this file (its format has the version "
            f"{_short(found)}, and this release reads version {version}). {remedy}."
        )
    if found != version:
        raise invalid_metadata(name, "they do not state the version of a format")
    return dict(document)


def invalid_metadata(name: str, fault: str) -> TrainingError:
    """Return the error for invalid metadata. A long `fault` is truncated in the message."""
    shown = fault if len(fault) <= _LONGEST_FAULT else f"{fault[:_LONGEST_FAULT]}..."
    return BadCountsError(
        f"{name}: its metadata are invalid: {printable(shown)}. Give a file that spmcompat count "
        "wrote, or count the text again."
    )


def _short(version: int) -> str:
    """Return the version for a message. Python cannot print numbers with thousands of digits."""
    return str(version) if abs(version) < 10**9 else "beyond 10**9"


def rules_of(plan: Plan) -> dict[str, bool | int]:
    """Return the fields of the plan that determine the rows."""
    fields = plan.counting._asdict() | plan.cutting._asdict()
    return {name: fields[name] for name in RULES}


def symbols_of(plan: Plan) -> tuple[str, ...]:
    """Return the meta pieces of the plan, in a fixed order."""
    return tuple(sorted(symbol.decode() for symbol in plan.meta_pieces))


def digest(charsmap: bytes) -> str:
    """Return the digest of compiled normalization rules."""
    from hashlib import sha256

    return sha256(charsmap).hexdigest()


def differing_names(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the names of the values that differ."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
