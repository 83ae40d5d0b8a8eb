"""The command ``spmcompat diff``."""

import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO, TypeAlias

from spmcompat.cli.flags import UsageError, read_flags
from spmcompat.cli.process import run_command

if TYPE_CHECKING:
    from spmcompat.cli.table import Rows
    from spmcompat.tools.diff.difference import Difference, PiecesDifference

EQUAL, DIFFERENT = 0, 1
SHOWN = 10

HELP = f"""\
Tells whether two models are equal, and else what differs.

usage: spmcompat diff [--json] [--all] A.model B.model

  --json  Tell everything as JSON.
  --all   Show everything, not only the first {SHOWN} of each list.
  --help  Show this text.

Exits with 0 if the files are equal byte for byte, 1 if they differ, 2 if one cannot be read.
"""

# A title, the heads of the columns, and the rows.
_Section: TypeAlias = "tuple[str, tuple[str, ...], Rows]"
_WIDEST = 48


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Compare two models as the command line says.

    Parameters
    ----------
    argv : sequence of str
        What follows the name of the command.
    stdout, stderr : text stream, optional
        Where the answer and errors go.

    Returns
    -------
    int
        0 if the models are equal, 1 if they differ, 2 if that cannot be told.
    """
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat diff", lambda: _run(argv, out), err)


def _run(argv: Sequence[str], stdout: TextIO) -> int:
    """Do what the command line says."""
    flags, paths = read_flags(argv, ("json", "all", "help"))
    asked = {name for name, value in flags.items() if value != "false"}
    if "help" in asked:
        stdout.write(HELP)
        return EQUAL
    if len(paths) != 2:
        raise UsageError(f"two models are needed, not {len(paths)}. See --help.")

    from spmcompat.tools.diff.difference import compare  # noqa: PLC0415

    left, right = paths
    found = compare(_read(left), _read(right))
    if "json" in asked:
        stdout.write(as_json({"left": left, "right": right, **plain(found)}))
    else:
        stdout.write(f"A  {left}: {_size(found.left_bytes, found.pieces.left_count)}\n")
        stdout.write(f"B  {right}: {_size(found.right_bytes, found.pieces.right_count)}\n")
        limit = None if "all" in asked else SHOWN
        stdout.writelines(f"{line}\n" for line in told(found, limit=limit))
    return EQUAL if found.equal else DIFFERENT


def _size(size: int, pieces: int) -> str:
    return f"{size:,} bytes, {pieces:,} pieces"


def _read(path: str) -> bytes:
    """Return the bytes of a file that holds a model."""
    from spmcompat.errors import MissingFileError, refuse_impossible  # noqa: PLC0415
    from spmcompat.tools.diff.difference import UnreadableError, parse  # noqa: PLC0415

    try:
        refuse_impossible(path, "check the path")
        with open(path, "rb") as file:
            model = file.read()
        parse(model)
    except MissingFileError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f'"{path}": {error.strerror}. Check the path.') from error
    except UnreadableError as error:
        raise UsageError(f'"{path}": {error}') from error
    return model


# ---------------------------------------------------------------- as JSON


def as_json(content: object) -> str:
    """Return content as JSON, in one line."""
    import json  # noqa: PLC0415

    return json.dumps(_plain(content)) + "\n"


def plain(found: "Difference") -> dict[str, object]:
    """Return all that differs, by name."""
    return {"equal": found.equal, "same_content": found.same_content, **found._asdict()}


def _plain(value: object) -> object:
    """Return what JSON can hold: a named tuple becomes an object, not-a-number a text."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------- for people


def told(
    found: "Difference", names: tuple[str, str] = ("A", "B"), limit: int | None = SHOWN
) -> Iterator[str]:
    """Yield the lines that tell what differs.

    Parameters
    ----------
    found : Difference
        What `compare` returns.
    names : (str, str)
        What to call the two models.
    limit : int, optional
        How many entries of each list to show; None shows all, and long values whole.
    """
    from spmcompat.cli.table import table  # noqa: PLC0415

    if found.equal:
        yield "equal, byte for byte"
        return
    at_id = "" if found.pieces.first_id is None else f", first at id {found.pieces.first_id:,}"
    yield f"different: first at byte {found.first_byte:,}{at_id}"
    if found.same_content:
        yield "The content is the same: it is only written in another way."
    sections = [*_spec_sections(found, names), *_piece_sections(found.pieces, names)]
    for title, head, rows in [*sections, *_other_sections(found, names)]:
        yield ""
        yield title
        yield from table(head, rows[:limit], None if limit is None else _WIDEST)
        if limit is not None and len(rows) > limit:
            yield f"  ...and {len(rows) - limit:,} more"


def _spec_sections(found: "Difference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield what is to tell of the specs and their charsmaps."""
    rows: Rows
    if found.fields:
        rows = [
            (name, _shown(left, "not stored"), _shown(right, "not stored"))
            for name, left, right in found.fields
        ]
        yield f"fields: {len(rows):,} differ", ("field", *names), rows
    for name, left_bytes, right_bytes, first_byte, rules, problem in found.charsmaps:
        sizes = " and ".join(
            "not stored" if size is None else f"{size:,} bytes"
            for size in (left_bytes, right_bytes)
        )
        place = "" if first_byte is None else f", first at byte {first_byte:,}"
        count = (
            f"the rules cannot be compared: {problem}"
            if problem
            else f"{len(rules):,} rules differ"
        )
        rows = [
            (_points(source), _points(left), _points(right), repr(source))
            for source, left, right in rules
        ]
        yield f"{name}: {sizes}{place}; {count}", ("source", *names, "text"), rows


def _piece_sections(found: "PiecesDifference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield what is to tell of the pieces."""
    left, right = names
    ids = (f"id in {left}", f"id in {right}")
    for name, pieces in ((left, found.only_left), (right, found.only_right)):
        if pieces:
            rows: Rows = [(one.id, one.score, one.type, repr(one.piece)) for one in pieces]
            yield f"pieces only in {name}: {len(rows):,}", ("id", "score", "type", "piece"), rows
    of_common = f"of {found.common:,} in both"
    if found.moved:
        rows = [(one.left_id, one.right_id, repr(one.piece)) for one in found.moved]
        yield f"pieces in another order: {len(rows):,} {of_common}", (*ids, "piece"), rows
    for title, texts in (("of another type", found.types), ("with other fields", found.stored)):
        if texts:
            rows = [(a_id, b_id, a, b, repr(piece)) for piece, a_id, b_id, a, b in texts]
            yield f"pieces {title}: {len(rows):,} {of_common}", (*ids, *names, "piece"), rows
    if found.scores:
        most = max(one.units for one in found.scores)
        rows = [(a_id, b_id, a, b, n, repr(text)) for text, a_id, b_id, a, b, n in found.scores]
        title = f"scores: {len(rows):,} {of_common} differ, by at most {most:,} units"
        yield f"{title} of the last place", (*ids, *names, "units", "piece"), rows


def _other_sections(found: "Difference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield what is to tell of self-test samples and unknown fields."""
    rows: Rows
    if found.samples:
        rows = [(number, _shown(left), _shown(right)) for number, left, right in found.samples]
        yield f"self-test samples: {len(rows):,} differ", ("number", *names), rows
    if found.unknown:
        rows = [
            (place, number, _shown(left or None), _shown(right or None))
            for place, number, left, right in found.unknown
        ]
        yield f"unknown fields: {len(rows):,} differ", ("place", "field", *names), rows


def _shown(value: object, absent: str = "-") -> str:
    """Return a value as it is told; None is told as `absent`."""
    if value is None:
        return absent
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _points(text: str | None) -> str:
    """Return a text of a rule as files of rules write it; no two look the same so."""
    return "-" if text is None else " ".join(f"{ord(one):X}" for one in text) or "deleted"
