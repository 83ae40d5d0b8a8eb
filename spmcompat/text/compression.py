"""Decompresses files as streams.

A compressed file may consist of several members, which are concatenated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Protocol

from spmcompat.errors import BrokenFileError
from spmcompat.runtime.libraries import is_installed, require
from spmcompat.text.forms import BZIP2, GZIP, HEAD_BYTES, XZ, ZSTD, Form, check_contents
from spmcompat.text.opening import InputFile, name_of

# Files are read in chunks of this many bytes. At the end of each member, the rest of the chunk is
# copied, so large chunks would be slow for small members.
_CHUNK_BYTES = 1 << 16

# Decompressed data are returned in parts of at most this many bytes, because a few compressed bytes
# can become gigabytes.
_PART_BYTES = 1 << 20

# The largest window, which zstd --long=31 writes. Only frames with such a window need the memory
# for it.
_WINDOW_LOG = 31

_ZSTANDARD = "zstandard"
_STEP = 1024


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


class _Contents:
    """The decompressed content of a file. The constructor checks the first bytes of the content."""

    def __init__(self, file: InputFile, form: Form) -> None:
        name = name_of(file.path)
        require_decoder(form.compression)
        self._parts = _decompressed(file, form.compression, name)
        self._rest = memoryview(b"")
        head = bytearray(HEAD_BYTES)
        head = head[: self.readinto(head)]
        check_contents(name, bytes(head), form)
        self._rest = memoryview(b"".join((head, self._rest)))

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Fill the buffer, and return the number of bytes.

        The number is less than the size of the buffer only at the end of the file.
        """
        view = memoryview(buffer)
        filled = 0
        while filled < len(view):
            self._rest = self._rest or memoryview(next(self._parts, b""))
            if not self._rest:
                break
            part = self._rest[: len(view) - filled]
            view[filled : filled + len(part)] = part
            filled += len(part)
            self._rest = self._rest[len(part) :]
        return filled


def contents(file: InputFile, form: Form) -> InputFile | _Contents:
    """Return the content of a file. Decompress compressed content, and check its beginning."""
    return _Contents(file, form) if form.compression else file


def _decompressed(file: InputFile, compression: str, name: str) -> Iterator[bytes]:
    """Yield the decompressed content of a file, in parts of at most `_PART_BYTES` bytes.

    Parameters
    ----------
    file : InputFile
        The file.
    compression : str
        `GZIP`, `ZSTD`, `XZ` or `BZIP2`.
    name : str
        The name of the file in error messages.
    """
    rest = file.read(_CHUNK_BYTES)
    if not rest:
        raise BrokenFileError(f"{name} is empty, so it is not a {compression} file: make it again.")
    members = 0
    while rest:
        decoder = _decoder(compression)
        has_begun = False  # whether the decoder has accepted data
        while not decoder.eof:
            data = b""
            if decoder.needs_input:
                data, rest = rest or file.read(_CHUNK_BYTES), b""
                if not data:
                    raise BrokenFileError(
                        f"{name} ends early: its last {compression} member is incomplete. Copy or "
                        "make the file again."
                    )
            try:
                part = decoder.decompress(data, _PART_BYTES)
            except MemoryError:
                raise
            except Exception as error:  # each module has its own error types
                reason = " ".join(str(error).split()) or type(error).__name__
                what = f"{compression} cannot decompress it near byte {file.consumed} ({reason})"
                if members and not has_begun:
                    what = (
                        f"the bytes after its last {compression} member are not {compression} data"
                    )
                raise BrokenFileError(
                    f"{name} is broken: {what}. Test the file with {compression} -t, and copy or "
                    "make it again."
                ) from None
            has_begun = True
            if part:
                yield part
        members += 1
        rest = decoder.unused_data.lstrip(b"\0")
        while not rest and (chunk := file.read(_CHUNK_BYTES)):
            rest = chunk.lstrip(b"\0")


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
        self._input = b""

    @property
    def eof(self) -> bool:
        """Whether the end of the frame has been reached."""
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        """Whether all input has been decompressed."""
        return not self._input

    @property
    def unused_data(self) -> bytes:
        """The input bytes after the end of the frame."""
        return bytes(self._inner.unused_data + self._input)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Decompress a part of the data, whatever its length."""
        data = data or self._input
        self._input = data[_STEP:]
        return bytes(self._inner.decompress(data[:_STEP]))


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
