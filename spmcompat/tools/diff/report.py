"""The result of a comparison of two models, and its report."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple, TypeAlias

from spmcompat.cli.plain import plain_fields
from spmcompat.cli.tables import Rows, Table, html_of, table
from spmcompat.tools.diff.result import (
    CharsmapDifference,
    CutDifference,
    FieldDifference,
    PiecesDifference,
    SampleDifference,
    UnknownDifference,
    Vocabularies,
)

SHOWN = 10
NAMES = ("left", "right")  # the names of the two models, as in the attributes of `Difference`

# A title, the column headings, and the rows.
_Section: TypeAlias = tuple[str, tuple[str, ...], Rows]
_WIDEST = 48


class Difference(NamedTuple):
    """All differences between two models.

    Attributes
    ----------
    left_bytes, right_bytes : int
        The sizes of the models.
    first_byte : int or None
        The offset of the first byte that differs; None if the models are equal.
    fields : list of FieldDifference
        The options that differ.
    pieces : PiecesDifference
        The pieces that differ.
    charsmaps : list of CharsmapDifference
        The normalization rules that differ.
    samples : list of SampleDifference
        The self-test samples that differ.
    unknown : list of UnknownDifference
        The differences in fields that are not in the schema.
    vocabularies : Vocabularies
        The counts of both vocabularies, and the texts, without space marks, that both contain.
    merges : PiecesDifference or None
        The merges that differ; None for models, which have no lists of merges.
    cuts : CutDifference or None
        The words of a text that are cut differently; None without a text.
    """

    left_bytes: int
    right_bytes: int
    first_byte: int | None
    fields: list[FieldDifference]
    pieces: PiecesDifference
    charsmaps: list[CharsmapDifference]
    samples: list[SampleDifference]
    unknown: list[UnknownDifference]
    vocabularies: Vocabularies
    merges: PiecesDifference | None = None
    cuts: CutDifference | None = None

    @property
    def equal(self) -> bool:
        """Whether the models are equal byte for byte."""
        return self.first_byte is None

    @property
    def same_content(self) -> bool:
        """Whether the models have the same content, even if their bytes differ."""
        found = (self.fields, self.charsmaps, self.samples, self.unknown)
        lists = [self.pieces] if self.merges is None else [self.pieces, self.merges]
        return not any(found) and all(one.first_id is None for one in lists)

    def to_dict(self) -> dict[str, object]:
        """Return all differences as data that JSON can represent."""
        return {"equal": self.equal, "same_content": self.same_content, **plain_fields(self)}

    def __repr__(self) -> str:
        """Return the first line of the report."""
        return f"<Difference: {next(report_lines(self))}>"

    def __str__(self) -> str:
        """Return the report, which calls the models left and right."""
        return "\n".join(report_lines(self))

    def _repr_html_(self) -> str:
        """Return the report for a notebook."""
        tables = (
            Table(head, [tuple(map(str, row)) for row in rows[:SHOWN]], len(head), title=title)
            for title, head, rows in _sections(self, NAMES)
        )
        return f"<p>{escape(next(report_lines(self)))}</p>" + "".join(map(html_of, tables))


def report_lines(
    found: Difference, names: tuple[str, str] = NAMES, limit: int | None = SHOWN
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
    if found.equal:
        yield "equal, byte for byte"
        return
    first_id = found.pieces.first_id
    at_id = "" if first_id is None else f", first at id {first_id:,}"
    yield f"different: first at byte {found.first_byte:,}{at_id}"
    if found.same_content:
        yield "The content is the same. Only its serialization differs."
    for title, head, rows in _sections(found, names):
        yield ""
        yield title
        yield from table(head, rows[:limit], None if limit is None else _WIDEST)
        if limit is not None and len(rows) > limit:
            yield f"  ...and {len(rows) - limit:,} more"


def _sections(found: Difference, names: tuple[str, str]) -> Iterator[_Section]:
    """Yield all sections of the report."""
    if found.cuts:
        words = found.cuts.changed_words
        rows: Rows = [(f"{n:,}", repr(word), _cut(a), _cut(b)) for word, n, a, b in words]
        yield found.cuts.summary(), ("count", "word", *names) if rows else (), rows
    yield from _spec_sections(found, names)
    if found.merges is None:
        yield from _piece_sections(found.pieces, names)
    else:
        yield from _piece_sections(found.pieces, names, "token")
        yield from _piece_sections(found.merges, names, "merge")
    yield from _other_sections(found, names)


def _spec_sections(found: Difference, names: tuple[str, str]) -> Iterator[_Section]:
    """Yield a section for each kind of difference between the specs and between their charsmaps."""
    rows: Rows
    if found.fields:
        rows = [
            (name, _shown(left, "not stored"), _shown(right, "not stored"))
            for name, left, right in found.fields
        ]
        one_lacks_fields = any(None in (left, right) for _, left, right in found.fields)
        reason = " (the command line stores all options, Python only the given ones)"
        is_model = found.merges is None
        title = f"fields: {len(rows):,} differ{reason if is_model and one_lacks_fields else ''}"
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


def _piece_sections(
    found: PiecesDifference, names: tuple[str, str], kind: str = "piece"
) -> Iterator[_Section]:
    """Yield a section for each kind of difference between the pieces, which the report names."""
    left, right = names
    ids = (f"id in {left}", f"id in {right}")
    for name, pieces in ((left, found.only_left), (right, found.only_right)):
        if pieces:
            columns = {
                "id": [one.id for one in pieces],
                "score": [one.score for one in pieces],
                "type": [one.type for one in pieces],
                kind: [repr(one.piece) for one in pieces],
            }
            if pieces[0].score is None:
                del columns["score"]
            if kind == "merge":
                del columns["type"]
            rows: Rows = [*zip(*columns.values(), strict=True)]
            yield f"{kind}s only in {name}: {len(rows):,}", (*columns,), rows
    of_common = f"of {found.common:,} common {kind}s"
    if found.moved:
        rows = [(one.left_id, one.right_id, repr(one.piece)) for one in found.moved]
        yield f"{kind}s in a different order: {len(rows):,} {of_common}", (*ids, kind), rows
    for title, texts in (
        ("with different types", found.types),
        ("with different fields", found.stored),
    ):
        if texts:
            rows = [(a_id, b_id, a, b, repr(piece)) for piece, a_id, b_id, a, b in texts]
            yield f"{kind}s {title}: {len(rows):,} {of_common}", (*ids, *names, kind), rows
    if not found.scores_are_comparable:
        yield "scores: not compared, because the models are of different types", (), []
    if found.scores:
        units = [one.units for one in found.scores if one.units is not None]
        title = f"scores: {len(found.scores):,} {of_common} differ"
        if units:
            title += f", by at most {max(units):,} units in the last place"
        rows = [
            (a_id, b_id, a, b, "-" if n is None else f"{n:,}", repr(text))
            for text, a_id, b_id, a, b, n in found.scores
        ]
        yield title, (*ids, *names, "units", kind), rows


def _other_sections(found: Difference, names: tuple[str, str]) -> Iterator[_Section]:
    """Yield a section for differences in self-test samples, and one for unknown fields."""
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


def _cut(tokens: list[str]) -> str:
    return repr("|".join(tokens))


def _shown(value: object, absent: str = "-") -> str:
    """Return a value as text; `absent` is the text for None."""
    if value is None:
        return absent
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _points(text: str | None) -> str:
    """Return code points in hexadecimal, because different characters can look alike."""
    return "-" if text is None else " ".join(f"{ord(one):X}" for one in text) or "deleted"
