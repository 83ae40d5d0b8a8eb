"""Where sentences come from: files, an iterator, or a sample of either.

Each source hands out the text once, block by block. Files and samples can fold any of their
blocks again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from spmcompat.counting.counter import Batch, Chunk, Folder
from spmcompat.errors import MissingFileError, TrainingError
from spmcompat.releases import Release
from spmcompat.runtime.progress import Report
from spmcompat.text.lines import BLOCK_BYTES, Block, Sample, Sentences

_SAMPLE_BLOCK = 1 << 14  # sentences


class Source(Protocol):
    """Blocks that can be folded, and folded again."""

    def __len__(self) -> int:
        """Return the number of blocks."""

    def why_once(self) -> str:
        """Tell why the text can be read only once; empty if it can be read again."""

    def fold(
        self, index: int, folder: Folder, keep_words: bool, chunk: Chunk | None = None
    ) -> Batch:
        """Fold the sentences of a block, or those of them that lie in a chunk."""


class _Stretch(NamedTuple):
    """Whole lines of a file."""

    path: str
    offset: int
    size: int
    first_line: int


class Files:
    """The lines of files, in order.

    Parameters
    ----------
    paths : sequence of str
        The files; an empty name is standard input.
    max_length : int
        The longest sentence, in bytes.
    tsv : bool
        Whether lines are ``word<TAB>count``.
    release : Release
        How files without a line are read, and counts.
    report : Report
        Told the files.
    """

    def __init__(
        self,
        paths: Sequence[str],
        max_length: int,
        tsv: bool,
        release: Release,
        report: Report,
    ) -> None:
        self._paths = paths
        self._max_length = max_length
        self._tsv = tsv
        self._release = release
        self._report = report
        self._places: list[_Stretch | Block] = []

    def __len__(self) -> int:
        """Return the number of blocks that were read."""
        return len(self._places)

    def size(self) -> int | None:
        """Return the size in bytes, or None where it is not known beforehand."""
        try:
            return sum(os.stat(path).st_size for path in self._paths) or None
        except OSError:
            return None

    def why_once(self) -> str:
        """Tell why the text can be read only once; empty if it can be read again."""
        for path in self._paths:
            if not path:
                return "standard input can be read only once"
            mode = os.stat(path).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return f"{path} is no regular file and can be read only once"
        return ""

    def __iter__(self) -> Iterator[Block]:
        """Read the files in order.

        From an empty file that is not the last, the reference reads one line: an empty one, or,
        in some releases, the last line of the file before once more if that lacks its line end.
        """
        repeats = self._release.empty_files_repeat_lines
        self._places = []
        line = b""
        for number, path in enumerate(self._paths, 1):
            self._report.info(f"Loading corpus: {path}")
            offset = 0
            try:
                with open(path or 0, "rb", buffering=0) as file:
                    name = path or "standard input"
                    for block in _blocks_of_file(file, name, count_lines=self._tsv):
                        self._places.append(_Stretch(path, offset, block.size, block.first_line))
                        yield block
                        line = block.unfinished_line() if repeats else b""
                        offset += block.size
            except OSError as error:
                if not self._reads_folder(path):
                    raise _unreadable(path, error) from error
            if offset == 0 and number < len(self._paths):
                block = Block.of_lines(line + b"\n", path, 1)
                self._places.append(block)
                yield block

    def fold(
        self, index: int, folder: Folder, keep_words: bool, chunk: Chunk | None = None
    ) -> Batch:
        """Fold the sentences of a block, or those of them that lie in a chunk."""
        sentences = Sentences(self._max_length, self._tsv, self._release)
        return folder.add(index, self._load(index), sentences, keep_words, chunk)

    def _reads_folder(self, path: str) -> bool:
        return self._release.folder_is_empty_file and os.path.isdir(path)

    def _load(self, index: int) -> Block:
        place = self._places[index]
        if isinstance(place, Block):
            return place
        try:
            with open(place.path, "rb") as file:
                file.seek(place.offset)
                text = file.read(place.size)
        except OSError as error:
            raise _unreadable(place.path, error) from error
        return Block.of_lines(text, place.path, place.first_line)


class Items:
    """The items of an iterator, each a sentence."""

    def __init__(self, items: Iterable[str | bytes]) -> None:
        self._items = items

    def __len__(self) -> int:
        """Return 0: no block is kept."""
        return 0

    def size(self) -> None:
        """Return None: the size is not known beforehand."""

    def why_once(self) -> str:
        """Tell why the text can be read only once."""
        return "an iterator can be read only once"

    def __iter__(self) -> Iterator[Block]:
        """Take the items in order."""
        iterator = iter(self._items)
        first = 1
        while True:
            try:
                block = Block.of_items(iterator, first)
            except (TrainingError, MemoryError):
                raise
            except Exception as error:
                raise TrainingError(
                    f"INTERNAL: the sentence iterator raised {type(error).__name__}: {error}"
                ) from error
            if block is None:
                return
            yield block
            first += block.lines

    def fold(
        self, index: int, folder: Folder, keep_words: bool, chunk: Chunk | None = None
    ) -> Batch:
        """Raise an error: the items are gone."""
        raise TrainingError(self.why_once())


class Sampled:
    """Sampled sentences, which stay in memory."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample

    def __len__(self) -> int:
        """Return the number of blocks."""
        return (len(self._sample) + _SAMPLE_BLOCK - 1) // _SAMPLE_BLOCK

    def why_once(self) -> str:
        """Return nothing: a sample can be read again."""
        return ""

    def fold(
        self, index: int, folder: Folder, keep_words: bool, chunk: Chunk | None = None
    ) -> Batch:
        """Fold the sentences of a block, or those of them that lie in a chunk."""
        first = index * _SAMPLE_BLOCK
        last = min(first + _SAMPLE_BLOCK, len(self._sample))
        return folder.add_sample(index, self._sample, first, last, keep_words, chunk)


class Overheard:
    """A uniform sample of the sentences, drawn while others read them.

    Parameters
    ----------
    size : int
        How many at most.
    seed : int
        Of the draw.
    narrow : bool
        Whether to draw as sentencepiece does, where that is repeatable.
    """

    def __init__(self, size: int, seed: int, narrow: bool) -> None:
        self._size = size
        self._seed = seed
        self._narrow = narrow
        self.lines: Sample | None = None

    def hear(self, blocks: Iterable[Block], sentences: Sentences, among: int) -> Iterator[Block]:
        """Hand the blocks on, and draw anew: from all of their sentences, or the first `among`."""
        self.lines = Sample(self._size, True, self._seed, self._narrow, among)
        for block in blocks:
            if not self.lines.done:
                self.lines.add(block, sentences)
            yield block


class _Readable(Protocol):
    def readinto(self, buffer: bytearray, /) -> int | None: ...


def _blocks_of_file(file: _Readable, name: str, count_lines: bool = True) -> Iterator[Block]:
    """Cut a file at line ends; a line longer than a block is read whole.

    Lines need to be counted only where one of them can be wrong.
    """
    buffer = bytearray(BLOCK_BYTES)
    view = memoryview(buffer)
    rest: list[bytes] = []
    line = 1
    while size := file.readinto(buffer):
        end = buffer.rfind(b"\n", 0, size) + 1
        if end > 0:
            text = b"".join([*rest, view[:end]])
            yield Block.of_lines(text, name, line)
            line += text.count(b"\n") if count_lines else 0
            rest.clear()
        rest.append(bytes(view[end:size]))
    if text := b"".join(rest):
        yield Block.of_lines(text, name, line)


def _unreadable(path: str, error: OSError) -> MissingFileError:
    return MissingFileError(f'NOT_FOUND: "{path}": {os.strerror(error.errno or 0)}: check --input.')
