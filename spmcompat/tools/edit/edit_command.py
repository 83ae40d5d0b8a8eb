"""The command ``spmcompat edit``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.process import run_command
from spmcompat.cli.table import Rows, table
from spmcompat.errors import BadValueError, printable
from spmcompat.options.values import parse_float, split_csv

if TYPE_CHECKING:
    from spmcompat.tools.edit.editing import EditResult
    from spmcompat.tools.edit.report import Changes

SHOWN = 20
_WIDEST = 60

DESCRIPTION = """\
Changes single pieces of a model and writes a new file. Pieces that stay keep their ids, unless
--reorder-ids is given. All names refer to the model before the change. Options may be repeated;
their order does not matter. Write U+2581 for a space. An edit that would make a piece unusable
is refused.
"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat edit`` and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    arguments = _parser().parse_args(argv)
    return run_command("spmcompat edit", lambda: _run(arguments, out), err)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spmcompat edit", description=DESCRIPTION, allow_abbrev=False
    )
    parser.add_argument("model", metavar="MODEL", help="the model to change")
    parser.add_argument(
        "--output",
        required=True,
        metavar="FILE",
        help="where to write the new model, and a .vocab file beside it if the name ends in "
        ".model. It may be MODEL itself",
    )
    lists = (
        ("add-control", "new control pieces; encoding never produces them"),
        (
            "add-user-defined",
            "new user-defined symbols, which are always single tokens. The command lists the old "
            "pieces that contain one",
        ),
        ("add", "new normal pieces. Their scores continue below the lowest"),
    )
    for name, text in lists:
        _add(parser, name, "A,B", f"{text}. Separated by commas, as in --user_defined_symbols")
    _add(parser, "rename", "OLD=NEW", "change the text of a piece")
    _add(
        parser,
        "remove",
        "PIECE",
        "stop using a piece. It keeps its id and becomes unused. To change the type of a piece, "
        "remove and add it in one call",
    )
    _add(parser, "set-score", "PIECE=SCORE", "set the score of a normal piece, old or new")
    for name, text in (
        (
            "use-unused",
            "give new pieces the ids of unused pieces and of placeholders such as <unused0>",
        ),
        (
            "reorder-ids",
            "drop unused pieces and renumber the rest: first pieces of all other types in their "
            "current order, then normal pieces by score",
        ),
    ):
        parser.add_argument(*_spellings(name), action="store_true", help=text)
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="report which words of this UTF-8 text are cut differently after the change, and "
        "the number of tokens. Needs sentencepiece",
    )
    parser.add_argument(
        "--all", action="store_true", help=f"show all such words, not only the first {SHOWN}"
    )
    parser.add_argument("--quiet", action="store_true", help="print only errors")
    return parser


def _add(parser: argparse.ArgumentParser, name: str, metavar: str, text: str) -> None:
    parser.add_argument(*_spellings(name), action="append", default=[], metavar=metavar, help=text)


def _spellings(name: str) -> list[str]:
    """Return a flag with dashes, and with the underscores that other commands use."""
    return list(dict.fromkeys([f"--{name}", f"--{name.replace('-', '_')}"]))


def _run(arguments: argparse.Namespace, stdout: TextIO) -> None:
    from spmcompat.tools.edit.editing import edit  # noqa: PLC0415
    from spmcompat.tools.edit.edits import Edits  # noqa: PLC0415

    edits = Edits(
        add_control=_csv(arguments.add_control),
        add_user_defined=_csv(arguments.add_user_defined),
        add=_csv(arguments.add),
        rename=_renamed(arguments.rename, arguments.model) if arguments.rename else {},
        remove=arguments.remove,
        set_score=_scores(arguments.set_score),
        use_unused=arguments.use_unused,
        reorder_ids=arguments.reorder_ids,
    )
    result = edit(arguments.model, edits, arguments.output, arguments.report)
    if not arguments.quiet:
        limit = None if arguments.all else SHOWN
        stdout.writelines(f"{printable(line)}\n" for line in _told(arguments.output, result, limit))


def _csv(values: Sequence[str]) -> list[str]:
    return [text for value in values for text in split_csv(value)]


def _renamed(values: Sequence[str], path: str) -> dict[str, str]:
    """Return the new text of each piece. A piece may contain ``=``: OLD is a piece of the model."""
    from spmcompat.model.reading import read_model  # noqa: PLC0415

    known = {piece.piece for piece in read_model(path).pieces}
    renamed: dict[str, str] = {}
    for value in values:
        splits = [
            (value[:at], value[at + 1 :]) for at, char in enumerate(value) if at and char == "="
        ]
        if not splits:
            raise BadValueError(f"--rename takes OLD=NEW, not {value!r}.")
        found = [(old, new) for old, new in splits if old in known and new] or splits[:1]
        if len(found) > 1:
            readings = " or ".join(f"{old} to {new}" for old, new in found)
            raise BadValueError(
                f"--rename={value} can mean {readings}. Use spmcompat.edit in Python."
            )
        old, new = found[0]
        _refuse_second(old, renamed, "--rename")
        renamed[old] = new
    return renamed


def _scores(values: Sequence[str]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for value in values:
        piece, _, text = value.rpartition("=")
        try:
            score = parse_float(text)
        except BadValueError:
            piece = ""
        if not piece:
            raise BadValueError(f"--set-score takes PIECE=SCORE, not {value!r}.")
        _refuse_second(piece, scores, "--set-score")
        scores[piece] = score
    return scores


def _refuse_second(piece: str, found: Mapping[str, object], option: str) -> None:
    if piece in found:
        raise BadValueError(f"{option} names {piece} twice. Name it once.")


def _told(output: str, result: EditResult, limit: int | None) -> Iterator[str]:
    """Yield the report of an edit, line by line."""
    before = "as before" if result.size == result.old_size else f"{result.old_size:,} before"
    yield f"{output}: {result.size:,} pieces, {before}"
    if result.ids:
        rows: Rows = sorted((piece_id, piece) for piece, piece_id in result.ids.items())
        yield from table(("id", "piece"), rows)
    for texts, what in (
        (result.unreachable, "never used any more, because they contain a new symbol"),
        (
            result.covering,
            "used instead of a new symbol that they contain, unless you remove them",
        ),
    ):
        if texts:
            more = "" if limit is None or len(texts) <= limit else " ..."
            yield f"{what}: {len(texts):,} pieces: {' '.join(texts[:limit])}{more}"
    if result.dropped_samples:
        yield f"dropped {result.dropped_samples:,} self-test samples: they may no longer be correct"
    if result.changes is not None:
        yield from _changes(result.changes, limit)


def _changes(changes: Changes, limit: int | None) -> Iterator[str]:
    yield (
        f"{changes.tokens_before:,} tokens before, {changes.tokens_after:,} after; "
        f"{changes.changed_lines:,} of {changes.lines:,} lines are cut differently"
    )
    yield f"words that are cut differently: {len(changes.words):,}"
    rows: Rows = [
        (one.occurrences, one.word, " ".join(one.before), " ".join(one.after))
        for one in changes.words[:limit]
    ]
    yield from table(("count", "word", "before", "after"), rows, _WIDEST)
    if limit is not None and len(changes.words) > limit:
        yield f"  ...and {len(changes.words) - limit:,} more; --all shows them"
