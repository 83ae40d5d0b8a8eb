"""The words and tokens that a change to a model affects."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.report import compare_cuts
from tests.kinds import raises_kind
from tests.unit.tools.edit.models import processor, trained

pytestmark = pytest.mark.reference


@pytest.mark.parametrize(
    ("options", "before", "word"),
    [
        ({}, "▁the", "the"),
        ({"add_dummy_prefix": False}, "▁the", "the"),
        ({"treat_whitespace_as_suffix": True}, "the▁", "the"),
        ({"treat_whitespace_as_suffix": True, "add_dummy_prefix": False}, "the▁", "the"),
    ],
)
def test_words_are_cut_as_between_two_spaces(
    options: dict[str, bool], before: str, word: str, tmp_path: Path
) -> None:
    model = trained("bpe", **options)
    new = edit_model(model, Edits(remove=[before]))[0]
    text = tmp_path / "t.txt"
    text.write_text("a the b\na the b the c\r\nno\n", encoding="utf-8")
    changes = compare_cuts(model, new, text)
    assert [(one.word, one.occurrences, one.before) for one in changes.words] == [
        (word, 3, [before])
    ]
    assert "".join(changes.words[0].after) == before
    assert (changes.lines, changes.changed_lines) == (3, 2)
    lines = ["a the b", "a the b the c", "no"]
    assert changes.tokens_before == sum(map(len, processor(model).encode(lines)))
    assert changes.tokens_after == sum(map(len, processor(new).encode(lines)))


@pytest.mark.slow
def test_the_most_frequent_words_come_first(tmp_path: Path) -> None:
    model = trained("unigram")
    new = edit_model(model, Edits(remove=["▁the", "▁of", "▁is"]))[0]
    text = tmp_path / "t.txt"
    text.write_text("of is the\nthe of\nof\n" * 20_000, encoding="utf-8")
    changes = compare_cuts(model, new, text)
    assert [(one.word, one.occurrences) for one in changes.words] == [
        ("of", 60_000), ("the", 40_000), ("is", 20_000),
    ]  # fmt: skip
    assert changes.lines == changes.changed_lines == 60_000


def test_other_ids_alone_are_no_difference(tmp_path: Path) -> None:
    model = trained("unigram", pad_id=300)
    new = edit_model(model, Edits(reorder_ids=True))[0]
    text = tmp_path / "t.txt"
    text.write_bytes(b"the end of it\n\xff\n\nno line feed")
    assert compare_cuts(model, new, text)[1:] == (0, *compare_cuts(new, model, text)[2:4], [])


def test_a_text_that_cannot_be_read() -> None:
    model = trained("unigram")
    with raises_kind("cannot-read --text"):
        compare_cuts(model, model, "no such file")
    with raises_kind("impossible-path --text"):
        compare_cuts(model, model, "a\0b")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    (tmp_path / "t.txt").write_text("a", encoding="utf-8")
    with raises_kind("missing-library spmcompat[eval]"):
        compare_cuts(trained("unigram"), trained("unigram"), tmp_path / "t.txt")
