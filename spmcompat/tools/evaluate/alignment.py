"""Compares the positions of a model's tokens with those of the text's words and characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]
_Ints = npt.NDArray[np.int64]

# The characters at which str.split() splits a text. There are none beyond U+FFFF.
_WHITE_SPACE = np.array([c for c in range(0x10000) if chr(c).isspace()], dtype=np.uint32)


class Alignment(NamedTuple):
    """How tokens match the words and characters of each line; each array has one item per line.

    Attributes
    ----------
    whole_words : array of int64
        The number of words that are contained in a single token that is not unknown.
    inner_tokens : array of int64
        The number of tokens that begin inside a word, although they are marked as the beginning of
        a word.
    lost_characters : array of int64
        The number of characters, except white space, that are represented only by unknown tokens or
        by no token.
    """

    whole_words: _Ints
    inner_tokens: _Ints
    lost_characters: _Ints


def align(
    lines: Sequence[str],
    spans: Sequence[Sequence[Span]],
    begins: npt.NDArray[np.bool_],
    unknown: npt.NDArray[np.bool_],
) -> Alignment:
    """Compare the positions of tokens and words, and return the counts of each line.

    Parameters
    ----------
    lines : sequence of str
        The original lines.
    spans : sequence of sequences of (int, int)
        For each token of each line, the offsets in the line where its text begins and ends.
    begins, unknown : array of bool, one for each token of all lines
        Whether the token is marked as the beginning of a word, and whether it is unknown.
    """
    text = "\n".join(lines).encode("utf-32-le", "surrogatepass")
    white = np.isin(np.frombuffer(text, dtype=np.uint32), _WHITE_SPACE)
    # From here on, positions count only characters that are not white space.
    before = np.concatenate([[0], np.cumsum(~white)])
    line_of = np.repeat(np.arange(len(lines)), _lengths(lines))[~white]
    first_of_word = (~white & np.concatenate([[True], white[:-1]]))[~white]
    word_begins = np.flatnonzero(first_of_word)
    word_ends = np.append(word_begins[1:], len(first_of_word))
    word_of = np.cumsum(first_of_word) - 1

    line_begins = np.cumsum([0, *(len(line) + 1 for line in lines[:-1])])
    offsets = np.array([span for line in spans for span in line], dtype=np.int64).reshape(-1, 2)
    offsets += np.repeat(line_begins, [len(line) for line in spans])[:, np.newaxis]
    ranges = before[offsets]
    visible = ranges[:, 0] < ranges[:, 1]
    begin, end = ranges[visible, 0], ranges[visible, 1]

    first, last = word_of[begin], word_of[end - 1]
    touched = _cover(first, last + 1, len(word_begins))
    known = ~unknown[visible]
    contained = _cover(
        (first + (begin != word_begins[first]))[known],
        (last + (end == word_ends[last]))[known],
        len(word_begins),
    )
    kept = _cover(begin[known], end[known], len(first_of_word))
    whole = (touched == 1) & (contained == 1)
    inner = begins[visible] & (begin != word_begins[first])
    return Alignment(
        whole_words=np.bincount(line_of[word_begins[whole]], minlength=len(lines)),
        inner_tokens=np.bincount(line_of[begin[inner]], minlength=len(lines)),
        lost_characters=np.bincount(line_of[kept == 0], minlength=len(lines)),
    )


def _lengths(lines: Sequence[str]) -> list[int]:
    """Return the length of each line in the joined text, including its line end."""
    return [len(line) + (i + 1 < len(lines)) for i, line in enumerate(lines)]


def _cover(begins: _Ints, ends: _Ints, size: int) -> _Ints:
    """Return how many ranges contain each position from 0 to `size` - 1."""
    kept = begins < ends
    changes = np.bincount(begins[kept], minlength=size + 1)
    changes -= np.bincount(ends[kept], minlength=size + 1)
    covered: _Ints = np.cumsum(changes)[:size]
    return covered
