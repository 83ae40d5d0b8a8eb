"""Opens the texts that tools read: plain text in UTF-8, one sentence on each line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from spmcompat.errors import MissingFileError, printable, refuse_impossible
from spmcompat.runtime.inputs import naming_file, open_file
from spmcompat.text.formats import AUTO
from spmcompat.text.forms import HEAD_BYTES, TITLES, check_plain
from spmcompat.text.opening import form_of_input, open_input

REMEDY = "Check --text, which takes paths"


@contextmanager
def open_text(path: str | os.PathLike[str], *, or_table: bool = False) -> Iterator[BinaryIO]:
    """Open a text for a ``with`` statement.

    Parameters
    ----------
    path : path
        The file.
    or_table : bool
        Whether the tool can read tables with ``--language_column``. If so, the error about a file
        that is not plain text names this flag.

    Raises
    ------
    MissingFileError
        If the file cannot be opened or read.
    TrainingError
        If the file is not plain text.
    """
    with open_file(path, REMEDY) as file:
        check_plain(os.fspath(path), file.peek(HEAD_BYTES)[:HEAD_BYTES], or_table=or_table)
        yield file


def check_text(path: str | os.PathLike[str], *, or_table: bool = False) -> None:
    """Raise what `open_text` would raise. A pipe is not checked, because it can be read only once.

    Raises
    ------
    TrainingError
        If the file cannot be opened, or is not plain text.
    """
    refuse_impossible(path, REMEDY)
    with naming_file(path, REMEDY):
        mode = os.stat(path).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        with open_text(path, or_table=or_table):
            pass


def unreadable(path: str | os.PathLike[str], error: OSError) -> MissingFileError:
    """Return the error about a text that cannot be opened or read."""
    reason = os.strerror(error.errno or 0)
    return MissingFileError(f'"{printable(os.fspath(path))}": {reason}. {REMEDY}.')


def other_data(path: str, input_format: str) -> str:
    """Return which data a file contains that are not lines of text; empty if it contains lines.

    Parameters
    ----------
    path : str
        The path of a regular file.
    input_format : str
        The format of the file; empty to recognize it.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    with open_input(path) as file:
        form = form_of_input(file, input_format or AUTO, False)
    return TITLES[form.compression or form.format] if form.compression or not form.has_lines else ""
