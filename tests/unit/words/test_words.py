"""The words of a text, as the counters of workers find them."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.splitting.bert import BertOptions
from spmcompat.splitting.expressions import EXPRESSIONS
from spmcompat.splitting.scanners import bert_words, words
from spmcompat.text.sources import open_source
from spmcompat.words.reading import read_words
from spmcompat.words.words import Words
from tests.kinds import raises_kind
from tests.parity.corpora import mixed_text, words_text
from tests.unit.stages import QUIET

EXPRESSION_SCANNERS = sorted({*EXPRESSIONS.values()})
SCANNERS = [*EXPRESSION_SCANNERS, BertOptions(), BertOptions(False, False, False, False)]
LINES = [
    *mixed_text(60).splitlines(keepends=True),
    *words_text(60).splitlines(keepends=True),
    "two  spaces\t and \u3000 white   \n",
    "CR\r\n",
    "a line without words of few bytes: " + "漢字" * 40 + "。" * 20 + " x\n",
    "'s it's  's\n",
    "İẞÉ.\0" * 9 + " Ünï\u0323cöde 漢a字B\v가\n",
    "a\u302e\u034f\U000116b6b" * 9 + "\n",
    "\n",
    "no end",
]


def counted(
    source: object, scanner: str | BertOptions, adds_space: bool = False, workers: int = 2
) -> Counter[bytes]:
    context = Context(Workers(workers), QUIET)
    return counts_of(read_words(source, scanner, adds_space, context))  # type: ignore[arg-type]


def counts_of(words: Words) -> Counter[bytes]:
    ends, text, counts = words.rows()
    bounds = itertools.pairwise(memoryview(ends).cast("q"))
    return Counter(
        {
            text[begin:end]: count
            for (begin, end), count in zip(bounds, memoryview(counts).cast("q"), strict=True)
        }
    )


def words_of(scanner: str | BertOptions, text: bytes) -> list[bytes]:
    return words(scanner, text) if isinstance(scanner, str) else bert_words(scanner, text)


def expected(texts: list[str], scanner: str | BertOptions) -> Counter[bytes]:
    return Counter(word for text in texts for word in words_of(scanner, text.encode()))


@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize("workers", [1, 3])
def test_lines_of_files_include_their_ends(
    scanner: str | BertOptions, workers: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("".join(LINES).encode())
    found = counted(
        open_source(TextPlan(input=(str(path),)), None, QUIET), scanner, workers=workers
    )
    assert found == expected(LINES, scanner)


@pytest.mark.parametrize("scanner", SCANNERS)
def test_items_are_texts(scanner: str | BertOptions) -> None:
    items = [*(line.rstrip("\r\n") for line in LINES), "".join(LINES[:5]) + "x", ""]
    found = counted(open_source(TextPlan(), items, QUIET), scanner)
    assert found == expected(items, scanner)


def test_a_space_is_added_to_texts_that_do_not_begin_with_one() -> None:
    items = ["a b", " a b", "\ta", "x" * 50]
    found = counted(open_source(TextPlan(), items, QUIET), "gpt2", adds_space=True)
    assert found == expected([" a b", " a b", " \ta", " " + "x" * 50], "gpt2")


@pytest.mark.parametrize("scanner", EXPRESSION_SCANNERS)
def test_a_word_that_is_cut_again_stays_whole(scanner: str) -> None:
    for text in LINES:
        for word in words_of(scanner, text.encode()):
            assert words_of(scanner, word) == [word]


def test_malformed_lines_and_items_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\nbad \xff\nalso \xfe\n")
    with raises_kind("not-utf8 a.txt byte 5"):
        counted(open_source(TextPlan(input=(str(path),)), None, QUIET), "gpt2")
    with raises_kind("not-utf8 item:2"):
        counted(open_source(TextPlan(), [b"good", b"bad \xff"], QUIET), "gpt2")
