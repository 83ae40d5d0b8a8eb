"""Prints comments and docstrings at random, for a reader who asks whether they are plain English.

``python -m tests.comments --seed 1`` prints ten of each room, with the file and the line. Read each
once; whatever needs a second reading is to be written again.
"""

import argparse
import ast
import io
import random
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "spmcompat"
GENERATED = ("sentencepiece_model_pb2", "_ranges.hpp")


class Comment(NamedTuple):
    """A comment of neighbouring lines, or a docstring."""

    path: Path
    line: int
    text: str


def blocks(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join comments on neighbouring lines."""
    first, words = 0, ""
    for i, (number, text) in enumerate(lines):
        if i == 0 or number != lines[i - 1][0] + 1:
            if words:
                yield first, words
            first, words = number, text
        else:
            words += " " + text
    if words:
        yield first, words


def of_cpp(text: str) -> Iterator[tuple[int, str]]:
    found = [
        (number, match[1])
        for number, line in enumerate(text.splitlines(), 1)
        if (match := re.search(r"(?:^|\s)// ?(.*)", line))
    ]
    yield from blocks(found)


def of_python(text: str) -> Iterator[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = [
        (token.start[0], token.string.lstrip("# "))
        for token in tokens
        if token.type == tokenize.COMMENT and not token.string.startswith("# noqa")
    ]
    yield from blocks(found)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (docstring := ast.get_docstring(node)):
            yield node.body[0].lineno, docstring


def of_cython(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings and comments; Python's parser does not read Cython."""
    for match in re.finditer(r'"""(.*?)"""|(?m:^\s*# (.*)$)', text, re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


READERS = {
    ".hpp": of_cpp,
    ".py": of_python,
    ".pyi": of_python,
    ".pyx": of_cython,
    ".pxd": of_cython,
}


def comments_by_room() -> dict[str, list[Comment]]:
    rooms: dict[str, list[Comment]] = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix not in READERS or any(part in path.name for part in GENERATED):
            continue
        folder = path.relative_to(PACKAGE).parent.as_posix()
        for line, text in READERS[path.suffix](path.read_text(encoding="utf-8")):
            rooms.setdefault(folder, []).append(Comment(path, line, " ".join(text.split())))
    return rooms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="another seed, other comments")
    parser.add_argument("--count", type=int, default=10, help="comments of each room")
    parser.add_argument("--room", help="one room, for example unigram/lattice")
    given = parser.parse_args()
    for room, comments in comments_by_room().items():
        if given.room not in (None, room):
            continue
        print(f"\n== {room}")
        chosen = random.Random(f"{given.seed} {room}").sample(
            comments, min(given.count, len(comments))
        )
        for comment in sorted(chosen):
            print(f"{comment.path.relative_to(PACKAGE.parent)}:{comment.line}: {comment.text}")


if __name__ == "__main__":
    main()
