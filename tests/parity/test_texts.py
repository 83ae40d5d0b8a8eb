"""Compares training on difficult texts with the real library."""

from __future__ import annotations

import pytest

from . import corpora
from .case import Option
from .harness import Trainers

SOFT: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False, "num_threads": 2}

TEXTS: dict[str, str | bytes] = {
    "topics": corpora.topics_text(60_000),
    "docstrings": corpora.docstrings_text(),
    "fibonacci": corpora.fibonacci_text(14),
    "fibonacci in one line": corpora.fibonacci_text(11, 1 << 20),
    "one letter": "a" * 50 + "\n" + "a" * 30,
    "one character": "a",
    "runs": "aaaa aaa aa a\n" * 20 + "abababab babab\n" * 10,
    "broken bytes": corpora.messy_bytes(11),
    "empty lines": b"\n\n\nabc abc\n\n\nabd abd\n\n",
    "empty last line": b"abc abd\nabc\n\n",
    "lines of spaces": b"   \nabc abc\n \t \nabd abd\n   ",
    "lines of spaces at the end": b"abc abc\nabd abe\n \n  \n\t\n",
    "carriage returns": b"abc abc\r\nabd abd\r\nabc\rabd\r\n",
    "NUL": b"abc\0abc abd\nab\0 abd abc\n\0\nabc\n",
    "no newline at the end": b"abc abc abd\nabd abc",
    "space symbols": "a▁b ▁▁ab a▁b\n▁ab ab▁\n" * 5,
    "unknown symbol": "abc ▅ abc\nabd abc abd\nabc▅\n" * 5,
    "boundary symbol": "abc\x1fabd abc\nabd\x1f\n\x1fabc\n" * 5,
    "meta pieces": "<s> abc </s> <unk> abc\nabd<s>abd </s>abc<unk>\n" * 6,
    "inherited characters": "a\u0301b \u0301ab а\u0301b あ\u3099い ab\u200d\n" * 6,
    "long vowel": "カーaー ーあ漢ーa ラーメン らーめん\n" * 6,
    "numbers": "a1 1a 12 １２ 3rd 第1番 x2y 2024年\n" * 6,
    "astral": "😀😁 😀😀 𠀀𠀁𠀀 👨\u200d👩\u200d👧 \U0010ffff\n" * 6,
    "last sentence repeats": "abc abd\nabe\nabc abd\nabe",
    "byte order mark": "\ufeffabc abc\nabd \ufeffabc\n" * 5,
    "surrogates": b"abc \xed\xa0\x80 abc\nabd \xed\xb0\x80abc\n" * 5,
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("rules", ["nmt_nfkc", "identity"])
def test_hard_texts(trainers: Trainers, name: str, rules: str) -> None:
    trainers.check({**SOFT, "normalization_rule_name": rules}, TEXTS[name])


@pytest.mark.parametrize("name", ["empty lines", "NUL", "runs", "fibonacci", "unknown symbol"])
@pytest.mark.parametrize("split", [True, False])
def test_hard_texts_without_dummy_prefix(trainers: Trainers, name: str, split: bool) -> None:
    options: dict[str, Option] = {"add_dummy_prefix": False, "split_by_whitespace": split}
    trainers.check({**SOFT, **options}, TEXTS[name])


@pytest.mark.parametrize("seed", range(24))
def test_texts_with_ties(trainers: Trainers, seed: int) -> None:
    letters = ["ab", "abc", "aあ漢ñ1", "a1あ"][seed % 4]
    options: dict[str, Option] = {
        "vocab_size": [40, 60, 100][seed % 3],
        "num_threads": seed % 5 + 1,
    }
    text = corpora.ties_text(seed, 20 + 5 * seed, letters)
    trainers.check({**SOFT, **options, "split_by_whitespace": seed % 6 != 0}, text)


def test_a_line_of_two_megabytes(trainers: Trainers) -> None:
    long_line = " ".join(corpora.topics_text(1 << 30).split())[: 2 << 20]
    options: dict[str, Option] = {**SOFT, "vocab_size": 1000, "max_sentence_length": 1 << 22}
    trainers.check(options, long_line + "\nshort line\n")
    trainers.check(SOFT, long_line + "\n" + corpora.topics_text(10_000))


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("places", [[0], [9000], [-1], [0, 3000, 3001, -1]])
def test_space_marks_in_a_long_line(trainers: Trainers, model_type: str, places: list[int]) -> None:
    """A space mark joins the words around it, so this line is normalized as a whole."""
    words = corpora.topics_text(120_000).split()
    for place in places:
        words[place] = "ab▁ab▁"
    options: dict[str, Option] = {**SOFT, "model_type": model_type, "max_sentence_length": 1 << 20}
    lines = ["ab ab", " ".join(words), "ab▁ ab", " ".join(reversed(words)), "ab ab"]
    trainers.check(options, "\n".join(lines))


def test_large_corpora(trainers: Trainers, large_corpora: dict[str, object]) -> None:
    for name, path in corpora.large().items():
        comparison = trainers.compare({**SOFT, "vocab_size": 2000}, corpora.head(path, 200_000))
        assert comparison.equal, f"{name}: {trainers.explain(comparison)}"
