"""The facts that ``spmcompat show`` states about a tokenizer.json."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from tests.kinds import raises_kind
from tests.parity import corpora


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(corpora.words_text(1, 300), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("like", ["llama3", "bert", "qwen2"])
def test_a_tokenizer_is_that_of_the_library(like: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    spmcompat.train_tokenizer(
        like, input="text.txt", vocab_size=600, output="t.json", minloglevel=2
    )
    real = tokenizers.Tokenizer.from_file("t.json")
    found = spmcompat.show("t.json")
    assert isinstance(found, spmcompat.TokenizerOverview)
    assert sum(found.pieces.values()) == real.get_vocab_size()
    added = real.get_added_tokens_decoder()
    assert found.added == [added[i].content for i in sorted(added)]
    assert found.pieces["special"] == len(added)
    assert found.longest == max(map(len, {*real.get_vocab()} - {*found.added}))
    assert found.model_type == type(real.model).__name__
    assert found.merges == len(json.loads(Path("t.json").read_text())["model"].get("merges", ()))


def test_the_steps_are_in_their_order() -> None:
    spmcompat.train_tokenizer("qwen2", input="text.txt", vocab_size=300, output="t.json")
    found = spmcompat.show("t.json")
    assert isinstance(found, spmcompat.TokenizerOverview)
    assert found.steps["normalizer"] == ["NFC"]
    assert found.steps["pre_tokenizer"] == ["Split", "ByteLevel"]


def test_the_command_trains_the_same_tokenizer() -> None:
    Path("a folder").mkdir()
    spmcompat.train_tokenizer(
        "gpt2", input="text.txt", vocab_size=400, output="a folder/tokenizer.json"
    )
    out = io.StringIO()
    assert main(["show", "a folder"], out, io.StringIO()) == 0
    _, command, *arguments = shlex.split(out.getvalue().splitlines()[-1])
    given = [
        one.replace("YOUR_TEXT", "text.txt").replace("OUTPUT", "again.json") for one in arguments
    ]
    assert main([command, *given], io.StringIO(), io.StringIO()) == 0
    assert Path("again.json").read_bytes() == Path("a folder/tokenizer.json").read_bytes()


def test_a_report_is_printable() -> None:
    document = {
        "model": {"type": "WordPiece", "vocab": {"a": 0, "\x1b[31m": 1}},
        "added_tokens": [{"id": 1, "content": "\x1b[31m", "special": False}],
        "normalizer": {"type": "\x1b]0;x\x07"},
    }
    shown = str(spmcompat.show(json.dumps(document).encode()))
    assert shown.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "content", ['{"model": {"type": "Other"}}', "{}", '{"model": ' + "[" * 5000 + "]" * 5000 + "}"]
)
def test_other_files_are_refused(content: str) -> None:
    Path("t.json").write_text(content)
    with raises_kind("bad-tokenizer-json t.json"):
        spmcompat.show("t.json")
