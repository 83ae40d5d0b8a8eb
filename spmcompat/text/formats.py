"""The table of the formats of input files.

The recognition of files, the reader, the checks, the messages and the help are made from the rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.runtime.libraries import require


class Format(NamedTuple):
    """A format of input files.

    Attributes
    ----------
    name : str
        The value of ``input_format``. An extra of this name installs the library.
    title : str
        Its name in messages.
    suffixes : tuple of str
        The suffixes by which ``auto`` recognizes it. Messages suggest the first one.
    reader : str
        The module of this package whose function ``read`` reads the records of a file; empty if the
        file is plain text, which is read line by line.
    signature : bytes
        The first bytes of a file, with which no text begins; empty if its content is text.
    library : str
        The library that reads it, if any.
    needs_column : bool
        Whether ``auto`` recognizes it only if the user names a column.
    in_reference : bool
        Whether ``sentencepiece`` knows it. A model stores only the names of such formats.
    """

    name: str
    title: str
    suffixes: tuple[str, ...] = ()
    reader: str = ""
    signature: bytes = b""
    library: str = ""
    needs_column: bool = False
    in_reference: bool = False


AUTO, TEXT, TSV, CSV, JSONL = "auto", "text", "tsv", "csv", "jsonl"
PARQUET, ARROW = "parquet", "arrow"

FORMATS = {
    row.name: row
    for row in (
        Format(TEXT, "text", in_reference=True),
        Format(TSV, "TSV", in_reference=True),
        Format(JSONL, "JSON Lines", (".jsonl", ".ndjson"), "json_records"),
        # Without the name of a column, the lines of a .csv file are sentences, as in the reference.
        Format(CSV, "CSV", (".csv",), "csv_rows", needs_column=True),
        # A text can begin with PAR1, too. In a Parquet file, the byte 0x15 follows: it is the
        # beginning of the header of the first page.
        Format(PARQUET, "Parquet", (".parquet",), "parquet", b"PAR1\x15", "pyarrow"),
        # A stream begins differently: see `_content_or_stream` in ``forms.py``.
        Format(
            ARROW,
            "Arrow",
            (".arrow", ".arrows", ".feather", ".ipc"),
            "arrow_ipc",
            b"ARROW1\0\0",
            "pyarrow",
        ),
    )
}
"""The formats by name."""

OWN_FORMATS = (AUTO, *(name for name, row in FORMATS.items() if not row.in_reference))
"""The formats that ``sentencepiece`` does not know. A model does not store them."""

RECORDS = tuple(name for name, row in FORMATS.items() if row.reader)
"""The formats whose files contain records."""

TEXT_RECORDS = tuple(name for name in RECORDS if not FORMATS[name].signature)
"""The formats whose records are text, so that one of them can be broken."""


def format_of_suffix(suffix: str, has_column: bool) -> str:
    """Return the format that ``auto`` chooses for a suffix in lower case."""
    for name, row in FORMATS.items():
        if suffix in row.suffixes and (has_column or not row.needs_column):
            return name
    return TEXT


def require_library(name: str) -> None:
    """Raise if the library that reads a format is missing. See `require` for the errors."""
    row = FORMATS[name]
    if row.library:
        require(row.library, f"Reading {row.title} files", name)


def titles(names: Sequence[str], conjunction: str = "or") -> str:
    """Return the titles of formats as a list in words."""
    return listed([FORMATS[name].title for name in names], conjunction)


def listed(words: Sequence[str], conjunction: str = "or") -> str:
    """Return words as a list: a, b or c."""
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"
