"""BPE pieces with equal scores: an order of merges that does as sentencepiece does, or a note."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.causes import ORDER, TIE
from spmcompat.tools.export.exporting import export
from spmcompat.tools.export.merges_of_pieces import ordered_merges
from tests.unit.tools.export.models import differences
from tests.unit.tools.export.small_models import BPE, made

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

LETTERS = [(letter, -9.0 - number) for number, letter in enumerate("▁abcdx")]


def scored(*texts: str, score: float = 0.0) -> list[tuple[str, float]]:
    return [(text, score) for text in texts]


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        (scored("bc", "ab"), ["abc", "bcab", "abcabc"]),
        ([*scored("▁a", score=-1), *scored("bc", "ab", "cd", score=-3)], ["xabcd", "abcd", "bcd"]),
        # ab becomes abc, which takes the c of cd.
        ([*scored("abc"), *scored("cd", "ab", score=-1)], ["abcd", "cdab"]),
        # da takes the c of bc.
        ([*scored("cda"), *scored("da", "bc", score=-1)], ["bcda", "dabc"]),
        # Appended words, in any order.
        (scored("abc", "bc", "ab", "cd"), ["abcd", "bcd", "abab", "abcabc"]),
        # Only the usual way to merge aaa counts.
        (scored("aa", "aaa"), ["aaaa", "aaaaaaa", "baaab"]),
    ],
)
def test_an_order_is_found(pieces: list[tuple[str, float]], lines: list[str]) -> None:
    found = differences(made(BPE, [*pieces, *LETTERS]), lines)
    assert not found.different, found


def test_differences_that_no_order_avoids_are_no_ties(tmp_path: Path) -> None:
    model = made(BPE, [*scored("ab", "ba"), *LETTERS])
    said: list[str] = []
    output = tmp_path / "tokenizer.json"
    found = export(model, "tokenizer.json", str(output), ["aba", "bab"], said.append)
    assert found.causes == {ORDER: 1}
    assert not found.ok
    assert any("'ab'" in line for line in said)


@st.composite
def models(draw: st.DrawFn) -> ModelProto:
    """Draw a model with few different scores."""
    texts = ["a", "b", "c"][: draw(st.integers(2, 3))]
    for _ in range(draw(st.integers(2, 8))):
        text = draw(st.sampled_from(texts)) + draw(st.sampled_from(texts))
        if text not in texts and len(text) <= 8:
            texts.append(text)
    levels = draw(st.integers(0, 2))
    merged = [text for text in texts if len(text) > 1]
    pieces = [
        (text, float(-draw(st.integers(0, levels)))) for text in draw(st.permutations(merged))
    ]
    return made(BPE, [*pieces, *LETTERS])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(model=models(), lines=st.lists(st.text("abc", min_size=2, max_size=16), min_size=60))
def test_random_models(model: ModelProto, lines: list[str]) -> None:
    """Without a note, each line is encoded as by sentencepiece. A difference is never a tie."""
    found = differences(model, lines)
    _, misplaced = ordered_merges(model)
    assert misplaced or not found.different, found
    assert TIE not in found.causes
    assert found.ok == (not found.different)
    assert bool(misplaced) == any("same score" in one.text for one in tokenizer_json.limits(model))
