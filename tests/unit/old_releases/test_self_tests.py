"""Self-tests: lines of the text that earlier releases store in a model, with their pieces.

The tests compare whole models, so each stored line also shows that spmcompat encodes it as the real
library does.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spmcompat.model.reading import parse
from spmcompat.old_releases.self_test import self_tests
from spmcompat.releases import RELEASES
from tests.parity.case import Case, Option
from tests.parity.corpora import messy_bytes, mixed_text, ties_text, words_text
from tests.parity.harness import Text, Trainers, file_case, sentences_case

pytestmark = pytest.mark.slow

TYPES = ["unigram", "bpe", "word", "char"]
OPTIONS: dict[str, dict[str, Option]] = {
    "plain": {},
    "rare characters": {"character_coverage": 0.98},
    "bytes": {"character_coverage": 0.98, "byte_fallback": True},
    "symbols": {"user_defined_symbols": ["he", "ab", "▁w", "aba", "o", "日本", "th ", "<s>"]},
    "identity": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "suffix": {"treat_whitespace_as_suffix": True, "unk_surface": "?", "unk_id": 3, "pad_id": 0},
    "bare": {"add_dummy_prefix": False, "max_sentencepiece_length": 3},
}
TEXTS: dict[str, Text] = {
    "words": words_text(1, lines=300),
    "mixed": mixed_text(2, 120),
    "ties": ties_text(3, 200, "ab"),
    "messy": messy_bytes(4, 100).replace(b"\0", b""),
    "long": "ab " * 1300 + "\n" + "xyz" * 1300 + "\na bab\n",
}
MORE: dict[str, Option] = {"hard_vocab_limit": False, "vocab_size": 500}
SAMPLES: dict[str, Option] = {**MORE, "self_test_sample_size": 1000}


@pytest.mark.parametrize(
    ("text", "option"),
    [*((name, "plain") for name in TEXTS), *(("mixed", name) for name in list(OPTIONS)[1:])],
)
@pytest.mark.parametrize("kind", TYPES)
def test_all_lines_are_stored(
    trainers: Trainers, old_release: str, kind: str, option: str, text: str
) -> None:
    options = {**SAMPLES, **OPTIONS[option], "model_type": kind}
    case = file_case(options, [TEXTS[text]], release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_ours_encodes_with_unigram_models_of_the_reference(
    trainers: Trainers, old_release: str, option: dict[str, Option]
) -> None:
    """Tests only the encoder of spmcompat, with models and samples of the real library."""
    common = words_text(1, lines=300) + mixed_text(2, 100).replace("\t", " ")
    rare = "".join(chr(0x4E00 + n % 5000) for n in range(12_000))
    counts = [f"{line}\t1000" for line in common.splitlines() if line]
    text = "\n".join([*counts, f"hello {rare} world\t1"])
    more: dict[str, Option] = {"max_sentence_length": 1 << 20, "input_format": "tsv"}
    options = {**SAMPLES, **more, "vocab_size": 3000, "character_coverage": 0.99, **option}
    outcome = trainers.of_release(old_release).run(file_case(options, [text], release=old_release))
    written = outcome.output(".model")
    assert written is not None, outcome.failure
    model = parse(written)
    lines = [sample.input for sample in model.self_test_data.samples]
    assert len(lines) > 300
    model.ClearField("self_test_data")
    model.self_test_data.CopyFrom(self_tests(model, lines, RELEASES[old_release]))
    assert model.SerializeToString() == written


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("form", ["python", "cli"])
def test_lines_that_training_did_not_see(
    trainers: Trainers, old_release: str, kind: str, form: str
) -> None:
    """Even if training uses a sample of the lines, self-tests are sampled from all lines."""
    text = words_text(5, lines=700) + mixed_text(6, 200)
    first: dict[str, Option] = {"input_sentence_size": 101, "shuffle_input_sentence": False}
    options = {**SAMPLES, "model_type": kind, "character_coverage": 0.99}
    trainers.check({**options, **first}, text, form=form, release=old_release)
    if RELEASES[old_release].sample_is_repeatable:
        trainers.check(
            {**options, "input_sentence_size": 101}, text, form=form, release=old_release
        )


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("seed", [0, 7, 2**32 - 2])
def test_a_draw_by_the_seed_of_the_command_line(
    trainers: Trainers, old_release: str, size: int, seed: int
) -> None:
    if not RELEASES[old_release].sample_is_repeatable:
        pytest.skip("every process draws another sample")
    options = {**SAMPLES, "model_type": "char", "self_test_sample_size": size, "random_seed": seed}
    trainers.check(options, words_text(8, lines=1500), form="cli", release=old_release)


@pytest.mark.parametrize("kind", ["char", "bpe"])
@pytest.mark.parametrize("form", ["python", "cli"])
def test_a_draw_without_a_seed_is_repeatable_in_ours(
    trainers: Trainers, old_release: str, kind: str, form: str
) -> None:
    text = words_text(9, lines=400)
    seeds: dict[str, Option] = {"random_seed": 2**32 - 1} if form == "cli" else {}
    options = {**SAMPLES, **seeds, "model_type": kind, "self_test_sample_size": 5}
    drawn = [
        samples(trainers, file_case(options, [text], form=form, workers=n, release=old_release))
        for n in (1, 3)
    ]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 5
    assert set(drawn[0]) <= set(text.encode().splitlines())
    other = file_case({**options, "sampling_seed": 3}, [text], form=form, release=old_release)
    assert samples(trainers, other) != drawn[0]


def samples(trainers: Trainers, case: Case) -> list[bytes]:
    model = trainers.ours.run(case).output(".model")
    assert model is not None
    return [sample.input for sample in parse(model).self_test_data.samples]


def test_a_model_that_is_too_small_for_the_unknown_piece(
    trainers: Trainers, old_release: str
) -> None:
    """No release loads a model without an unknown piece, so the samples cannot be encoded."""
    options: dict[str, Option] = {
        **SAMPLES,
        "model_type": "word",
        "use_all_vocab": True,
        "unk_id": 3,
        "eos_id": -1,
    }
    case = file_case(options, ["one\n"], release=old_release)
    trainers.check_failure(case, key="unk is not defined")


def test_lines_that_are_not_read_are_never_drawn(trainers: Trainers, old_release: str) -> None:
    text = words_text(8, lines=150) + "broken line\n"
    options: dict[str, Option] = {
        **SAMPLES,
        "model_type": "word",
        "input_format": "tsv",
        "input_sentence_size": 110,
        "shuffle_input_sentence": False,
    }
    lines = [f"{line}\t{n}" for n, line in enumerate(text.splitlines()[:-1], 1)]
    trainers.check(options, "\n".join([*lines, "broken"]), release=old_release)
    trainers.check_sentences(options, lines, release=old_release)
    failing = file_case({**options, "input_sentence_size": 0}, ["\n".join([*lines, "broken"])])
    assert trainers.ours.run(failing).failure is not None


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
@pytest.mark.parametrize("symbol", ["a", "▁a", "ab"])
def test_control_symbols_in_the_text(
    trainers: Trainers, old_release: str, kind: str, symbol: str
) -> None:
    options = {**SAMPLES, "model_type": kind, "control_symbols": [symbol]}
    case = file_case(options, ["b a ab cb\ncab b a\n"] * 3, release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("size", [7996, 7997, 8000])
def test_lines_with_long_pieces(trainers: Trainers, old_release: str, size: int) -> None:
    options = {**SAMPLES, "model_type": "word", "max_sentence_length": 10_000}
    case = file_case(options, ["x" * size + " ab\nb\n"], release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("kind", TYPES)
def test_lines_with_nul(trainers: Trainers, old_release: str, kind: str) -> None:
    options = {**SAMPLES, "model_type": kind, "character_coverage": 1.0}
    case = file_case(options, ["a\0b ab\n\0\nab\n" * 4], release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("size", [-1, 0, 1000, 1001, "x", "5 lines", True])
def test_the_newest_release_ignores_the_sample_size(trainers: Trainers, size: Option) -> None:
    options = {**MORE, "model_type": "char", "self_test_sample_size": size}
    case = file_case(options, [words_text(1)])
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


LETTERS = "ab▁漢é1 ̈\u3000Ａ"
SYMBOLS = st.lists(st.text(LETTERS.replace(" ", ""), min_size=1, max_size=4), unique=True)


@st.composite
def encodings(draw: st.DrawFn) -> tuple[dict[str, Option], list[str]]:
    lines = draw(st.lists(st.text(LETTERS, min_size=1, max_size=30), min_size=1, max_size=40))
    options: dict[str, Option] = {
        **SAMPLES,
        "model_type": draw(st.sampled_from(TYPES)),
        "minloglevel": 1,  # logging can crash old releases
        "vocab_size": draw(st.sampled_from([20, 40, 400])),
        "character_coverage": draw(st.sampled_from([1.0, 0.98])),
        "add_dummy_prefix": draw(st.booleans()),
        "remove_extra_whitespaces": draw(st.booleans()),
        "treat_whitespace_as_suffix": draw(st.booleans()),
        "split_by_whitespace": draw(st.booleans()),
        "user_defined_symbols": draw(SYMBOLS),
        "normalization_rule_name": draw(st.sampled_from(["identity", "nmt_nfkc", "nfkc_cf"])),
    }
    return options, lines


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(encodings())
def test_random_lines(
    trainers: Trainers, old_release: str, encoding: tuple[dict[str, Option], list[str]]
) -> None:
    options, lines = encoding
    comparison = trainers.run(sentences_case(options, lines, release=old_release))
    assert comparison.equal, comparison.report()
