"""The ways to pass text, rules and seeds, and to receive the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from spmcompat.releases import RELEASES

from . import corpora, reference
from .case import Case, Option
from .harness import Trainers, file_case, sentences_case
from .own_types import OwnBytes, OwnError, OwnStr

SOFT: dict[str, Option] = {"vocab_size": 300, "hard_vocab_limit": False, "num_threads": 3}
TEXT = corpora.topics_text(20_000)


def test_several_files(trainers: Trainers) -> None:
    half = TEXT.rindex("\n", 0, 9000) + 1
    trainers.check(SOFT, TEXT[:half], TEXT[half:])
    # A file without a newline at its end is not joined to the next file.
    trainers.check(SOFT, TEXT[: half - 1], TEXT[half:], "one more\nword")
    trainers.check({**SOFT, "input": ["text0.txt", "text1.txt"]}, TEXT[:half], TEXT[half:])
    trainers.check({**SOFT, "input": '"text0.txt",text1.txt'}, TEXT[:half], TEXT[half:])
    trainers.check({**SOFT, "input": "text0.txt,text0.txt"}, TEXT)


def test_files_with_odd_names(trainers: Trainers) -> None:
    files = {"a,b.txt": b"abc abd abc\n", "é ü.txt": b"abe abd\n"}
    names = list(files)
    trainers.check({**SOFT, "input": names}, files=files)


@pytest.mark.parametrize("place", range(3))
def test_empty_file_among_others(trainers: Trainers, place: int) -> None:
    texts = ["abc abc abd\n", "abd abe\n"]
    texts.insert(place, "")
    trainers.check(SOFT, *texts)


@pytest.mark.parametrize("texts", [("abc abc abd", "", "abd abe"), ("ab", "", "", "cd\n", "")])
def test_empty_file_after_a_line_without_an_end(trainers: Trainers, texts: tuple[str, ...]) -> None:
    trainers.check(SOFT, *texts)


@pytest.mark.parametrize("handing", ["iterator", "generator", "list"])
@pytest.mark.parametrize("writer", [False, True])
@pytest.mark.parametrize("kind", [str, bytes])
def test_sentences_of_an_iterator(
    trainers: Trainers, handing: str, writer: bool, kind: type
) -> None:
    lines: list[str | bytes] = list(corpora.mixed_text(3, 200).split("\n"))
    if kind is bytes:
        lines = [line.encode() for line in lines if isinstance(line, str)]
    trainers.check_sentences({**SOFT, "vocab_size": 600}, lines, handing=handing, writer=writer)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_sentence_length": 20},
        {"input_sentence_size": 150, "shuffle_input_sentence": False},
    ],
    ids=str,
)
def test_sentences_of_subclasses_of_str_and_bytes(
    trainers: Trainers, any_release: str, options: dict[str, Option]
) -> None:
    lines = [f"{line}\r\n" for line in corpora.mixed_text(3, 200).split("\n")]
    own = [OwnBytes(line.encode()) if at % 3 else OwnStr(line) for at, line in enumerate(lines)]
    given = {**SOFT, "vocab_size": 600, **options}
    trained = trainers.check_sentences(given, own, release=any_release)
    plain = trainers.check_sentences(given, lines, release=any_release)
    assert trained.ours.outputs == plain.ours.outputs


def test_counted_sentences_of_subclasses_of_str_and_bytes(trainers: Trainers) -> None:
    own = [OwnBytes(b"abc abd\t3"), OwnStr("abc\t2"), OwnStr("b c\t1")]
    trainers.check_sentences({**SOFT, "input_format": "tsv"}, own)


@pytest.mark.parametrize("kind", ["S", "U", "O"])
def test_sentences_of_an_array(trainers: Trainers, kind: str) -> None:
    lines = ["abc abc", "abd", "", "b c"]
    own = list(np.array([line.encode() for line in lines] if kind == "S" else lines, dtype=kind))
    trainers.check_sentences(SOFT, own)


ERRORS = [
    FileNotFoundError(2, "gone"),
    ValueError("bad"),
    KeyError("name"),
    RecursionError("deep"),
    OwnError("own"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_iterator_that_fails_before_its_first_item(
    trainers: Trainers, any_release: str, error: Exception
) -> None:
    comparison = trainers.run(sentences_case(SOFT, [], fails=error, release=any_release))
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("items", [1, 2, 3000])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_iterator_that_fails_later(trainers: Trainers, items: int, error: Exception) -> None:
    comparison = trainers.run(sentences_case(SOFT, ["abc abd " * 99] * items, fails=error))
    assert comparison.equal, comparison.report()


def test_sentences_with_line_ends_and_broken_bytes(trainers: Trainers) -> None:
    lines: list[str | bytes] = [
        "abc abc\n",
        "abd\r\n",
        b"ab\xffc\r\r\n",
        "two\nlines abc",
        "",
        "\n",
    ]
    trainers.check_sentences(SOFT, lines * 5)
    trainers.check_sentences(SOFT, corpora.messy_bytes(12).split(b"\n"))


def test_texts_with_counts(trainers: Trainers) -> None:
    lines = "".join(
        f"{word}\t{count}\n"
        for count, word in enumerate(["abc", "abd", "the cat", "bcd", "<s>", "あい", "   "], 1)
    )
    options: dict[str, Option] = {**SOFT, "input_format": "tsv"}
    trainers.check(options, lines)
    trainers.check(options, lines, lines.replace("abc", "cba"))
    trainers.check(options, "abc\t 7\nabd\t+3\n")
    trainers.check_sentences(options, lines.split("\n")[:-1])
    limits: list[dict[str, Option]] = [{"max_sentence_length": 10}, {"split_by_whitespace": False}]
    for limit in limits:
        trainers.check({**options, **limit}, lines + "a rather long one\t9\n")


def test_a_count_equals_repeated_lines(trainers: Trainers) -> None:
    counted = trainers.check({**SOFT, "input_format": "tsv"}, "abc\t3\nabd ab\t2\nx\t1\n")
    repeated = trainers.check(SOFT, "abc\nabc\nabc\nabd ab\nabd ab\nx\n")
    assert counted.ours.output(".vocab") == repeated.ours.output(".vocab")


KINDS = ["unigram", "bpe", "word", "char"]
LARGEST = 2**63 - 1


@pytest.mark.parametrize("release", ["0.2.1", "0.2.2", "0.2.3"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_counts(trainers: Trainers, kind: str, release: str) -> None:
    """The text has slightly fewer than 2**63 characters: more would overflow in the reference."""
    # To find Unigram seeds, 0.2.3 writes out each sentence `count` times. With counts of 2**59, it
    # would never finish.
    share = 2**20 if (kind, release) == ("unigram", "0.2.3") else 2**59
    options: dict[str, Option] = {**SOFT, "input_format": "tsv", "model_type": kind}
    text = f"abc\t{share}\nabd ab\t{share}\nabc\t{share}\nbcd\t5\n"
    trainers.check(options, text, release=release)
    if release == "0.2.3" and kind != "unigram":
        # With its space mark, a word of one character counts as two characters.
        trainers.check(options, f"a\t{2**61}\nb\t{2**61 - 2}\na\t1\n")


OVERFLOWS = {
    "2^62 twice": [2**62] * 2,
    "the largest": [LARGEST],
    "the largest twice": [LARGEST] * 2,
    "the largest three times": [LARGEST] * 3,
    "2^62 four times, which wraps to 0": [2**62] * 4,
    "2^62 five times, which wraps to 2^62": [2**62] * 5,
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("counts", OVERFLOWS.values(), ids=list(OVERFLOWS))
def test_counts_that_the_reference_cannot_add_up(
    trainers: Trainers, counts: list[int], kind: str, release: str
) -> None:
    """The reference crashes, trains on wrong counts, or never ends. spmcompat raises an error."""
    text = "".join(f"abc\t{count}\n" for count in counts) + "abd\t7\nbcd ab\t5\n"
    options: dict[str, Option] = {**SOFT, "input_format": "tsv", "model_type": kind}
    failure = trainers.ours.run(file_case(options, [text], release=release)).failure
    assert failure is not None
    assert failure.types[0] == "TooLargeError"
    assert "2**63" in failure.message
    assert "\n" not in failure.message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [-1, -(2**63), -(2**63) - 1, 0, 2**63, 2**64, "9" * 5000])
def test_counts_out_of_range(trainers: Trainers, kind: str, count: int | str) -> None:
    options: dict[str, Option] = {**SOFT, "input_format": "tsv", "model_type": kind}
    trainers.check_failure(file_case(options, [f"ab\t1\nabc\t{count}\n"]))


@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_a_sum_that_the_reference_refuses(trainers: Trainers, kind: str) -> None:
    options: dict[str, Option] = {**SOFT, "input_format": "tsv", "model_type": kind}
    case = file_case(options, [f"abc\t{2**61}\nabd\t7\n"])
    trainers.check_failure(case, key="(all_chars_count) > (0)")


SEEDS = (
    "▁the\t50\nthe\t40\n▁of\t30\n▁a\t30\nzzz\t4\nand\t9\nand\t8\n"
    "a b\t7\nab▁\t7\n▁un\t3\textra\ne\t2\n"
)


@pytest.mark.parametrize("size", [5, 60, 1_000_000])
def test_seed_file(trainers: Trainers, size: int) -> None:
    options: dict[str, Option] = {
        "seed_sentencepieces_file": "s.tsv",
        "seed_sentencepiece_size": size,
    }
    trainers.check({**SOFT, **options}, TEXT, files={"s.tsv": SEEDS.encode()})


@pytest.mark.parametrize(
    "seeds", ["the\t9223372036854775807\n", "of\t9223372036854775807\nthe\t6148914691236517206\n"]
)
def test_seed_counts_of_64_bits(trainers: Trainers, seeds: str) -> None:
    options: dict[str, Option] = {"seed_sentencepieces_file": "s.tsv"}
    trainers.check({**SOFT, **options}, TEXT, files={"s.tsv": seeds.encode()})


RULES = "41\t61\n61 62\t78 79\n2D\t\n2E\n65 301\tE9\nU+3042\tU+30A2\t# kana\n20 20\t20\n22\t27 27\n"


@pytest.mark.parametrize("name", ["normalization_rule_tsv", "denormalization_rule_tsv"])
@pytest.mark.parametrize("rules", [RULES, "41\t61\n", "1F600\t3A 29\n61 62 63 64\t65\n61 62\t66\n"])
def test_rules_of_a_file(trainers: Trainers, name: str, rules: str) -> None:
    trainers.check({**SOFT, name: "r.tsv"}, TEXT, files={"r.tsv": rules.encode()})


def test_both_rules_and_a_name(trainers: Trainers) -> None:
    options: dict[str, Option] = {
        "normalization_rule_tsv": "r.tsv",
        "denormalization_rule_tsv": "r.tsv",
        "normalization_rule_name": "nfkc",
    }
    trainers.check({**SOFT, **options}, TEXT, files={"r.tsv": RULES.encode()})


NORMALIZERS: list[dict[str, Any]] = [
    {"rule_name": "nfkc"},
    {"rule_name": "identity", "add_dummy_prefix": False},
    {"rule_name": "nmt_nfkc_cf", "remove_extra_whitespaces": False, "escape_whitespaces": True},
    {"norm_map": [("e", "é"), ("q", ""), ("the", " x y ")]},
]


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("arguments", NORMALIZERS, ids=str)
def test_normalizer_object(trainers: Trainers, arguments: dict[str, Any], model_type: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": model_type, "minloglevel": 1}
    trainers.check(options, TEXT, normalizer=arguments)


MODELS: list[dict[str, Option]] = [
    {},
    {"normalization_rule_name": "nfkc_cf", "add_dummy_prefix": False},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"treat_whitespace_as_suffix": True, "user_defined_symbols": ["the"]},
]


@pytest.mark.parametrize("form", ["python", "cli"])
@pytest.mark.parametrize("options", MODELS, ids=str)
def test_normalizer_of_a_model(trainers: Trainers, options: dict[str, Option], form: str) -> None:
    model = trainers.check({**SOFT, **options}, TEXT, form=form).reference.output(".model")
    assert model is not None
    files = {"n.model": model}
    trainers.check(SOFT, TEXT, normalizer={"model_file": "n.model"}, files=files)
    changed = {"model_proto": model, "add_dummy_prefix": True}
    trainers.check(SOFT, TEXT, normalizer=changed)
    if not options:
        denormalizing: dict[str, Option] = {**SOFT, "denormalization_rule_tsv": "r.tsv"}
        files["r.tsv"] = RULES.encode()
        trainers.check(denormalizing, TEXT, normalizer={"model_file": "n.model"}, files=files)


def test_normalizer_with_rules_of_a_file(trainers: Trainers) -> None:
    """A normalizer whose spec has both the name of a rules file and compiled rules is refused."""
    files = {"r.tsv": RULES.encode()}
    options: dict[str, Option] = {**SOFT, "normalization_rule_tsv": "r.tsv"}
    model = trainers.check(options, TEXT, files=files).reference.output(".model")
    for arguments in ({"rule_tsv": "r.tsv"}, {"model_proto": model}):
        case = file_case(SOFT, [TEXT], normalizer=arguments, files=files)
        trainers.check_failure(case, key="precompiled_charsmap is already defined.")


@pytest.mark.parametrize("arguments", NORMALIZERS[:2], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "normalization_rule_name",
        "normalization_rule_tsv",
        "add_dummy_prefix",
        "remove_extra_whitespaces",
        "escape_whitespaces",
        "name",
        "precompiled_charsmap",
    ],
)
def test_normalizer_object_beside_an_option(
    trainers: Trainers, name: str, arguments: dict[str, Any]
) -> None:
    for value in ("", "true", "nfkc"):
        case = file_case({**SOFT, name: value}, [TEXT], normalizer=arguments)
        trainers.check_failure(case, key=f"normalizer-specific argument: {name}")


def test_normalizer_object_without_marks_for_spaces(trainers: Trainers) -> None:
    arguments = {"rule_name": "nfkc", "escape_whitespaces": False}
    trainers.check_failure(file_case(SOFT, [TEXT], normalizer=arguments), key="escape_whitespaces")


def test_one_string_of_flags(trainers: Trainers) -> None:
    options: dict[str, Option] = {**SOFT, "split_digits": True, "user_defined_symbols": "<a>,<b>"}
    trainers.check(options, TEXT, form="string")


SYMBOLS_IN_TEXT: list[dict[str, Option]] = [
    {"user_defined_symbols": ["<sep>", "abc", "▁ab"]},
    {"control_symbols": ["<sep>", "abc"]},
    {"user_defined_symbols": ["ab", "abc", "bca"], "control_symbols": ["<sep>"]},
    {"user_defined_symbols": ["ＡＢ", "é", "　"]},
]


@pytest.mark.parametrize("options", SYMBOLS_IN_TEXT, ids=str)
def test_symbols_in_the_text(trainers: Trainers, options: dict[str, Option]) -> None:
    text = "abc<sep>abd ab<sep> abcabc\nab abc ＡＢ é　ab bca\n" * 8 + corpora.ties_text(4)
    trainers.check({**SOFT, **options}, text)
    trainers.check({**SOFT, **options, "add_dummy_prefix": False}, text)


COMMAND_LINES: list[dict[str, Option]] = [
    {},
    {"split_digits": True, "byte_fallback": True, "vocab_size": 600},
    {"control_symbols": ["<a>", "b,c", 'd"e'], "user_defined_symbols": ["x y"]},
    {"control_symbols_file": "list.txt", "control_symbols": ["<z>"]},
    {"user_defined_symbols_file": "list.txt"},
    {"required_chars_file": "list.txt", "required_chars": "abc"},
    {"normalization_rule_name": "identity", "unk_surface": ""},
    {"denormalization_rule_tsv": "r.tsv"},
    {"random_seed": 7, "vocabulary_output_piece_score": False},
]


@pytest.mark.parametrize("options", COMMAND_LINES, ids=str)
@pytest.mark.parametrize("spelling", [0, 1])
def test_options_of_the_command_line(
    trainers: Trainers, options: dict[str, Option], spelling: int
) -> None:
    files = {"list.txt": b"<one>\n<two>\n", "r.tsv": RULES.encode()}
    trainers.check({**SOFT, **options}, TEXT, form="cli", files=files, spelling=spelling)


def test_the_real_library_loads_our_model(trainers: Trainers) -> None:
    model = trainers.check(SOFT, TEXT).ours.output(".model")
    assert model is not None
    processor = reference.load(model)
    line = TEXT.split("\n")[3]
    assert processor.decode(processor.encode(line)) == " ".join(line.split())


FAILURES: list[tuple[dict[str, Option], str, str]] = [
    ({"input": "nowhere.txt"}, "abc", "No such file or directory"),
    ({}, "", ""),
    ({}, "\n\n", ""),
    ({}, "  \n \n", ""),
    ({"max_sentence_length": 10}, "a line that is too long\n", ""),
    ({"vocab_size": 10}, TEXT, "Vocabulary size is smaller than required_chars. 10 vs"),
    (
        {"vocab_size": 100_000},
        TEXT,
        "Vocabulary size too high (100000). Please set it to a value <=",
    ),
    ({"vocab_size": 0}, TEXT, ""),
    ({"vocab_size": "many"}, TEXT, "many"),
    ({"split_digits": "maybe"}, TEXT, "maybe"),
    ({"no_such_option": 1}, TEXT, "no_such_option"),
    ({"model_type": "trigram"}, TEXT, "trigram"),
    ({"input_format": "csv"}, TEXT, ""),
    ({"input_format": "tsv"}, "abc\n", "Input format must be: word <tab> freq."),
    ({"input_format": "tsv"}, "abc\tx\n", ""),
    ({"input_format": "tsv"}, "abc\t0\n", ""),
    ({"num_threads": 0}, TEXT, "num_threads"),
    ({"num_threads": 1025}, TEXT, "num_threads"),
    ({"character_coverage": 0.97}, TEXT, "character_coverage"),
    ({"character_coverage": 1.01}, TEXT, "character_coverage"),
    ({"shrinking_factor": 0.4}, TEXT, "shrinking_factor"),
    ({"num_sub_iterations": 0}, TEXT, "num_sub_iterations"),
    ({"max_sentencepiece_length": 513}, TEXT, "max_sentencepiece_length"),
    ({"max_sentence_length": 9}, TEXT, "max_sentence_length"),
    ({"input_sentence_size": 100}, TEXT, "input_sentence_size"),
    ({"unk_id": -1}, TEXT, "must be defined"),
    ({"unk_id": 1}, TEXT, ""),
    ({"bos_id": 5, "eos_id": 5}, TEXT, ""),
    ({"pad_id": 1 << 20}, TEXT, ""),
    ({"unk_piece": ""}, TEXT, ""),
    ({"control_symbols": ["<a>", "<a>"]}, TEXT, "is already defined"),
    ({"user_defined_symbols": ["<unk>"]}, TEXT, "must not be defined with"),
    ({"user_defined_symbols": ["<0x41>"], "byte_fallback": True}, TEXT, "is already defined"),
    ({"use_all_vocab": True}, TEXT, "use_all_vocab"),
    ({"auto_character_coverage": True}, TEXT, "auto_character_coverage"),
    ({"escape_whitespaces": False}, TEXT, "escape_whitespaces"),
    ({"normalization_rule_name": "nfd"}, TEXT, "nfd"),
    ({"normalization_rule_tsv": "nowhere.tsv"}, TEXT, "No such file or directory"),
    ({"normalization_rule_tsv": "bad.tsv"}, TEXT, ""),
    ({"normalization_rule_tsv": "text0.txt"}, "", ""),
    ({"seed_sentencepieces_file": "bad.tsv"}, TEXT, ""),
    ({"seed_sentencepieces_file": "huge.tsv"}, TEXT, "std::isfinite(score)"),
    ({"input_format": "tsv"}, "ab\t+-5\n", "Could not parse the frequency"),
    ({"input_format": "tsv"}, "ab\t++5\n", "Could not parse the frequency"),
    ({"model_prefix": "no-folder/m"}, TEXT, "No such file or directory"),
    ({"model_prefix": ""}, TEXT, ""),
    ({"input": ""}, TEXT, ""),
    # The symbols cover the whole text, so there are no characters and no seeds.
    ({"user_defined_symbols": ["ab"], "add_dummy_prefix": False}, "ab\nabab\n", ""),
    ({"user_defined_symbols": ["ab"], "add_dummy_prefix": False, "required_chars": "x"}, "ab", ""),
]


@pytest.mark.parametrize(("options", "text", "key"), FAILURES, ids=lambda value: str(value)[:40])
def test_both_fail(trainers: Trainers, options: dict[str, Option], text: str, key: str) -> None:
    case = file_case(
        {**SOFT, "hard_vocab_limit": True, **options},
        [text],
        files={"bad.tsv": b"zz\n", "huge.tsv": b"that\t4611686018427387904\n"},
    )
    trainers.check_failure(case, key=key)


TOO_SMALL: dict[str, Option] = {"vocab_size": 107, "byte_fallback": True}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "wrong",
    [
        {"input": "nowhere.txt"},
        {"input": "nowhere.txt", "model_type": "bpe"},
        {"input": "nowhere.txt", "model_type": "word"},
        {"seed_sentencepieces_file": "nowhere.txt"},
        {"normalization_rule_tsv": "nowhere.tsv"},
        {"model_prefix": "no/where/m"},
    ],
    ids=str,
)
def test_the_first_of_two_mistakes_is_reported(
    trainers: Trainers, wrong: dict[str, Option], release: str
) -> None:
    comparison = trainers.run(file_case({**TOO_SMALL, **wrong}, [TEXT], release=release))
    assert comparison.equal, comparison.report()
    assert comparison.reference.failure is not None


def test_text_and_sentences_exclude_each_other(trainers: Trainers) -> None:
    case = Case({"input": "t", "model_prefix": "m"}, {"t": b"abc\n"}, sentences=["abc"])
    trainers.check_failure(case)


def test_writer_and_prefix_exclude_each_other(trainers: Trainers) -> None:
    case = Case({"input": "t", "model_prefix": "m"}, {"t": b"abc\n"}, writer=True)
    trainers.check_failure(case)


def test_an_empty_file_of_counts_is_a_line_without_a_count(trainers: Trainers) -> None:
    # The reference reads one empty line from an empty file, unless that file is the last one.
    counts = {**SOFT, "input_format": "tsv"}
    trainers.check_failure(file_case(counts, ["", "abc\t3\n"]), key="Input format must be")
    trainers.check_failure(file_case(counts, ["abd\t2\n", "", "abc\t3\n"]))
    trainers.check(counts, "abc\t3\n", "")
