"""Seeds of a text in many small chunks against the oracle, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spmcompat.corpus import blocks
from spmcompat.corpus.corpus import Corpus
from spmcompat.corpus.reading import CorpusOptions, read_corpus
from spmcompat.errors import TrainingError
from spmcompat.progress import Report
from spmcompat.unigram.seeding import seed_from_corpus
from spmcompat.workers import Workers
from tests.oracle.characters import SPACE, Options, Sentence, cover
from tests.oracle.seeding import chunks, seed

WORDS = st.text("abあぁ漢1\u0301", min_size=1, max_size=5)
LINES = st.lists(WORDS, min_size=0, max_size=5).map(" ".join).map(lambda line: line or " ")
# As the specification stores them.
COVERAGES = [float(np.float32(share)) for share in (1.0, 0.98, 0.9, 0.6)]
COUNTS = st.one_of(st.just(1), st.integers(1, 6), st.just(10**12))


@dataclass(frozen=True)
class Text:
    """Lines with their counts, and how they are read."""

    lines: list[tuple[str, int]]
    options: CorpusOptions
    seeds: int
    block_bytes: int
    workers: int


@st.composite
def texts(draw: st.DrawFn) -> Text:
    tsv = draw(st.booleans())
    count = COUNTS if tsv else st.just(1)
    lines = draw(st.lists(st.tuples(LINES, count), min_size=2, max_size=40))
    options = CorpusOptions(
        tsv=tsv,
        character_coverage=draw(st.sampled_from(COVERAGES)),
        add_dummy_prefix=draw(st.booleans()),
        remove_extra_whitespaces=draw(st.booleans()),
        treat_whitespace_as_suffix=draw(st.booleans()),
        max_piece_length=draw(st.sampled_from([3, 16])),
        split_by_unicode_script=draw(st.booleans()),
        split_by_number=draw(st.booleans()),
        split_by_whitespace=draw(st.booleans()),
        split_digits=draw(st.booleans()),
        allow_whitespace_only_pieces=draw(st.booleans()),
        chunk_bytes=draw(st.one_of(st.integers(1, 60), st.integers(100, 2000))),
    )
    return Text(
        lines,
        options,
        seeds=draw(st.sampled_from([1, 2, 5, 1_000_000])),
        block_bytes=draw(st.sampled_from([16, 50, 1 << 22])),
        workers=draw(st.integers(1, 3)),
    )


def normalized(line: str, options: CorpusOptions) -> str:
    if options.remove_extra_whitespaces:
        line = " ".join(line.split())
    line = line.replace(" ", SPACE)
    if not line or not options.add_dummy_prefix:
        return line
    return line + SPACE if options.treat_whitespace_as_suffix else SPACE + line


def without_empty(sentences: list[Sentence]) -> list[Sentence]:
    """The last sentence takes the place of an empty one."""
    kept = list(sentences)
    at = 0
    while at < len(kept):
        if kept[at][0]:
            at += 1
        else:
            kept[at] = kept[-1]
            kept.pop()
    return kept


def oracle_options(options: CorpusOptions, seeds: int) -> Options:
    return Options(
        character_coverage=options.character_coverage,
        seed_sentencepiece_size=seeds,
        max_sentencepiece_length=options.max_piece_length,
        split_by_whitespace=options.split_by_whitespace,
        split_by_unicode_script=options.split_by_unicode_script,
        split_by_number=options.split_by_number,
        split_digits=options.split_digits,
        treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        allow_whitespace_only_pieces=options.allow_whitespace_only_pieces,
        chunk_bytes=options.chunk_bytes,
    )


def covered(text: Text) -> list[Sentence]:
    sentences = without_empty([(normalized(line, text.options), n) for line, n in text.lines])
    return cover(sentences, oracle_options(text.options, text.seeds))[0]


def read(text: Text, folder: Path) -> Corpus:
    path = folder / "text"
    lines = [f"{line}\t{count}" if text.options.tsv else line for line, count in text.lines]
    path.write_text("".join(f"{line}\n" for line in lines))
    options = replace(text.options, input=(str(path),))
    return read_corpus(options, b"", [], None, Workers(text.workers), Report(2))


def check_seeds(corpus: Corpus, text: Text) -> None:
    found = list(seed_from_corpus(corpus, text.seeds, Workers(text.workers), Report(2)))
    expected = seed(covered(text), oracle_options(text.options, text.seeds))
    assert found == [(piece.encode(), float(score)) for piece, score in expected]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("chunks")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_seeds_are_those_of_the_oracle(folder: Path, text: Text) -> None:
    sentences = [(normalized(line, text.options), n) for line, n in text.lines]
    with mock.patch.object(blocks, "BLOCK_BYTES", text.block_bytes):
        if not any(line for line, _ in sentences):
            with pytest.raises(TrainingError):
                read(text, folder)
            return
        corpus = read(text, folder)
    size = sum(count * (len(line.encode()) + 1) for line, count in covered(text))
    assert corpus.text_bytes == float(size)
    assert (corpus.chunks is not None) == (size > text.options.chunk_bytes)
    check_seeds(corpus, text)
