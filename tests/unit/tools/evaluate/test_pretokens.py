"""Tokens and losses on the pretokens of the training text, each encoded separately."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.engine import check_pretokenizer
from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.evaluation import evaluate
from spmcompat.tools.evaluate.loss import MarginalLoss
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.pretokens import PretokenEncoder
from spmcompat.unicode.marks import SPACE_MARK, UNKNOWN_MARK
from tests.oracle.pretokenizing import matches, script_runs

from .conftest import Train, load
from .test_loss import log_sum

LINES = ["the cat's 12 hats", "", "a1b22  c333!", "漢字 kana(x)=y", "  ", "..aaa..bbb"]
FREE = {"split_by_unicode_script": False, "split_by_number": False, "split_by_whitespace": False}
PATTERN = r"[a-z]{1,3}| ?\d"


def normalized(model: ModelProto, line: str) -> str:
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    return str(encoder.normalize(line))


def cut(model: ModelProto, pretokenizer: str, line: str) -> list[str]:
    """Cut a normalized line by the pretokenizer, then by the split options of the model."""
    text = normalized(model, line)
    if pretokenizer == "script":
        parts = script_runs(text)
    elif pretokenizer.startswith("regex:"):
        parts = matches(pretokenizer.removeprefix("regex:"), text)
    else:
        parts = [text]
    pattern = []
    if model.trainer_spec.split_by_whitespace:
        pattern.append(f"(?={SPACE_MARK})")
    if model.trainer_spec.split_digits:
        pattern.append(r"(?<=[0-9])(?=[^▁])|(?<=[^▁])(?=[0-9])")
    if pattern:
        parts = [inner for part in parts for inner in re.split("|".join(pattern), part)]
    return [part for part in parts if part]


def encode_alone(model: ModelProto, pretoken: str) -> list[int]:
    plain = ModelProto()
    plain.CopyFrom(model)
    plain.normalizer_spec.precompiled_charsmap = b""
    plain.normalizer_spec.add_dummy_prefix = False
    plain.normalizer_spec.remove_extra_whitespaces = False
    ids: list[int] = SentencePieceProcessor(model_proto=plain.SerializeToString()).encode(pretoken)
    return ids


@pytest.mark.slow
@pytest.mark.parametrize("pretokenizer", ["stored", "script", f"regex:{PATTERN}"])
@pytest.mark.parametrize(
    "options",
    [
        FREE,
        {**FREE, "split_by_whitespace": True},
        {**FREE, "model_type": "bpe", "add_dummy_prefix": False},
        {**FREE, "byte_fallback": True, "vocab_size": 400},
    ],
    ids=str,
)
@pytest.mark.parametrize("split_digits", [False, True])
def test_each_pretoken_is_encoded_alone(
    pretokenizer: str, options: dict[str, object], split_digits: bool, text: Path, train: Train
) -> None:
    model = load(train("m", **options))
    # Change the option only after training, so that some pieces cross the cuts that it requires.
    model.trainer_spec.split_digits = split_digits
    lines = LINES + text.read_text(encoding="utf-8").split("\n")[:30]
    raw = [line.encode() for line in lines]
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    encoded = encoder.encode(lines, return_type="numpy")
    found = PretokenEncoder(model, Workers(2), pretokenizer).encode(raw, encoded)
    pretokens = [cut(model, pretokenizer, line) for line in lines]
    for ids, parts in zip(found, pretokens, strict=True):
        assert ids.tolist() == [i for part in parts for i in encode_alone(model, part)]
    if model.trainer_spec.model_type != model.trainer_spec.UNIGRAM:
        return
    loss = MarginalLoss(model, Workers(2), pretokenizer)
    losses = loss.add(raw, encoded, by_line=True)
    scores = {p.piece: p.score for p in model.pieces if p.type == p.NORMAL}
    unknown = min(scores.values()) - 10
    by_hand = [-sum(log_sum(part, scores, unknown) for part in parts) for parts in pretokens]
    assert losses.raw.tolist() == pytest.approx(by_hand, rel=1e-5)


def test_user_defined_symbols_stay_tokens(train: Train) -> None:
    model = load(train("m", user_defined_symbols="<x>,漢", **FREE))
    lines = ["the <x>cat漢漢", f"{UNKNOWN_MARK} <x>", "<x>"]
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    encoded = encoder.encode(lines, return_type="numpy")
    found = PretokenEncoder(model, Workers(1), "script").encode(
        [line.encode() for line in lines], encoded
    )
    symbols = [encoder.piece_to_id("<x>"), encoder.piece_to_id("漢")]
    assert [np.isin(ids, symbols).sum() for ids in found] == [3, 1, 1]
    # The encoder does not cut lines with U+2585, because training skips them.
    assert found[1].tolist() == encoded[1].tolist()
    assert encoder.unk_id() not in found[0]


def test_lines_of_symbols_alone_have_no_other_tokens(train: Train) -> None:
    model = load(train("m", user_defined_symbols=f"<x>,{SPACE_MARK}"))
    lines = [b"<x><x>", b"", b"<x>"]
    encoder = SentencePieceProcessor(model_proto=model.SerializeToString())
    encoded = encoder.encode(lines, return_type="numpy")
    found = PretokenEncoder(model, Workers(1), "script").encode(lines, encoded)
    assert [ids.tolist() for ids in found] == [ids.tolist() for ids in encoded]
    loss = MarginalLoss(model, Workers(1))
    losses = loss.add(lines, encoded, by_line=True)
    assert losses.raw[1] == 0
    assert losses.raw[0] > losses.raw[2] > 0


def test_a_training_with_the_pretokenizer_loses_nothing_by_it(text: Path, train: Train) -> None:
    path = train("m", pretokenizer="script")
    whole, alone = (
        evaluate([load_model(str(path), Workers(1), name)], [str(text)], [], Report(3))[0]
        for name in (None, "script")
    )
    assert alone.tokens == whole.tokens
    assert alone.loss_per_character == pytest.approx(whole.loss_per_character, rel=1e-6)
    assert alone.whole_words == whole.whole_words


def test_pieces_that_cross_pretokens_are_not_used(text: Path, train: Train) -> None:
    path = train("m", split_by_whitespace=False)
    whole, alone = (
        evaluate([load_model(str(path), Workers(1), name)], [str(text)], [], Report(3))[0]
        for name in (None, "script")
    )
    assert alone.tokens > whole.tokens
    assert alone.loss_per_character > whole.loss_per_character


@pytest.mark.parametrize("name", ["", "scripts", "regex", "regex:("])
def test_other_pretokenizers_are_errors(name: str) -> None:
    with pytest.raises(BadValueError):
        check_pretokenizer(name)
