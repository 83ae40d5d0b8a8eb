"""Options that the reference has only on its command line: sparse pruning and others."""

from __future__ import annotations

import pytest

from . import corpora, reference_flags
from .case import Form, Option
from .harness import Trainers, file_case, sentences_case
from .sides import REFERENCE, Side
from .test_options import SOFT, each

SPARSE: dict[str, Option] = {"use_sparse_pruning": True}
AUTO: dict[str, Option] = {
    **SPARSE,
    "byte_fallback": True,
    "auto_character_coverage": True,
    "vocab_size": 600,
}

OPTIONS: list[dict[str, Option]] = [
    SPARSE,
    {**SPARSE, "post_l1_debias": False},
    {**SPARSE, "vocab_size": 1 << 20},
    {**SPARSE, "num_threads": 1},
    {**SPARSE, "num_threads": 3, "num_sub_iterations": 1, "shrinking_factor": 0.5},
    {**SPARSE, "seed_sentencepiece_size": 500},
    {**SPARSE, "split_by_whitespace": False},
    {**SPARSE, "character_coverage": 0.98},
    {**SPARSE, "min_freq_alpha": 0.5, "seed_piece_length_power": 0.75},
    {"post_l1_debias": False},
    *each("seed_piece_length_power", (0, 0.3, 0.5, 2, -1)),
    *each("min_freq_alpha", (0.1, 1, 1e9, -1, "inf", "nan")),
    AUTO,
    {**AUTO, "post_l1_debias": False},
    {**AUTO, "character_coverage": 0.98},
    {**AUTO, "add_dummy_prefix": False},
    {**AUTO, "pretokenization_delimiter": "e"},
    {**AUTO, "pretokenization_delimiter": "▁t"},
    {**AUTO, "user_defined_symbols": ["the", "▁of", "e"]},
    {**AUTO, "split_by_whitespace": False, "min_freq_alpha": 0.2},
]


@pytest.mark.parametrize("option", OPTIONS, ids=str)
@pytest.mark.parametrize("form", ["python", "cli"])
def test_options(trainers: Trainers, option: dict[str, Option], form: Form) -> None:
    size: dict[str, Option] = {"vocab_size": 500}
    trainers.check({**SOFT, **size, **option}, corpora.topics_text(12_000), form=form)
    size = {"vocab_size": 1000}
    trainers.check({**SOFT, **option, **size}, corpora.mixed_text(1, 200), form=form)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("num_threads", [2, 16])
def test_workers_never_change_a_byte(trainers: Trainers, num_threads: int, workers: int) -> None:
    options: dict[str, Option] = {**SOFT, **AUTO, "num_threads": num_threads}
    trainers.check(options, corpora.mixed_text(2, 300), workers=workers)


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_other_model_types_ignore_them(trainers: Trainers, kind: str) -> None:
    options: dict[str, Option] = {"seed_piece_length_power": 0.5, "min_freq_alpha": 3, **SPARSE}
    trainers.check({**SOFT, **options, "model_type": kind}, corpora.topics_text(5_000))


TEXT = corpora.topics_text(6_000)


@pytest.mark.parametrize(
    "text",
    [
        # Boundary marks stay in the text, so the byte of a mark follows the text before the mark.
        TEXT.replace(" t", "\x1ft").replace("e ", "e\x1f ") + "\n1\x1f2 1\x1f3\n",
        TEXT.replace(" the", " <s>the</s>"),
        TEXT.encode().replace(b" s", b" \xff\xfes").replace(b"r ", b"\xe3\x81"),
        "abcabc\nabd\nabc\nxyzab\n" * 30,
        corpora.words_text(3, 300, "han", 100),
    ],
    ids=["boundaries", "symbols", "broken bytes", "no space", "han"],
)
@pytest.mark.parametrize("dummy", [True, False])
def test_automatic_coverage_keeps_all_characters(
    trainers: Trainers, text: str | bytes, dummy: bool
) -> None:
    options: dict[str, Option] = {**SOFT, **AUTO, "add_dummy_prefix": dummy}
    trainers.check({**options, "vocab_size": 400}, text)
    trainers.check({**options, "normalization_rule_name": "identity"}, text)


def test_rules_that_write_the_unknown_mark(trainers: Trainers) -> None:
    rules = {"rules.tsv": b"41\t2585\n73\t2585 61\n"}
    options: dict[str, Option] = {**SOFT, **AUTO, "normalization_rule_tsv": "rules.tsv"}
    trainers.check(options, TEXT, files=rules)


def test_automatic_coverage_refuses_nul(trainers: Trainers) -> None:
    """At the end of training, the reference drops the piece U+0000: no lattice contains it."""
    comparison = trainers.compare({**SOFT, **AUTO}, TEXT.replace(" a", " \0a"))
    assert comparison.reference.failure is None
    assert comparison.ours.failure is not None
    assert "The text contains U+0000" in comparison.ours.failure.message


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({**AUTO, "use_sparse_pruning": False}, "requires --use_sparse_pruning=true"),
        ({**AUTO, "byte_fallback": False}, "requires --byte_fallback=true"),
        ({**AUTO, "required_chars": "a"}, "cannot be used together with"),
        ({**AUTO, "vocab_size": 259}, "larger than the number of meta pieces (259 vs 259)"),
        ({**AUTO, "vocab_size": 100_000, "hard_vocab_limit": True}, "Vocabulary size too high"),
        ({"seed_piece_length_power": 60}, "[std::isfinite(score)]"),
        ({"seed_piece_length_power": "nan"}, "[std::isfinite(score)]"),
    ],
)
def test_both_refuse(trainers: Trainers, options: dict[str, Option], key: str) -> None:
    trainers.check_failure(file_case({**SOFT, **options}, [TEXT]), key=key)


def test_flags_do_not_leak_into_the_next_case() -> None:
    side = Side(REFERENCE)
    try:
        before, sparse, after = (
            side.run(sentences_case({**SOFT, **more}, TEXT.split("\n"))).output(".model")
            for more in ({}, SPARSE, {})
        )
    finally:
        side.close()
    assert before == after != sparse


def test_a_missing_flag_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="has no flag use_dense_pruning"):
        reference_flags.record("use_dense_pruning")
