"""``long_sentences=split`` gives the model of a text whose long lines were divided in advance."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from tests.kinds import raises_kind

LONGEST = 40
SPACES = " \t\v\f\x85\xa0\u2003\u2028\u3000"
WORDS = ["the", "cat", "sat", "日本語", "naïve", "x" * 39, "y" * 40, "z" * 41, "é" * 60, ""]


def divided(line: str) -> list[str]:
    """Divide a line into sentences, with a plain implementation of the rule."""
    parts = []
    while len(line.encode()) > LONGEST:
        ends = [i for i, character in enumerate(line) if character.isspace()]
        short = [i for i in ends if len(line[:i].encode()) <= LONGEST]
        end = short[-1] if short else (ends or [len(line)])[0]
        parts.append(line[:end])
        line = line[end + 1 :]
    return [*parts, line]


def text(seed: int, lines: int = 150) -> list[str]:
    dice = random.Random(seed)
    return [
        "".join(dice.choice(WORDS) + dice.choice(SPACES) for _ in range(dice.randrange(12)))
        for _ in range(lines)
    ]


def trained(**options: Any) -> bytes:
    written = io.BytesIO()
    given = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2, **options}
    spmcompat.train(model_writer=written, max_sentence_length=LONGEST, **given)
    return written.getvalue().replace(b"long.txt", b"test.txt")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("seed", range(5))
def test_the_same_bytes_as_for_the_divided_text(kind: str, seed: int) -> None:
    lines = text(seed)
    short = [part for line in lines for part in divided(line)]
    assert len(short) > len(lines)
    Path("long.txt").write_text("".join(f"{line}\n" for line in lines), newline="")
    Path("test.txt").write_text("".join(f"{line}\n" for line in short), newline="")
    options: dict[str, Any] = {"model_type": kind, "remove_extra_whitespaces": seed % 2 == 0}
    if kind == "unigram":
        options["split_by_whitespace"] = seed != 3
    expected = trained(input="test.txt", **options)
    split = {**options, "long_sentences": "split"}
    assert trained(input="long.txt", **split) == expected
    assert trained(input="long.txt", **options) != expected
    of_items = trained(sentence_iterator=short, **options)
    assert trained(sentence_iterator=lines, **split) == of_items
    records = "".join(json.dumps({"text": line}) + "\n" for line in lines)
    Path("long.jsonl").write_text(records)
    Path("test.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in short))
    of_records = trained(input="long.jsonl", **split).replace(b"long.jsonl", b"test.jsonl")
    assert of_records == trained(input="test.jsonl", **options)


def test_the_places_are_those_that_unicode_calls_white_space() -> None:
    separators = {chr(c) for c in range(0x110000) if chr(c).isspace()} - set("\x1c\x1d\x1e\x1f")
    others = "\x1c\x1f\u180e\u200b\u2060\ufeff\u2581x"
    for character in [*sorted(separators), *others]:
        counts = spmcompat.count(
            sentence_iterator=["a" * 39 + character + "b" * 39],
            long_sentences="split",
            max_sentence_length=LONGEST,
            allow_empty=True,
            minloglevel=2,
        )
        assert counts.origin.sentences == (2 if character in separators else 0), character


def test_arrow_data_and_counts() -> None:
    pa = pytest.importorskip("pyarrow")
    lines = text(7)
    short = [part for line in lines for part in divided(line)]
    expected = trained(sentence_iterator=short)
    assert trained(sentence_iterator=pa.array(lines), long_sentences="split") == expected
    counts = spmcompat.count(
        sentence_iterator=lines,
        long_sentences="split",
        max_sentence_length=LONGEST,
        minloglevel=2,
    )
    assert counts.origin.options["long_sentences"] == "split"
    written = io.BytesIO()
    spmcompat.train(
        counts=counts, model_writer=written, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    assert written.getvalue() == expected


def test_tsv_parts_have_the_count_of_their_line() -> None:
    rows = [(" ".join(["cat"] * 30), 3), ("sat", 1)]
    Path("long.txt").write_text("".join(f"{line}\t{count}\n" for line, count in rows))
    short = [(part, count) for line, count in rows for part in divided(line)]
    Path("test.txt").write_text("".join(f"{line}\t{count}\n" for line, count in short))
    options: dict[str, Any] = {"input_format": "tsv", "vocab_size": 12}
    expected = trained(input="test.txt", **options)
    assert trained(input="long.txt", **options, long_sentences="split") == expected


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_the_log_says_what_was_divided_and_what_was_skipped(size: int) -> None:
    log = io.StringIO()
    Path("long.txt").write_text("a b c " * size + "z" * 50 + " d\nabc\n")
    spmcompat.train(
        input="long.txt",
        model_writer=io.BytesIO(),
        vocab_size=12,
        hard_vocab_limit=False,
        max_sentence_length=LONGEST,
        long_sentences="split",
        model_type="char",
        logstream=log,
    )
    parts = len(divided("a b c " * 100 + "z" * 50 + " d")) if size == 100 else None
    assert (
        parts is None
        or f"Of {parts + 1} lines (after 1 were split into {parts}): " in log.getvalue()
    )
    assert "Skipped 1 too long words with 50 bytes" in log.getvalue()
    assert "long_sentences" not in log.getvalue()


def test_other_values_are_refused() -> None:
    with raises_kind("bad-value cut"):
        trained(sentence_iterator=["a"], long_sentences="cut")
