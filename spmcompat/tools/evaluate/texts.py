"""The texts to evaluate: text files, which may have languages, or tables with a language column."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from spmcompat.engine import REMEDY, check_text, open_text, rows_of, unreadable
from spmcompat.errors import (
    BadValueError,
    ConflictError,
    MissingFileError,
    WrongColumnError,
    printable,
    refuse_impossible,
)

# The number of bytes of text to encode at once. Memory use is a few times this size.
_BATCH_BYTES = 4 << 20
_LONGEST_LINE = 2 << 20
_MOST_LANGUAGES = 1000
_LONGEST_NAME = 100  # characters


class LineBatch(NamedTuple):
    """A batch of lines. Their line ends are removed.

    Attributes
    ----------
    lines : list of bytes
        The lines.
    file_begins : list of int
        The indexes of the lines that begin a file.
    language : str or None
        The language of all lines in the batch; None if the texts have no languages.
    size : int
        The size of the lines in bytes, with their line ends.
    """

    lines: list[bytes]
    file_begins: list[int]
    language: str | None
    size: int


class TextFiles:
    """Files in UTF-8, one sentence on each line.

    Parameters
    ----------
    paths : sequence of str
        The files.
    languages : sequence of str, optional
        The language of each file. Files with the same language are one text.
    """

    def __init__(self, paths: Sequence[str], languages: Sequence[str] | None = None) -> None:
        self.paths = paths
        self._languages: Sequence[str | None] = languages or [None] * len(paths)

    def check(self) -> None:
        """Raise if a file cannot be opened, or is not plain text."""
        for path in self.paths:
            check_text(path, or_table=True)

    @property
    def size(self) -> int | None:
        """The total size of the files in bytes; None if a file cannot be read."""
        try:
            return sum(os.stat(path).st_size for path in self.paths)
        except OSError:
            return None

    @property
    def languages(self) -> list[str]:
        """The languages in the order of the files; empty if the files have no languages."""
        return [name for name in dict.fromkeys(self._languages) if name is not None]

    def batches(self) -> Iterator[LineBatch]:
        """Read the files in order. A batch contains lines of one language.

        Raises
        ------
        TrainingError
            If a file cannot be read or has a line that is too long.
        """
        lines: list[bytes] = []
        begins: list[int] = []
        size = 0
        before = self._languages[0]
        filled = set()
        for path, language in zip(self.paths, self._languages, strict=True):
            if lines and language != before:
                yield LineBatch(lines, begins, before, size)
                lines, begins, size = [], [], 0
            before = language
            for number, line in enumerate(lines_of_path(path, or_table=True)):
                if number == 0:
                    begins.append(len(lines))
                    filled.add(language)
                lines.append(line.removesuffix(b"\n"))
                size += len(line)
                if size >= _BATCH_BYTES:
                    yield LineBatch(lines, begins, language, size)
                    lines, begins, size = [], [], 0
        if lines:
            yield LineBatch(lines, begins, before, size)
        for language in self.languages:
            if language not in filled:
                raise BadValueError(f"The text of {language!r} is empty. Check --text.")


class TextTables:
    """Tables (JSON Lines or Parquet) in which each row has a text and its language.

    Parameters
    ----------
    paths : sequence of str
        The files.
    text_column, language_column : str
        The names of the columns. A row whose text is null is skipped.
    """

    def __init__(self, paths: Sequence[str], text_column: str, language_column: str) -> None:
        self.paths = paths
        self.size = None
        self._language_column = language_column
        self._columns = {"--text_column": text_column, "--language_column": language_column}

    def check(self) -> None:
        """Raise if no file can have one of the paths."""
        for path in self.paths:
            refuse_impossible(path, REMEDY)

    def batches(self) -> Iterator[LineBatch]:
        """Read the tables in order. A batch contains rows of one language.

        Raises
        ------
        TrainingError
            If a file is not a table with the two columns, a row has no language, or a text is too
            long.
        """
        waiting: dict[str, list[bytes]] = {}
        size = 0
        for path in self.paths:
            try:
                for number, (text, language) in enumerate(rows_of(path, self._columns), 1):
                    if text is None:
                        continue
                    line = text.encode().rstrip(b"\r\n")
                    if len(line) >= _LONGEST_LINE:
                        raise _too_long(f"row {number} of {path}")
                    _check_language(language, f"{path}: row {number}")
                    waiting.setdefault(str(language), []).append(line)
                    if len(waiting) > _MOST_LANGUAGES:
                        raise WrongColumnError(
                            f"{path}: the column {self._language_column!r} has more than "
                            f"{_MOST_LANGUAGES} distinct values. Choose the column of languages."
                        )
                    size += len(line) + 1
                    if size >= _BATCH_BYTES:
                        yield from _taken(waiting)
                        size = 0
            except OSError as error:
                if isinstance(error, MissingFileError):
                    raise
                raise unreadable(path, error) from error
        yield from _taken(waiting)


Texts: TypeAlias = TextFiles | TextTables
"""Texts that can be read in batches."""


def texts_of(values: Sequence[str], text_column: str, language_column: str | None) -> Texts:
    """Return the texts that the values of ``--text`` name.

    Parameters
    ----------
    values : sequence of str
        Paths; or ``LANGUAGE=PATH`` for each. A path that contains ``=`` before its first slash can
        be written as ``./a=b.txt``.
    text_column : str
        The column of the text. It has no effect without a language column.
    language_column : str or None
        The column of the language, if the files are tables.

    Raises
    ------
    BadValueError
        If only some values name a language, or if a value names one and there is a language column.
    """
    found = [re.fullmatch(r"([^=/\\]+)=(.+)", value, re.DOTALL) for value in values]
    if language_column is not None:
        if any(found):
            raise ConflictError(
                "The languages come from the column or from --text=LANGUAGE=FILE, not from both. "
                "Leave one out."
            )
        return TextTables(values, text_column, language_column)
    named = [(match[1], match[2]) for match in found if match]
    if not named:
        return TextFiles(values)
    if len(named) < len(values):
        plain = next(value for value, match in zip(values, found, strict=True) if not match)
        raise BadValueError(
            f"{printable(plain)!r} has no language, but other texts have. Write LANGUAGE=FILE for "
            "every text, or ./FILE if the name of a file contains an equals sign."
        )
    for language, path in named:
        _check_language(language, path)
    return TextFiles([path for _, path in named], [language for language, _ in named])


def _check_language(language: str | None, where: str) -> None:
    if not language:
        raise BadValueError(f"{where} has no language. Add it, or drop the row.")
    if len(language) > _LONGEST_NAME or not language.isprintable():
        raise BadValueError(
            f"{where}: {printable(language[:_LONGEST_NAME])!r} is not the name of a language. Use "
            f"at most {_LONGEST_NAME} printable characters."
        )


def _taken(waiting: dict[str, list[bytes]]) -> Iterator[LineBatch]:
    """Yield the waiting lines of each language as a batch, and remove them from `waiting`."""
    for language, lines in waiting.items():
        if lines:
            yield LineBatch(lines, [], language, sum(map(len, lines)) + len(lines))
            waiting[language] = []


def lines_of_path(path: str, *, or_table: bool = False) -> Iterator[bytes]:
    """Yield the lines of a text, with their line ends.

    Parameters
    ----------
    path : str
        The file.
    or_table : bool
        As for `open_text`.

    Raises
    ------
    BadValueError
        If a line is so long that evaluating it would take too much memory.
    """
    number = 0
    with open_text(path, or_table=or_table) as file:
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE:
                raise _too_long(f"{path}:{number}")
            yield line


def _too_long(where: str) -> BadValueError:
    return BadValueError(
        f"{where} is a line of {_LONGEST_LINE >> 20} MiB or more. Cut it into sentences, one on "
        "each line."
    )
