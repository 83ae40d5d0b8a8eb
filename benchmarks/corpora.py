"""The texts that are measured: files of one folder in a row, their beginning, or copies."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.parity.corpora import head

MB = 1_000_000
# What `scale` never goes below: a smaller text trains on nothing.
_LEAST = 300_000
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Text:
    """A text and how it is made.

    Attributes
    ----------
    title
        What a reader of the tables is told.
    parts
        Names of files without ``.txt``; they follow one another.
    size
        Bytes to keep at most, cut after the last whole line; None keeps all.
    copies
        How many times over, if more than once: each copy has its lines in another order.
    """

    title: str
    parts: tuple[str, ...]
    size: int | None = None
    copies: int = 1

    def missing(self, found: Mapping[str, Path]) -> list[str]:
        """Return the parts that are not there."""
        return [part for part in self.parts if part not in found]

    def make(self, found: Mapping[str, Path], folder: Path, scale: float = 1.0) -> Path:
        """Return the file to train on: the only part itself, or a new file in `folder`.

        Parameters
        ----------
        found : mapping of str to Path
            The files, by name.
        folder : Path
            Where a new file may be written.
        scale : float
            Share of the text to take.
        """
        files = [found[part] for part in self.parts]
        whole = sum(file.stat().st_size for file in files)
        size = min(whole, self.size or whole)
        size = min(size, max(int(size * scale), _LEAST))
        if size == whole and len(files) == self.copies == 1:
            return files[0]
        target = folder / "made.txt"
        write(files, size, self.copies, target)
        return target


def write(files: Sequence[Path], size: int, copies: int, target: Path) -> None:
    """Write the first `size` bytes of all files together, up to a line end, `copies` times."""
    with target.open("wb") as out:
        for file in files:
            with file.open("rb") as stream:
                shutil.copyfileobj(stream, out)
    if size < target.stat().st_size:
        target.write_bytes(head(target, size))
    if copies > 1:
        data = target.read_bytes()
        with target.open("wb") as out:
            out.writelines(reordered(data, copies))


def reordered(data: bytes, copies: int) -> Iterator[bytes]:
    """Yield copies of a text, each with its lines in another order, always the same orders."""
    lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
    for seed in range(copies):
        order = lines.copy()
        random.Random(seed).shuffle(order)
        yield b"".join(order)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    total = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            total.update(block)
    return total.hexdigest()
