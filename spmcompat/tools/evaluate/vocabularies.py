"""Compares vocabularies as texts, that is, without space marks (Gow-Smith et al. 2022, Table 4)."""

from __future__ import annotations

from collections.abc import Set
from io import TextIOWrapper
from os import PathLike
from typing import NamedTuple

from spmcompat.engine import SPACE_MARK
from spmcompat.errors import NotUtf8Error
from spmcompat.runtime.inputs import open_file
from spmcompat.tools.evaluate.gold_lists import WordListError

_MOST_AFFIXES = 1 << 20  # the size limit of a file of affixes, in bytes


class Affixes(NamedTuple):
    """Prefixes and suffixes, without hyphens."""

    prefixes: frozenset[str]
    suffixes: frozenset[str]


class VocabularyCounts(NamedTuple):
    """The size of a vocabulary, and the numbers of affixes in it.

    Attributes
    ----------
    normal_pieces : int
        The number of normal pieces, that is, without special, user-defined and byte pieces.
    equal_without_spaces : int
        The number of normal pieces minus the number of their distinct texts without space marks. So
        if two pieces differ only in space marks, one of them counts here.
    prefixes, suffixes : int or None
        How many prefixes and suffixes of a list are the text of a piece. None without a list.
    """

    normal_pieces: int
    equal_without_spaces: int
    prefixes: int | None = None
    suffixes: int | None = None

    def known(self) -> dict[str, int]:
        """Return the counts by name, without the counts of affixes if there is no list of them."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class SharedTexts(NamedTuple):
    """How many texts of pieces occur in both vocabularies, and in only one of them."""

    shared: int
    only_first: int
    only_second: int


def texts_of_pieces(pieces: Set[str], marks: str = SPACE_MARK, continuation: str = "") -> set[str]:
    """Return the texts of pieces, without the space marks at the beginning and the end.

    Parameters
    ----------
    pieces : set of str
        The pieces.
    marks : str
        The characters that represent a space. A piece with only these characters does not change.
    continuation : str
        The prefix that marks pieces inside words; empty if they are not marked.
    """
    return {piece.strip(marks).removeprefix(continuation) or piece for piece in pieces}


def count_vocabulary(
    pieces: Set[str], texts: Set[str], affixes: Affixes | None = None
) -> VocabularyCounts:
    """Count the pieces of a vocabulary, the pieces that repeat the text of another, and affixes.

    Parameters
    ----------
    pieces, texts : set of str
        The normal pieces, and their texts from `texts_of_pieces`.
    affixes : Affixes, optional
        The affixes to count.
    """
    counts = VocabularyCounts(len(pieces), len(pieces) - len(texts))
    if affixes is None:
        return counts
    return counts._replace(
        prefixes=len(affixes.prefixes & texts), suffixes=len(affixes.suffixes & texts)
    )


def share_texts(first: Set[str], second: Set[str]) -> SharedTexts:
    """Count the texts that two vocabularies share."""
    shared = len(first & second)
    return SharedTexts(shared, len(first) - shared, len(second) - shared)


def read_affixes(path: str | PathLike[str]) -> Affixes:
    """Read a list of affixes: on each line, a prefix such as ``un-`` or a suffix such as ``-ness``.

    Raises
    ------
    BadValueError
        If the file is not UTF-8, a line is neither a prefix nor a suffix, or the list is empty.
    MissingFileError
        If the file cannot be read.
    """
    try:
        with (
            open_file(path, "Check --affixes") as file,
            TextIOWrapper(file, "utf-8-sig") as lines,
        ):
            text = lines.read(_MOST_AFFIXES + 1)
    except UnicodeDecodeError as error:
        raise NotUtf8Error(f"{path} is not UTF-8: {error.reason}.") from None
    if len(text) > _MOST_AFFIXES:
        raise WordListError(f"{path} is larger than 1 MiB. Give a list of affixes.")
    found: dict[str, set[str]] = {"prefixes": set(), "suffixes": set()}
    for number, line in enumerate(text.split("\n"), 1):
        if not (affix := line.strip()):
            continue
        bare = affix.strip("-")
        if affix not in (f"{bare}-", f"-{bare}") or not bare or len(bare.split()) > 1:
            raise WordListError(
                f"{path}:{number}: expected a prefix such as un- or a suffix such as -ness, found "
                f"{affix[:60]!r}."
            )
        found["suffixes" if affix.startswith("-") else "prefixes"].add(bare)
    if not any(found.values()):
        raise WordListError(f"{path} contains no affixes. Write lines such as un- and -ness.")
    return Affixes(frozenset(found["prefixes"]), frozenset(found["suffixes"]))
