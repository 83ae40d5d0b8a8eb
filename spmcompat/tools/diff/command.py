"""The command ``spmcompat diff``."""

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO, TypeAlias

from spmcompat.cli.flags import Command, switch
from spmcompat.cli.process import USAGE
from spmcompat.tools.evaluate.command import AFFIXES

if TYPE_CHECKING:
    from spmcompat.cli.table import Rows
    from spmcompat.tools.diff.result import Difference, PiecesDifference
    from spmcompat.tools.diff.vocabularies import Vocabularies

EQUAL, DIFFERENT = 0, 1
SHOWN = 10

# A title, the column headings, and the rows.
_Section: TypeAlias = "tuple[str, tuple[str, ...], Rows]"
_WIDEST = 48


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat diff",
        "Reports whether two models are equal, and lists their differences.",
        "A.model B.model [flags]",
        _run,
        [
            AFFIXES,
            switch("json", "Write all differences as JSON."),
            switch("all", f"Show complete lists, not only the first {SHOWN} entries of each."),
        ],
        positionals=("two models are", 2, 2),
        success="the files are equal, byte for byte",
        failure="the files differ",
        wrong="a file cannot be read or is not a model, or the command line is wrong",
        error=USAGE,
    )


def _run(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> int:
    """Run the command, and return the exit status."""
    from spmcompat.model.reading import read_model_bytes  # noqa: PLC0415
    from spmcompat.tools.diff.difference import compare  # noqa: PLC0415
    from spmcompat.tools.diff.vocabularies import compare_vocabularies  # noqa: PLC0415
    from spmcompat.tools.evaluate.vocabularies import read_affixes  # noqa: PLC0415

    left, right = given.arguments
    contents = read_model_bytes(left), read_model_bytes(right)
    affixes = None if given.affixes is None else read_affixes(given.affixes)
    found = compare(*contents)
    texts = compare_vocabularies(*contents, affixes)
    if given.json:
        names = {"left": left, "right": right}
        stdout.write(as_json({**names, **plain(found), "vocabularies": texts}))
    else:
        stdout.write(f"A  {left}: {_size(found.left_bytes, found.pieces.left_count)}\n")
        stdout.write(f"B  {right}: {_size(found.right_bytes, found.pieces.right_count)}\n")
        limit = None if given.all else SHOWN
        stdout.writelines(f"{line}\n" for line in report_lines(found, limit=limit))
        if affixes or found.pieces.only_left or found.pieces.only_right:
            stdout.writelines(f"{line}\n" for line in _vocabulary_lines(texts))
    return EQUAL if found.equal else DIFFERENT


def _vocabulary_lines(texts: "Vocabularies") -> Iterator[str]:
    """Yield the lines that compare the pieces without space marks."""
    from spmcompat.cli.table import table  # noqa: PLC0415

    yield ""
    yield "vocabulary: the text of a piece does not include its space marks"
    yield from table(("", "A", "B"), texts.rows(), left=1)


def _size(size: int, pieces: int) -> str:
    return f"{size:,} bytes, {pieces:,} pieces"


# ---------------------------------------------------------------- as JSON


def as_json(content: object) -> str:
    """Return the content as JSON in one line."""
    import json  # noqa: PLC0415

    return json.dumps(_plain(content)) + "\n"


def plain(found: "Difference") -> dict[str, object]:
    """Return all facts of the result by name, including whether the models are equal."""
    return {"equal": found.equal, "same_content": found.same_content, **found._asdict()}


def _plain(value: object) -> object:
    """Return a value that JSON can represent.

    A named tuple becomes a dict. NaN and infinite numbers become text.
    """
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------- as text


def report_lines(
    found: "Difference", names: tuple[str, str] = ("A", "B"), limit: int | None = SHOWN
) -> Iterator[str]:
    """Yield the report, line by line.

    Parameters
    ----------
    found : Difference
        The result of `compare`.
    names : (str, str)
        The names of the two models in the report.
    limit : int, optional
        The number of entries to show in each list. With None, the report shows all entries, and
        does not shorten long values.
    """
    from spmcompat.cli.table import table  # noqa: PLC0415

    if found.equal:
        yield "equal, byte for byte"
        return
    first_id = found.pieces.first_id
    at_id = "" if first_id is None else f", first at id {first_id:,}"
    yield f"different: first at byte {found.first_byte:,}{at_id}"
    if found.same_content:
        yield "The content is the same. Only its serialization differs."
    sections = [*_spec_sections(found, names), *_piece_sections(found.pieces, names)]
    for title, head, rows in [*sections, *_other_sections(found, names)]:
        yield ""
        yield title
        yield from table(head, rows[:limit], None if limit is None else _WIDEST)
        if limit is not None and len(rows) > limit:
            yield f"  ...and {len(rows) - limit:,} more"


def _spec_sections(found: "Difference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield a section for each kind of difference between the specs and between their charsmaps."""
    rows: Rows
    if found.fields:
        rows = [
            (name, _shown(left, "not stored"), _shown(right, "not stored"))
            for name, left, right in found.fields
        ]
        one_lacks_fields = any(None in (left, right) for _, left, right in found.fields)
        reason = " (the command line stores all options, Python only the given ones)"
        title = f"fields: {len(rows):,} differ{reason if one_lacks_fields else ''}"
        yield title, ("field", *names), rows
    for name, left_bytes, right_bytes, first_byte, rules, problem in found.charsmaps:
        sizes = " and ".join(
            "not stored" if size is None else f"{size:,} bytes"
            for size in (left_bytes, right_bytes)
        )
        offset = "" if first_byte is None else f", first difference at byte {first_byte:,}"
        count = (
            f"the rules cannot be compared: {problem}"
            if problem
            else f"{len(rules):,} rules differ"
        )
        rows = [
            (_points(source), _points(left), _points(right), repr(source))
            for source, left, right in rules
        ]
        yield f"{name}: {sizes}{offset}; {count}", ("source", *names, "text"), rows


def _piece_sections(found: "PiecesDifference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield a section for each kind of difference between the pieces."""
    left, right = names
    ids = (f"id in {left}", f"id in {right}")
    for name, pieces in ((left, found.only_left), (right, found.only_right)):
        if pieces:
            rows: Rows = [(one.id, one.score, one.type, repr(one.piece)) for one in pieces]
            yield f"pieces only in {name}: {len(rows):,}", ("id", "score", "type", "piece"), rows
    of_common = f"of {found.common:,} common pieces"
    if found.moved:
        rows = [(one.left_id, one.right_id, repr(one.piece)) for one in found.moved]
        yield f"pieces in a different order: {len(rows):,} {of_common}", (*ids, "piece"), rows
    for title, texts in (
        ("with different types", found.types),
        ("with different fields", found.stored),
    ):
        if texts:
            rows = [(a_id, b_id, a, b, repr(piece)) for piece, a_id, b_id, a, b in texts]
            yield f"pieces {title}: {len(rows):,} {of_common}", (*ids, *names, "piece"), rows
    if found.scores:
        most = max(one.units for one in found.scores)
        rows = [(a_id, b_id, a, b, n, repr(text)) for text, a_id, b_id, a, b, n in found.scores]
        title = f"scores: {len(rows):,} {of_common} differ, by at most {most:,} units"
        yield f"{title} in the last place", (*ids, *names, "units", "piece"), rows


def _other_sections(found: "Difference", names: tuple[str, str]) -> Iterator[_Section]:
    """Yield a section each for differences in self-test samples and in unknown fields."""
    rows: Rows
    if found.samples:
        rows = [(number, _shown(left), _shown(right)) for number, left, right in found.samples]
        yield f"self-test samples: {len(rows):,} differ", ("number", *names), rows
    if found.unknown:
        rows = [
            (message, number, _shown(left or None), _shown(right or None))
            for message, number, left, right in found.unknown
        ]
        yield f"unknown fields: {len(rows):,} differ", ("message", "field", *names), rows


def _shown(value: object, absent: str = "-") -> str:
    """Return a value as text; `absent` is the text for None."""
    if value is None:
        return absent
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _points(text: str | None) -> str:
    """Return code points in hexadecimal, because different characters can look alike."""
    return "-" if text is None else " ".join(f"{ord(one):X}" for one in text) or "deleted"
