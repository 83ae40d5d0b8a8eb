"""The text of files: plain text, and files that must be unpacked (compressed files, tables)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from spmcompat.plan import TextPlan
from spmcompat.runtime.inputs import changed, naming_file
from spmcompat.runtime.progress import Report
from spmcompat.text import remote
from spmcompat.text.formats import AUTO, TEXT, require_library
from spmcompat.text.forms import Form, doubt_about
from spmcompat.text.line_buffers import cut_at_lines
from spmcompat.text.lines import ReadBuffer
from spmcompat.text.opening import InputFile, form_of_input, is_remote, name_of, open_input
from spmcompat.text.skipped import Skipped

_REMEDY = "Check the path given for input"


class _FileSlice(NamedTuple):
    """A range of whole lines in a plain text file, which can be read again.

    If the first line is too long to be a sentence, only its first `before_dropped` bytes are read,
    and the next `dropped` bytes are skipped.
    """

    path: str
    offset: int
    size: int
    first_line: int
    before_dropped: int
    dropped: int

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            begin = file.read(self.before_dropped)
            file.seek(self.dropped, os.SEEK_CUR)
            return begin + file.read(self.size - self.dropped - self.before_dropped)


class _Part(NamedTuple):
    """Identifies a read buffer of a file that can only be read from its start."""

    path: str
    number: int
    size: int


class Files:
    """The sentences of files, in order.

    Parameters
    ----------
    text : TextPlan
        Names the files, and states how to read them.
    report : Report
        Receives the names of the files.
    """

    def __init__(self, text: TextPlan, report: Report) -> None:
        self._text = text
        self._report = report
        self._kept: list[_FileSlice | _Part | ReadBuffer] = []
        self._skipped = Skipped()
        self._has_warned = False
        self._again = _ReadAgain(text)

    def __len__(self) -> int:
        """Return the number of read buffers that can be loaded again."""
        return len(self._kept)

    def size(self) -> int | None:
        """Return the size in bytes, or None if it is not known before reading."""
        sizes = []
        try:
            for path in self._text.input:
                sizes.append(remote.size_of(path) if is_remote(path) else os.stat(path).st_size)
        except OSError:
            return None
        return sum(size or 0 for size in sizes) or None

    def why_once(self) -> str:
        """Return why the text can be read only once, or "" if it can be read again."""
        for path in self._text.input:
            if not path:
                return "standard input can be read only once"
            try:
                mode = os.stat(path).st_mode
            except OSError:
                # Either this is an address, which can be read again, or the file does not exist,
                # and opening it raises an error.
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return f"{path} is not a regular file and can be read only once"
        return ""

    def __iter__(self) -> Generator[ReadBuffer, None, None]:
        """Read the files in order. Closing the generator closes the file.

        The reference reads one line from an empty file that is not the last file. Normally, this
        line is empty. In some releases, it is the last line of the previous file, if that file does
        not end with a line end.
        """
        repeats = self._text.release.empty_files_repeat_lines
        self._kept = []
        line = b""
        for number, path in enumerate(self._text.input, 1):
            self._report.info(f"Loading corpus: {name_of(path)}")
            before = len(self._kept)
            has_lines = True
            if not self._reads_folder(path):
                with naming_file(path, _REMEDY), open_input(path) as file:
                    form = form_of_input(
                        file, self._text.input_format, bool(self._text.input_column)
                    )
                    has_lines = form.has_lines
                    self._warn_once(file, form)
                    for buffer in self._buffers(file, form):
                        yield buffer
                        line = buffer.unfinished_line() if repeats and has_lines else b""
            if has_lines and len(self._kept) == before and number < len(self._text.input):
                buffer = ReadBuffer.of_lines(line + b"\n", path, 1)
                self._kept.append(buffer)
                yield buffer

    def _warn_once(self, file: InputFile, form: Form) -> None:
        """Warn about the first file that is probably not plain text."""
        if self._has_warned or form.format != TEXT or self._text.input_format != AUTO:
            return
        if doubt := doubt_about(file.path, b"" if form.compression else file.head):
            self._report.warning(doubt)
            self._has_warned = True

    def _buffers(self, file: InputFile, form: Form) -> Iterator[ReadBuffer]:
        """Yield the buffers of one file, and store how each buffer can be loaded again."""
        if form.compression or not form.has_lines or is_remote(file.path):
            for number, buffer in enumerate(_unpacked(file, form, self._text, self._skipped)):
                self._kept.append(_Part(file.path, number, buffer.size))
                yield buffer
            return
        offset = 0
        name = name_of(file.path)
        for buffer in cut_at_lines(
            file, name, longest=self._text.longest_line, size=file.size or 0
        ):
            lines = buffer.size, buffer.first_line, buffer.before_dropped, buffer.dropped
            self._kept.append(_FileSlice(file.path, offset, *lines))
            offset += buffer.size
            yield buffer

    def again(self, indexes: Iterable[int]) -> Iterator[tuple[int, Callable[[], ReadBuffer]]]:
        """Yield each index, in the given order, with a function that loads its read buffer.

        Raises
        ------
        MissingFileError
            If a file can no longer be read. The yielded functions also raise this error.
        """
        for index in indexes:
            kept = self._kept[index]
            if isinstance(kept, _Part):
                kept = self._again.load(kept)
            yield index, partial(_load, kept)

    def facts(self) -> None:
        """Return None, because the lines have not been filtered yet."""

    def skipped(self) -> Skipped:
        """Return how many records could not be read."""
        return self._skipped

    def _reads_folder(self, path: str) -> bool:
        return self._text.release.folder_is_empty_file and os.path.isdir(path)


class _ReadAgain:
    """Loads read buffers of unpacked files again, by unpacking each file from its start.

    If the next buffer comes later in the same file, unpacking continues after the previous one. So
    a file is unpacked only once if its buffers are loaded in ascending order.
    """

    def __init__(self, text: TextPlan) -> None:
        self._text = text
        self._path: str | None = None
        self._number = -1
        self._buffer: ReadBuffer | None = None
        self._buffers: Iterator[ReadBuffer] = iter(())

    def load(self, part: _Part) -> ReadBuffer:
        """Load a read buffer again.

        Raises
        ------
        TrainingError
            If the file has changed.
        """
        if part.path != self._path or part.number < self._number:
            self._path, self._number = part.path, -1
            self._buffers = _read_again(part.path, self._text)
        while self._number < part.number:
            self._buffer = next(self._buffers, None)
            self._number += 1
        if self._buffer is None or self._buffer.size != part.size:
            raise changed(name_of(part.path))
        return self._buffer


def _read_again(path: str, text: TextPlan) -> Iterator[ReadBuffer]:
    """Yield the buffers of a file that must be unpacked, without counting skipped records again."""
    with naming_file(path, _REMEDY), open_input(path) as file:
        form = form_of_input(file, text.input_format, bool(text.input_column))
        yield from _unpacked(file, form, text, Skipped())


def _unpacked(
    file: InputFile, form: Form, text: TextPlan, skipped: Skipped
) -> Iterator[ReadBuffer]:
    """Yield the buffers of a file that a thread unpacks ahead of the reader."""
    # Imported here, because these imports take as long as a small training run on plain files.
    from spmcompat.runtime.workers import Workers
    from spmcompat.text.records import read_records

    return Workers(1).ahead(read_records(file, form, text, skipped))


def _load(kept: _FileSlice | ReadBuffer) -> ReadBuffer:
    """Return a read buffer, or load that of a plain text file again."""
    if isinstance(kept, ReadBuffer):
        return kept
    with naming_file(kept.path, _REMEDY):
        text = kept.read()
    if len(text) != kept.size - kept.dropped:
        raise changed(name_of(kept.path))
    return ReadBuffer.of_lines(text, kept.path, kept.first_line)


def check_file(path: str, input_format: str, has_column: bool) -> None:
    """Raise if the format of a file contradicts its name, or a library to read it is missing.

    Pipes are not checked, because they can be opened only once.

    Parameters
    ----------
    path : str
        A readable path that `spmcompat.text.paths.expand` returned, or an address.
    input_format, has_column
        As for `form_of`.

    Raises
    ------
    TrainingError
        With a message that says what to do.
    """
    if is_remote(path):
        remote.size_of(path)
        return
    if not path or not stat.S_ISREG(os.stat(path).st_mode):
        return
    with naming_file(path, _REMEDY), open_input(path) as file:
        form = form_of_input(file, input_format, has_column)
    if form.compression:
        from spmcompat.text.compression import require_decoder

        require_decoder(form.compression)
    require_library(form.format)
