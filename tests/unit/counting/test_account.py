"""The log accounts for every line, with a warning for each kind of unexpected lines."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import BadValueError
from tests.kinds import raises_kind

LINES = [
    b"The cat sat.",
    b"",
    b"   ",
    b"a" * 30,
    "the mark \u2585".encode(),
    b"caf\xe9",
    b"a\0b",
    b"caf\xe9 again",
    b"The dog.",
]
ACCOUNT = "Of 9 lines: 5 used, 1 of only white space, 1 empty, 1 too long, 1 with U+2585."


def log_of(**options: Any) -> str:
    log = io.StringIO()
    spmcompat.train(
        model_writer=io.BytesIO(),
        hard_vocab_limit=False,
        vocab_size=60,
        max_sentence_length=20,
        workers=2,
        logstream=log,
        **options,
    )
    return log.getvalue()


@pytest.mark.parametrize("kind", ["char", "word", "unigram", "bpe"])
@pytest.mark.parametrize("by_raw_tokens", [True, False])
def test_lines_of_a_file(kind: str, by_raw_tokens: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n".join(LINES))
    log = log_of(input=path, model_type=kind, remove_extra_whitespaces=by_raw_tokens)
    used = ACCOUNT if by_raw_tokens else ACCOUNT.replace("5 used, 1 of only white space", "6 used")
    assert used in log
    size = path.stat().st_size
    starts = [sum(len(line) + 1 for line in LINES[:number]) for number in range(len(LINES))]
    expected = [
        ("too long", f"{30 / size:.2%} of the text", "--max_sentence_length", starts[3]),
        ("Skipped 1 sentences", "U+2585", "replace it", starts[4]),
        ("1 sentences", "NUL", "leave binary files out", starts[6]),
        ("2 sentences", "not UTF-8", "iconv -f ENCODING", starts[5]),
    ]
    warnings = [line for line in log.splitlines() if "WARNING" in line and "sentences" in line]
    for warning, (*parts, start) in zip(warnings, expected, strict=True):
        assert all(part in warning for part in parts), warning
        assert warning.endswith(f"; the first: {path}, from byte {start} on).")


def test_items_of_an_iterator() -> None:
    log = log_of(sentence_iterator=LINES, model_type="char")
    assert ACCOUNT in log
    for place in ("item:4)", "item:5)", "item:6)", "item:7)"):
        assert f"the first: {place}" in log


def test_first_cases_after_many_read_buffers(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    text = b"The cat sat.\n" * 300_000
    path.write_bytes(text + b"caf\xe9\n" + text + b"caf\xe9\n")
    log = log_of(input=path, model_type="char")
    assert "2 sentences contain bytes that are not UTF-8" in log
    assert f"the first: {path}, from byte {len(text)} on" in log


def test_usual_text_causes_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("The cat sat \ufffd.\n\n", encoding="utf-8")
    log = log_of(input=path, model_type="char")
    assert "WARNING" not in log
    assert "Of 2 lines: 1 used, 1 empty." in log


@pytest.mark.parametrize("function", [spmcompat.train, spmcompat.count])
def test_columns_of_a_data_set_are_no_sentences(function: Any) -> None:
    columns = {"body": ["a", "b"], "id": [1, 2]}
    with raises_kind("wrong-type data[:50]['body'] data.select"):
        function(sentence_iterator=columns)


@pytest.mark.parametrize("text", ["a text", b"a text"])
def test_a_single_text_is_no_iterator(text: str | bytes) -> None:
    with raises_kind("wrong-type sentence_iterator"):
        spmcompat.train(sentence_iterator=text)  # type: ignore[arg-type]


def test_the_path_of_a_file_is_no_iterator() -> None:
    with raises_kind("wrong-type sentence_iterator"):
        spmcompat.train(sentence_iterator="corpus.txt")  # type: ignore[arg-type]
    with raises_kind("wrong-type sentence_iterator"):
        spmcompat.train(sentence_iterator=Path("corpus.txt"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({}, "or give --split_lines or --long_sentences=split, to"),
        ({"split_lines": True}, "or give --long_sentences=split, to"),
        ({"input_format": "text"}, "or give --long_sentences=split, to"),
    ],
)
def test_only_long_records_can_be_split_into_lines(
    options: dict[str, Any], remedy: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "cats"}\n{"text": "The end of the\\n%s"}\n' % ("a" * 30))
    log = log_of(input=path, model_type="char", **options)
    assert f"raise --max_sentence_length, {remedy} train on them" in log


def test_the_end_of_a_long_item_is_left_out_once() -> None:
    items = [
        "a" * 20 + "\nbbb",
        "a" * 21 + "\n",
        "a" * 20 + "\n\r\n",
        "b" * 20,
        "c" * 20 + "\n" * 50,
    ]
    log = log_of(sentence_iterator=items, model_type="char")
    assert "Of 5 lines: 3 used, 2 too long." in log


GOOD = [f"The cat {number} sat.".encode() for number in range(200)]
PROBLEMS = {
    "NUL": ([b"a\0b"], "NUL"),
    "Latin-1": ([b"caf\xe9"], "UTF-8"),
    "half a character": (["é".encode()[:1]], "UTF-8"),
    "long lines": ([b"ab " * 20] * 3, "max_sentence_length"),
    "a line that is long in bytes": ([b"ab " * 2000], "max_sentence_length"),
    "U+2585": (["\u2585".encode()] * 3, "2585"),
    "both": ([b"a" * 30, "\u2585".encode(), b"b" * 30], "max_sentence_length"),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("form", ["file", "iterator", "count"])
def test_strict(name: str, form: str, tmp_path: Path) -> None:
    lines, word = PROBLEMS[name]
    path = tmp_path / "a.txt"
    path.write_bytes(b"\n".join([*GOOD, *lines]))
    text: dict[str, Any] = {"input": path}
    if form == "iterator":
        text = {"sentence_iterator": [*GOOD, *lines]}
    function = partial(spmcompat.count, max_sentence_length=20) if form == "count" else log_of
    with raises_kind(f"strict strict {word}"):
        function(**text, strict=True)
    function(**text)


def test_strict_allows_few_skipped_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    lines = [*GOOD, b"a" * 21, "\u2585".encode(), b"", b"   ", "\ufffd".encode()]
    path.write_bytes(b"\n".join(lines))
    log = log_of(input=path, strict=True)
    assert "Skipped 1 too long" in log
    assert "U+2585" in log


def test_strict_changes_no_byte(tmp_path: Path) -> None:
    for strict in (True, False):
        model = tmp_path / str(strict)
        spmcompat.train(
            sentence_iterator=GOOD, model_prefix=tmp_path / "m", vocab_size=30, strict=strict
        )
        (tmp_path / "m.model").rename(model)
    assert (tmp_path / "True").read_bytes() == (tmp_path / "False").read_bytes()


def test_strict_needs_a_text(tmp_path: Path) -> None:
    counts = spmcompat.count(sentence_iterator=GOOD, strict=True)
    with raises_kind("conflicting-options strict", BadValueError):
        spmcompat.train(counts=counts, model_prefix=tmp_path / "m", vocab_size=30, strict=True)
    assert not [*tmp_path.iterdir()]
