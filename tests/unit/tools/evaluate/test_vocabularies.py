"""Vocabularies without space marks, and lists of affixes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.errors import BadValueError
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.vocabularies import (
    Affixes,
    SharedTexts,
    VocabularyCounts,
    count_vocabulary,
    read_affixes,
    share_texts,
    texts_of_pieces,
)
from tests.kinds import raises_kind

from .conftest import Train, load

AFFIXES = Affixes(frozenset({"un", "re"}), frozenset({"ing", "s", "ness"}))
PIECES = st.sets(st.text("ab▁", min_size=1, max_size=3))


def test_pieces_that_differ_only_in_a_mark_have_one_text() -> None:
    pieces = {"▁un", "un", "▁", "ing", "s▁", "▁s", "a▁b"}
    texts = texts_of_pieces(pieces)
    assert texts == {"un", "▁", "ing", "s", "a▁b"}
    assert count_vocabulary(pieces, texts, AFFIXES) == VocabularyCounts(7, 2, 1, 2)
    assert count_vocabulary(pieces, texts).known() == {
        "normal_pieces": 7,
        "equal_without_spaces": 2,
    }


def test_each_kind_of_tokenizer_has_its_own_marks() -> None:
    assert texts_of_pieces({"Ġun", "un", "ġun"}, "▁Ġ") == {"un", "ġun"}
    assert texts_of_pieces({"##ing", "ing", "#", "##"}, "▁Ġ", "##") == {"ing", "#", "##"}
    # In Maltese, Ġ is a letter, not a space mark.
    assert texts_of_pieces({"Ġorġ", "orġ"}) == {"Ġorġ", "orġ"}


@given(PIECES, PIECES)
def test_counts_are_those_of_plain_loops(first: set[str], second: set[str]) -> None:
    def plain(pieces: set[str]) -> list[str]:
        found: list[str] = []
        for piece in sorted(pieces):
            begin, end = 0, len(piece)
            while begin < end and piece[begin] == "▁":
                begin += 1
            while end > begin and piece[end - 1] == "▁":
                end -= 1
            text = piece[begin:end] if begin < end else piece
            if text not in found:
                found.append(text)
        return found

    a, b = plain(first), plain(second)
    assert sorted(a) == sorted(texts_of_pieces(first))
    both = [text for text in a if text in b]
    expected = SharedTexts(len(both), len(a) - len(both), len(b) - len(both))
    assert share_texts(texts_of_pieces(first), texts_of_pieces(second)) == expected
    affixes = Affixes(frozenset("a"), frozenset(("b", "ab")))
    assert count_vocabulary(first, texts_of_pieces(first), affixes) == VocabularyCounts(
        len(first), len(first) - len(a), sum(t == "a" for t in a), sum(t in ("b", "ab") for t in a)
    )


@pytest.mark.reference
def test_a_model_has_the_texts_of_its_normal_pieces(train: Train) -> None:
    path = train("m", space_pieces="separate", byte_fallback=True, vocab_size=400)
    model = load_model(str(path), Workers(1))
    normal = [p.piece for p in load(path).pieces if p.type == 1]
    assert model.texts == set(normal) == model.vocabulary
    assert not any("▁" in text for text in model.texts)
    plain = load_model(str(train("n")), Workers(1))
    assert plain.texts == {piece.strip("▁") or piece for piece in plain.vocabulary}
    assert len(plain.texts) < len(plain.vocabulary)


def test_a_list_of_affixes(tmp_path: Path) -> None:
    path = tmp_path / "affixes.txt"
    path.write_bytes("\ufeffun-\r\n\n  -ness \nun-\n-s\nüber-".encode())
    assert read_affixes(path) == Affixes(frozenset({"un", "über"}), frozenset({"ness", "s"}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"un-\nness\n", "bad-word-list a.txt:2 ness"),
        (b"-s-", "bad-word-list a.txt:1"),
        (b"--s", "bad-word-list a.txt:1"),
        (b"-", "bad-word-list a.txt:1"),
        (b"un do-", "bad-word-list a.txt:1"),
        (b"x" * 200, "bad-word-list a.txt"),
        (b"\n \n", "bad-word-list a.txt"),
        (b"\xff-", "not-utf8 UTF-8"),
        (b"a-\n" * 400_000, "bad-word-list a.txt"),
    ],
)
def test_a_broken_list_is_an_error(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with raises_kind(message, BadValueError):
        read_affixes(path)


def test_a_list_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with raises_kind("cannot-read --affixes"):
        read_affixes(tmp_path / "nowhere")
    with raises_kind("cannot-read Is a directory"):
        read_affixes(tmp_path)
