"""Tests of sampling, and of reading files, iterators and counted lines."""

import io
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spmcompat.counting import retention
from spmcompat.counting.counts import Counts
from spmcompat.counting.reading import read_counts
from spmcompat.releases import RELEASES, Release, find_release
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.text import line_buffers
from spmcompat.text import lines as lines_module
from spmcompat.text.files import Files
from spmcompat.text.lines import BUFFER_BYTES, ReadBuffer
from spmcompat.text.sources import open_source
from spmcompat.unigram.seeding.seeds import seed_from_corpus
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.unit import stages
from tests.unit.stages import read

TEXT = corpora.mixed_text(3, 60)


def fingerprint(corpus: Corpus) -> object:
    """Return data that identify a corpus, such as seeds, whose scores depend on all substrings."""
    seeds = seed_from_corpus(
        corpus, stages.seed_options(100_000), Context(Workers(1), stages.QUIET)
    )
    return corpus.pretokens, corpus.segments, corpus.alphabet, list(seeds)


def count(items: list[str] | None, **options: object) -> Counts:
    plan = stages.plan_of(**options)
    source = open_source(plan.text, items, stages.QUIET)
    return read_counts(plan, source, Context(Workers(2), stages.QUIET))


def characters(corpus: Corpus) -> str:
    return "".join(sorted(chr(c) for c, _ in corpus.alphabet if chr(c) != "▁"))


def read_files(*paths: Path, workers: int = 2, **options: Any) -> Corpus:
    return read(None, workers, **{"input": tuple(map(str, paths)), **options})


def write(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"{number}.txt" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


class _OddReads:
    """A file that is read in parts of random sizes, like a pipe."""

    def __init__(self, content: bytes, dice: random.Random) -> None:
        self.stream = io.BytesIO(content)
        self.dice = dice

    def readinto(self, buffer: memoryview, /) -> int:
        size = self.dice.randint(1, len(buffer))
        return self.stream.readinto(buffer[:size])


@pytest.mark.parametrize("number", range(50))
def test_read_buffers_hold_every_line_once(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(f"buffers/{number}")
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", dice.choice([1, 2, 7, 16, 1000]))
    lines = [b"x" * dice.choice([0, 1, 3, 30]) for _ in range(dice.randint(0, 30))]
    content = b"\n".join(lines) + dice.choice([b"", b"\n"])
    buffers = list(line_buffers.cut_at_lines(_OddReads(content, dice), "name"))
    texts = [buffer.lines_text() for buffer in buffers]
    assert b"".join(texts) == content
    assert all(text.endswith(b"\n") for text in texts[:-1])
    line = 1
    for buffer, text in zip(buffers, texts, strict=True):
        assert text
        assert buffer.first_line == line
        line += text.count(b"\n")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(80))
def test_only_the_beginning_of_a_line_that_is_too_long_is_kept(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(f"longest/{number}")
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", dice.choice([1, 2, 7, 16, 1000]))
    longest = dice.choice([10, 12, 100])
    lengths = [0, 1, 9, 10, 11, 12, 13, 50, 100, 101, 300, 5000]
    lines = [bytes([97 + i % 26]) * dice.choice(lengths) for i in range(dice.randint(0, 30))]
    content = b"\n".join(lines) + dice.choice([b"", b"\n"])
    buffers = list(line_buffers.cut_at_lines(_OddReads(content, dice), "name", longest=longest))
    texts = [buffer.lines_text() for buffer in buffers]
    assert sum(buffer.size for buffer in buffers) == len(content)
    assert all(buffer.first_line == 1 for buffer in buffers)
    most = line_buffers.BUFFER_BYTES + longest + 1
    assert all(len(text) <= most for text in texts)
    read = b"".join(texts).split(b"\n")
    expected = content.split(b"\n")
    assert [len(line) > longest for line in read] == [len(line) > longest for line in expected]
    for line, whole in zip(read, expected, strict=True):
        assert line == whole if len(whole) <= longest else whole.startswith(line)

    (tmp_path / "text").write_bytes(content)
    plan = stages.plan_of(input=(str(tmp_path / "text"),), max_sentence_length=longest)
    files = Files(plan.text, stages.QUIET)
    texts = [buffer.lines_text() for buffer in files]
    again = files.again(range(len(files)))
    assert [load().lines_text() for _, load in again] == texts


def test_a_small_file_gets_small_read_buffers() -> None:
    line = b"word " * 200 + b"\n"
    sizes = {}
    for lines in (400, 2000, 20_000):
        content = line * lines
        buffers = line_buffers.cut_at_lines(io.BytesIO(content), "name", size=len(content))
        sizes[lines] = max(buffer.size for buffer in buffers)
    unknown = max(
        buffer.size for buffer in line_buffers.cut_at_lines(io.BytesIO(line * 2000), "name")
    )
    assert sizes[400] == sizes[2000] < 2**18
    assert 2**17 < sizes[20_000] < 2**18
    assert sizes[20_000] < unknown <= BUFFER_BYTES + len(line)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 50, 1000])
@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
def test_the_corpus_does_not_depend_on_read_buffers_and_workers(
    size: int, workers: int, split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = fingerprint(read(TEXT.split("\n"), 1, split_by_whitespace=split))
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", size)
    half = len(TEXT) // 2
    half = TEXT.index("\n", half) + 1
    paths = write(tmp_path, TEXT[:half].encode(), TEXT[half:].rstrip("\n").encode())
    found = read_files(*paths, workers=workers, split_by_whitespace=split)
    assert fingerprint(found) == expected


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("coverage", [0.95, 0.9995], ids=["without spaces", "with spaces"])
def test_spaces_that_are_rare_only_late(
    coverage: float, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While spaces are common, pretokens are not kept.

    If spaces become rare later, the text has to be read again.
    """
    lines = ["a b"] * 40 + ["abcdefgh" * 20] * 40
    paths = write(tmp_path, "\n".join(lines).encode())
    expected = fingerprint(read_files(*paths, character_coverage=coverage))
    monkeypatch.setattr(retention, "_SURE_BYTES", 50)
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", 40)
    assert fingerprint(read_files(*paths, workers=workers, character_coverage=coverage)) == expected


def test_spaces_of_an_iterator_that_are_rare_only_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_SURE_BYTES_READ_ONCE", 50)
    monkeypatch.setattr(lines_module, "BUFFER_BYTES", 40)
    lines = ["a b"] * 40 + ["abcdefgh" * 20] * 40
    with raises_kind("cannot-read-twice character_coverage"):
        read(lines, character_coverage=0.95)


def test_pretokens_are_kept_for_longer_if_the_text_cannot_be_read_again(tmp_path: Path) -> None:
    lines = ["some words between spaces"] * 60_000
    [path] = write(tmp_path, "\n".join(lines).encode())
    assert not count(None, input=(str(path),)).has_pretokens
    assert count(lines).has_pretokens


def test_a_line_longer_than_a_read_buffer(tmp_path: Path) -> None:
    long = "ab " * (BUFFER_BYTES // 3 + 10)
    [path] = write(tmp_path, f"first\n{long}c\nlast".encode())
    corpus = read_files(path, max_sentence_length=2**30, character_coverage=1.0)
    assert characters(corpus) == "abcfilrst"
    assert dict(corpus.alphabet)[ord("a")] == BUFFER_BYTES // 3 + 10 + 1
    # The line is one byte too long, so it is skipped.
    assert characters(read_files(path, max_sentence_length=len(long))) == "afilrst"


def test_a_raw_token_longer_than_a_block_of_the_table() -> None:
    """The table stores the texts of long raw tokens separately."""
    long = "x" * 600_000
    items = [f"{long} a", f"{long}y {long}", f"b {long}", "x" * 9 + " " + "x" * 8, "c"]
    corpus = read(
        items,
        add_dummy_prefix=True,
        remove_extra_whitespaces=True,
        max_sentence_length=2**30,
        character_coverage=1.0,
    )
    counts = {chr(c): count for c, count in corpus.alphabet}
    assert counts == {"x": 4 * 600_000 + 17, "▁": 9, "y": 1, "a": 1, "b": 1, "c": 1}
    assert corpus.pretokens == 7


def test_counts_of_raw_tokens_beyond_32_bits() -> None:
    items = ["a b a\t4294967295", "b a\t5000000000000", "a\t3"]
    corpus = read(
        items,
        input_format="tsv",
        remove_extra_whitespaces=True,
        add_dummy_prefix=True,
        character_coverage=1.0,
    )
    both, second = 4294967295, 5000000000000
    counts = {chr(c): count for c, count in corpus.alphabet}
    assert counts["a"] == 2 * both + second + 3
    assert counts["b"] == both + second


@pytest.mark.parametrize(
    ("contents", "sentences"),
    [
        ([b"a\nb"], ["a", "b"]),
        ([b"a\nb\n"], ["a", "b"]),
        ([b"a\n\n\nb\n\n"], ["a", "b"]),
        ([b"a", b"b"], ["a", "b"]),
        ([b"a\n", b"", b"b"], ["a", "b"]),
        # The line before an empty file is read twice if it does not end with a line break.
        ([b"c\na", b"", b"b"], ["c", "a", "a", "b"]),
        ([b"c\na", b""], ["c", "a"]),
    ],
)
def test_ends_of_files(contents: list[bytes], sentences: list[str], tmp_path: Path) -> None:
    found = read_files(*write(tmp_path, *contents))
    assert fingerprint(found) == fingerprint(read(sentences))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    [path] = write(tmp_path, b"a\n")
    with raises_kind("cannot-read No such file or directory"):
        read_files(path, tmp_path / "nowhere")


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("sample", [0, 1_000_000])
@pytest.mark.parametrize(
    "line",
    [
        "word",
        "",
        "word\t1\t2",
        "word\tone",
        "word\t9223372036854775808",
        "word\t",
        "word\t0",
        "word\t-1",
    ],
)
def test_errors_of_counted_lines_name_file_and_line(
    line: str,
    sample: int,
    workers: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", 64)
    good = "good\t3\n" * 40
    paths = write(tmp_path, good.encode(), f"{good}{line}\n{good}".encode())
    with raises_kind(f"broken-record {paths[1]}:41"):
        read_files(*paths, workers=workers, input_format="tsv", input_sentence_size=sample)


def test_errors_of_counted_items_name_the_item() -> None:
    items = ["good\t3"] * 40 + ["bad"]
    with raises_kind("broken-record item:41"):
        read(items, input_format="tsv")
    # The item numbers continue in the next read buffer.
    items = [f"{'x' * BUFFER_BYTES}\t1", "good\t1", "bad"]
    with raises_kind("broken-record item:3"):
        read(items, input_format="tsv")


def test_counts_are_those_of_repeated_lines() -> None:
    counted = read(["ab cd\t3", "e\t1", "f\t +2 "], input_format="tsv")
    repeated = read(["ab cd"] * 3 + ["e", "f", "f"])
    assert fingerprint(counted) == fingerprint(repeated)


def without_empty(sentences: list[str], removes_all_empty: bool) -> list[str]:
    """Remove empty sentences with the same loop as in the reference."""
    left = list(sentences)
    at = 0
    while at < len(left):
        if not left[at]:
            left[at] = left[-1]
            left.pop()
            if removes_all_empty:
                continue
        at += 1
    return left


@pytest.mark.parametrize("release", RELEASES.values(), ids=list(RELEASES))
def test_the_last_sentences_take_the_places_of_empty_ones(release: Release) -> None:
    for seed in range(60):
        dice = random.Random(seed)
        lines = [dice.choice(["ab", "b", " ", "  "]) + str(i) * (i % 2) for i in range(12)]
        lines = [line if "b" in line else line.strip("0123456789") for line in lines]
        lines += [" "] * dice.randrange(4)
        corpus = read(
            lines,
            remove_extra_whitespaces=True,
            character_coverage=1.0,
            split_by_whitespace=False,
            release=release,
        )
        normalized = ["▁" + line.strip() if line.strip() else "" for line in lines]
        expected = without_empty(normalized, release.removes_all_empty)
        assert [text.decode() for text, _ in corpus.counted_pretokens()] == expected


def test_items_may_be_text_or_bytes_and_lose_their_line_ends() -> None:
    assert fingerprint(read(["é a\r\n", b"b\n", "c\n\n\r"])) == fingerprint(read(["é a", "b", "c"]))
    # Inside an item, a line break is a character like any other.
    assert characters(read(["a\nb"])) == "\nab"


def test_read_buffers_of_items_end_after_enough_bytes() -> None:
    items = iter([b"x" * (BUFFER_BYTES - 1), b"", b"y", b"z"])
    buffers = [
        ReadBuffer.of_items(items, 1),
        ReadBuffer.of_items(items, 4),
        ReadBuffer.of_items(items, 5),
    ]
    sizes = [(buffer.lines, buffer.size, buffer.first_line) for buffer in buffers if buffer]
    assert sizes == [(3, BUFFER_BYTES, 1), (1, 1, 4)]
    assert buffers[2] is None


@pytest.mark.parametrize("sample", [0, 5])
def test_the_error_of_an_iterator_is_the_cause(sample: int) -> None:
    error = KeyError("gone")

    def items() -> Iterator[str]:
        yield "a"
        raise error

    with raises_kind("iterator-failed gone") as raised:
        read(items(), input_sentence_size=sample)
    assert raised.value.__cause__ is error


@pytest.mark.parametrize("sample", [0, 500])
@pytest.mark.parametrize("release", ["0.2.2", "0.2.3"])
def test_an_error_before_the_first_item_stays_as_it_is(release: str, sample: int) -> None:
    error = KeyError("gone")

    def items() -> Iterator[str]:
        raise error
        yield "a"

    options = {"input_sentence_size": sample, "release": find_release(release)}
    with pytest.raises(KeyError) as raised:
        read(items(), **options)
    assert raised.value is error
    options["release"] = find_release("0.2.1")
    with raises_kind("iterator-failed gone"):
        read(items(), **options)


def test_an_interrupt_of_an_iterator_stays_an_interrupt() -> None:
    def items() -> Iterator[str]:
        yield "a"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read(items())


@pytest.mark.parametrize("item", [3, None, ["a"]])
def test_items_of_other_types(item: Any) -> None:
    with raises_kind("wrong-type"):
        read(["a", item])


def test_a_lone_surrogate() -> None:
    with raises_kind("not-utf8"):
        read(["a", "\ud800"])


@pytest.mark.parametrize("items", [[], ["", "\n"], ["x" * 11], ["a▅"]])
def test_input_without_a_sentence(items: list[str]) -> None:
    with raises_kind("empty-corpus --max_sentence_length"):
        read(items, max_sentence_length=10)


def test_lines_that_are_left_out_are_reported(tmp_path: Path) -> None:
    stream = io.StringIO()
    items = ["a", "", "x" * 6, "x" * 7, "▅", "éé", "éé1"]
    report = Report(0, stream)
    plan = stages.plan_of(max_sentence_length=5, remove_extra_whitespaces=True)
    corpus = stages.read_plan(plan, items, Context(Workers(2), report))
    lines = stream.getvalue().splitlines()
    assert "INFO spmcompat: Loaded all 3 sentences" in lines
    assert any("Skipped 2 too long sentences with 13 bytes, " in line for line in lines)
    assert any("Skipped 1 sentences that contain the reserved" in line for line in lines)
    assert characters(corpus) == "1aé"


# Sampling. Every sentence is one character, so the alphabet shows which sentences were sampled.
ITEMS = [chr(0x4E00 + number) for number in range(40)]


def sampled(size: int, seed: int = 0, shuffle: bool = True, workers: int = 2) -> set[str]:
    corpus = read(
        ITEMS,
        workers,
        add_dummy_prefix=False,
        character_coverage=1.0,
        input_sentence_size=size,
        shuffle_input_sentence=shuffle,
        sampling_seed=seed,
    )
    return set(characters(corpus))


def test_without_shuffle_the_first_are_taken() -> None:
    for size in (1, 10, 39, 40, 41):
        assert sampled(size, shuffle=False) == set(ITEMS[:size])


def test_without_shuffle_the_rest_is_not_read() -> None:
    def items() -> Iterator[str]:
        for number in range(100):
            # Each item fills a read buffer, so only a few items may be read for two sentences.
            assert number < 10
            yield chr(0x4E00 + number) * (BUFFER_BYTES // 3 + 1)

    corpus = read(
        items(), input_sentence_size=2, shuffle_input_sentence=False, max_sentence_length=2**30
    )
    assert characters(corpus) == "".join(ITEMS[:2])


def test_without_shuffle_the_rest_is_not_looked_at() -> None:
    items = ["a\t1", "b\t2", "no count"]
    corpus = read(items, input_format="tsv", input_sentence_size=2, shuffle_input_sentence=False)
    assert characters(corpus) == "ab"


def test_a_sample_is_repeatable_and_depends_on_the_seed() -> None:
    samples = [sampled(10, seed) for seed in range(20)]
    assert [sampled(10, seed, workers=workers) for workers in (1, 3) for seed in range(20)] == (
        samples * 2
    )
    assert all(len(sample) == 10 for sample in samples)
    assert len(set(map(frozenset, samples))) == 20


def test_a_sample_as_large_as_the_text_is_the_text() -> None:
    assert sampled(40, seed=5) == sampled(100, seed=6) == set(ITEMS)


def test_a_sample_is_uniform() -> None:
    """Pearson's test over how often each sentence is drawn.

    A sample has 10 of the 40 sentences, so the statistic is scaled by the variance of sampling
    without replacement. With 39 degrees of freedom, it is within these bounds 999 times in 1000.
    """
    samples = 300
    drawn = Counter(item for seed in range(samples) for item in sampled(10, seed, workers=1))
    expected = samples * 10 / 40
    variance = samples * (10 / 40) * (30 / 40)
    statistic = sum((drawn[item] - expected) ** 2 for item in ITEMS) / variance * 39 / 40
    assert 15 < statistic < 76


def test_a_sample_of_a_file_is_that_of_its_lines(tmp_path: Path) -> None:
    [path] = write(tmp_path, "\n".join(ITEMS).encode())
    found = read_files(path, add_dummy_prefix=False, input_sentence_size=10, character_coverage=1.0)
    assert set(characters(found)) == sampled(10)
