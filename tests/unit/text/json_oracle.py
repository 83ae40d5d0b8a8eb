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
    """The sentences of the records, the number of texts, and the number of records without text."""

    sentences: list[bytes]
    texts: int
    nulls: int
    broken: int
    first_broken: int | None


def expected(lines: Sequence[bytes], column: str) -> Found:
    texts: list[bytes] = []
    nulls = 0
    broken: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip(b" \t\r\n"):
            continue
        try:
            record = json.loads(line.decode())
            value = record[column] if isinstance(record, dict) else record
            if value is None:
                nulls += 1
            else:
                texts.append(value.encode().rstrip(b"\r\n"))
        except (ValueError, KeyError, AttributeError):
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
