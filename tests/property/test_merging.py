"""For texts drawn by Hypothesis, the BPE merges equal those of the oracle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.characters import SPACE, Options
from tests.oracle.merging import merges as oracle
from tests.searches import examples
from tests.unit.bpe.test_merges import merges_of, segments_of

RUNS = st.builds("".join, st.lists(st.sampled_from(["a", "aa", "aaaa", "ab", "ba", "b"])))
WORDS = st.one_of(st.text("ab", min_size=1, max_size=20), RUNS, st.text("abcあ漢1", max_size=8))


def fibonacci(rounds: int) -> str:
    first, second = "a", "ab"
    for _ in range(rounds):
        first, second = second, second + first
    return second


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    if draw(st.booleans()):
        words.append(fibonacci(draw(st.integers(1, 8))))
    return [word for word in words if word] or ["a"]


@settings(max_examples=examples(300))
@given(texts(), st.integers(1, 60), st.integers(1, 300), st.sampled_from([2, 5, 16, 512]))
def test_merges_are_those_of_the_oracle(
    lines: list[str], wanted: int, repeated: int, length: int
) -> None:
    counted = [f"{line}\t{repeated}" for line in lines]
    segments = segments_of(
        counted, input_format="tsv", character_coverage=1.0, max_piece_length=length
    )
    options = Options(max_sentencepiece_length=length)
    found = list(oracle([(SPACE + line, repeated) for line in lines], options, wanted))
    assert merges_of(segments, wanted) == found
