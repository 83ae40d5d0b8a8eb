"""spmcompat reads the models that ``sentencepiece`` loads, with a few stated exceptions."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import spmcompat
from spmcompat.model.reading import parse, read_model
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.normalization.charsmaps import precompiled
from tests.kinds import raises_kind

TYPES = ModelProto.SentencePiece
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MARK = "NOT UTF-8"

Change = Callable[[ModelProto], object]


def model_of(model_type: int = TrainerSpec.UNIGRAM) -> ModelProto:
    model = ModelProto()
    for text, kind in (("<unk>", TYPES.UNKNOWN), ("<s>", TYPES.CONTROL), ("</s>", TYPES.CONTROL)):
        model.pieces.add(piece=text, type=kind)
    for rank, text in enumerate(("ab", "▁", "a", "b", "c")):
        model.pieces.add(piece=text, score=-float(rank))
    model.trainer_spec.model_type = model_type
    model.trainer_spec.vocab_size = len(model.pieces)
    model.normalizer_spec.precompiled_charsmap = precompiled("nfkc")
    return model


def add(text: str, kind: int, model: ModelProto) -> None:
    model.pieces.add(piece=text, type=kind)  # type: ignore[arg-type]


def put(value: object, field: str, model: ModelProto, piece_id: int = 4) -> None:
    setattr(model.pieces[piece_id], field, value)


def put_in(value: object, field: str, model: ModelProto) -> None:
    spec, _, name = field.partition(".")
    setattr(getattr(model, spec), name, value)


def use_bytes(pieces: list[str], model: ModelProto) -> None:
    model.trainer_spec.byte_fallback = True
    for text in pieces:
        add(text, TYPES.BYTE, model)


def keep(size: int, model: ModelProto) -> None:
    del model.pieces[size:]


def damage_charsmap(at: int, field: str, model: ModelProto) -> None:
    charsmap = bytearray(precompiled("nfkc"))
    charsmap[at] ^= 0x80
    put_in(bytes(charsmap), field, model)


# Changes to a Unigram model after which sentencepiece refuses it, each with a part of the error
# message of spmcompat.
REFUSED: dict[str, tuple[Change, str]] = {
    "an empty piece": (partial(put, "", "piece"), "bad-model"),
    "U+0000": (partial(put, "a\0", "piece"), "bad-model U+0000"),
    "8,000 bytes": (partial(put, "x" * 8000, "piece"), "bad-model"),
    "a duplicate": (partial(put, "ab", "piece"), "bad-model"),
    "a duplicate control piece": (partial(add, "<s>", TYPES.CONTROL), "bad-model"),
    "NaN": (partial(put, math.nan, "score"), "bad-model"),
    "infinity": (partial(put, math.inf, "score"), "bad-model"),
    "minus infinity": (partial(put, -math.inf, "score"), "bad-model"),
    "no unknown piece": (partial(put, TYPES.CONTROL, "type", piece_id=0), "bad-model"),
    "two unknown pieces": (partial(put, TYPES.UNKNOWN, "type"), "bad-model"),
    "no normal piece": (partial(keep, 3), "bad-model"),
    "a byte without byte_fallback": (partial(add, "<0x0A>", TYPES.BYTE), "bad-model"),
    "a byte too few": (partial(use_bytes, BYTES[1:]), "bad-model <0x00>"),
    "another byte": (partial(use_bytes, [*BYTES, "<0x0a>"]), "bad-model <0x0a>"),
    "no bytes": (partial(use_bytes, []), "bad-model <0x00>"),
    "a short charsmap": (
        partial(put_in, b"abc", "normalizer_spec.precompiled_charsmap"),
        "bad-model",
    ),
    "a charsmap whose size is wrong": (
        partial(damage_charsmap, 3, "normalizer_spec.precompiled_charsmap"),
        "bad-model normalizer_spec",
    ),
    "a charsmap whose array is wrong": (
        partial(damage_charsmap, 7, "normalizer_spec.precompiled_charsmap"),
        "bad-model normalizer_spec precompiled_charsmap",
    ),
    "a charsmap without its end": (
        partial(damage_charsmap, -1, "normalizer_spec.precompiled_charsmap"),
        "bad-model normalizer_spec",
    ),
    "a broken denormalizer": (
        partial(damage_charsmap, 7, "denormalizer_spec.precompiled_charsmap"),
        "bad-model denormalizer_spec precompiled_charsmap",
    ),
}

# Changes to a Unigram model after which sentencepiece still loads it.
LOADED: dict[str, Change] = {
    "nothing": lambda model: None,
    "7,999 bytes": partial(put, "x" * 7999, "piece"),
    "a null piece that is unused": partial(add, "\0", TYPES.UNUSED),
    "a control piece with the text of another piece": partial(add, "ab", TYPES.CONTROL),
    "all bytes": partial(use_bytes, BYTES),
    "a wrong vocab_size": partial(put_in, 7, "trainer_spec.vocab_size"),
    "a wrong unk_id": partial(put_in, 700, "trainer_spec.unk_id"),
    "another unk_piece": partial(put_in, "?", "trainer_spec.unk_piece"),
    "another type of model": partial(put_in, TrainerSpec.WORD, "trainer_spec.model_type"),
    "the lowest score": partial(put, -3.4028234663852886e38, "score"),
}


def changed(change: Change, model_type: int = TrainerSpec.UNIGRAM) -> bytes:
    model = model_of(model_type)
    change(model)
    return model.SerializeToString()


def not_utf8(change: Change) -> bytes:
    return changed(change).replace(MARK.encode(), b"\xff" * len(MARK))


NOT_UTF8 = {
    "a piece": (partial(put, MARK, "piece"), "bad-model UTF-8"),
    "a name": (partial(put_in, MARK, "trainer_spec.unk_piece"), "bad-model unk_piece UTF-8"),
}


def loaded_by_the_library(folder: Path, models: dict[str, bytes]) -> dict[str, bool]:
    """Return which models the library loads, in another process because it might crash."""
    for number, model in enumerate(models.values()):
        (folder / f"{number}.model").write_bytes(model)
    code = (
        "import json, sys, sentencepiece\n"
        "def loads(path):\n"
        "    try: return bool(sentencepiece.SentencePieceProcessor(model_file=path))\n"
        "    except Exception: return False\n"
        "print(json.dumps([loads(path) for path in sys.argv[1:]]))"
    )
    paths = [str(folder / f"{number}.model") for number in range(len(models))]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    return dict(zip(models, json.loads(done.stdout), strict=True))


def test_the_library_loads_what_is_read(tmp_path: Path) -> None:
    models = {name: changed(change) for name, change in LOADED.items()}
    models |= {name: changed(change) for name, (change, _) in REFUSED.items()}
    expected = {name: name in LOADED for name in models}
    assert loaded_by_the_library(tmp_path, models) == expected


@pytest.mark.parametrize("name", LOADED)
def test_models_that_load_are_read(name: str) -> None:
    model = changed(LOADED[name])
    assert parse(model).SerializeToString() == model


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_do_not_load_are_refused(name: str, tmp_path: Path) -> None:
    change, message = REFUSED[name]
    path = tmp_path / "m.model"
    path.write_bytes(changed(change))
    with raises_kind(message) as refusal:
        read_model(path)
    assert str(refusal.value).startswith(f'"{path}": ')


@pytest.mark.parametrize("name", NOT_UTF8)
def test_text_that_is_not_utf8_is_refused(name: str) -> None:
    change, message = NOT_UTF8[name]
    with raises_kind(message):
        parse(not_utf8(change))


def test_paths_may_have_any_bytes() -> None:
    model = not_utf8(partial(put_in, MARK, "trainer_spec.model_prefix"))
    assert parse(model).SerializeToString() == model


def test_a_bpe_model_has_one_namespace() -> None:
    model = changed(partial(add, "ab", TYPES.CONTROL), TrainerSpec.BPE)
    with raises_kind("bad-model"):
        parse(model)


@pytest.mark.parametrize(
    ("model_type", "score"),
    [
        (TrainerSpec.BPE, -math.inf),
        (TrainerSpec.WORD, -math.inf),
        (TrainerSpec.CHAR, math.inf),
        (TrainerSpec.CHAR, math.nan),
    ],
)
def test_scores_are_finite_in_every_type_of_model(model_type: int, score: float) -> None:
    with raises_kind("bad-model"):
        parse(changed(partial(put, score, "score"), model_type))


def test_a_char_model_with_a_required_character_that_its_text_lacks_is_read() -> None:
    written = io.BytesIO()
    spmcompat.train(
        sentence_iterator=iter(["abc", "ab"]),
        model_writer=written,
        model_type="char",
        vocab_size=20,
        hard_vocab_limit=False,
        required_chars="z",
        minloglevel=2,
    )
    scores = {piece.piece: piece.score for piece in parse(written.getvalue()).pieces}
    assert scores["z"] == -math.inf
