"""How the kind of an input is recognized by its name and its first bytes."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import spmcompat
from tests.kinds import raises_kind

from .test_broken_input import TEXT, json_lines, pieces, train


@pytest.mark.parametrize(
    "begin",
    [
        b"BZh91AY&SY is how a bzip2 file begins",
        b"BZh9 is how a bzip2 file begins",
        b"PAR1 and more",
        b"ARROW1 and more",
        b"PK and more",
        b"P*M\x18\x04\0\0\0 and a text",
        b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n is how a model begins",
    ],
)
def test_a_text_that_begins_like_something_else_is_a_text(begin: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(begin + b"\n" + TEXT)
    lines = (begin + b"\n" + TEXT).splitlines()
    as_file = train(input=path, hard_vocab_limit=False)
    assert as_file.replace(str(path).encode(), b"") != b""
    from_iterator = train(sentence_iterator=lines, hard_vocab_limit=False)
    assert pieces(as_file) == pieces(from_iterator)


UNMARKED = {
    "English": "The cat sat on the mat – “twice”.\n",
    "German": "Über den Äpfeln liegt Öl, 3 \u20ac.\r\n",
    "Russian": "Привет, мир, как дела 12?\n",
    "Greek": "Καλημέρα, τι κάνεις;\n",
    "Hindi": "नमस्ते दुनिया, आप कैसे हैं?\n",
    "Persian": "می\u200cخواهم به خانه بروم.\n",
    "tabs": "word\t17\n",
}


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
@pytest.mark.parametrize("language", UNMARKED)
def test_utf16_without_a_mark_is_recognized(encoding: str, language: str, tmp_path: Path) -> None:
    text = (UNMARKED[language] * 30).encode(encoding)
    for name, content in {"a.txt": text, "a.gz": gzip.compress(text), "a.jsonl": text}.items():
        (tmp_path / name).write_bytes(content)
        with raises_kind(f"wrong-format {name} {encoding} UTF-8"):
            train(input=tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        b"a\0b\n" * 100,
        b"abc\0def\0ghi\0\n" * 40,
        b"name\0value\0" * 50 + b"\n",
        b"\0\0a\n" * 50,
        b"a\0" * 7 + b"\n",
        bytes(range(1, 10)) * 20 + b"\n" + bytes(300),
        "Привет\0мир, как\0дела\0".encode() * 10,
        "你好\0世界\0今天\n".encode() * 10,
    ],
    ids=range(8),
)
def test_a_text_with_nul_characters_is_a_text(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT[:100] + b"\n" + text)
    assert train(input=path, hard_vocab_limit=False)
    path.write_bytes(text + TEXT)
    assert train(input=path, hard_vocab_limit=False)


def test_text_that_is_not_compressed_can_be_read_on_demand(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(TEXT)
    (tmp_path / "a.txt").write_bytes(TEXT)
    read = train(input=tmp_path / "a.gz", input_format="text", hard_vocab_limit=False)
    assert pieces(read) == pieces(train(input=tmp_path / "a.txt", hard_vocab_limit=False))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_text_is_no_table(form: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    with raises_kind(f"wrong-format a.txt input_format={form}"):
        train(input=tmp_path / "a.txt", input_format=form)


@pytest.mark.parametrize("name", ["a.tar", "a.tgz", "a.json", "a.tsv", "a.GZ.txt"])
def test_other_names_are_those_of_text(name: str, tmp_path: Path) -> None:
    for one in (name, "a.txt"):
        (tmp_path / one).write_bytes(TEXT)
    read = train(input=tmp_path / name, hard_vocab_limit=False)
    assert pieces(read) == pieces(train(input=tmp_path / "a.txt", hard_vocab_limit=False))


@pytest.mark.parametrize(
    ("name", "content", "remedy"),
    [
        ("a.csv", b'"1","a cat"\n' * 9, "--input_column"),
        ("a.json", b'[{"text": "a"},\n{"text": "b"}]\n', "jq"),
        ("a.json", b'{\n"text": "a"\n}\n', "jq"),
        ("a.json", b"The cat sat.\n", ""),
        ("a.tsv", b"a cat\t3\n", "--input_format=tsv"),
        ("a.tsv", b"The cat sat.\n", ""),
        ("a.txt", b"[The cat sat.\n", ""),
    ],
)
def test_files_that_most_likely_are_no_plain_text_cause_one_warning(
    name: str, content: bytes, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / f"b{name}").write_bytes(content)
    log = io.StringIO()
    spmcompat.train(
        input=[tmp_path / name, tmp_path / f"b{name}"],
        model_writer=io.BytesIO(),
        model_type="char",
        hard_vocab_limit=False,
        logstream=log,
    )
    assert log.getvalue().count("WARNING") == bool(remedy)
    assert remedy in log.getvalue()


def test_json_lines_can_be_read_as_text(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.txt"):
        (tmp_path / name).write_bytes(json_lines())
    read = train(input=tmp_path / "a.jsonl", input_format="text", hard_vocab_limit=False)
    assert pieces(read) == pieces(train(input=tmp_path / "a.txt", hard_vocab_limit=False))
