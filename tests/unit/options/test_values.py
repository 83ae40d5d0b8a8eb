"""Tests of option values that are given as text, with tables and against the real library."""

from collections.abc import Callable

import pytest

from spmcompat.errors import BadValueError
from spmcompat.options.from_flags import from_flags
from spmcompat.options.from_keywords import from_kwargs
from spmcompat.options.values import (
    INT32,
    UINT32,
    UINT64,
    parse_bool,
    parse_float,
    parse_int,
    split_csv,
    stream_int,
    to_text,
)
from spmcompat.releases import RELEASES
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.parity.harness import Trainers, file_case

TEXT = corpora.words_text(seed=1, lines=60, types=40)
SMALL = {"vocab_size": 60, "hard_vocab_limit": False, "num_threads": 2, "model_prefix": "m"}


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), (" +5\n", 5), ("-5", -5), ("007", 7), ("-2147483648", -(2**31)), ("-0", 0)],
)
def test_int(text: str, value: int) -> None:
    assert parse_int(text, INT32) == value


@pytest.mark.parametrize(
    "text", ["", " ", "5.0", "1_0", "٣", "- 5", "+-5", "2147483648", "0x10", "5 5", "5\0", "\xa05"]
)
def test_not_an_int(text: str) -> None:
    with raises_kind("bad-value", BadValueError):
        parse_int(text, INT32)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8k", "8000"),
        ("32K", "32000"),
        ("10m", "10000000"),
        ("2147m", "2147000000"),
        ("2148M", ""),
        ("k", ""),
        ("8kb", ""),
        ("٣k", ""),
    ],
)
def test_a_number_with_a_unit_is_written_out(text: str, number: str) -> None:
    with raises_kind(f"bad-value {text} {number}", BadValueError) as caught:
        parse_int(text, INT32)
    assert ("000" in str(caught.value)) == bool(number)


def test_unsigned_int_takes_no_minus_sign() -> None:
    assert parse_int("18446744073709551615", UINT64) == 2**64 - 1
    with pytest.raises(BadValueError):
        parse_int("-0", UINT64)


def test_hexadecimal_only_where_it_is_allowed() -> None:
    assert parse_int("0x1f", UINT32, hexadecimal=True) == 31
    with pytest.raises(BadValueError):
        parse_int("0x1f", UINT32)


@pytest.mark.parametrize("text", [".5", "5.", "5e-1", "+0.5", "\t0.5 ", "1E0", "INF", "infinity"])
def test_float(text: str) -> None:
    assert parse_float(text) == float(text)


@pytest.mark.parametrize("text", ["", ".", "1_0", "0x1p3", "1e", "+-1", "٣", "1,0"])
def test_not_a_float(text: str) -> None:
    with pytest.raises(BadValueError):
        parse_float(text)


def test_bool() -> None:
    assert all(parse_bool(text) for text in ("", "1", "t", "TRUE", "y", "Yes"))
    assert not any(parse_bool(text) for text in ("0", "F", "false", "N", "no"))
    for text in (" true", "2", "on", "\u017f", "none"):
        with pytest.raises(BadValueError):
            parse_bool(text)


def test_list_becomes_one_line() -> None:
    assert to_text(["a", "b,c", 'd"e', 1]) == 'a,"b,c","d""e",1'
    assert to_text([""]) == '""'
    assert to_text(("a", "b")) == "('a', 'b')"
    assert to_text(True) == "True"


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", []),
        ("a,b", ["a", "b"]),
        ("a,", ["a"]),
        (",a", ["", "a"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"a""b"', ['a"b']),
        ('"ab"cd,e', ["ab", "e"]),
        ('"open,x', ["open,x"]),
        ('a"b"', ['a"b"']),
        ('"', [""]),
        ("a\0b,c", ["a", "c"]),
    ],
)
def test_csv(line: str, fields: list[str]) -> None:
    assert split_csv(line) == fields


@pytest.mark.parametrize(
    "line",
    [
        "<x>,<y>",
        '"<,>",<y>',
        '"<""x"" >"',
        '"<x>"tail,<y>',
        '"<x>',
        "<x>,",
        '<x>"a",<y>',
        '"<x>""',
        "<x>\0tail,<y>",
        '"<x\0y>",<z>',
        "<x>\n,<y>\r",
    ],
)
def test_csv_as_the_reference(trainers: Trainers, line: str) -> None:
    trainers.check({**SMALL, "control_symbols": line}, TEXT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocab_size", " +60\n"),
        ("vocab_size", "0060"),
        ("input_sentence_size", "0"),
        ("split_digits", ""),
        ("split_digits", "YES"),
        ("split_digits", "f"),
        ("character_coverage", "9.995e-1"),
        ("character_coverage", " 1. "),
        ("character_coverage", 1.00000001),
        ("character_coverage", 0.98),
        ("shrinking_factor", 0.95),
        ("shrinking_factor", "+.5"),
        ("model_type", "uniGRAM"),
        ("unk_surface", "None"),
        ("mining_sentence_size", "no number"),
        ("accept_language", "en"),
    ],
)
def test_value_as_the_reference(trainers: Trainers, name: str, value: str | float) -> None:
    trainers.check({**SMALL, name: value}, TEXT)


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [
        ("vocab_size", "60.0", 'cannot parse "60.0" as int.'),
        ("vocab_size", "99999999999", 'cannot parse "99999999999" as int.'),
        ("input_sentence_size", "-0", 'cannot parse "-0" as int.'),
        ("split_digits", " true", 'cannot parse " true" as bool.'),
        ("character_coverage", "1,0", 'cannot parse "1,0" as'),
        ("model_type", "sentence", 'unknown enumeration value of "sentence" as'),
        ("minloglevel", "x", ""),
        ("random_text", "x", 'unknown field name "random_text" in TrainerSpec.'),
        ("random_seed", "1", 'unknown field name "random_seed" in TrainerSpec.'),
        ("control_symbols_file", "c", 'unknown field name "control_symbols_file" in TrainerSpec.'),
    ],
)
def test_bad_value_as_the_reference(trainers: Trainers, name: str, value: str, key: str) -> None:
    trainers.check_failure(file_case({**SMALL, name: value}, [TEXT]), key=key)


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 5000, " +" + "1" * 100_000 + "\n"])
def test_more_digits_than_python_reads(digits: str) -> None:
    for allowed in (INT32, UINT64):
        for parse in (parse_int, stream_int):
            with raises_kind("bad-value", BadValueError):
                parse(digits.strip(), allowed)


@pytest.mark.parametrize("parse", [parse_int, stream_int])
def test_zeros_before_a_number_count_nothing(parse: Callable[[str, range], int]) -> None:
    assert parse("0" * 5000 + "7", INT32) == 7
    assert parse("-" + "0" * 5000 + "7", INT32) == -7
    assert parse("+" + "0" * 5000, UINT64) == 0


@pytest.mark.parametrize(
    "value", [10**5000, -(10**5000), [10**5000]], ids=["plus", "minus", "list"]
)
def test_numbers_of_more_digits_than_python_writes(value: object) -> None:
    with raises_kind("bad-value 16,610", BadValueError):
        to_text(value)
    with raises_kind("bad-value vocab_size", BadValueError):
        from_kwargs({"vocab_size": value})


NUMBERS = ["input_sentence_size", "vocab_size", "num_threads", "workers", "sampling_seed"]


@pytest.mark.parametrize("compat", RELEASES)
@pytest.mark.parametrize("name", [*NUMBERS, "random_seed", "max_sentence_length", "unk_id"])
def test_options_of_more_digits_than_python_reads(name: str, compat: str) -> None:
    for digits in ("9" * 5000, "-" + "9" * 5000):
        with raises_kind("bad-value", BadValueError):
            from_flags({name: digits, "compat": compat})
        if name != "random_seed":
            with raises_kind(f"bad-value {name}", BadValueError):
                from_kwargs({name: digits, "compat": compat})


def test_other_numbers_of_many_digits() -> None:
    with raises_kind("bad-value final_estimate", BadValueError):
        from_flags({"final_estimate": "em:" + "9" * 5000})
    with raises_kind("bad-value"):
        from_flags({"minloglevel": "9" * 5000})
    assert from_flags({"final_estimate": "em:" + "0" * 5000 + "7"}).own.final_estimate == "em:7"


@pytest.mark.parametrize("zeros", [10, 5000])
def test_zeros_before_a_number_against_the_library(trainers: Trainers, zeros: int) -> None:
    options = {**SMALL, "vocab_size": "0" * zeros + "60"}
    trainers.check(options, TEXT)
    trainers.check(options, TEXT, release="0.2.1")
    huge = file_case({**SMALL, "input_sentence_size": "9" * zeros * 2}, [TEXT])
    trainers.check_failure(huge, key="as int")
