"""The real library encodes and decodes 10,000 lines with edited and with merged models.

In a short run, every third of these lines.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from spmcompat.errors import BadValueError
from spmcompat.model.pieces import NORMAL, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.merging_models import merge_models
from tests.parity import corpora, environments
from tests.searches import LONG
from tests.unit.tools.edit.models import TYPES, by_text, lines, processor, train, trained

LINES = 10_000
STEP = 1 if LONG else 3


def ten_thousand() -> list[str]:
    """Return lines of Python's documentation, and lines of generated words in several scripts."""
    more = corpora.words_text(seed=8, lines=LINES, types=3000).splitlines()
    return [*lines(), *more][:LINES]


def edits_of(model: ModelProto, seed: int) -> Edits:
    """Draw edits of each kind that `edit_model` accepts."""
    rng = random.Random(seed)
    normal = [p.text for p in pieces_of(model) if p.type == NORMAL]
    normal = [text for text in normal if len(text) > 3] or normal[-40:]
    removed = rng.sample(normal, min(20, len(normal) // 2))
    added = [text for text in ("Ж҂", "҂", "▁҂҂", "▁҂") if taken(model, Edits(add=[text]))]
    scored = {}
    for text in [one for one in normal if one not in removed][:20]:
        score = by_text(model)[text][1].score * rng.uniform(0.9, 1.1) - 0.01
        if taken(model, Edits(set_score={text: score})):
            scored[text] = score
    edits = Edits(
        add_control=["<tool>"],
        add_user_defined=["<new>"],
        add=added,
        rename={"<s>": "<bos>", "</s>": "<eos>"},
        remove=removed,
    )
    both = Edits(**{**vars(edits), "set_score": scored})
    return both if taken(model, both) else edits


def taken(model: ModelProto, edits: Edits) -> bool:
    try:
        edit_model(model, edits)
    except BadValueError:
        return False
    return True


def assert_round_trips(old: ModelProto, new: ModelProto, text: list[str]) -> int:
    """Check that lines without changed pieces are encoded as before. Return the number of them."""
    before = {p.text: (i, p) for i, p in enumerate(pieces_of(old))}
    after = {p.text: (i, p) for i, p in enumerate(pieces_of(new))}
    changed = {one for one in before | after if before.get(one) != after.get(one)}
    one, other = processor(old), processor(new)
    equal = 0
    for line, first, second in zip(text, one.encode(text), other.encode(text), strict=True):
        normalized = one.normalize(line)
        if not any(piece in normalized for piece in changed):
            assert first == second
            equal += 1
        if one.unk_id() not in first and other.unk_id() not in second:
            assert other.decode(second) == one.decode(first)
    for piece_id, piece in enumerate(pieces_of(old)):
        if piece.text not in changed:
            assert other.piece_to_id(piece.text) == piece_id
    return equal


@pytest.mark.parametrize("model_type", TYPES)
def test_edited_models(model_type: str) -> None:
    model = trained(model_type)
    new = edit_model(model, edits_of(model, seed=1))[0]
    text = [*ten_thousand()[::STEP], "<tool> a<new>b <bos>"]
    assert assert_round_trips(model, new, text) > 1000 // STEP


@pytest.mark.parametrize("model_type", TYPES)
def test_merged_models(model_type: str) -> None:
    text = ten_thousand()
    one = trained(model_type, tuple(text[:3000]), character_coverage=1.0)
    two = trained(model_type, tuple(text[-3000:]), character_coverage=1.0)
    new = merge_models([one, two], ["one", "two"])[0]
    assert_decodes(one, new, text[::STEP])


def assert_decodes(one: ModelProto, new: ModelProto, text: list[str]) -> None:
    first, merged = processor(one), processor(new)
    for line, ids in zip(text, merged.encode(text), strict=True):
        if merged.unk_id() not in ids:
            assert merged.decode(ids) == first.normalize(line).replace("▁", " ").removeprefix(" ")
    for piece_id in range(len(one.pieces)):
        assert merged.id_to_piece(piece_id) == first.id_to_piece(piece_id)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_public_corpora(model_type: str, large_corpora: dict[str, Path]) -> None:
    english = trained(model_type, tuple(lines()), vocab_size=2000)
    equal = 0
    for name, path in large_corpora.items():
        with path.open(encoding="utf-8", errors="replace") as file:
            text = [line.rstrip("\r\n")[:2000] for line, _ in zip(file, range(LINES))]  # noqa: B905
        model = train(model_type, text, vocab_size=8000)
        equal += assert_round_trips(model, edit_model(model, edits_of(model, 2))[0], text)
        merged, _ = merge_models([model, english], [name, "english"])
        assert_decodes(model, merged, text)
    assert equal > 1000 * len(large_corpora)


ENCODE = """
import sys
import sentencepiece
model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
print(*model.encode(sys.argv[2], out_type=str))
"""


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_old_releases_load_edited_models(model_type: str, old_release: str, tmp_path: Path) -> None:
    edits = Edits(remove=["▁the", "ab"], add_user_defined=["<new>"], add=["▁҂"])
    new = edit_model(trained(model_type, user_defined_symbols=("ab",)), edits)[0]
    path = tmp_path / "m.model"
    path.write_bytes(new.SerializeToString())
    text = "the cab ҂ a<new>b"
    python = environments.python_of_release(old_release)
    done = subprocess.run(
        [str(python), "-c", ENCODE, str(path), text], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == processor(new).encode(text, out_type=str)
