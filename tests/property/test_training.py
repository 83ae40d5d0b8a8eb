"""spmcompat and the oracle train on random texts. If they differ, Hypothesis shrinks the text."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import spmcompat
from spmcompat.model.reading import parse
from tests.oracle.characters import Options, normalized
from tests.oracle.training import train as oracle
from tests.searches import examples

WORDS = st.text("abあ漢1\u0301", min_size=1, max_size=6)
LINES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


@st.composite
def trainings(draw: st.DrawFn) -> tuple[list[str], dict[str, Any], bool]:
    lines = draw(st.lists(LINES, min_size=1, max_size=12))
    options = {
        "vocab_size": draw(st.sampled_from([15, 20, 30, 1000])),
        "num_threads": draw(st.sampled_from([1, 2, 3, 16])),
        "num_sub_iterations": draw(st.integers(1, 2)),
        "character_coverage": draw(st.sampled_from([1.0, 0.98])),
        "max_sentencepiece_length": draw(st.sampled_from([2, 16])),
        "split_by_whitespace": draw(st.booleans()),
        "split_by_unicode_script": draw(st.booleans()),
        "split_digits": draw(st.booleans()),
        "treat_whitespace_as_suffix": draw(st.booleans()),
        "allow_whitespace_only_pieces": draw(st.booleans()),
    }
    return lines, options, draw(st.booleans())


def ours(lines: list[str], options: dict[str, Any], dummy: bool) -> list[tuple[str, float]]:
    model = io.BytesIO()
    spmcompat.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        hard_vocab_limit=False,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=dummy,
        minloglevel=2,
        **options,
    )
    pieces = parse(model.getvalue()).pieces
    return [(piece.piece, piece.score) for piece in pieces if piece.type == 1]


@settings(max_examples=examples(150))
@given(trainings())
def test_pieces_and_scores_are_those_of_the_oracle(
    training: tuple[list[str], dict[str, Any], bool],
) -> None:
    lines, options, dummy = training
    given = Options(**options)
    try:
        expected = oracle([(normalized(line, given, dummy), 1) for line in lines], given)
    except ValueError:
        # The text is empty, or the vocabulary is too small: spmcompat must raise an error, too.
        expected = None
    try:
        found = ours(lines, options, dummy)
    except RuntimeError:
        found = None
    if expected is not None:
        assert found == [(text, float(score)) for text, score in expected]
    else:
        assert found is None
