"""Training from counts against the real library, which trains on the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.parity import corpora
from tests.parity.case import Option
from tests.parity.harness import Trainers
from tests.parity.small import KINDS, SOFT, TEXTS

pytest.importorskip("pyarrow")

FROM_COUNTS = "tests.parity.ours_from_counts"


@pytest.fixture(scope="module")
def trainers() -> Iterator[Trainers]:
    with Trainers(ours=FROM_COUNTS) as pair:
        yield pair


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("workers", [1, 3])
def test_every_model_type(trainers: Trainers, text: str, kind: str, workers: int) -> None:
    options = KINDS[kind]
    comparison = trainers.compare(options, TEXTS[text], workers=workers)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize(
    "options",
    [
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"treat_whitespace_as_suffix": True},
        {"treat_whitespace_as_suffix": True, "model_type": "word"},
        {"allow_whitespace_only_pieces": True},
        {"normalization_rule_name": "identity"},
        {"normalization_rule_name": "nmt_nfkc_cf", "num_threads": 3},
        {"user_defined_symbols": ["the", "\u2581a"], "control_symbols": ["<c>"]},
        {"byte_fallback": True, "vocab_size": 500},
        {"pretokenization_delimiter": "e"},
        {"split_digits": True, "split_by_number": False, "split_by_unicode_script": False},
        {"max_sentence_length": 60},
        {"character_coverage": 0.98, "required_chars": "éß"},
        {"num_threads": 7, "num_sub_iterations": 3, "shrinking_factor": 0.9},
    ],
    ids=str,
)
def test_options(trainers: Trainers, options: dict[str, Option]) -> None:
    trainers.check({**SOFT, "vocab_size": 400, **options}, corpora.mixed_text(5))


def test_a_text_with_counts(trainers: Trainers) -> None:
    lines = corpora.words_text(6, lines=100).splitlines()
    text = "".join(f"{line}\t{1 + number % 5}\n" for number, line in enumerate(lines))
    trainers.check({**SOFT, "vocab_size": 120, "input_format": "tsv"}, text)


def test_several_files_and_sentences_from_an_iterator(trainers: Trainers) -> None:
    texts = [corpora.words_text(seed, lines=50) for seed in (7, 8)]
    trainers.check({**SOFT, "vocab_size": 120}, *texts)
    sentences: Sequence[str] = texts[0].splitlines()
    trainers.check_sentences({**SOFT, "vocab_size": 120}, sentences)


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_old_releases(trainers: Trainers, old_release: str, kind: str) -> None:
    options = KINDS[kind]
    trainers.check(options, corpora.words_text(9, lines=300), release=old_release)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["en-docs", "ja-docs", "hi-courses", "mixed-messy", "edge-bytes"])
def test_large_texts(
    trainers: Trainers, large_corpora: dict[str, Path], name: str, kind: str
) -> None:
    if name not in large_corpora:
        pytest.skip(f"no text {name}")
    text = corpora.head(large_corpora[name], 400_000)
    size: dict[str, Option] = {"vocab_size": 9000} if kind in ("unigram", "bpe") else {}
    comparison = trainers.compare({**KINDS[kind], **size}, text)
    assert comparison.equal, comparison.report()
