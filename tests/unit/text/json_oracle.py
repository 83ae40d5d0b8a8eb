"""Reads JSON Lines with Python's json module, for comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import TextPlan
from spmcompat.text.lines import LineFilter, ReadBuffer, ReservoirSample

UNKNOWN_MARK = "\u2585".encode()


class Found(NamedTuple):
    """The sentences in JSON Lines, and how many texts, nulls and broken records there are.

    `first_broken` is the line number of the first broken record.
    """

    sentences: list[bytes]
    texts: int
    nulls: int
    broken: int
    first_broken: int | None


def values_of(value: object, column: str) -> list[str | None]:
    """Return the texts and nulls of a value, or of its field `column`.

    Raises
    ------
    LookupError, TypeError
        If the field is missing, or is not text.
    """
    if isinstance(value, list):
        return [one for element in value for one in values_of(element, column)]
    if value is None or (isinstance(value, str) and not column):
        return [value]
    if not isinstance(value, dict) or not column:
        raise TypeError
    first, _, rest = column.partition(".")
    return values_of(value[column], "") if column in value else values_of(value[first], rest)


def expected(lines: Sequence[bytes], column: str) -> Found:
    texts: list[bytes] = []
    nulls = 0
    broken: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip(b" \t\r\n"):
            continue
        try:
            record = json.loads(line.decode())
            if isinstance(record, list):
                raise TypeError
            found = values_of(record, "" if isinstance(record, str) else column)
            encoded = [one and one.encode().rstrip(b"\r\n") for one in found]
            nulls += encoded.count(None)
            texts += [one or b"" for one in encoded if one is not None]
        except (ValueError, LookupError, TypeError):
            broken.append(number)
    sentences = [text for text in texts if text and UNKNOWN_MARK not in text]
    return Found(sentences, len(texts), nulls, len(broken), broken[0] if broken else None)


def sentences_of(buffer: ReadBuffer) -> list[bytes]:
    """Return the lines of a read buffer that are not empty and do not contain the unknown mark."""
    sample = ReservoirSample(1 << 30, False, 0)
    sample.add(
        buffer, LineFilter(make_plan(PlanOptions(text=TextPlan(max_sentence_length=1 << 30))).text)
    )
    return list(sample)
