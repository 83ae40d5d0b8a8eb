"""Training from counts never divides the text into seeding chunks, however large the text is."""

from __future__ import annotations

import io
from typing import Any

import pytest

import spmcompat
from spmcompat.options import job
from tests.parity.corpora import words_text

pytest.importorskip("pyarrow")

TEXT = words_text(11, lines=400, types=300)


def train(**source: Any) -> bytes:
    written = io.BytesIO()
    options: dict[str, Any] = {"vocab_size": 200, "minloglevel": 2}
    spmcompat.train(model_writer=written, **source, **options)
    return written.getvalue()


def test_counts_of_a_text_of_several_chunks(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    in_one_search = train(input=path)
    plan_of = job.plan_of
    monkeypatch.setattr(
        job, "plan_of", lambda *given: plan_of(*given)._replace(seeding_chunk_bytes=1500)
    )
    in_chunks = train(input=path)
    from_counts = train(counts=spmcompat.count(input=path, minloglevel=2))
    assert in_chunks != in_one_search
    assert from_counts == in_one_search
