"""The texts that ``--text`` names: every tool refuses files that are not plain text."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.errors import BadValueError
from spmcompat.tools.evaluate.texts import TextFiles
from tests.kinds import assert_error, raises_kind
from tests.parity import corpora

pytestmark = pytest.mark.reference

TEXT = corpora.words_text(7, 100, "latin", 60)
TOOLS = {
    "evaluate": ["m.model"],
    "compare": ["--output=new", "--vocab_size=80"],
    "edit": ["m.model", "--output=new", "--add_control=<x>"],
    "export": ["m.model", "--to=vocab.txt", "--output=new"],
}
WITH_TABLES = ("evaluate", "compare")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = Path("a.txt")
    text.write_text(TEXT, encoding="utf-8")
    spmcompat.train(
        input=text, model_prefix="m", vocab_size=80, hard_vocab_limit=False, minloglevel=2
    )
    return tmp_path


def run(tool: str, *arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    status = main([tool, *TOOLS[tool], *arguments], stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()


FILES: Sequence[tuple[str, bytes]] = [
    ("a.txt.gz", gzip.compress(TEXT.encode())),
    ("b.txt", gzip.compress(TEXT.encode())),
    ("a.parquet", b"PAR1\x15\4"),
    ("a.arrow", b"ARROW1\0\0"),
    ("a.jsonl", b'{"text": "a"}\n' * 30),
    ("a.csv", b"id,body\n1,a\n"),
    ("a.tsv.gz", gzip.compress(b"1\ta\n")),
    ("b.ndjson.gz", gzip.compress(b'"a"\n')),
    ("u.txt", TEXT.encode("utf-16")),
    ("a.zip", b"PK\3\4"),
]


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(("name", "content"), FILES, ids=[one[0] for one in FILES])
def test_files_that_are_not_plain_text_are_refused(tool: str, name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    status, out, err = run(tool, f"--text={name}")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, f"wrong-format {tool} {name}")
    is_table = name in ("a.parquet", "a.jsonl", "b.ndjson.gz")
    assert ("--language_column" in err) == (is_table and tool in WITH_TABLES)
    assert not os.path.exists("new")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_model_is_no_text(tool: str) -> None:
    status, out, err = run(tool, "--text=m.model")
    assert (status, out) == (1, "")
    assert_error(err, f"wrong-format {tool} m.model")


@pytest.mark.parametrize("tool", TOOLS)
def test_a_missing_text_is_one_line_before_anything_is_done(tool: str) -> None:
    status, out, err = run(tool, "--text=none\n.txt")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, rf"cannot-read {tool} none\n.txt --text No such file or directory")
    assert not os.path.exists("new")


def test_texts_of_languages_are_checked_too() -> None:
    Path("b.gz").write_bytes(gzip.compress(b"a"))
    for tool in WITH_TABLES:
        assert f"{tool}: b.gz contains gzip data" in run(tool, "--text=en=a.txt,de=b.gz")[2]


def test_the_name_of_a_compressed_file_does_not_make_a_text_compressed() -> None:
    os.rename("a.txt", "a.txt.gz")
    assert run("evaluate", "--text=a.txt.gz")[0] == 0


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="the system has no /dev/fd")
@pytest.mark.parametrize("tool", ["evaluate", "edit", "export"])
def test_a_pipe_is_read_once(tool: str) -> None:
    def through_a_pipe(content: bytes) -> tuple[int, str, str]:
        reader, writer = os.pipe()
        os.write(writer, content)
        os.close(writer)
        try:
            return run(tool, f"--text=/dev/fd/{reader}")
        finally:
            os.close(reader)

    assert through_a_pipe(b"a b\n")[0] == 0
    Path("new").unlink(missing_ok=True)
    if tool != "export":  # a list of pieces is never verified, so the lines are not read
        assert "contains gzip data" in through_a_pipe(gzip.compress(b"a b\n"))[2]


def test_the_functions_refuse_the_same_files() -> None:
    Path("a.txt.gz").write_bytes(gzip.compress(b"a"))
    with raises_kind("wrong-format a.txt.gz"):
        spmcompat.evaluate("m.model", text="a.txt.gz")
    with raises_kind("wrong-format a.txt.gz"):
        spmcompat.edit("m.model", add_control=["<x>"], text="a.txt.gz")
    with raises_kind("wrong-format a.txt.gz"):
        spmcompat.export("m.model", to="vocab.txt", output="new", text="a.txt.gz")


def test_lines_instead_of_paths_are_refused() -> None:
    with raises_kind("cannot-read line"):
        spmcompat.evaluate("m.model", text=["a line", "another line"])
    with (
        open("a.txt", encoding="utf-8") as file,
        raises_kind("bad-value <_io.Text", BadValueError),
    ):
        spmcompat.evaluate("m.model", text=file)  # type: ignore[arg-type]


def test_a_text_instead_of_its_path_is_shortened() -> None:
    with raises_kind("impossible-path") as error:
        spmcompat.evaluate("m.model", text=TEXT * 100)
    assert len(str(error.value)) < 1000
    with raises_kind("bad-value", BadValueError) as other:
        spmcompat.evaluate("m.model", text=[TEXT.encode()])  # type: ignore[list-item]
    assert len(str(other.value)) < 1000


@pytest.mark.parametrize("models", [b"", [b"bytes"], ["m.model", b"x"]])
def test_models_as_bytes_are_refused(models: object) -> None:
    with raises_kind("wrong-type"):
        spmcompat.evaluate(models, text="a.txt")  # type: ignore[arg-type]


def test_a_text_that_becomes_shorter_while_it_is_read() -> None:
    Path("large.txt").write_text("a line of text\n" * 300_000)
    batches = TextFiles(["large.txt"]).batches()
    next(batches)
    os.truncate("large.txt", 3_000_000)
    with raises_kind("file-changed large.txt"):
        list(batches)
