"""Counts of tokens and words in the output of the real encoder."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.tools.evaluate.tokens import (
    TokenKinds,
    kinds_of_pieces,
    token_figures,
    words_by_marks,
)
from spmcompat.unicode.marks import SPACE_MARK
from tests.oracle.morphology import renyi_efficiency

from .conftest import Train, load


class Counts(NamedTuple):
    """The figures of the tokens, their uses, and the numbers of words and of whole words."""

    figures: dict[str, Any]
    uses: npt.NDArray[np.int64]
    words: int
    whole_words: int


def figures(uses: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return the figures of tokens without properties."""
    no = np.zeros(len(uses), dtype=np.bool_)
    return token_figures(TokenKinds(no, no, no, uses, no, no, no), uses, drops_spaces=False)


def count(path: Path, lines: list[str], batch: int = 1000) -> Counts:
    kinds = kinds_of_pieces(load(path))
    uses = np.zeros(len(kinds.begins), dtype=np.int64)
    words = whole_words = 0
    encoder = SentencePieceProcessor(model_file=str(path))
    for begin in range(0, len(lines), batch):
        encoded = encoder.encode(lines[begin : begin + batch], return_type="numpy")
        uses += np.bincount(np.concatenate(encoded), minlength=len(uses))
        marked = words_by_marks(kinds, encoded)
        words += int(marked.words.sum())
        whole_words += int(marked.whole_words.sum())
    return Counts(token_figures(kinds, uses, drops_spaces=False), uses, words, whole_words)


def words_of(pieces: list[str]) -> list[list[str]]:
    """Group tokens into words; a token that is only space marks belongs to no word."""
    words: list[list[str]] = []
    opened = False
    for piece in pieces:
        if not piece.strip(SPACE_MARK):
            opened = False
            continue
        if not opened or piece.startswith(SPACE_MARK):
            words.append([])
        words[-1].append(piece)
        opened = not piece.endswith(SPACE_MARK)
    return words


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model_type": "bpe"},
        {"treat_whitespace_as_suffix": True},
        {"user_defined_symbols": SPACE_MARK, "add_dummy_prefix": False},
    ],
    ids=str,
)
def test_counts_agree_with_the_pieces_of_the_encoder(
    options: dict[str, object], text: Path, train: Train
) -> None:
    path = train("m", **options)
    encoder = SentencePieceProcessor(model_file=str(path))
    lines = text.read_text(encoding="utf-8").split("\n")
    pieces = [encoder.encode(line, return_type=str) for line in lines]
    words = [word for line in pieces for word in words_of(line)]
    uses = Counter(piece for line in pieces for piece in line)

    counts = count(path, lines, batch=7)
    assert counts.figures["tokens"] == sum(map(len, pieces))
    assert counts.words == len(words) == sum(len(line.split()) for line in lines)
    assert counts.whole_words == sum(len(word) == 1 for word in words)
    normal = [p.piece for p in load(path).pieces if p.type in (p.NORMAL, p.USER_DEFINED)]
    assert counts.figures["unused_pieces"] == sum(uses[piece] == 0 for piece in normal)


def test_a_piece_of_several_words_counts_as_several_whole_words(train: Train) -> None:
    path = train("m", user_defined_symbols=f"{SPACE_MARK}of{SPACE_MARK}the")
    counts = count(path, ["of the", "of the of the"])
    assert (counts.figures["tokens"], counts.words, counts.whole_words) == (3, 6, 6)


def test_unknown_and_byte_pieces_are_counted(train: Train) -> None:
    unknown = count(train("m"), ["\u6f22 \u6f22"]).figures
    assert unknown["unknown_rate"] == pytest.approx(2 / unknown["tokens"])
    assert unknown["byte_piece_rate"] == 0
    spelled = count(train("m", byte_fallback=True, vocab_size=400), ["\u6f22"]).figures
    assert spelled["unknown_rate"] == 0
    assert spelled["byte_piece_rate"] == pytest.approx(3 / spelled["tokens"])


def test_renyi_efficiency_follows_its_definition(text: Path, train: Train) -> None:
    counts = count(train("m"), text.read_text(encoding="utf-8").split("\n"))
    uses = counts.uses.tolist()
    found = counts.figures
    assert found["renyi_efficiency"] == pytest.approx(renyi_efficiency(uses, 2.5, len(uses)))
    used = sum(use > 0 for use in uses)
    assert used < len(uses)
    assert found["renyi_efficiency_observed"] == pytest.approx(renyi_efficiency(uses, 2.5, used))
    even = np.ones(50, dtype=np.int64)
    assert figures(even)["renyi_efficiency"] == pytest.approx(1)
    assert figures(even)["renyi_efficiency_observed"] == pytest.approx(1)
    even[1:] = 0
    assert figures(even)["renyi_efficiency"] == pytest.approx(0)
    assert math.isnan(figures(even)["renyi_efficiency_observed"])


def test_the_rates_of_an_empty_text_are_nan(train: Train) -> None:
    counts = count(train("m"), ["", ""])
    assert (counts.figures["tokens"], counts.words) == (0, 0)
    assert math.isnan(counts.figures["unknown_rate"])
    assert math.isnan(counts.figures["renyi_efficiency"])
