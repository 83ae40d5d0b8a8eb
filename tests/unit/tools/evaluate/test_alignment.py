"""Alignment of tokens and words, compared with a slow count that uses sets of characters."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.tools.evaluate.alignment import Span, align

Token = tuple[int, int, bool, bool]  # begin, end, whether it begins a word, whether it is unknown


def by_hand(line: str, tokens: list[Token]) -> tuple[int, int, int]:
    words = [set(range(*match.span())) for match in re.finditer(r"\S+", line)]
    visible = set[int]().union(*words)
    texts = [(set(range(a, b)) & visible, begins, unknown) for a, b, begins, unknown in tokens]
    kept = set[int]().union(*(text for text, _, unknown in texts if not unknown))
    whole = inner = 0
    for word in words:
        touching = [(text, unknown) for text, _, unknown in texts if text & word]
        whole += len(touching) == 1 and word <= touching[0][0] and not touching[0][1]
    for text, begins, _ in texts:
        inner += bool(text) and begins and min(text) not in {min(word) for word in words}
    return whole, inner, len(visible - kept)


@st.composite
def lines_with_tokens(draw: st.DrawFn) -> tuple[str, list[Token]]:
    line = draw(st.text(alphabet="ab \u3000\U0001f600", max_size=12))
    offset = st.integers(0, len(line))
    spans = draw(st.lists(st.tuples(offset, offset).map(sorted), max_size=8))
    return line, [(a, b, draw(st.booleans()), draw(st.booleans())) for a, b in spans]


@pytest.mark.slow
@given(st.lists(lines_with_tokens(), min_size=1, max_size=4))
def test_the_alignment_is_that_of_single_characters(lines: list[tuple[str, list[Token]]]) -> None:
    spans: list[list[Span]] = [[(a, b) for a, b, _, _ in tokens] for _, tokens in lines]
    tokens = [token for _, of_line in lines for token in of_line]
    found = align(
        [line for line, _ in lines],
        spans,
        np.array([begins for _, _, begins, _ in tokens], dtype=np.bool_),
        np.array([unknown for _, _, _, unknown in tokens], dtype=np.bool_),
    )
    expected = [by_hand(line, of_line) for line, of_line in lines]
    assert list(zip(*found, strict=True)) == expected
