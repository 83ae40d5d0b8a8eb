"""Folders, patterns, texts, open files and addresses that are given as ``input`` by mistake."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from tests.kinds import raises_kind
from tests.unit.text.test_broken_input import TEXT, train


@pytest.mark.parametrize(
    ("files", "pattern"),
    [
        (["a.txt", "b.txt", "c.log", ".hidden"], "*.txt"),
        (["README.md", "LICENSE.md", "a.jsonl.gz"], "*.jsonl.gz"),
        (["a", "b"], "*"),
        (["x/a.parquet", "x/y/b.parquet"], "**/*.parquet"),
        (["x/.hidden"], ""),
    ],
)
def test_a_folder(
    files: list[str], pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in files:
        path = Path("[data]", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(TEXT)
    remedy = f'"[data]/{pattern}"' if pattern else ""
    with raises_kind(f"cannot-read Is a directory {remedy}"):
        train(input="[data]")


@pytest.mark.parametrize("given", ["*.nothing", "no/such/[ab].txt", "a?"])
def test_a_pattern_without_a_match(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(TEXT)
    with raises_kind("cannot-read"):
        train(input=given)


@pytest.mark.parametrize(
    ("given", "is_text"),
    [
        (["This is a text.", "b.txt"], True),
        (["Is this a text?"], True),
        (["Hello", "This is a text."], True),
        (["a", "and/or", "a/b.c", "This is a text"], True),
        (["d", "This is a text"], True),  # d is a folder
        (["a*", "This is a text"], True),
        (["\u6211\u559c\u6b22\u5403\u82f9\u679c\u3002"], True),
        (["my corpus.txt", "b.txt"], False),
        (["my texts/a"], False),
        (["corpus", "d"], False),
    ],
)
def test_texts_instead_of_paths(
    given: list[str], is_text: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    with raises_kind("cannot-read") as caught:
        train(input=given)
    assert ("sentence_iterator" in str(caught.value)) == is_text


@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_as_items_are_read_as_their_strings(kind: type) -> None:
    lines = TEXT.decode().splitlines()
    rows = [kind(lines[:5]), kind(), kind([lines[5].encode()]), lines[6], kind(lines[7:])]
    joined = [kind(["\n".join(lines[:5])]), kind(["\n".join(lines[5:])])]
    for more in ({}, {"input_sentence_size": 101}, {"byte_fallback": True, "vocab_size": 300}):
        options: dict[str, Any] = {"hard_vocab_limit": False, **more}
        expected = train(sentence_iterator=lines, **options)
        assert train(sentence_iterator=iter(rows), **options) == expected
        assert train(sentence_iterator=joined, split_lines=True, **options) == expected
    with raises_kind("wrong-type"):
        train(sentence_iterator=[kind([["a"]])])


def test_an_open_file_instead_of_a_path(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    with (tmp_path / "a.txt").open() as file:
        with raises_kind("wrong-type sentence_iterator"):
            train(input=file)
        assert train(sentence_iterator=file)


def test_a_table_instead_of_a_path() -> None:
    table = pytest.importorskip("pyarrow").table({"text": ["a text"]})
    with raises_kind("wrong-type sentence_iterator"):
        train(input=table)
    with raises_kind("wrong-type sentence_iterator"):
        train(input=pytest.importorskip("pandas").DataFrame({"text": ["a text"]}))


def test_a_space_behind_a_comma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """See google/sentencepiece#1098."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(TEXT)
    with raises_kind("cannot-read b.txt No such file or directory"):
        spmcompat.SentencePieceTrainer.train(input="a.txt, b.txt", model_prefix="m")


def test_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / "a.parquet").write_bytes(b"PAR1\x15")
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0")
    zstd = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    for module, path, extra, doing in (
        (zstd, tmp_path / "a.zst", "zstd", ".zst"),
        ("pyarrow", tmp_path / "a.parquet", "parquet", "Parquet"),
        ("pyarrow", tmp_path / "a.arrow", "arrow", "Arrow"),
        ("fsspec", "memory://a.txt", "remote", "memory://a.txt"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, "zstandard", None)
        with raises_kind(f"missing-library {doing} 'spmcompat[{extra}]'"):
            train(input=path)
    with raises_kind("missing-library pyarrow"):
        spmcompat.count(sentence_iterator=["a"])


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("memory://no/such.txt", "cannot-read memory://no/such.txt No such file or directory"),
        ("nosuchscheme://a.txt", "cannot-read nosuchscheme://a.txt"),
        ("memory://no/*.txt", "cannot-read memory://no/*.txt"),
    ],
)
def test_addresses_that_lead_nowhere(address: str, message: str) -> None:
    pytest.importorskip("fsspec")
    with raises_kind(message):
        train(input=address)


def test_the_packages_of_a_scheme_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.delitem(sys.modules, "fsspec.implementations.http", raising=False)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with raises_kind('missing-library "https://a/b.txt" "aiohttp"'):
        train(input="https://a/b.txt")
