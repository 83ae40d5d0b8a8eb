"""The view of tokens: they are those of the library, and every character can be seen."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.cli.tables import width_of
from spmcompat.runtime.terminal import has_colour
from spmcompat.tools.evaluate.models import Token
from spmcompat.tools.view.terminal import rows_of_tokens
from spmcompat.tools.view.visible import visible
from tests.kinds import raises_kind

sentencepiece = pytest.importorskip("sentencepiece")
tokenizers = pytest.importorskip("tokenizers")

LINES = [
    "The cat sat on the mat, 12.50 times.",
    "\tfor (i = 0; i < n; ++i) {",
    "中文分词猫龘",
    "नमस्ते क्षिप्रं हिन्दी",
    "قال الرجل: hello 123",
    "👩\u200d👩\u200d👧 ❤️ 🇩🇪 👍🏽 e\u0301 1️⃣",
    "\x1b[31m \u202e \x07\x00",
    "<script>alert(1)</script>",
    "",
]
MODELS = ("plain.model", "bytes.model", "llama3", "bert")
ESCAPES = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the paths of a model of each kind."""
    folder = tmp_path_factory.mktemp("models")
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat\nfor (i = 0; i < n; ++i) {\n" * 20)
    small: dict[str, Any] = {"hard_vocab_limit": False, "minloglevel": 2, "input": text}
    spmcompat.train(model_prefix=folder / "plain", vocab_size=50, model_type="char", **small)
    spmcompat.train(model_prefix=folder / "bytes", vocab_size=320, byte_fallback=True, **small)
    for like, size in (("llama3", 300), ("bert", 60)):
        spmcompat.train_tokenizer(
            like=like, input=text, vocab_size=size, to="hf-folder", output=folder / like
        )
    return [str(folder / name) for name in MODELS]


def of_library(path: str, line: str) -> tuple[list[int], list[str]]:
    """Return the ids and the pieces that the library finds in a line."""
    if path.endswith(".model"):
        model = sentencepiece.SentencePieceProcessor(model_file=path)
        return model.encode(line), model.encode(line, out_type=str)
    found = tokenizers.Tokenizer.from_file(f"{path}/tokenizer.json")
    encoded = found.encode(line, add_special_tokens=False)
    return encoded.ids, encoded.tokens


@pytest.mark.parametrize("name", MODELS)
def test_the_tokens_are_those_of_the_library(models: list[str], name: str) -> None:
    path = models[MODELS.index(name)]
    found = spmcompat.view(path, *LINES)
    for line, (tokens,) in zip(LINES, found.tokens, strict=True):
        ids, pieces = of_library(path, line)
        assert [token.id for token in tokens] == ids
        if name == "llama3":
            parts = [
                re.sub(r"<0x(..)>", lambda byte: chr(0xDC00 + int(byte[1], 16)), token.text)
                for token in tokens
            ]
            assert "".join(parts).encode(errors="surrogateescape").decode() == line
        else:
            for token, piece in zip(tokens, pieces, strict=True):
                assert token.text == piece or (token.kind == "unknown" and piece == "[UNK]")


def test_unknown_tokens_and_parts_of_characters_are_marked(models: list[str]) -> None:
    tokens = [
        [(token.text, token.kind) for token in of_model[-2:]]
        for of_model in spmcompat.view(models, "cat猫 猫").tokens[0]
    ]
    byte = ("<0x8C>", "byte"), ("<0xAB>", "byte")
    unknown = "猫", "unknown"
    assert tokens == [[("▁", ""), unknown], [*byte], [*byte], [unknown, unknown]]


def test_a_token_can_contain_a_part_of_a_character(tmp_path: Path) -> None:
    lines = ["aé", "aè"] * 9
    output = tmp_path / "tokenizer.json"
    (tmp_path / "t.txt").write_text("\n".join(lines), encoding="utf-8")
    spmcompat.train_tokenizer(
        like="gpt2", input=tmp_path / "t.txt", vocab_size=258, special_tokens=["<é>"], output=output
    )
    (tokens,) = spmcompat.view(output, "aï<é>").tokens[0]
    assert [(t.text, t.kind) for t in tokens] == [
        ("a<0xC3>", "byte"),
        ("<0xAF>", "byte"),
        ("<é>", ""),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("▁a b", "▁a▁b"),
        ("\t\x1b\u202e\u00a0\x85", "\\t\\x1b\\u202e\\xa0\\x85"),
        ("\u093f", "◌\u093f"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("\u200d👧", "\\u200d👧"),
        ("👩\u200d", "👩\\u200d"),
        ("\u200d\u200c", "\\u200d\\u200c"),
        ("", ""),
    ],
)
def test_every_character_can_be_seen(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_rows_fit_the_terminal_and_contain_every_token(
    models: list[str], columns: str, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    long = [Token(5, "中" * 101), Token(5, "x" * 36), Token(5, "y" * 36)]
    tokens = [t for line in spmcompat.view(models, *LINES).tokens for one in line for t in one]
    rows = [*rows_of_tokens([*long, *tokens], ids=True, colour=colour)]
    assert ("\x1b" in "".join(rows)) == colour
    plain = [ESCAPES.sub("", row) for row in rows]
    assert max(map(width_of, plain)) <= int(columns)
    expected = "".join(
        f"<unk:{visible(text)}>/{i}" if kind == "unknown" and not colour else f"{visible(text)}/{i}"
        for i, text, kind in [*long, *tokens]
    )
    assert "".join(plain).replace(" ", "") == expected


def test_html_is_escaped_and_loads_no_other_file(models: list[str]) -> None:
    found = spmcompat.view(models, *LINES, ids=True)
    page = found._repr_html_()
    assert "<script" not in page
    assert not re.search(r"(?:src|href|url)\b", page)
    spans = re.findall(r"<span[^>]*>(.*?)<sub>(\d+)</sub></span>", page)
    tokens = [token for line in found.tokens for one in line for token in one]
    assert [(html.unescape(text), int(i)) for text, i in spans] == [
        (visible(token.text), token.id) for token in tokens
    ]


def test_totals_count_all_lines(models: list[str]) -> None:
    found = spmcompat.view(models[:2], "cat", "猫 cat")
    (_, *plain), (_, *by_bytes) = found.totals().rows
    counted = [str(sum(len(line[i]) for line in found.tokens)) for i in (0, 1)]
    assert (plain, by_bytes) == ([counted[0], "1", "0"], [counted[1], "0", "3"])


class Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize(
    ("variables", "in_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": "", "FORCE_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
    ids=str,
)
def test_colours_follow_the_conventions(
    variables: dict[str, str], in_terminal: bool, in_pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_colour(Stream(is_terminal=True)) == in_terminal
    assert has_colour(Stream(is_terminal=False)) == in_pipe


def test_lines_of_a_file_and_lone_surrogates(models: list[str], tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_bytes(b"a\n\n\xff\nb\n")
    assert spmcompat.view(models[0], text=text, lines=3).lines == ("a", "", "\ufffd")
    assert spmcompat.view(models[0], "a\udcff\ud800").lines == ("a\ufffd\ufffd",)
    for wrong in ({}, {"text": text, "lines": 0}, {"text": tmp_path / "none"}):
        with raises_kind("cannot-read" if len(wrong) == 1 else "bad-value"):
            spmcompat.view(models[0], **wrong)  # type: ignore[arg-type]
    with raises_kind("bad-value"):
        spmcompat.view(models[0], "a", text=text)
