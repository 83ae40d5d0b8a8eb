"""Compares training from Arrow data with the real library, which iterates over the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parity import corpora
from tests.parity.case import Option
from tests.parity.harness import Trainers, file_case, sentences_case
from tests.parity.small import KINDS, SOFT, TEXTS

pytest.importorskip("pyarrow")

FROM_ARROW = "tests.parity.ours_from_arrow"


@pytest.fixture(scope="module")
def trainers() -> Iterator[Trainers]:
    with Trainers(ours=FROM_ARROW) as pair:
        yield pair


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("workers", [1, 3])
def test_every_model_type(trainers: Trainers, text: str, kind: str, workers: int) -> None:
    rows = TEXTS[text].splitlines()
    trainers.check_sentences(KINDS[kind], rows, workers=workers)


@pytest.mark.parametrize(
    "options",
    [
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"treat_whitespace_as_suffix": True},
        {"split_by_whitespace": False},
        {"normalization_rule_name": "identity"},
        {"max_sentence_length": 60},
        {"character_coverage": 0.98},
        {"input_sentence_size": 101, "shuffle_input_sentence": False},
    ],
    ids=str,
)
def test_options(trainers: Trainers, options: dict[str, Option]) -> None:
    rows = corpora.mixed_text(5).split("\n")
    trainers.check_sentences({**SOFT, "vocab_size": 400, **options}, rows)


def test_line_ends_in_rows(trainers: Trainers) -> None:
    rows = [row + end for row in TEXTS["words"].splitlines() for end in ("\r\n", "\n\n\r", "\na b")]
    trainers.check_sentences({**SOFT, "vocab_size": 150}, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_not_utf_8(trainers: Trainers, kind: str) -> None:
    rows = [row.encode() for row in TEXTS["words"].splitlines()]
    broken = [row + bad + b" a" for row, bad in zip(rows, corpora.BROKEN * 9, strict=False)]
    trainers.check_sentences(KINDS[kind], [*rows, *broken])


def test_rows_with_counts(trainers: Trainers) -> None:
    rows = [f"{row}\t{1 + n % 5}" for n, row in enumerate(TEXTS["words"].splitlines())]
    trainers.check_sentences({**SOFT, "vocab_size": 120, "input_format": "tsv"}, rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["en-docs", "ja-docs", "hi-courses", "mixed-messy", "code-python"])
def test_large_texts(
    trainers: Trainers, large_corpora: dict[str, Path], name: str, kind: str
) -> None:
    """The real library learns the same pieces from the rows and from a file with the same text."""
    if name not in large_corpora:
        pytest.skip(f"no text {name}")
    text = corpora.head(large_corpora[name], 400_000)
    size: dict[str, Option] = {"vocab_size": 9000} if kind in ("unigram", "bpe") else {}
    options = {**KINDS[kind], **size}
    lines = text.removesuffix(b"\n").split(b"\n")
    comparison = trainers.run(sentences_case(options, lines))
    assert comparison.equal, comparison.report()
    of_file = trainers.reference.run(file_case(options, [text]))
    assert of_file.output(".vocab") == comparison.ours.output(".vocab")
