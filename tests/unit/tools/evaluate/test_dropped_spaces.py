"""Figures of models whose space tokens are dropped, compared with the real encoder's pieces."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate, lost_text
from spmcompat.tools.evaluate.models import load_model
from spmcompat.unicode.marks import SPACE_MARK
from tests.oracle.morphology import renyi_efficiency

from .conftest import Train, load
from .test_loss import by_hand
from .tokenizers_by_hand import metaspace, wordpiece

pytestmark = pytest.mark.reference


def measure(path: Path, lines: list[str], *, drop_spaces: bool = True) -> Evaluation:
    text = path.with_name("measured.txt")
    text.write_text("\n".join(lines), encoding="utf-8")
    models = [load_model(str(path), Workers(1))]
    (result,) = evaluate(models, [str(text)], [], Report(3), drop_spaces=drop_spaces)
    return result


def is_space(piece: str) -> bool:
    return bool(piece) and not piece.strip(SPACE_MARK)


def lost_boundaries(pieces: list[str]) -> tuple[int, int]:
    """Return the number of word boundaries, and of those that are lost with dropped pieces."""
    text = "".join(pieces).strip(SPACE_MARK)
    while SPACE_MARK * 2 in text:
        text = text.replace(SPACE_MARK * 2, SPACE_MARK)
    kept = "".join(piece for piece in pieces if not is_space(piece)).strip(SPACE_MARK)
    return text.count(SPACE_MARK), text.count(SPACE_MARK) - kept.count(SPACE_MARK)


@pytest.mark.parametrize(
    "options",
    [
        {"space_pieces": "separate"},
        {"space_pieces": "separate", "model_type": "bpe"},
        {},
        {"model_type": "bpe", "treat_whitespace_as_suffix": True},
        {"user_defined_symbols": f"{SPACE_MARK * 2},{SPACE_MARK},cat", "add_dummy_prefix": False},
    ],
    ids=str,
)
def test_the_figures_are_those_of_the_other_pieces(
    options: dict[str, object], text: Path, train: Train
) -> None:
    path = train("m", **options)
    model = load(path)
    lines = [*text.read_text(encoding="utf-8").split("\n")[:80], "", "a", "\u6f22  x cat", " "]
    encoder = SentencePieceProcessor(model_file=str(path))
    encoded = [encoder.encode(line, return_type=str) for line in lines]
    uses = Counter(piece for line in encoded for piece in line if not is_space(piece))
    vocabulary = [p.piece for p in model.pieces if not is_space(p.piece)]
    shown, lost = map(sum, zip(*map(lost_boundaries, encoded), strict=True))

    result, whole = measure(path, lines), measure(path, lines, drop_spaces=False)
    tokens = sum(uses.values())
    assert whole.tokens > result.tokens == tokens
    assert result.pieces == len(vocabulary) < len(model.pieces)
    assert result.tokens_per_word == pytest.approx(tokens / whole.words)
    assert result.characters_per_token == pytest.approx(sum(map(len, lines)) / tokens)
    counts = [uses[piece] for piece in vocabulary]
    # For an unknown token, the encoder returns the text of the token, not the unknown piece. So the
    # unknown tokens are all tokens that `counts` does not include yet.
    counts.append(tokens - sum(counts))
    counts.remove(0)
    assert sorted(result.uses) == sorted(counts)
    of_all, of_used = (len(vocabulary), sum(count > 0 for count in counts))
    assert result.renyi_efficiency == pytest.approx(renyi_efficiency(counts, 2.5, of_all))
    assert result.renyi_efficiency_observed == pytest.approx(renyi_efficiency(counts, 2.5, of_used))
    texts = [p.piece for p in model.pieces if p.type in (p.NORMAL, p.USER_DEFINED)]
    assert result.unused_pieces == sum(uses[p] == 0 for p in texts if not is_space(p))
    assert result.lost_spaces == pytest.approx(lost / shown)
    for same in ("words", "whole_words", "lost_characters"):
        assert getattr(result, same) == getattr(whole, same)
    assert result.drops_spaces
    assert "spaces" in lost_text(result)


def test_all_boundaries_are_lost_if_spaces_are_pieces_of_their_own(train: Train) -> None:
    result = measure(train("m", space_pieces="separate"), ["the cat sat", "", "on"])
    assert result.lost_spaces == 1
    assert (
        lost_text(result) == "it leaves out spaces, with 100.000% of the boundaries between words"
    )


def test_dropped_spaces_have_no_price(text: Path, train: Train) -> None:
    path = train("m", space_pieces="separate")
    lines = text.read_text(encoding="utf-8").split("\n")
    result = measure(path, lines)
    characters = sum(map(len, lines))
    model = load(path)
    assert result.loss_per_character == pytest.approx(by_hand(model, lines) / characters, rel=1e-5)
    shift = math.log(sum(math.exp(p.score) for p in model.pieces if p.type == p.NORMAL))
    renormalized = by_hand(model, lines, shift) / characters
    assert result.renormalized_loss_per_character == pytest.approx(renormalized, rel=1e-5)


def test_other_symbols_keep_their_price(text: Path, train: Train) -> None:
    path = train("m", user_defined_symbols=f"{SPACE_MARK},cat", add_dummy_prefix=False)
    lines = ["cat cat dog", "a cat"]
    model = load(path)
    encoder = SentencePieceProcessor(model_file=str(path))
    pieces = [p for line in lines for p in encoder.encode(line, return_type=str) if p != SPACE_MARK]
    total = len(pieces) + 1 + 1
    price = math.log(total / (len(pieces) - 3 + 1))
    expected = by_hand(model, lines, price) + 3 * math.log(total / (3 + 1))
    assert measure(path, lines).loss_per_character * 16 == pytest.approx(expected, rel=1e-5)


def test_there_is_no_loss_if_a_normal_piece_is_dropped(train: Train) -> None:
    path = train("m")
    assert SPACE_MARK in {p.piece for p in load(path).pieces}
    assert math.isnan(measure(path, ["the cat"]).loss_per_character)
    assert measure(path, ["the cat"], drop_spaces=False).loss_per_character > 0


def test_a_text_without_spaces_loses_none_but_is_named(train: Train) -> None:
    result = measure(train("m", space_pieces="separate"), ["the", "cat"])
    assert math.isnan(result.lost_spaces)
    assert lost_text(result) == "it leaves out spaces, with 0.000% of the boundaries between words"


def test_other_tokenizers_drop_spaces_too(tmp_path: Path) -> None:
    result = measure(metaspace(tmp_path), ["the cat the", "cat cats"])
    # Line 1 has the tokens `the cat the`, and line 2 has the tokens `cat cat s`.
    assert result.tokens == 6
    assert result.lost_spaces == pytest.approx(2 / 3)
    # This tokenizer has no token for a space, and marks tokens that continue a word.
    result = measure(wordpiece(tmp_path, "WhitespaceSplit"), ["the cat the", "cat cats"])
    assert not result.drops_spaces
    assert lost_text(result) == ""
