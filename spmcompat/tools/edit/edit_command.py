"""The command ``spmcompat edit``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import QUIET, Command, Flag, switch
from spmcompat.cli.tables import Rows, table
from spmcompat.engine import parse_float
from spmcompat.errors import BadValueError, UsageError, printable

if TYPE_CHECKING:
    from spmcompat.tools.edit.edits import EditResult
    from spmcompat.tools.edit.report import Changes

SHOWN = 20
_WIDEST = 60

MODEL_OUTPUT = Flag(
    "output",
    "Where to write the new model, and a .vocab file beside it if the name ends in .model. It may "
    "replace the (first) model.",
    metavar="FILE",
)
USE_UNUSED = switch(
    "use_unused", "Give new pieces the ids of unused pieces and of placeholders such as <unused0>."
)
_CSV = "Separated by commas, as in --user_defined_symbols."


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat edit",
        "Changes single pieces of a model and writes a new file. Pieces that stay keep their ids, "
        "unless --reorder_ids is given. All names refer to the model before the change. Flags with "
        "pieces may be repeated; their order does not matter. Write U+2581 for a space. A piece "
        "that is empty, occurs twice or cannot be loaded for another reason is named by its id, "
        "such as #17. An edit that would make a piece unusable is refused.",
        "MODEL --output=FILE [flags]",
        _run,
        [
            MODEL_OUTPUT,
            _pieces(
                "add_control", "A,B", f"New control pieces; encoding never produces them. {_CSV}"
            ),
            _pieces(
                "add_user_defined",
                "A,B",
                "New user-defined symbols. Each is one token, but a unigram model may prefer "
                "pieces that contain or overlap it. The command lists the old pieces that contain "
                f"a new symbol. {_CSV}",
            ),
            _pieces(
                "add", "A,B", f"New normal pieces, with scores below the lowest so far. {_CSV}"
            ),
            _pieces("rename", "OLD=NEW", "Change the text of a piece."),
            _pieces(
                "remove",
                "PIECE",
                "Stop using a piece. It keeps its id and becomes unused. To change the type of a "
                "piece, remove and add it in one call.",
            ),
            _pieces("set_score", "PIECE=SCORE", "Set the score of a normal piece, old or new."),
            USE_UNUSED,
            switch(
                "reorder_ids",
                "Drop unused pieces and renumber the others: first all pieces that are not normal, "
                "in their current order, then the normal pieces by score.",
            ),
            Flag(
                "text",
                "Report which words of this UTF-8 text are cut differently after the change, and "
                "the number of tokens before and after it. Needs sentencepiece.",
                metavar="FILE",
            ),
            switch("all", f"Show all such words, not only the first {SHOWN}."),
            QUIET,
        ],
        required=[("output",)],
        positionals=("one model is", 1, 1),
    )


def _pieces(name: str, metavar: str, help: str) -> Flag:
    return Flag(name, help, metavar=metavar, many=True, repeated=True)


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.tools.edit.editing import edit
    from spmcompat.tools.edit.edits import Edits

    (path,) = given.arguments
    edits = Edits(
        add_control=given.add_control,
        add_user_defined=given.add_user_defined,
        add=given.add,
        rename=_renamed(given.rename, path) if given.rename else {},
        remove=given.remove,
        set_score=_scores(given.set_score),
        use_unused=given.use_unused,
        reorder_ids=given.reorder_ids,
    )
    try:
        edits.check()
    except BadValueError as error:
        raise UsageError.of(error) from error
    result = edit(path, edits, given.output, given.text)
    if not given.quiet:
        limit = None if given.all else SHOWN
        stdout.writelines(f"{printable(line)}\n" for line in _report_lines(given, result, limit))


def _renamed(values: Sequence[str], path: str) -> dict[str, str]:
    """Return the new text of each piece from values of the form OLD=NEW.

    OLD or NEW may contain ``=``, so a value is split where OLD is a piece of the model.
    """
    from spmcompat.model.reading import read_for_editing

    for value in values:
        if "=" not in value[1:]:
            raise UsageError(f"--rename takes OLD=NEW, not {value!r}.")
    known = {piece.piece for piece in read_for_editing(path)[0].pieces}
    renamed: dict[str, str] = {}
    for value in values:
        splits = [
            (value[:at], value[at + 1 :]) for at, char in enumerate(value) if at and char == "="
        ]
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
            raise UsageError(f"--set_score takes PIECE=SCORE, not {value!r}.")
        _refuse_second(piece, scores, "--set_score")
        scores[piece] = score
    return scores


def _refuse_second(piece: str, found: Mapping[str, object], option: str) -> None:
    if piece in found:
        raise UsageError(f"{option} names {piece} twice. Name it once.")


def _report_lines(given: SimpleNamespace, result: EditResult, limit: int | None) -> Iterator[str]:
    """Yield the report of an edit, line by line."""
    before = "as before" if result.size == result.old_size else f"{result.old_size:,} before"
    yield f"{given.output}: {result.size:,} pieces, {before}"
    if result.ids:
        rows: Rows = sorted((piece_id, piece) for piece, piece_id in result.ids.items())
        yield from table(("id", "piece"), rows)
    for texts, what in (
        (given.remove, "removed"),
        (result.unreachable, "never used any more, because they contain a new symbol"),
        (result.covering, "used instead of a new symbol that they contain, unless you remove them"),
    ):
        if texts:
            more = "" if limit is None or len(texts) <= limit else " ..."
            number = "1 piece" if len(texts) == 1 else f"{len(texts):,} pieces"
            yield f"{what}: {number}: {' '.join(texts[:limit])}{more}"
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
