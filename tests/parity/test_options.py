"""Sets one option at a time, and compares the models that both sides train on a small text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from . import corpora
from .case import Option
from .harness import Trainers


def each(name: str, values: Sequence[Option]) -> list[dict[str, Option]]:
    return [{name: value} for value in values]


SOFT: dict[str, Option] = {"vocab_size": 300, "hard_vocab_limit": False, "num_threads": 2}

ONE_OPTION: list[dict[str, Option]] = [
    {},
    *each("vocab_size", (150, 500, 1000, 8000, 1 << 22)),
    *each("num_threads", (1, 2, 3, 16, 1024)),
    *each("num_sub_iterations", (1, 3, 10)),
    *each("shrinking_factor", (0.5, 0.6, 0.9, 0.95)),
    *each("seed_sentencepiece_size", (-1, 0, 1, 50, 500)),
    *each("max_sentencepiece_length", (1, 2, 3, 17, 512)),
    *each("max_sentence_length", (10, 60, 100_000)),
    *each("character_coverage", (0.98, 0.99, 1.0)),
    {"required_chars": "zqあ\U0001f600"},
    {"required_chars": ""},
    {"input_sentence_size": 101, "shuffle_input_sentence": False},
    {"input_sentence_size": 1_000_000},
    {"shuffle_input_sentence": False},
    {"input_format": "text"},
    {"input_format": ""},
    {"model_type": "UNIGRAM"},
    {"split_by_unicode_script": False},
    {"split_by_number": False},
    {"split_by_whitespace": False},
    {"split_digits": True},
    {"treat_whitespace_as_suffix": True},
    {"allow_whitespace_only_pieces": True},
    {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False},
    {"add_dummy_prefix": False},
    {"escape_whitespaces": True},
    *each("normalization_rule_name", ("nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")),
    {"name": "nfkc"},
    {"pretokenization_delimiter": "e"},
    {"pretokenization_delimiter": "▁"},
    {"pretokenization_delimiter": ""},
    {"control_symbols": ["<sep>", "<cls>", "the"]},
    {"control_symbols": []},
    {"user_defined_symbols": ["the", "▁of", "e", "a,b", 'say "x"']},
    {"user_defined_symbols": "the,of"},
    {"user_defined_symbols": ["<s>", "</s>"]},
    {"control_symbols": ["<pad>"], "pad_id": 3},
    {"byte_fallback": True, "vocab_size": 600},
    {"byte_fallback": True, "unk_id": -1, "vocab_size": 600},
    {"vocabulary_output_piece_score": False},
    {"unk_id": 3, "bos_id": -1, "eos_id": 0, "pad_id": 1},
    {"unk_id": 100},
    {"bos_id": -1, "eos_id": -1},
    {"unk_piece": "[UNK]", "bos_piece": "[CLS]", "eos_piece": "[SEP]", "pad_piece": "[PAD]"},
    {"unk_surface": ""},
    {"unk_surface": " ? "},
    {"minloglevel": 1},
    {"accept_language": "en"},
    {"train_extremely_large_corpus": True},
    {"hard_vocab_limit": "no"},
    {"split_by_number": "false"},
]


@pytest.mark.parametrize("option", ONE_OPTION, ids=str)
@pytest.mark.parametrize("corpus", ["english", "mixed"])
def test_one_option(trainers: Trainers, option: dict[str, Option], corpus: str) -> None:
    text = corpora.topics_text(12_000) if corpus == "english" else corpora.mixed_text(1, 200)
    size = {"vocab_size": 700} if corpus == "mixed" and "vocab_size" not in option else {}
    if option.get("vocab_size") in (150, 500, 600) and corpus == "mixed":
        size = {"vocab_size": 1000}
    trainers.check({**SOFT, **option, **size}, text)


@pytest.mark.parametrize("num_threads", [1, 2, 3, 16])
@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_workers_never_change_a_byte(trainers: Trainers, num_threads: int, workers: int) -> None:
    options: dict[str, Option] = {**SOFT, "vocab_size": 600, "num_threads": num_threads}
    trainers.check(options, corpora.mixed_text(2, 300), workers=workers)


@pytest.mark.parametrize("size", [350, 400, 777])
def test_hard_limit(trainers: Trainers, size: int) -> None:
    trainers.check({"vocab_size": size}, corpora.topics_text(40_000))


def test_unlimited_size_shows_the_scores_after_one_round(trainers: Trainers) -> None:
    options: dict[str, Option] = {"vocab_size": 1 << 20, "hard_vocab_limit": False}
    trainers.check({**options, "num_threads": 3}, corpora.docstrings_text())


@pytest.mark.parametrize("script", sorted(corpora.SCRIPTS))
def test_scripts(trainers: Trainers, script: str) -> None:
    trainers.check(SOFT, corpora.words_text(7, 300, script))


@pytest.mark.parametrize(
    "text", ["zh", "ja", "th"], ids=["han, where the space is rare", "kana", "thai"]
)
def test_space_may_fall_below_the_coverage(trainers: Trainers, text: str) -> None:
    script = {"zh": "han", "ja": "kana", "th": "thai"}[text]
    lines = corpora.words_text(8, 400, script, 300).replace(" ", "").split("\n")
    lines[7] = lines[7][:2] + " " + lines[7][2:]
    options: dict[str, Option] = {**SOFT, "character_coverage": 0.98, "add_dummy_prefix": False}
    trainers.check(options, "\n".join(lines))


WHITESPACE: list[Option] = [False, True]


@pytest.mark.parametrize("suffix", WHITESPACE)
@pytest.mark.parametrize("only", WHITESPACE)
@pytest.mark.parametrize("split", WHITESPACE)
@pytest.mark.parametrize("dummy", WHITESPACE)
def test_white_space_options_together(
    trainers: Trainers, suffix: Option, only: Option, split: Option, dummy: Option
) -> None:
    options: dict[str, Option] = {
        "treat_whitespace_as_suffix": suffix,
        "allow_whitespace_only_pieces": only,
        "split_by_whitespace": split,
        "add_dummy_prefix": dummy,
        "remove_extra_whitespaces": False,
        "vocab_size": 500,
        "hard_vocab_limit": False,
    }
    trainers.check(
        options, corpora.mixed_text(9, 150), "def f(a,   b):\n        return  a + b\n" * 9
    )
