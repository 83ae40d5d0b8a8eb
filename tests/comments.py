"""Prints random comments and docstrings, so that a reader can judge whether they are clear.

``python -m tests.comments --seed 1`` prints ten of each package, with the file and the line. Read
each once, and rewrite whatever needs a second reading.
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
FOR_TOOLS = re.compile(r"# ?(noqa|type:|cython:|distutils:|!)")


class Comment(NamedTuple):
    """A comment on one or more consecutive lines, or a docstring."""

    path: Path
    line: int
    text: str


class Found(NamedTuple):
    """A comment of one line, as written in the file."""

    line: int
    text: str
    alone: bool  # no code precedes it on its line


def joined(comments: list[Found]) -> Iterator[tuple[int, str]]:
    """Join comments that fill neighbouring lines; a comment after code is not joined."""
    parts: list[Found] = []
    for comment in comments:
        follows = parts and parts[-1].alone and comment.line == parts[-1].line + 1
        if parts and not (follows and comment.alone):
            yield parts[0].line, " ".join(part.text for part in parts)
            parts = []
        parts.append(comment)
    if parts:
        yield parts[0].line, " ".join(part.text for part in parts)


def of_cpp(text: str) -> Iterator[tuple[int, str]]:
    """Yield comments, except those that mark the end of a namespace."""
    yield from joined(
        [
            Found(number, match[2], alone=not match[1].strip())
            for number, line in enumerate(text.splitlines(), 1)
            if (match := re.match(r"((?:.*\s)?)// ?(.*)", line))
            and not match[2].startswith("namespace")
        ]
    )


def of_python(text: str) -> Iterator[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from joined(
        [
            Found(
                token.start[0],
                token.string.lstrip("# "),
                alone=not token.line[: token.start[1]].strip(),
            )
            for token in tokens
            if token.type == tokenize.COMMENT and not FOR_TOOLS.match(token.string)
        ]
    )
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield node.lineno, docstring


CYTHON_TOKEN = re.compile(
    r'"""(?P<long>.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#(?P<comment>[^\n]*)',
    re.DOTALL,
)


def of_cython(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings and comments, found by a pattern. Python's parser cannot read Cython."""
    comments = []
    for match in CYTHON_TOKEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        before = text[: match.start()]
        statement = before.rstrip().rpartition("\n")[2]
        if match["comment"] is not None and not FOR_TOOLS.match(match[0]):
            alone = not before.rpartition("\n")[2].strip()
            comments.append(Found(line, match["comment"].strip(), alone))
        elif match["long"] and statement.startswith("cdef extern"):
            # This is C++ code, not a docstring.
            yield from ((line + number - 1, words) for number, words in of_cpp(match["long"]))
        elif match["long"] and (not statement or statement.endswith(":")):
            yield line, match["long"]
    yield from joined(comments)


READERS = {
    ".hpp": of_cpp,
    ".py": of_python,
    ".pyi": of_python,
    ".pyx": of_cython,
    ".pxd": of_cython,
}


def comments_by_package() -> dict[str, list[Comment]]:
    packages: dict[str, list[Comment]] = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix not in READERS or any(part in path.name for part in GENERATED):
            continue
        folder = path.relative_to(PACKAGE).parent.as_posix()
        for line, text in READERS[path.suffix](path.read_text(encoding="utf-8")):
            packages.setdefault(folder, []).append(Comment(path, line, " ".join(text.split())))
    return packages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True, help="another seed, other comments")
    parser.add_argument("--count", type=int, default=10, help="comments of each package")
    parser.add_argument("--package", help="one package, for example unigram/lattice")
    given = parser.parse_args()
    for package, comments in comments_by_package().items():
        if given.package not in (None, package):
            continue
        print(f"\n== {package}")
        chosen = random.Random(f"{given.seed} {package}").sample(
            comments, min(given.count, len(comments))
        )
        for comment in sorted(chosen):
            print(f"{comment.path.relative_to(PACKAGE.parent)}:{comment.line}: {comment.text}")


if __name__ == "__main__":
    main()
