"""Tests the search for seeds in chunks. `tests/property/test_chunks.py` uses random texts."""

from __future__ import annotations

import gzip
import json
import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import pytest

from spmcompat.counting import retention
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments import seeding_chunks
from spmcompat.segments.corpus import Corpus
from spmcompat.text import sources
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.seeding.seeds import seed_from_corpus
from tests.kinds import raises_kind
from tests.oracle.characters import SPACE, Options, Sentence, cover
from tests.oracle.seeding import seed
from tests.unit import stages
from tests.unit.stages import read_plan
from tests.waiting import LIMIT

VOCAB_SIZE = 5


@dataclass(frozen=True)
class Text:
    """Lines with their counts, and how to read them."""

    lines: list[tuple[str, int]]
    options: PlanOptions
    seeds: int
    buffer_bytes: int
    workers: int
    length_power: float = 1.0
    min_freq_alpha: float = 0.0
    sure_bytes: int = 1 << 24
    table_bytes: int = 1 << 24
    packing: str = "plain"

    def rule(self) -> UnigramOptions:
        return stages.seed_options(self.seeds, self.length_power, self.min_freq_alpha, VOCAB_SIZE)


def normalized(line: str, options: PlanOptions) -> str:
    if options.remove_extra_whitespaces:
        line = " ".join(word for word in line.split(" ") if word)
    line = line.replace(" ", SPACE)
    if not line or not options.add_dummy_prefix:
        return line
    return line + SPACE if options.treat_whitespace_as_suffix else SPACE + line


def without_empty(sentences: list[Sentence]) -> list[Sentence]:
    """Remove empty sentences: the last sentence is moved to the position of each empty one."""
    kept = list(sentences)
    at = 0
    while at < len(kept):
        if kept[at][0]:
            at += 1
        else:
            kept[at] = kept[-1]
            kept.pop()
    return kept


def oracle_options(text: Text) -> Options:
    options = text.options
    return Options(
        vocab_size=VOCAB_SIZE,
        auto_character_coverage=options.auto_character_coverage,
        seed_piece_length_power=text.length_power,
        min_freq_alpha=text.min_freq_alpha,
        character_coverage=options.character_coverage,
        seed_sentencepiece_size=text.seeds,
        max_sentencepiece_length=options.max_piece_length,
        split_by_whitespace=options.split_by_whitespace,
        split_by_unicode_script=options.split_by_unicode_script,
        split_by_number=options.split_by_number,
        split_digits=options.split_digits,
        treat_whitespace_as_suffix=options.treat_whitespace_as_suffix,
        allow_whitespace_only_pieces=options.allow_whitespace_only_pieces,
        chunk_bytes=options.seeding_chunk_bytes,
    )


def covered(text: Text) -> list[Sentence]:
    sentences = without_empty([(normalized(line, text.options), n) for line, n in text.lines])
    return cover(sentences, oracle_options(text))[0]


def read(text: Text, folder: Path) -> Corpus:
    """Write the lines to files, packed as `text.packing` says, and read these files."""
    lines = [f"{line}\t{count}" if text.options.text.tsv else line for line, count in text.lines]
    plain = "".join(f"{line}\n" for line in lines)
    half = "".join(f"{line}\n" for line in lines[: len(lines) // 2])
    files = {
        "plain": {"text": plain.encode()},
        "gzip": {"text.gz": gzip.compress(plain.encode())},
        "halves": {
            "first.gz": gzip.compress(half.encode()),
            "second": plain[len(half) :].encode(),
        },
        "jsonl": {"text.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines).encode()},
    }[text.packing]
    for name, content in files.items():
        (folder / name).write_bytes(content)
    reading = text.options.text._replace(input=tuple(str(folder / name) for name in files))
    options = text.options._replace(text=reading)
    with mock.patch.object(retention, "_SURE_BYTES", text.sure_bytes):
        return read_plan(make_plan(options), None, Context(Workers(text.workers), Report(2)))


def check_seeds(corpus: Corpus, text: Text) -> None:
    with mock.patch.object(seeding_chunks, "_MOST_TABLE_BYTES", text.table_bytes):
        context = Context(Workers(text.workers), Report(2))
        found = list(seed_from_corpus(corpus, text.rule(), context))
    expected = seed(covered(text), oracle_options(text))
    assert found == [(piece.encode(), float(score)) for piece, score in expected]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chunks")


PLAIN = PlanOptions(remove_extra_whitespaces=False, character_coverage=1.0, seeding_chunk_bytes=100)
LONG = Text(
    [(" ".join(["ab", "ba", "aab", "bab"][: 1 + i % 4]), 1) for i in range(60)],
    PLAIN,
    seeds=1_000_000,
    buffer_bytes=1 << 22,
    workers=2,
)


# Up to 16 candidates of a chunk are kept for the next chunk. If there are more, only the best eight
# are kept.
@pytest.mark.parametrize(("candidates", "rank"), [(16, 8), (16, 15), (17, 7), (17, 8), (17, 16)])
def test_a_candidate_dropped_between_chunks_loses_its_count(
    folder: Path, candidates: int, rank: int
) -> None:
    letters = "abcdefghijklmnopqrstuvwxyzáéíóúñßâ"
    pairs = [letters[2 * i] + letters[2 * i + 1] for i in range(candidates)]
    # The pairs are the only candidates, because each is followed by two different bytes.
    first = [(pair + end, 20 - i) for i, pair in enumerate(pairs) for end in "12"]
    size = sum(count * (len(line.encode()) + 1) for line, count in first)
    second = [(pairs[rank] + end, 30) for end in "12"]
    options = PlanOptions(
        text=TextPlan(input_format="tsv"),
        character_coverage=1.0,
        add_dummy_prefix=False,
        seeding_chunk_bytes=size,
    )
    text = Text(first + second, options, seeds=1, buffer_bytes=1 << 22, workers=1)
    corpus = read(text, folder)
    assert corpus.chunks is not None
    assert len(list(corpus.chunks)) == 2
    check_seeds(corpus, text)


def test_a_sample_is_searched_in_seeding_chunks(folder: Path) -> None:
    """The sample holds the first sentences in their original order, stored in several slices."""
    sample = TextPlan(input_sentence_size=len(LONG.lines), shuffle_input_sentence=False)
    options = PLAIN._replace(text=sample, seeding_chunk_bytes=300)
    text = replace(LONG, options=options)
    with mock.patch.object(sources, "_SLICE_SENTENCES", 7):
        corpus = read(text, folder)
        assert corpus.chunks is not None
        check_seeds(corpus, text)


def test_an_iterator_cannot_be_read_again() -> None:
    corpus = read_plan(
        make_plan(PLAIN), iter(line for line, _ in LONG.lines), Context(Workers(1), Report(2))
    )
    with raises_kind("cannot-read-twice"):
        seed_from_corpus(corpus, stages.seed_options(10), Context(Workers(1), Report(2)))


def test_arrow_data_cannot_be_read_again() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = pa.array([line for line, _ in LONG.lines])
    corpus = read_plan(make_plan(PLAIN), rows, Context(Workers(1), Report(2)))
    with raises_kind("cannot-read-twice"):
        seed_from_corpus(corpus, stages.seed_options(10), Context(Workers(1), Report(2)))


def test_a_pipe_cannot_be_read_again(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=pipe.write_text,
        args=["".join(f"{line}\n" for line, _ in LONG.lines)],
        daemon=True,
    )
    writer.start()
    options = PLAIN._replace(text=TextPlan(input=(str(pipe),)))
    corpus = read_plan(make_plan(options), None, Context(Workers(1), Report(2)))
    writer.join(LIMIT)
    with raises_kind("cannot-read-twice"):
        seed_from_corpus(corpus, stages.seed_options(10), Context(Workers(1), Report(2)))


@pytest.mark.parametrize("other", ["", "ab\n", "ab ba\n" * 60, "ab\n" * 61, "\n" * 61])
def test_a_changed_file_is_an_error(folder: Path, other: str) -> None:
    corpus = read(LONG, folder)
    (folder / "text").write_text(other)
    with raises_kind("file-changed"):
        seed_from_corpus(corpus, stages.seed_options(10), Context(Workers(1), Report(2)))
