"""Reads inputs other than plain text files: compressed files and files with records."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from spmcompat.plan import TextPlan
from spmcompat.text.compression import contents
from spmcompat.text.formats import FORMATS
from spmcompat.text.forms import Form, without_mark
from spmcompat.text.line_buffers import cut_at_lines
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, name_of
from spmcompat.text.skipped import Skipped


def numbered_lines(file: InputFile, form: Form, longest: int) -> Iterator[tuple[ReadBuffer, bytes]]:
    """Yield read buffers of whole lines, and their text without the byte order mark."""
    name = name_of(file.path)
    for buffer in cut_at_lines(contents(file, form), name, longest=longest, numbered=True):
        lines = buffer.lines_text()
        yield buffer, without_mark(lines, name) if buffer.first_line == 1 else lines


def read_records(
    file: InputFile, form: Form, text: TextPlan, skipped: Skipped
) -> Iterator[ReadBuffer]:
    """Yield the read buffers of an input.

    The `input_size` of a buffer is the number of bytes that were read from the file for the buffer.
    If the file is compressed, these are compressed bytes.

    Parameters
    ----------
    file : InputFile
        The input.
    form : Form
        Its compression and format.
    text : TextPlan
        Names the column, and states how to read the input.
    skipped : Skipped
        Counts the records that cannot be read.

    Raises
    ------
    TrainingError
        If the input cannot be read to its end.
    """
    if form.has_lines:
        content = contents(file, form)
        buffers = cut_at_lines(content, name_of(file.path), longest=text.longest_line)
    else:
        # Only the module of this format is loaded.
        reader = import_module(f"spmcompat.text.{FORMATS[form.format].reader}")
        buffers = reader.read(file, form, text, skipped)
    taken = 0
    for buffer in buffers:
        buffer.input_size = file.consumed - taken
        taken = file.consumed
        if text.split_lines and not form.has_lines:
            buffer.split_lines()
        yield buffer
