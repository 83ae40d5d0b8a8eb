"""The marginal loss, compared with sums over all segmentations in plain Python."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.loss import LineLosses, MarginalLoss, has_loss
from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK

from .conftest import Train, load

LINES = ["the cat", "", "  two  spaces ", "xylophone \u6f22\u5b57", "aaaa aaaa", "\uff41\uff22"]


def by_hand(model: ModelProto, lines: list[str], shift: float = 0.0) -> float:
    """Return the loss of the lines in double, from sums over all segmentations.

    User-defined symbols divide a normalized line into parts, and each part has its own sum.
    """
    scores = {p.piece: p.score - shift for p in model.pieces if p.type == p.NORMAL}
    symbols = [p.piece for p in model.pieces if p.type == p.USER_DEFINED]
    unknown = min(scores.values()) - 10
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    total = 0.0
    for line in lines:
        text = encoder.normalize(line)
        for symbol in symbols:
            text = text.replace(symbol, "\0")
        for part in text.split("\0"):
            total -= log_sum(part, scores, unknown)
    return total


def log_sum(text: str, scores: dict[str, float], unknown: float) -> float:
    sums = [0.0]
    for end in range(1, len(text) + 1):
        terms = [
            sums[begin] + scores[text[begin:end]]
            for begin in range(end)
            if text[begin:end] in scores
        ]
        if text[end - 1] not in scores:
            terms.append(sums[end - 1] + unknown)
        highest = max(terms)
        sums.append(highest + math.log(sum(math.exp(term - highest) for term in terms)))
    return sums[-1]


def measure(model: ModelProto, lines: list[str], workers: int = 2) -> MarginalLoss:
    loss = MarginalLoss(model, Workers(workers))
    add(loss, model, lines)
    return loss


def add(loss: MarginalLoss, model: ModelProto, lines: list[str]) -> LineLosses:
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    return loss.add([line.encode() for line in lines], encoder.encode(lines, return_type="numpy"))


def prices_by_hand(model: ModelProto, lines: list[str]) -> tuple[float, float]:
    """Return the total cost of the user-defined tokens in the lines, and the cost of another token.

    The cost of a token is the negative logarithm of its piece's share of all tokens. Each
    user-defined piece has its own share, and all other pieces have one share together. One is added
    to the number of tokens in each share, so that no share is 0.
    """
    symbols = {p.piece for p in model.pieces if p.type == p.USER_DEFINED}
    if not symbols:
        return 0.0, 0.0
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    tokens = [piece for line in lines for piece in encoder.encode(line, return_type=str)]
    total = len(tokens) + len(symbols) + 1
    cost, others = 0.0, 1.0
    for symbol in symbols:
        share = (tokens.count(symbol) + 1) / total
        cost -= tokens.count(symbol) * math.log(share)
        others -= share
    return cost, -math.log(others)


OPTIONS = [
    {},
    {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    {"split_by_whitespace": False},
    {"treat_whitespace_as_suffix": True},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {"user_defined_symbols": "cat,\u6f22"},
    {"user_defined_symbols": SPACE_MARK},
    {"byte_fallback": True, "vocab_size": 400},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_loss_sums_over_all_segmentations(
    options: dict[str, object], text: Path, train: Train
) -> None:
    model = load(train("m", **options))
    lines = LINES + text.read_text(encoding="utf-8").split("\n")[:100]
    loss = MarginalLoss(model, Workers(2))
    sizes = add(loss, model, lines)
    paid, price = prices_by_hand(model, lines)
    assert loss.raw == pytest.approx(by_hand(model, lines, price) + paid, rel=1e-5)
    shift = price + math.log(sum(math.exp(p.score) for p in model.pieces if p.type == p.NORMAL))
    renormalized = by_hand(model, lines, shift) + paid
    assert loss.renormalized == pytest.approx(renormalized, rel=1e-5)
    assert sizes.characters.tolist() == [*map(len, lines)]
    assert sizes.bytes.tolist() == [len(line.encode()) for line in lines]


def test_the_loss_does_not_depend_on_batches_or_workers(text: Path, train: Train) -> None:
    model = load(train("m"))
    lines = text.read_text(encoding="utf-8").split("\n")
    whole = measure(model, lines)
    assert measure(model, lines, workers=1).raw == whole.raw
    parts = MarginalLoss(model, Workers(2))
    for begin in range(0, len(lines), 50):
        add(parts, model, lines[begin : begin + 50])
    assert parts.raw == pytest.approx(whole.raw, rel=1e-9)


def test_spaces_are_paid_by_all_models(text: Path, train: Train) -> None:
    lines = text.read_text(encoding="utf-8").split("\n")
    spaces = sum(max(len(line.split()) - 1, 0) for line in lines)
    separate = measure(load(train("m", space_pieces="separate")), lines)
    together = measure(load(train("m")), lines)
    model = load(train("m", space_pieces="separate"))
    assert separate.raw > by_hand(model, lines) + spaces * math.log(2)
    assert separate.raw == pytest.approx(together.raw, rel=0.2)


def test_a_user_defined_piece_that_comes_late_has_a_price(text: Path, train: Train) -> None:
    model = load(train("m", user_defined_symbols="\u6f22"))
    loss = MarginalLoss(model, Workers(1))
    add(loss, model, ["one two"])
    before = loss.raw
    add(loss, model, ["\u6f22", "\u6f22"])
    assert before < loss.raw < math.inf


def test_lines_that_training_skips_are_counted_separately(train: Train) -> None:
    model = load(train("m"))
    loss = MarginalLoss(model, Workers(2))
    sizes = add(loss, model, ["one", f"{UNKNOWN_MARK} two", "one"])
    assert (loss.skipped, sizes.characters.tolist()) == (1, [3, 0, 3])
    separate = load(train("m", user_defined_symbols=SPACE_MARK))
    with_skipped = measure(separate, ["one two", f"{UNKNOWN_MARK} two", "one"])
    assert with_skipped.raw == measure(separate, ["one two", "one"]).raw


def test_blank_lines_have_no_loss(train: Train) -> None:
    model = load(train("m"))
    loss = MarginalLoss(model, Workers(2))
    sizes = add(loss, model, ["", "   "])
    assert (loss.raw, sizes.characters.tolist()) == (0.0, [0, 3])


def test_only_unigram_models_have_a_loss(train: Train) -> None:
    assert has_loss(load(train("m")))
    assert not has_loss(load(train("m", model_type="bpe")))
    assert not has_loss(load(train("m", model_type="char")))


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_losses_by_line_are_those_of_single_lines(
    options: dict[str, object], text: Path, train: Train
) -> None:
    model = load(train("m", **options))
    lines = ["\u200b", *LINES, "", f"{UNKNOWN_MARK} one", " ", "cat 漢 cat", SPACE_MARK]
    lines += text.read_text(encoding="utf-8").split("\n")[:40]
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    encoded = encoder.encode(lines, return_type="numpy")
    whole, by_line = MarginalLoss(model, Workers(2)), MarginalLoss(model, Workers(2))
    sizes = whole.add([line.encode() for line in lines], encoded)
    found = by_line.add([line.encode() for line in lines], encoded, by_line=True)
    for name in ("raw", "renormalized", "skipped"):
        assert getattr(by_line, name) == pytest.approx(getattr(whole, name), rel=1e-6)
    for of_lines, others in zip(found[2:], sizes[2:], strict=True):
        assert of_lines.tolist() == others.tolist()
    usual = [line for line in lines if UNKNOWN_MARK not in line]
    cost, price = prices_by_hand(model, usual)
    for i, line in enumerate(lines):
        if UNKNOWN_MARK in line:
            assert (found.raw[i], found.characters[i], found.bytes[i]) == (0, 0, 0)
        elif not cost:
            assert found.raw[i] == pytest.approx(by_hand(model, [line], price), rel=1e-5)
        assert found.characters[i] == (0 if UNKNOWN_MARK in line else len(line))


@pytest.fixture(scope="module")
def model_of(train: Train) -> Callable[..., ModelProto]:
    """Return a function that trains a model, or returns its earlier model for equal options."""
    return functools.lru_cache(lambda **options: load(train("m", **options)))


ODD = "ab \t\x00\x1f\u00a0\u200b\u3000\u0301\u00ad\ufffd漢\ufeff" + SPACE_MARK + UNKNOWN_MARK


@pytest.mark.slow
@pytest.mark.parametrize("options", [*OPTIONS, {"space_pieces": "separate"}], ids=str)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.text(alphabet=ODD, max_size=8), min_size=1, max_size=6))
def test_any_lines_have_losses_that_add_up(
    options: dict[str, object], lines: list[str], model_of: Callable[..., ModelProto]
) -> None:
    model = model_of(**options)
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    raw = [line.encode() for line in lines]
    encoded = encoder.encode(lines, return_type="numpy")
    whole, by_line = MarginalLoss(model, Workers(1)), MarginalLoss(model, Workers(1))
    whole.add(raw, encoded)
    losses = by_line.add(raw, encoded, by_line=True)
    assert by_line.raw == pytest.approx(whole.raw, rel=1e-5, abs=1e-4)
    assert losses.raw.sum() == pytest.approx(by_line.raw)
