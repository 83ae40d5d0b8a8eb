"""Recognizes the compression and the format of a file by its name and its content.

Name and content must agree, so that a compressed file is never read as text. A file counts as text
unless it begins with bytes that no text in UTF-8 can begin with.
"""

from __future__ import annotations

import codecs
import os
import re
from typing import NamedTuple

from spmcompat.errors import BrokenFileError, TrainingError, WrongFormatError
from spmcompat.text.formats import (
    ARROW,
    AUTO,
    FORMATS,
    JSONL,
    PARQUET,
    TEXT,
    TSV,
    format_of_suffix,
)

GZIP, ZSTD, XZ, BZIP2 = "gzip", "zstd", "xz", "bzip2"

HEAD_BYTES = 512
"""The number of bytes at the beginning of a file that are enough to recognize it."""

OF_ARRAYS = "Write the items of a JSON array as JSON Lines: jq -c '.[]' array.json > lines.jsonl"
"""What to do with a JSON array."""

COMPRESSIONS = {
    ".gz": GZIP,
    ".zst": ZSTD,
    ".zstd": ZSTD,
    ".xz": XZ,
    ".bz2": BZIP2,
}
"""The compression of each suffix."""

TITLES = {name: name for name in (GZIP, ZSTD, XZ, BZIP2)}
TITLES |= {name: row.title for name, row in FORMATS.items()}
"""The names of compressions and formats in messages."""

# No text in UTF-8 begins with one of these. The UTF-32 mark must come before the UTF-16 mark,
# because the UTF-32 mark begins with the UTF-16 mark.
_UNREADABLE = (
    (codecs.BOM_UTF32_LE, "is in UTF-32", "convert it with iconv -f UTF-32 -t UTF-8"),
    (codecs.BOM_UTF32_BE, "is in UTF-32", "convert it with iconv -f UTF-32 -t UTF-8"),
    (codecs.BOM_UTF16_LE, "is in UTF-16", "convert it with iconv -f UTF-16 -t UTF-8"),
    (codecs.BOM_UTF16_BE, "is in UTF-16", "convert it with iconv -f UTF-16 -t UTF-8"),
    (
        b"FEA1\0",
        "contains Feather data of version 1",
        "read it with pandas or pyarrow, and write it as a Parquet file",
    ),
    (b"PK\x03\x04", "is a zip archive", "unpack it, and give its files"),
    (b"PK\x05\x06", "is an empty zip archive", "give the files that it should contain"),
)
# The encodings that are recognized without a byte order mark, and an upper bound of the characters
# that are usual in a text. As UTF-16, two ASCII letters look like a Chinese character. U+FFFD
# stands for bytes that cannot be decoded.
_UNMARKED = (
    ("UTF-16LE", "\u3000"),
    ("UTF-16BE", "\u3000"),
    ("UTF-32LE", "\ufffd"),
    ("UTF-32BE", "\ufffd"),
)
_ARCHIVES = (".tar", ".tgz", ".tbz2", ".txz", ".tzst")


class Form(NamedTuple):
    """The compression and the format of a file.

    Attributes
    ----------
    compression : str
        `GZIP`, `ZSTD`, `XZ` or `BZIP2`; empty if the file is not compressed.
    format : str
        The name of the format in the table.
    """

    compression: str
    format: str

    @property
    def has_lines(self) -> bool:
        """Whether the contents are read as a text file, line by line."""
        return not FORMATS[self.format].reader


def form_of(
    name: str, head: bytes, input_format: str, has_column: bool, *, may_rename: bool = True
) -> Form:
    """Return the form of a file.

    Parameters
    ----------
    name : str
        Its name; empty for standard input.
    head : bytes
        Its first `HEAD_BYTES` bytes, or all of it if it is shorter.
    input_format : str
        The format that the user gave, or `AUTO`.
    has_column : bool
        Whether the user named a column. Only then, `AUTO` recognizes some of the formats.
    may_rename : bool
        Whether the user chose the name. Pipes and remote addresses can have any name, so only their
        content determines the compression.

    Raises
    ------
    TrainingError
        If name and content do not agree.
    """
    named = _form_of_name(name, input_format, has_column)
    check_readable(name, head)
    if input_format == AUTO and _begins_model(head):
        raise WrongFormatError(
            f"{name or 'standard input'} is a SentencePiece model: give a text as input. To read "
            "the bytes of the model as text, give --input_format=text."
        )
    found = _content_or_stream(head)
    if _is_binary(found):
        if named.format != found:
            raise WrongFormatError(
                f"{_contains(name, found)}, not {named.format}: {_remedy(name, found)}"
            )
        return named._replace(compression="")
    if found:
        _check_compression(name, named, found, may_rename)
    elif _is_binary(named.format) and not named.compression:
        by_name = _form_of_name(name, AUTO, has_column).format == named.format
        remedy = "make the file again" if by_name else f"leave --input_format={input_format} out"
        raise WrongFormatError(
            f"{name or 'standard input'} does not contain {TITLES[named.format]} data: {remedy}."
        )
    elif named.compression:
        return _uncompressed(name, head, named, input_format, may_rename)
    return named._replace(compression=found)


def format_of(name: str, input_format: str, has_column: bool) -> str:
    """Return the format in which a file is read, as in `Form`.

    Parameters
    ----------
    name, input_format, has_column
        As for `form_of`. The content of the file does not matter.
    """
    return _form_of_name(name, input_format, has_column).format


def content_of(head: bytes) -> str:
    """Return what a file that begins with `head` contains.

    The result is a compression, a format with a signature, or "" for anything else.
    """
    if head.startswith(bytes.fromhex("1f8b08")):
        return GZIP
    if head.startswith(bytes.fromhex("fd377a585a00")):
        return XZ
    if _begins_zstd(head):
        return ZSTD
    if head.startswith(b"BZh") and _begins_bzip2(head):
        return BZIP2
    signed = (name for name, row in FORMATS.items() if row.signature)
    return next((name for name in signed if head.startswith(FORMATS[name].signature)), "")


def _content_or_stream(head: bytes) -> str:
    """Return the result of `content_of`, or `ARROW` if an Arrow stream begins here.

    A message of a stream begins with FFFFFFFF, its size, and the offset of its root table, which
    comes first.
    """
    size, offset = int.from_bytes(head[4:8], "little"), int.from_bytes(head[8:12], "little")
    if head.startswith(b"\xff\xff\xff\xff") and 0 < offset < min(size, 256):
        return ARROW
    return content_of(head)


def check_readable(name: str, head: bytes) -> None:
    """Raise if a file begins like a known format that cannot be read.

    Raises
    ------
    TrainingError
        With a message that names the remedy.
    """
    for signature, what, remedy in _UNREADABLE:
        if head.startswith(signature):
            raise WrongFormatError(f"{name or 'standard input'} {what}: {remedy}.")
    if encoding := _unmarked_encoding(head[:HEAD_BYTES]):
        raise WrongFormatError(
            f"{name or 'standard input'} is in {encoding}, without a byte order mark: convert it "
            f"with iconv -f {encoding} -t UTF-8."
        )


def _unmarked_encoding(head: bytes) -> str:
    """Return the encoding of a text in UTF-16 or UTF-32 without a byte order mark, or "".

    Such a text contains many NUL bytes, which no text in UTF-8 should contain, and nearly all of
    its characters are usual ones.
    """
    if head.count(0) < max(8, len(head) // 32):
        return ""
    for encoding, bound in _UNMARKED:
        text = head[: len(head) // 4 * 4].decode(encoding, errors="replace")
        usual = sum(c < bound and (c.isprintable() or c in "\t\r\n") for c in text)
        if usual >= 0.9 * len(text):
            return encoding
    return ""


def check_contents(name: str, head: bytes, form: Form) -> None:
    """Raise if the decompressed content of a file cannot be read as a stream.

    Raises
    ------
    TrainingError
        With a message that names the actual content.
    """
    check_readable(name, head)
    found = content_of(head)
    if found:
        raise WrongFormatError(
            f"{name} contains {TITLES[found]} data inside {TITLES[form.compression]} data: "
            "decompress it once yourself."
        )
    if head[257:262] == b"ustar":
        raise _archive(name)


def check_plain(name: str, head: bytes, *, or_table: bool = False) -> None:
    """Raise unless a file is plain text, both by its name and by its content.

    Parameters
    ----------
    name, head
        As for `form_of`.
    or_table : bool
        Whether the error about a table may suggest ``--language_column``.

    Raises
    ------
    TrainingError
        With a message that names the remedy.
    """
    check_readable(name, head)
    if _begins_model(head):
        raise WrongFormatError(f"{name} is a SentencePiece model: give a text.")
    named = TSV if _suffix_of(name) == ".tsv" else _form_of_name(name, AUTO, True).format
    found = _content_or_stream(head) if named == TEXT else named
    if not found:
        return
    remedy = "write its texts to a text file, one on each line"
    if found in COMPRESSIONS.values():
        remedy = "decompress it first"
    elif or_table and found in (JSONL, PARQUET):
        remedy += ", or name the column of their languages with --language_column"
    raise WrongFormatError(f"{_contains(name, found)}, not plain text: {remedy}.")


def without_mark(lines: bytes, name: str) -> bytes:
    """Return the first lines of a file without the byte order mark of UTF-8.

    Raises
    ------
    TrainingError
        If they begin like a file that cannot be read, for example with the mark of UTF-16.
    """
    check_readable(name, lines)
    return lines.removeprefix(codecs.BOM_UTF8)


def doubt_about(name: str, head: bytes) -> str:
    """Return a warning if a text file is probably not plain text, or "" otherwise.

    `head` is empty if the file is compressed.
    """
    suffix = _suffix_of(name)
    if suffix == ".csv":
        return (
            f"{name} is read as plain text, with its other columns and quotation marks. If it is a "
            "table, name the column of the text with --input_column."
        )
    if suffix == ".tsv" and (b"\t" in head or not head):
        return (
            f"{name} is read as plain text, with its tabs. If each line is a text, a tab and its "
            "count, give --input_format=tsv. If it is another table, write it as CSV, with commas, "
            "and name the column of the text with --input_column."
        )
    if suffix == ".json" and head.lstrip().startswith(b"["):
        return f"{name} is read as plain text, with brackets and names of fields. {OF_ARRAYS}"
    if suffix == ".json" and head.lstrip().startswith(b"{"):
        return (
            f"{name} is read as plain text, with braces and names of fields. If each line is a "
            "record, give --input_format=jsonl. If a record has several lines, write each in one: "
            "jq -c . records.json > lines.jsonl"
        )
    return ""


def _form_of_name(name: str, input_format: str, has_column: bool) -> Form:
    compression = COMPRESSIONS.get(os.path.splitext(name.lower())[1], "")
    suffix = _suffix_of(name)
    by_suffix = format_of_suffix(suffix, has_column)
    return Form(compression, by_suffix if input_format == AUTO else input_format)


def _suffix_of(name: str) -> str:
    """Return the suffix of a name in lower case, without the suffix of a compression."""
    base, suffix = os.path.splitext(name.lower())
    return os.path.splitext(base)[1] if suffix in COMPRESSIONS else suffix


def _check_compression(name: str, named: Form, found: str, may_rename: bool) -> None:
    """Raise if a compressed file contains an archive or Parquet data, or has a wrong suffix."""
    bare = os.path.splitext(name)[0] if named.compression else name
    if bare.lower().endswith(_ARCHIVES):
        raise _archive(name)
    if named.format == PARQUET:
        raise WrongFormatError(
            f"{_contains(name, found)}: a Parquet file that is compressed as a whole cannot be "
            "read. Decompress it."
        )
    if may_rename and named.compression != found:
        what = f"not {named.compression or 'text'}"
        raise WrongFormatError(f"{_contains(name, found)}, {what}: {_remedy(name, found)}")


def _uncompressed(name: str, head: bytes, named: Form, input_format: str, may_rename: bool) -> Form:
    """Return the form of a file that is not compressed, although its name says that it is."""
    if not head:
        raise BrokenFileError(
            f"{name} is empty, so it is not a {named.compression} file: make it again."
        )
    # A file without the compression that its name states is not an error in two cases. It may be
    # remote, because many servers decompress the files that they send. Or the user may have named a
    # text format, so that the bytes are read as they are.
    if not may_rename or input_format in (TEXT, TSV):
        return named._replace(compression="")
    raise WrongFormatError(
        f"{name} does not contain {named.compression} data, although its name says so: make the "
        "file again, or rename it if it is not compressed."
    )


def _archive(name: str) -> TrainingError:
    return WrongFormatError(f"{name} is an archive of files (tar): unpack it, and give its files.")


def _is_binary(name: str) -> bool:
    return name in FORMATS and bool(FORMATS[name].signature)


def _contains(name: str, found: str) -> str:
    return f"{name or 'standard input'} contains {TITLES[found]} data"


def _remedy(name: str, found: str) -> str:
    if found == PARQUET and name.lower().endswith(".counts"):
        return "give it with --counts instead of --input."
    if _is_binary(found):
        if not name:
            return "write it to a file, and give that."
        return f"rename it to end in {FORMATS[found].suffixes[0]}, or give --input_format={found}."
    bare, suffix = os.path.splitext(name)
    bare = bare if suffix.lower() in COMPRESSIONS else name
    suffix = next(suffix for suffix, compression in COMPRESSIONS.items() if compression == found)
    return f"rename it to {os.path.basename(bare)}{suffix}, so that it is decompressed."


def _begins_zstd(head: bytes) -> bool:
    """Return whether `head` begins with a zstd frame, or with a skippable and a zstd frame."""
    if re.match(rb"[\x50-\x5f]\x2a\x4d\x18", head):
        head = head[8 + int.from_bytes(head[4:8], "little") :]
    return head.startswith(bytes.fromhex("28b52ffd"))


def _begins_model(head: bytes) -> bool:
    """Return whether two complete pieces of a SentencePiece model begin here.

    This distinguishes a model from text: the stored lengths must fit, and text would not contain
    the control character 0x15 after each piece.
    """
    for _ in range(2):
        match = re.match(rb"\n([\0-\x7f])\n([\1-\x7f])", head)
        if not match:
            return False
        end, score = 2 + match[1][0], 4 + match[2][0]
        if not re.fullmatch(rb"\x15.{4}(\x18[\1-\6])?", head[score:end], re.DOTALL):
            return False
        head = head[end:]
    return True


def _begins_bzip2(head: bytes) -> bool:
    """Return whether these bytes are bzip2 data. The signature alone could also begin a text."""
    if not re.match(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)", head):
        return False
    import bz2

    try:
        bz2.BZ2Decompressor().decompress(head)
    except OSError:
        return False
    return True
