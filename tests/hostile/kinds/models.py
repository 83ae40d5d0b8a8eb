"""Damaged model files, read by every command that reads models."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spmcompat.__main__ import main
from spmcompat.model import sentencepiece_model_pb2 as schema
from tests.hostile.mutations import damage_bytes

TEXT = "The cat sat on the mat, and the dog sat on the cat. 123 Übermut, naïve café; 猫がいる\n"
TYPES = ("unigram", "bpe", "word", "char")
SCORES = (float("nan"), float("inf"), float("-inf"), 0.0, -1e9, 3.4e38, -1e-45)
PIECES = (b"", b"\xff\xfe", b"\0", b"\xe2\x96\x81", b"a" * 70_000, b"<unk>", b"\x1b[31m", b"\n")


def prepare(folder: Path) -> None:
    """Train a model of each type."""
    text = folder / "text.txt"
    text.write_text(TEXT * 20, encoding="utf-8")
    for kind in TYPES:
        flags = [f"--input={text}", f"--model_prefix={folder / kind}", f"--model_type={kind}"]
        assert main(["train", *flags, "--vocab_size=60", "--hard_vocab_limit=false"]) == 0
    for kind in TYPES:
        for command in _commands(folder / f"{kind}.model", folder):
            assert main(command) in (0, 1), command


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Damage one of the models, and choose a command that reads it."""
    data = (valid / f"{chance.choice(TYPES)}.model").read_bytes()
    damage = _damage_fields if chance.random() < 0.6 else damage_bytes
    model = folder / "m.model"
    model.write_bytes(damage(data, chance))
    return partial(main, chance.choice(_commands(model, valid)))


def _commands(model: Path, valid: Path) -> list[list[str]]:
    m, other, text = str(model), str(valid / "unigram.model"), str(valid / "text.txt")
    return [
        ["edit", m, "--add=zzq", "--output=edited.model"],
        ["extend", m, f"--input={text}", "--add=5", "--output=extended.model"],
        ["trim", m, f"--input={text}", "--keep=50", "--output=trimmed.model"],
        ["merge", m, other, "--output=merged.model"],
        ["merge", other, m, "--output=merged.model"],
        ["diff", m, other],
        ["evaluate", "--text", text, "--quiet", m],
        ["export", "--to=tokenizer.json", "--output=t.json", "--no_verify", m],
        ["export", "--to=gguf", "--output=t.gguf", "--no_verify", m],
    ]


def _damage_fields(data: bytes, chance: random.Random) -> bytes:
    """Change values of the message, which stays one."""
    model = schema.ModelProto.FromString(data)
    for _ in range(chance.randint(1, 3)):
        if not model.pieces:
            break
        piece = chance.choice(model.pieces)
        match chance.randrange(6):
            case 0:
                piece.score = chance.choice(SCORES)
            case 1:
                piece.type = chance.randint(1, 6)
            case 2:
                del model.pieces[chance.randrange(len(model.pieces)) :]
            case 3:
                model.normalizer_spec.precompiled_charsmap = chance.randbytes(chance.randint(0, 64))
            case 4:
                field = chance.choice(["vocab_size", "unk_id", "bos_id", "model_type"])
                setattr(model.trainer_spec, field, chance.randint(1, 4))
            case 5:
                # The schema has text here; its reader must not trust that it is UTF-8.
                old = piece.piece.encode()
                new = chance.choice(PIECES)
                return _with_length(model.SerializeToString(), old, new)
    return model.SerializeToString()


def _with_length(data: bytes, old: bytes, new: bytes) -> bytes:
    """Replace a piece by another one in a serialized model, whose lengths then are right."""
    model = schema.ModelProto.FromString(data)
    parts = []
    for piece in model.pieces:
        text = new if piece.piece.encode() == old else piece.piece.encode()
        piece.ClearField("piece")
        entry = b"\x0a" + _varint(len(text)) + text + piece.SerializeToString()
        parts.append(b"\x0a" + _varint(len(entry)) + entry)
    model.ClearField("pieces")
    return b"".join(parts) + model.SerializeToString()


def _varint(number: int) -> bytes:
    written = bytearray()
    while number > 127:
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)
