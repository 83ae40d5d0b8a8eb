"""The seeds of a text in many small seeding chunks equal those of the oracle, bit for bit."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmcompat.errors import TrainingError
from spmcompat.options.planning import PlanOptions
from spmcompat.plan import TextPlan
from spmcompat.text import line_buffers
from tests.searches import examples
from tests.unit.segments.test_seeding_chunks import Text, check_seeds, covered, normalized, read

WORDS = st.text("abあぁ漢1\u0301\x1f", min_size=1, max_size=5)
LINES = st.one_of(st.just(" "), st.lists(WORDS, min_size=1, max_size=5).map(" ".join))
# Options store the coverage as a float32.
COVERAGES = [float(np.float32(share)) for share in (1.0, 0.98, 0.9, 0.6)]
COUNTS = st.one_of(st.just(1), st.integers(1, 6), st.just(10**12))


@st.composite
def texts(draw: st.DrawFn) -> Text:
    tsv = draw(st.booleans())
    count = COUNTS if tsv else st.just(1)
    lines = draw(st.lists(st.tuples(LINES, count), min_size=2, max_size=40))
    options = PlanOptions(
        text=TextPlan(input_format="tsv" if tsv else "auto"),
        character_coverage=draw(st.sampled_from(COVERAGES)),
        auto_character_coverage=draw(st.booleans()),
        add_dummy_prefix=draw(st.booleans()),
        remove_extra_whitespaces=draw(st.booleans()),
        treat_whitespace_as_suffix=draw(st.booleans()),
        max_piece_length=draw(st.sampled_from([3, 16])),
        split_by_unicode_script=draw(st.booleans()),
        split_by_number=draw(st.booleans()),
        split_by_whitespace=draw(st.booleans()),
        split_digits=draw(st.booleans()),
        allow_whitespace_only_pieces=draw(st.booleans()),
        seeding_chunk_bytes=draw(st.one_of(st.integers(1, 60), st.integers(100, 2000))),
    )
    return Text(
        lines,
        options,
        seeds=draw(st.sampled_from([1, 2, 5, 1_000_000])),
        buffer_bytes=draw(st.sampled_from([16, 50, 1 << 22])),
        workers=draw(st.integers(1, 3)),
        length_power=draw(st.sampled_from([1.0, 0.5, 0.3, -1.0])),
        min_freq_alpha=draw(st.sampled_from([0.0, 0.3, 2.0])),
        sure_bytes=draw(st.sampled_from([0, 100, 1 << 24])),
        table_bytes=draw(st.sampled_from([0, 1 << 24])),
        packing=draw(st.sampled_from(["plain", "gzip", "halves"] + ["jsonl"] * (not tsv))),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chunks")


@settings(max_examples=examples(300))
@given(texts())
def test_seeds_are_those_of_the_oracle(folder: Path, text: Text) -> None:
    sentences = [(normalized(line, text.options), n) for line, n in text.lines]
    with mock.patch.object(line_buffers, "BUFFER_BYTES", text.buffer_bytes):
        if not any(line for line, _ in sentences):
            with pytest.raises(TrainingError):
                read(text, folder)
            return
        corpus = read(text, folder)
        size = sum(count * (len(line.encode()) + 1) for line, count in covered(text))
        assert corpus.text_bytes == float(size)
        assert (corpus.chunks is not None) == (size > text.options.seeding_chunk_bytes)
        check_seeds(corpus, text)
