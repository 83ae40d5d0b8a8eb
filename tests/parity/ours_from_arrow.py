"""Our side of a case: trains on the sentences as Arrow data, in several forms in turn."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .case import WRITER, Case


class FormsDiffer(Exception):
    """Training wrote different bytes for two forms of the same rows."""


def forms(sentences: Sequence[str | bytes]) -> Iterator[tuple[str, Any]]:
    """Yield the sentences in several forms of Arrow data, with nulls, slices and chunks."""
    import pyarrow as pa

    rows = [one if isinstance(one, bytes) else one.encode() for one in sentences]
    with_nulls = [*itertools.chain.from_iterable((row, None) for row in rows)]
    parts = [rows[:3], rows[3:50], [], rows[50:]]
    yield "binary", pa.array(rows, pa.binary())
    yield "chunks", pa.chunked_array(parts, pa.large_binary())
    yield (
        "views in a slice",
        pa.array([b"skipped", *with_nulls], pa.binary())[1:].cast(pa.binary_view()),
    )
    yield "dictionary", pa.table({"text": pa.array(with_nulls, pa.binary()).dictionary_encode()})
    if all(isinstance(one, str) for one in sentences):
        texts = pa.array(sentences, pa.string())
        table = pa.table({"text": texts, "number": range(len(texts))})
        batches = table.to_batches(max_chunksize=13)
        yield "reader", pa.RecordBatchReader.from_batches(table.schema, iter(batches))
        yield "batches", batches


def train(case: Case) -> dict[str, bytes]:
    """Train in the current folder from each form, and return the output of the last one."""
    import spmcompat

    assert case.sentences is not None
    options: dict[str, Any] = {**case.options, **case.own_options()}
    found: dict[str, dict[str, bytes]] = {}
    written = io.BytesIO()
    for name, data in forms(case.sentences):
        written = io.BytesIO()
        if case.writer:
            options["model_writer"] = written
        spmcompat.SentencePieceTrainer.train(sentence_iterator=data, **options)
        found[name] = {one.name: one.read_bytes() for one in Path().iterdir() if one.is_file()}
        found[name][WRITER] = written.getvalue()
    different = [name for name, files in found.items() if files != found["binary"]]
    if different:
        raise FormsDiffer(", ".join(different))
    return {WRITER: written.getvalue()} if case.writer else {}
