"""Damaged model files, read by every command that reads models.

Most damaged models can still be loaded by ``sentencepiece``, so that the commands get past the
check that loading makes. ``spmcompat parity`` and ``spmcompat compare`` do not read models.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from spmcompat.__main__ import main
from spmcompat.model import sentencepiece_model_pb2 as schema
from spmcompat.normalization.charsmaps import compile_charsmap
from tests.hostile.mutations import damage_bytes

TEXT = "The cat sat on the mat, and the dog sat on the cat. 123 Übermut, naïve café; 猫がいる\n"
MODELS = {
    "unigram": ("--model_type=unigram", "--user_defined_symbols=<x>,cat"),
    "bpe": ("--model_type=bpe", "--user_defined_symbols=<x>", "--control_symbols=<unused0>"),
    "word": ("--model_type=word",),
    "char": ("--model_type=char", "--use_all_vocab"),
    "tested": ("--compat=0.2.0", "--self_test_sample_size=5"),
    "bytes": ("--model_type=bpe", "--byte_fallback"),
    "plain": ("--normalization_rule_name=identity", "--remove_extra_whitespaces=false"),
    "ascii": (
        *("--model_type=bpe", "--byte_fallback", "--normalization_rule_name=identity"),
        *("--remove_extra_whitespaces=false", "--add_dummy_prefix=false"),
    ),
    "suffix": ("--treat_whitespace_as_suffix", "--model_type=bpe"),
}
RULES = {(97,): (98,), (97, 98): (), (0x3042,): (32, 32), (99,): (99,) * 100, (9,): (32,)}
TARGETS = ("tokenizer.json", "hf-folder", "gguf", "tiktoken", "vocab.txt")

_Model = Any  # ModelProto
_TYPES = schema.ModelProto.SentencePiece
_NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
_SCORES = (0.0, -0.0, 1e9, -1e9, -1.6e7, 3.4e38, -3.4e38, -3.4028234663852886e38, -1e-45, -5.0)
_REFUSED = (b"", b"\xff\xfe", b"\0", b"a" * 70_000, b"<unk>", b"\xed\xa0\x80")
_UNUSUAL = (
    *(
        "▁",
        "▁▁",
        "▁" * 40,
        "\n",
        "\x1b[31m",
        " ",
        "a b",
        "\u202e",
        "\ufffd",
        "👩‍👩‍👧",
        "<0x41>",
        "<pad>",
    ),
    *(
        "[PAD]",
        "##a",
        "a\u0301",
        "ﬁ",
        "a" * 7_999,
        "猫" * 2_666,
        "ab" * 300,
        '"\\',
        ",",
        "=",
        "\x7f",
    ),
)
_NUMBERS = (-(2**31), -1, 0, 1, 2, 64, 5_000, 10**6, 2**31 - 1)
_FLOATS = (float("nan"), float("inf"), -1.0, 0.0, 1e-30, 0.5, 1.0, 3e38)


def prepare(folder: Path) -> None:
    """Train models of all kinds, and run every command on one of them."""
    text = folder / "text.txt"
    text.write_text(TEXT * 20, encoding="utf-8")
    ascii_text = folder / "ascii.txt"
    ascii_text.write_text("The cat sat on the mat, and the dog sat on the cat. 123\n" * 20)
    rules = folder / "rules.tsv"
    rules.write_text("FF21\t41\nFF21 FF22\t42\n9\t20\nFB01\t66 69\n", encoding="utf-8")
    for name, flags in MODELS.items():
        arguments = [f"--input={ascii_text if name == 'ascii' else text}"]
        arguments += [f"--model_prefix={folder / name}", *flags]
        if "--normalization_rule_name=identity" not in flags:
            arguments.append(f"--normalization_rule_tsv={rules}")
        size = "350" if "--byte_fallback" in flags else "60"
        assert main(["train", *arguments, f"--vocab_size={size}", "--hard_vocab_limit=false"]) == 0
    size = len(_commands(folder / "x", "unigram", folder, random.Random(1)))
    for number, name in zip(range(size), cycle(MODELS)):
        commands = _commands(folder / f"{name}.model", name, folder, random.Random(number))
        assert main(commands[number]) in (0, 1), commands[number]


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Damage one of the models, and choose a command that reads it."""
    name = chance.choice(list(MODELS))
    data = (valid / f"{name}.model").read_bytes()
    model = folder / "m.model"
    model.write_bytes(_damaged(data, chance))
    return partial(main, chance.choice(_commands(model, name, valid, chance)))


def _commands(model: Path, name: str, valid: Path, chance: random.Random) -> list[list[str]]:
    """Return the arguments of all commands.

    If a command needs a second model, that model is mostly of the same kind as the first one.
    """
    other_name = name if chance.random() < 0.8 else chance.choice(list(MODELS))
    m, other = str(model), str(valid / f"{other_name}.model")
    text = str(valid / "text.txt")
    text_flag = f"--input={text}"
    keep = chance.choice([1, 30, 50, 300])
    out, pair = "--output=o.model", chance.choice([[m, other], [other, m], [m, m]])
    edits = ["--add=zzq", "--add=ca,th,at", "--add_control=<new>", "--add_user_defined=at,▁▁,猫が"]
    edits += ["--remove=<x>", "--remove=▁", "--rename=a=zz", "--rename=<unk>=?", "--reorder_ids"]
    edits += ["--set_score=a=-1e38", "--set_score=▁=-1", "--use_unused", f"--text={text}"]
    return [
        ["edit", m, out, *chance.sample(edits, chance.randint(1, 4))],
        ["edit", m, out, chance.choice(edits[:4]), *chance.sample(edits[-4:], 1)],
        ["extend", m, text_flag, f"--add={chance.choice([5, 500])}", out],
        ["extend", m, text_flag, "--add=5", "--use_unused", "--character_coverage=1.0", out],
        ["trim", m, text_flag, f"--keep={keep}", out],
        ["trim", m, text_flag, f"--keep={keep}", "--keep_ids", "--drop_characters", out],
        ["merge", *pair, out],
        ["merge", *pair, other, "--weights=1,2,3", out],
        ["merge", *pair, f"--vocab_size={keep}", out],
        ["show", m],
        ["show", "--json", m],
        ["show", "--check", text_flag.replace("--input", "--text"), m],
        ["diff", *pair],
        ["diff", "--json", *pair],
        ["diff", "--all", *pair],
        ["view", ",".join(pair), "--text", text, "--format", chance.choice(["text", "html"])],
        ["evaluate", "--text", text, "--quiet", *pair],
        ["evaluate", "--text", text, "--quiet", "--pretokenizer=script", m],
        *(["export", f"--to={to}", "--output=exported", "--verify=no", m] for to in TARGETS),
    ]


def _damaged(data: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return damage_bytes(data, chance)
    model = schema.ModelProto.FromString(data)
    for _ in range(chance.randint(1, 4)):
        chance.choice(_LOADABLE)(model, chance)
    if chance.random() < 0.1:
        chance.choice(_MOSTLY_REFUSED)(model, chance)
    data = model.SerializeToString()
    if chance.random() < 0.05:
        # The schema says that a piece is a string, but a reader must not trust that it is UTF-8.
        old = chance.choice(model.pieces).piece.encode() if model.pieces else b"the"
        data = _with_length(data, old, chance.choice(_REFUSED))
    return data + _unknown_fields(chance) if chance.random() < 0.1 else data


def _pieces(model: _Model) -> Sequence[_Model]:
    """Return the pieces that can be removed without making a model invalid."""
    return [one for one in model.pieces if one.type not in (_TYPES.UNKNOWN, _TYPES.BYTE)]


def _change_scores(model: _Model, chance: random.Random) -> None:
    for piece in chance.sample(list(model.pieces), min(len(model.pieces), chance.choice([1, 40]))):
        piece.score = chance.choice([*_SCORES, chance.uniform(-20, 0)])


def _change_types(model: _Model, chance: random.Random) -> None:
    types = (_TYPES.NORMAL, _TYPES.CONTROL, _TYPES.USER_DEFINED, _TYPES.UNUSED)
    pieces = _pieces(model)
    for piece in chance.sample(pieces, min(len(pieces), chance.choice([1, 5, 50]))):
        piece.type = chance.choice(types)


def _change_texts(model: _Model, chance: random.Random) -> None:
    known = {piece.piece for piece in model.pieces}
    for piece in chance.sample(_pieces(model), min(3, len(_pieces(model)))):
        text = chance.choice(
            [*_UNUSUAL, chance.choice(TEXT), piece.piece + chance.choice(_UNUSUAL)]
        )
        if text not in known and len(text.encode()) < 8_000:
            known.add(text)
            piece.piece = text


def _add_pieces(model: _Model, chance: random.Random) -> None:
    known = {piece.piece for piece in model.pieces}
    for text in chance.sample(_UNUSUAL, 4):
        if text not in known:
            model.pieces.add(
                piece=text, score=chance.choice(_SCORES), type=chance.choice([1, 1, 4])
            )


def _drop_pieces(model: _Model, chance: random.Random) -> None:
    kept = [one for one in model.pieces if one.type in (_TYPES.UNKNOWN, _TYPES.BYTE)]
    share = chance.choice([0.0, 0.1, 0.9])
    kept += [one for one in _pieces(model) if chance.random() < share]
    copies = [piece.SerializeToString() for piece in kept]
    del model.pieces[:]
    for copy in copies:
        model.pieces.add().ParseFromString(copy)


def _change_spec(model: _Model, chance: random.Random) -> None:
    """Change fields of a spec that are ignored when a model is checked."""
    name = chance.choice(["trainer_spec", "trainer_spec", "normalizer_spec", "denormalizer_spec"])
    spec = getattr(model, name)
    for field in chance.sample(list(spec.DESCRIPTOR.fields), 2):
        if field.type == FieldDescriptor.TYPE_BYTES or field.name == "byte_fallback":
            continue
        value: Any = chance.choice(_NUMBERS)
        if field.type == FieldDescriptor.TYPE_STRING:
            value = chance.choice(_UNUSUAL)
        elif field.type == FieldDescriptor.TYPE_FLOAT:
            value = chance.choice(_FLOATS)
        elif field.type == FieldDescriptor.TYPE_BOOL:
            value = chance.random() < 0.5
        elif field.type == FieldDescriptor.TYPE_ENUM:
            value = chance.randint(1, 4)
        elif field.type == FieldDescriptor.TYPE_UINT64:
            value = chance.choice([0, 1, 2**63, 2**64 - 1])
        if isinstance(getattr(spec, field.name), str | int | float):
            setattr(spec, field.name, value)
        else:
            getattr(spec, field.name).extend([value] * chance.choice([1, 2]))


def _change_charsmap(model: _Model, chance: random.Random) -> None:
    """Store other rules, sometimes with flipped bits.

    A model with flipped bits can still be loaded if no index in its rules is too large.
    """
    spec = chance.choice([model.normalizer_spec, model.denormalizer_spec])
    charsmap = bytearray(compile_charsmap(RULES))
    for _ in range(chance.choice([0, 0, 1, 10])):
        charsmap[chance.randrange(4, len(charsmap) - 1)] ^= 1 << chance.randrange(8)
    spec.precompiled_charsmap = bytes(charsmap)


def _change_samples(model: _Model, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1_000])):
        text = chance.choice(_UNUSUAL).encode()
        model.self_test_data.samples.add(input=text, expected=text)


def _refused_scores(model: _Model, chance: random.Random) -> None:
    for piece in model.pieces[:1]:
        piece.score = chance.choice(_NOT_FINITE)


def _refused_types(model: _Model, chance: random.Random) -> None:
    for piece in model.pieces[chance.randint(0, 9) :][:2]:
        piece.type = chance.randint(1, 6)


def _cut_pieces(model: _Model, chance: random.Random) -> None:
    del model.pieces[chance.randrange(len(model.pieces) + 1) :]


def _refused_charsmap(model: _Model, chance: random.Random) -> None:
    model.normalizer_spec.precompiled_charsmap = chance.randbytes(chance.choice([1, 64, 3_000]))


_LOADABLE = (_change_scores, _change_types, _change_texts, _add_pieces, _drop_pieces, _change_spec)
_LOADABLE += (_change_spec, _change_charsmap, _change_samples)
_MOSTLY_REFUSED = (_refused_scores, _refused_types, _cut_pieces, _refused_charsmap)


def _unknown_fields(chance: random.Random) -> bytes:
    """Return a field that the schema does not have: deeply nested, long, truncated, or a number."""
    depth = chance.choice([1, 50, 99, 5_000])
    groups = _varint(900 << 3 | 3) * depth + _varint(900 << 3 | 4) * depth
    long = _varint(901 << 3 | 2) + _varint(100_000) + b"\xff" * 100_000
    promised = _varint(901 << 3 | 2) + _varint(chance.choice([2**31 - 1, 2**63])) + b"x"
    number = _varint(902 << 3) + _varint(2**64 - 1)
    return chance.choice([groups, long, promised, number])


def _with_length(data: bytes, old: bytes, new: bytes) -> bytes:
    """Replace a piece with another one in a serialized model, and correct the lengths."""
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
