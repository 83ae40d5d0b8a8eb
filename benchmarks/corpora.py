"""The texts to train on: files of one folder, joined, cut to a size, or copied several times."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.parity.corpora import head

MB = 1_000_000
# A smaller text yields too few pieces, so `scale` never makes a text smaller than this.
_LEAST = 300_000
_BUFFER = 1 << 20


@dataclass(frozen=True)
class Text:
    """A text, and how to make it.

    Attributes
    ----------
    title
        Its name in the tables.
    parts
        Names of the files to join, without ``.txt``.
    size
        Largest size in bytes; the text is cut after the last whole line. None keeps the whole text.
    copies
        Number of copies. If there are several, each has its lines in a different order.
    """

    title: str
    parts: tuple[str, ...]
    size: int | None = None
    copies: int = 1

    def missing(self, found: Mapping[str, Path]) -> list[str]:
        """Return the parts whose files are missing."""
        return [part for part in self.parts if part not in found]

    def make(self, found: Mapping[str, Path], folder: Path, scale: float = 1.0) -> Path:
        """Return the file to train on: the original file if all of it is used, or a new file.

        Parameters
        ----------
        found : mapping of str to Path
            The files, by name.
        folder : Path
            Folder for a new file.
        scale : float
            Share of the text to use.
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
    """Join files, keep only whole lines in the first `size` bytes, and write `copies` copies."""
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
    """Yield copies of a text, each with another order of lines. Every run has the same orders."""
    lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
    for seed in range(copies):
        order = lines.copy()
        random.Random(seed).shuffle(order)
        yield b"".join(order)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, without reading it into memory as a whole."""
    total = hashlib.sha256()
    with path.open("rb") as stream:
        while buffer := stream.read(_BUFFER):
            total.update(buffer)
    return total.hexdigest()
