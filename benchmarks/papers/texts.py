"""Writes the texts for the tables to the work folder: a few megabytes for each language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.papers.tables import LANGUAGES


def languages(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each language in `LANGUAGES` whose files all exist.

    If there is no such language, each text file in the folder counts as a language.
    """
    found = {name: [folder / f"{file}.txt" for file in files] for name, files in LANGUAGES.items()}
    found = {name: files for name, files in found.items() if all(f.exists() for f in files)}
    return found or {path.stem: [path] for path in sorted(folder.glob("*.txt"))}


def write_parts(
    name: str, files: Sequence[Path], size: int | None, parts: int, folder: Path
) -> list[Path]:
    """Write consecutive parts of a language's text, each of about `size` bytes, to separate files.

    A part ends with the line that reaches `size`. If `size` is None, the only part is the whole
    text. The first part is always written; further parts are written only if they are complete.
    """
    label = "-whole" if size is None else ""
    lines = _lines(files)
    written: list[Path] = []
    for number in range(1, parts + 1):
        target = folder / (f"{name}{label}.txt" if number == 1 else f"{name}-part{number}.txt")
        part: list[bytes] = []
        length = 0
        for line in lines:
            part.append(line)
            length += len(line)
            if size is not None and length >= size:
                break
        if number > 1 and (size is None or length < size):
            break
        if not target.exists():
            temporary = target.with_suffix(".tmp")
            temporary.write_bytes(b"".join(part))
            temporary.replace(target)
        written.append(target)
    return written


def write_pair(
    name: str, file: Path, other: Path, size: int | None, folder: Path
) -> tuple[Path, Path]:
    """Write a text for training and another text for evaluation, each of about `size` bytes.

    If both texts come from the same file, the text for training is at most about the first two
    thirds of the file, and the text for evaluation follows it.
    """
    targets = folder / f"{name}-train.txt", folder / f"{name}-other.txt"
    both = file.stat().st_size
    limit = min(size or both, both * 2 // 3 if file == other else both)
    with open(file, "rb") as lines:
        _write(targets[0], _head(lines, limit))
        if file == other:
            _write(targets[1], _head(lines, size))
    if file != other:
        with open(other, "rb") as lines:
            _write(targets[1], _head(lines, size))
    return targets


def write_changed(
    text: Path, ending: str, change: Callable[[Iterable[bytes]], Iterator[bytes]]
) -> Path:
    """Change the lines of a text with `change`, and write them to a file next to the text."""
    target = text.with_name(f"{text.stem}-{ending}.txt")
    with open(text, "rb") as lines:
        _write(target, change(lines))
    return target


def _write(target: Path, lines: Iterable[bytes]) -> None:
    temporary = target.with_suffix(".tmp")
    with open(temporary, "wb") as file:
        file.writelines(lines)
    temporary.replace(target)


def _head(lines: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    """Yield lines until their total length reaches `size`; yield all lines if `size` is None."""
    length = 0
    for line in lines:
        yield line
        length += len(line)
        if size is not None and length >= size:
            return


def _lines(files: Sequence[Path]) -> Iterator[bytes]:
    for path in files:
        with open(path, "rb") as file:
            yield from file
