"""What a table of counts was made from, and by which rules: the metadata of its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from spmcompat.errors import TrainingError
from spmcompat.plan import Plan
from spmcompat.text.sources import LineFacts

VERSION = 1
"""The version of the form of files. A reader refuses newer ones."""

# The fields of the plan that decide which rows there are.
_RULES = (
    "add_dummy_prefix",
    "remove_extra_whitespaces",
    "treat_whitespace_as_suffix",
    "split_by_whitespace",
    "whitespace_as_suffix",
    "allow_whitespace_only_pieces",
    "spaces_apart",
    "boundary",
    "copies",
    "script_runs",
    "calls_pretokenizer",
    "boundaries_end_pretokens",
    "uniform_starts",
)


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
    def from_json(cls, text: bytes, path: str) -> Origin:
        """Read the metadata of a file.

        Raises
        ------
        TrainingError
            If a newer release wrote the file, or the metadata are broken.
        """
        try:
            document: dict[str, Any] = json.loads(text)
            version = document.pop("version")
            if version > VERSION:
                raise TrainingError(
                    f"{path}: a newer spmcompat wrote this file (its form has version {version}, "
                    f"and this release reads up to {VERSION}). Install a newer spmcompat."
                )
            origin = cls(**document)
            return origin._replace(symbols=tuple(origin.symbols), changes=tuple(origin.changes))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise TrainingError(
                f"{path}: its metadata are broken. Count the text again with spmcompat count."
            ) from None


def rules_of(plan: Plan) -> dict[str, bool | int]:
    """Return the fields of the plan that decide which rows there are."""
    fields = plan._asdict()
    return {name: fields[name] for name in _RULES}


def symbols_of(plan: Plan) -> tuple[str, ...]:
    """Return the meta pieces of the plan, in a fixed order."""
    return tuple(sorted(symbol.decode() for symbol in plan.symbols))


def digest(charsmap: bytes) -> str:
    """Return the digest of compiled normalization rules."""
    return hashlib.sha256(charsmap).hexdigest()


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the names whose values differ."""
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
