"""Options and input of earlier releases of the reference, each in an environment of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pytest

from spmcompat.model.reading import parse
from spmcompat.normalization.charsmaps import NAMES
from spmcompat.releases import RELEASES
from tests.parity.case import DEFAULT_RELEASE, Case, Option
from tests.parity.corpora import NORMALIZED, SCRIPTS, mixed_text, words_text
from tests.parity.harness import Trainers, file_case, sentences_case

TEXT = words_text(1)
CHAR: dict[str, Option] = {"model_type": "char", "vocab_size": 60}
WORD: dict[str, Option] = {"model_type": "word", "vocab_size": 60}


def test_the_newest_release_is_the_default_and_is_installed() -> None:
    assert list(RELEASES)[-1] == DEFAULT_RELEASE == version("sentencepiece")


def test_the_reference_trains_in_its_own_environment(trainers: Trainers, old_release: str) -> None:
    case = file_case(CHAR, [TEXT], form="cli", release=old_release)
    outcome = trainers.of_release(old_release).run(case)
    assert outcome.failure is None
    newest = trainers.reference.run(file_case(CHAR, [TEXT], form="cli")).output(".model")
    model = outcome.output(".model")
    assert model is not None
    assert newest is not None
    assert parse(model).trainer_spec.HasField("self_test_sample_size")
    assert not parse(model).trainer_spec.HasField("auto_character_coverage")
    assert parse(newest).trainer_spec.HasField("auto_character_coverage")


@pytest.mark.parametrize("form", ["python", "string", "cli"])
def test_an_unknown_release_fails(trainers: Trainers, form: str) -> None:
    case = Case({"input": "a.txt", "model_prefix": "m"}, form=form, release="0.1.99")
    outcome = trainers.ours.run(case)
    assert outcome.failure is not None
    message = outcome.failure.message if form != "cli" else outcome.log
    assert f'compat must be one of {", ".join(RELEASES)}, not "0.1.99".' in message


@pytest.mark.parametrize("form", ["python", "string", "cli"])
@pytest.mark.parametrize("options", [CHAR, WORD], ids=["char", "word"])
def test_the_stored_fields(
    trainers: Trainers, old_release: str, options: dict[str, Option], form: str
) -> None:
    trainers.check(options, TEXT, form=form, release=old_release)


@pytest.mark.parametrize("rules", [*NAMES, "identity"])
def test_rule_sets(trainers: Trainers, old_release: str, rules: str) -> None:
    young = "\u061cx \ua7f1 \U00016ea0 \U0001e030 \U0001ccd6 \u2c2f \U00010781"
    text = f"{mixed_text(3)}{NORMALIZED} {young} {''.join(SCRIPTS.values())}\n"
    options = {**CHAR, "vocab_size": 5000, "normalization_rule_name": rules}
    trainers.check(options, text, release=old_release)


DEPRECATED: dict[str, Option] = {
    "accept_language": ["en", "de"],
    "train_extremely_large_corpus": True,
    "enable_differential_privacy": True,
    "differential_privacy_noise_level": 0,
    "differential_privacy_clipping_threshold": 0,
}


@pytest.mark.parametrize("form", ["python", "cli"])
def test_options_that_are_retired_today_are_stored(
    trainers: Trainers, old_release: str, form: str
) -> None:
    trainers.check({**CHAR, **DEPRECATED}, TEXT, form=form, release=old_release)


@pytest.mark.parametrize(
    "option",
    [
        {"mining_sentence_size": 3},
        {"training_sentence_size": 3},
        {"auto_character_coverage": True},
        {"no_such_option": 1},
        {"pretokenizer": "x"},
        {"self_test_sample_size": -1},
        {"self_test_sample_size": 1001},
        {"normalization_rule_name": "nfd"},
        {"input": "nowhere.txt"},
        {"vocab_size": "many"},
        {"split_digits": "maybe"},
        {"split_digits": " true"},
        {"model_type": "sentence"},
        {"character_coverage": "1e"},
        {"character_coverage": "nan"},
        {"vocab_size": str(2**31)},
        {"minloglevel": "a"},
        {"unk_id": -1, "byte_fallback": True, "vocab_size": 500},
    ],
    ids=str,
)
def test_both_refuse_wrong_options(
    trainers: Trainers, old_release: str, option: dict[str, Option]
) -> None:
    case = file_case({**CHAR, **option}, [TEXT], release=old_release)
    trainers.check_failure(case)


@pytest.mark.parametrize(
    "option",
    [
        {"vocab_size": " +50"},
        {"vocab_size": "50"},
        {"character_coverage": "+.99"},
        {"character_coverage": "0.99e-0"},
        {"input_sentence_size": "1000"},
        {"minloglevel": " 1"},
    ],
    ids=str,
)
def test_numbers_as_text(trainers: Trainers, old_release: str, option: dict[str, Option]) -> None:
    trainers.check({**CHAR, **option}, TEXT, release=old_release)


@pytest.mark.parametrize(
    "option",
    [
        {"vocab_size": "60.9"},
        {"vocab_size": "60 pieces"},
        {"character_coverage": "0.99x"},
        {"character_coverage": "0.99.9"},
        {"minloglevel": "1x"},
        {"input_sentence_size": "-1x"},
        {"bos_id": "0x1", "unk_id": 1},
    ],
    ids=str,
)
def test_numbers_followed_by_other_characters(
    trainers: Trainers, old_release: str, option: dict[str, Option]
) -> None:
    comparison = trainers.compare({**CHAR, **option}, TEXT, release=old_release)
    assert comparison.equal, comparison.report()


def test_differential_privacy_is_refused(trainers: Trainers, old_release: str) -> None:
    for name in ("noise_level", "clipping_threshold"):
        more: dict[str, Option] = {
            "enable_differential_privacy": True,
            f"differential_privacy_{name}": 1,
        }
        case = file_case({**CHAR, **more}, [TEXT], release=old_release)
        failure = trainers.ours.run(case).failure
        assert failure is not None
        assert "differential privacy is not supported" in failure.message


def test_counts_followed_by_other_characters(trainers: Trainers, old_release: str) -> None:
    for count in ("3", " 3 ", "3x", "3.5", "+3", "x", "0", "-1", "", "99999999999999999999"):
        options = {**CHAR, "input_format": "tsv"}
        text = f"hello\t2\nworld\t{count}\n"
        comparison = trainers.compare(options, text, release=old_release)
        assert comparison.equal, (count, comparison.report())


@pytest.mark.parametrize("line", ["\tworld\t3", "world\t\t3\t", "world\t", "\t3", "a\tb\t3"])
def test_empty_fields_of_counts(trainers: Trainers, old_release: str, line: str) -> None:
    options = {**CHAR, "input_format": "tsv"}
    comparison = trainers.compare(options, f"hello\t2\n{line}\n", release=old_release)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("texts", [("abc abc abd", "", "abd abe"), ("ab", "", "", "cd\n", "")])
def test_empty_file_after_a_line_without_an_end(
    trainers: Trainers, old_release: str, texts: tuple[str, ...]
) -> None:
    trainers.check({**CHAR, "hard_vocab_limit": False}, *texts, release=old_release)


@pytest.mark.parametrize(
    "line",
    ["41\t41", "0x41\tU+62", "41\t62x", "41x\t62", "41\tzz", "41\t1FFFFFFFFF", "41 zz\t61"],
)
def test_rule_files(trainers: Trainers, old_release: str, line: str) -> None:
    files = {"rules.tsv": f"42\t43\n{line}\n".encode()}
    options = {**CHAR, "normalization_rule_tsv": "rules.tsv"}
    comparison = trainers.compare(options, "AB Ab aB\n", files=files, release=old_release)
    assert comparison.equal, comparison.report()


def test_boundary_marks_between_symbols(trainers: Trainers, old_release: str) -> None:
    for options in (CHAR, WORD):
        more: dict[str, Option] = {
            "normalization_rule_name": "identity",
            "user_defined_symbols": ["b"],
            "control_symbols": ["\u2581w"],
            "character_coverage": 1.0,
            "hard_vocab_limit": False,
        }
        trainers.check({**options, **more}, "a\tb\x1fc word bw b\n" * 3, release=old_release)


def test_symbols_of_a_word_model(trainers: Trainers, old_release: str) -> None:
    options = {**WORD, "user_defined_symbols": ["<a>", "\u2581b"], "hard_vocab_limit": False}
    trainers.check(options, TEXT, release=old_release)


@pytest.mark.parametrize("options", [CHAR, WORD], ids=["char", "word"])
@pytest.mark.parametrize("required", ["", "xyz"])
def test_a_text_that_normalizes_to_nothing(
    trainers: Trainers, old_release: str, options: dict[str, Option], required: str
) -> None:
    more: dict[str, Option] = {"required_chars": required, "hard_vocab_limit": False}
    comparison = trainers.compare({**options, **more}, " \n\u200b\n", release=old_release)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("size", [101, 150, 1000])
def test_a_sample_is_repeatable(trainers: Trainers, old_release: str, size: int) -> None:
    if not RELEASES[old_release].sample_is_repeatable:
        pytest.skip("this release draws another sample in every process")
    text = words_text(7, lines=5000, types=2000)
    options: dict[str, Option] = {**WORD, "vocab_size": 1500, "hard_vocab_limit": False}
    trainers.check({**options, "input_sentence_size": size}, text, release=old_release)


def test_a_sample_of_many_sentences_is_repeatable(trainers: Trainers, old_release: str) -> None:
    # There are two ways to turn a random number into an index. Their results rarely differ, so many
    # numbers must be drawn.
    if not RELEASES[old_release].sample_is_repeatable:
        pytest.skip("this release draws another sample in every process")
    text = "\n".join(f"w{i}" for i in range(50_000))
    options: dict[str, Option] = {**WORD, "use_all_vocab": True, "input_sentence_size": 5000}
    trainers.check(options, text, release=old_release)


@pytest.mark.parametrize("ending", ["", " \n", " \n \n \n"])
def test_the_order_of_sentences(trainers: Trainers, old_release: str, ending: str) -> None:
    lines = words_text(3, lines=60).splitlines()
    text = "".join(f"{line}\n \n" if i % 5 == 0 else f"{line}\n" for i, line in enumerate(lines))
    options: dict[str, Option] = {"vocab_size": 120, "hard_vocab_limit": False, "num_threads": 3}
    trainers.check({**options, "split_by_whitespace": False}, text + ending, release=old_release)


@pytest.mark.parametrize("options", [CHAR, WORD], ids=["char", "word"])
@pytest.mark.parametrize("marks", [{}, {"escape_whitespaces": True}], ids=["default", "marks"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"rule_name": "nmt_nfkc"},
        {"rule_name": "identity", "add_dummy_prefix": True, "remove_extra_whitespaces": True},
        {"norm_map": [("e", "é"), ("q", ""), ("the", " x y ")], "add_dummy_prefix": True},
    ],
    ids=str,
)
def test_a_normalizer_object(
    trainers: Trainers,
    old_release: str,
    options: dict[str, Option],
    arguments: dict[str, Any],
    marks: dict[str, bool],
) -> None:
    """The release's normalizer does not escape spaces by default, so training with it fails."""
    arguments = {**arguments, **marks}
    case = file_case(options, [f" {TEXT}  \n\u061c\n"], normalizer=arguments, release=old_release)
    if "normalizer" in RELEASES[old_release].unknown_options:
        if "rule_name" in arguments:
            trainers.check_failure(case, key='unknown field name "normalizer" in TrainerSpec')
    elif marks:
        comparison = trainers.run(case)
        assert comparison.equal, comparison.report()
        assert comparison.ours.failure is None
    else:
        trainers.check_failure(case, key="escape_whitespaces")


@pytest.mark.parametrize("options", [CHAR, WORD], ids=["char", "word"])
@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("form", ["python", "string"])
def test_denormalization_rules(
    trainers: Trainers, old_release: str, options: dict[str, Option], marks: bool, form: str
) -> None:
    more: dict[str, Option] = {"denormalization_rule_tsv": "r.tsv", "escape_whitespaces": marks}
    files = {"r.tsv": b"41\t61\n61 62\t78\n20\t5F\n"}
    case = file_case({**options, **more}, [TEXT], files=files, form=form, release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("tsv", [False, True], ids=["text", "tsv"])
@pytest.mark.parametrize(
    "names",
    ["a", "a,b", "a,e,b", "n,e,b", "a,e,e,b", "a,e", "a,e,e", "e,a", "e,e,n", "e", "e,e"],
)
def test_files_without_a_line(trainers: Trainers, old_release: str, names: str, tsv: bool) -> None:
    files = {"a": b"ab\nc", "n": b"ab\nc\n", "b": b"b\n", "e": b""}
    if tsv:
        files = {"a": b"ab\t1\nc\t2", "n": b"ab\t1\nc\t2\n", "b": b"b\t3\n", "e": b""}
    more: dict[str, Option] = {"input_format": "tsv" if tsv else "text", "hard_vocab_limit": False}
    options: dict[str, Option] = {**WORD, **more, "input": names, "model_prefix": "m"}
    comparison = trainers.run(Case(options, files, release=old_release))
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("names", ["d", "a,d", "d,a", "a,d,b", "d,d", "a,nowhere", "a/", "a/d"])
def test_folders_among_the_files(
    trainers: Trainers, old_release: str, kind: str, names: str
) -> None:
    files = {"a": TEXT.encode() + b"c", "b": b"b\n" * 9, "d/inside": b"x\n"}
    options: dict[str, Option] = {"model_type": kind, "vocab_size": 60, "hard_vocab_limit": False}
    named: dict[str, Option] = {"input": names, "model_prefix": "m"}
    comparison = trainers.run(Case({**options, **named}, files, release=old_release))
    assert comparison.equal, comparison.report()


def test_broken_items_of_an_iterator(trainers: Trainers, old_release: str) -> None:
    case = sentences_case(CHAR, ["abc", b"d\xffe\r\n", "\n", ""], release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


SPACES = ["60 ", "60    ", "60 --", "60\n", "60 \n", "60\t", "60 --minloglevel=1 "]


@pytest.mark.parametrize("size", SPACES, ids=repr)
def test_white_space_in_a_string_of_flags(trainers: Trainers, any_release: str, size: str) -> None:
    options: dict[str, Option] = {"vocab_size": size, "model_type": "char"}
    for given in (options, dict(reversed(options.items()))):
        comparison = trainers.run(file_case(given, [TEXT], form="string", release=any_release))
        assert comparison.equal, comparison.report()
