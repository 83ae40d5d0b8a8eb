"""Decompresses files as streams.

A compressed file may consist of several members, which are concatenated.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

from spmcompat.errors import BrokenFileError
from spmcompat.runtime.libraries import is_installed, require
from spmcompat.text.forms import BZIP2, GZIP, HEAD_BYTES, XZ, ZSTD, Form, check_contents
from spmcompat.text.opening import InputFile, name_of

# Files are read in chunks of this many bytes. At the end of each member, the rest of the chunk is
# copied, so large chunks would be slow for small members.
_CHUNK_BYTES = 1 << 16

# The largest window, which zstd --long=31 writes. Only frames with such a window need the memory
# for it.
_WINDOW_LOG = 31

_ZSTANDARD = "zstandard"
_STEP = 1024

_TESTS = {
    GZIP: "gzip -t",
    ZSTD: "zstd -t",
    XZ: "xz -t",
    BZIP2: "bzip2 -t",
}


class Readable(Protocol):
    """A file of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes. An empty result means the end of the file."""


class _Decoder(Protocol):
    """Decompresses one member."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def require_decoder(compression: str) -> None:
    """Raise if the library for this compression is not installed.

    Raises
    ------
    MissingLibraryError
        With a message that says what to install.
    """
    if compression == ZSTD:
        require(_zstd_module(), "Reading .zst files", "zstd")


class Decompressed:
    """The decompressed content of a file.

    Parameters
    ----------
    file : Readable
        The file.
    compression : str
        `GZIP`, `ZSTD`, `XZ` or `BZIP2`.
    name : str
        The name of the file in error messages.

    Attributes
    ----------
    consumed : int
        The number of bytes of the compressed file that were read.
    """

    def __init__(self, file: Readable, compression: str, name: str) -> None:
        require_decoder(compression)
        self._file = file
        self._compression = compression
        self._name = name
        self._rest = b""  # bytes that were read but belong to the next member
        self._members = 0
        self._has_begun = False  # whether the decoder has accepted data of the current member
        self._decoder: _Decoder | None = None
        self.consumed = 0

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Fill the buffer, and return the number of bytes.

        The number is less than the size of the buffer only at the end of the file.
        """
        view = memoryview(buffer)
        filled = 0
        while filled < len(view) and (part := self._part(len(view) - filled)):
            view[filled : filled + len(part)] = part
            filled += len(part)
        return filled

    def _part(self, most: int) -> bytes:
        """Return at most `most` bytes. An empty result means the end of the file."""
        while self._decoder is not None or self._begin_member():
            assert self._decoder is not None
            data = b""
            if self._decoder.needs_input:
                data = self._rest or self._read()
                self._rest = b""
                if not data:
                    raise BrokenFileError(
                        f"{self._name} ends early: its last {self._compression} member is "
                        "incomplete. Copy or make the file again."
                    )
            part = self._decode(data, most)
            self._has_begun = True
            if self._decoder.eof:
                self._rest = self._decoder.unused_data
                self._decoder = None
            if part:
                return part
        return b""

    def _begin_member(self) -> bool:
        """Skip zero bytes after a member, and begin the next member if there is one."""
        if self._members > 0:
            self._rest = self._rest.lstrip(b"\0")
        while not self._rest:
            self._rest = self._read()
            if not self._rest and self._members > 0:
                return False
            if not self._rest:
                raise BrokenFileError(
                    f"{self._name} is empty, so it is not a {self._compression} file: make it "
                    "again."
                )
            if self._members > 0:
                self._rest = self._rest.lstrip(b"\0")
        self._members += 1
        self._has_begun = False
        self._decoder = _decoder(self._compression)
        return True

    def _read(self) -> bytes:
        data = self._file.read(_CHUNK_BYTES)
        self.consumed += len(data)
        return data

    def _decode(self, data: bytes, most: int) -> bytes:
        assert self._decoder is not None
        try:
            return self._decoder.decompress(data, most)
        except MemoryError:
            raise
        except Exception as error:  # each module has its own error types
            reason = " ".join(str(error).split()) or type(error).__name__
            what = f"{self._compression} cannot decompress it near byte {self.consumed} ({reason})"
            if self._members > 1 and not self._has_begun:
                what = (
                    f"the bytes after its last {self._compression} member are not "
                    f"{self._compression} data"
                )
            raise BrokenFileError(
                f"{self._name} is broken: {what}. Test the file with {_TESTS[self._compression]}, "
                "and copy or make it again."
            ) from None


class _CheckedContents:
    """The decompressed content of a file. The constructor checks the first bytes of the content."""

    def __init__(self, inner: Decompressed, name: str, form: Form) -> None:
        self._inner = inner
        head = bytearray(HEAD_BYTES)
        self._head = bytes(head[: inner.readinto(head)])
        check_contents(name, self._head, form)

    def readinto(self, buffer: memoryview, /) -> int:
        """Read bytes into the buffer, and return their number; 0 at the end of the file."""
        head, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(head)] = head
        return len(head) + self._inner.readinto(buffer[len(head) :])


def contents(file: InputFile, form: Form) -> InputFile | _CheckedContents:
    """Return the content of a file. Decompress compressed content, and check its beginning."""
    if not form.compression:
        return file
    name = name_of(file.path)
    return _CheckedContents(Decompressed(file, form.compression, name), name, form)


def _decoder(compression: str) -> _Decoder:
    """Return a decoder for the next member. Its module is imported only when it is needed."""
    decoder: Any
    if compression == GZIP:
        decoder = _Gunzip()
    elif compression == BZIP2:
        import bz2

        decoder = bz2.BZ2Decompressor()
    elif compression == XZ:
        import lzma

        decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    else:
        from importlib import import_module

        zstd = import_module(_zstd_module())
        if zstd.__name__ == _ZSTANDARD:
            decoder = _Zstandard(zstd.ZstdDecompressor(max_window_size=1 << _WINDOW_LOG))
        else:
            window = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}
            decoder = zstd.ZstdDecompressor(options=window)
    found: _Decoder = decoder
    return found


def _zstd_module() -> str:
    """Return the module to use. If none is installed, it is the one to install."""
    if sys.version_info >= (3, 14):
        return "compression.zstd"
    usual = "backports.zstd"
    return _ZSTANDARD if not is_installed(usual) and is_installed(_ZSTANDARD) else usual


class _Zstandard:
    """Decompresses a frame with the package zstandard. It has the interface of the other decoders.

    The package decompresses all of its input, and a few bytes can become 128 KiB. So it gets little
    input at a time.

    Parameters
    ----------
    decompressor : zstandard.ZstdDecompressor
    """

    def __init__(self, decompressor: Any) -> None:
        self._inner = decompressor.decompressobj()
        self._input = memoryview(b"")
        self._output = memoryview(b"")

    @property
    def eof(self) -> bool:
        """Whether the end of the frame has been reached."""
        return self._inner.eof and not self._output

    @property
    def needs_input(self) -> bool:
        """Whether all input has been decompressed."""
        return not self._input and not self._output

    @property
    def unused_data(self) -> bytes:
        """The input bytes after the end of the frame."""
        return b"".join((self._inner.unused_data, self._input))

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress `data`, and return at most `max_length` bytes of the result."""
        if data:
            self._input = memoryview(data)
        while self._input and not self._output and not self._inner.eof:
            step, self._input = self._input[:_STEP], self._input[_STEP:]
            self._output = memoryview(self._inner.decompress(step))
        part, self._output = self._output[:max_length], self._output[max_length:]
        return bytes(part)


class _Gunzip:
    """Decompresses a gzip member with zlib. It has the interface of the other decoders."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        """Whether the end of the gzip member has been reached."""
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        """The input bytes after the end of the gzip member."""
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress `data`, and return at most `max_length` bytes of the result."""
        part = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = not self._inner.unconsumed_tail and len(part) < max_length
        return part
