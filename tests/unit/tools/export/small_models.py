"""Small models for the tests of targets: made from given pieces, or trained on a few lines."""

import io
from collections.abc import Iterable

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.targets import Loaded, Target
from spmcompat.tools.export.verifying import Verification, verify

PIECE = ModelProto.SentencePiece
UNIGRAM, BPE = TrainerSpec.UNIGRAM, TrainerSpec.BPE

TEXT = [
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Über den Wolken muss die Freiheit wohl grenzenlos sein, café crème.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "我能吞下玻璃而不伤身体。 私はガラスを食べられます。",
    "def main():  return [number ** 2 for number in range(10)]",
    "ends... dots...... and more ......... of them, 2000 and 100000.",
] * 3

EXACT = {
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "add_dummy_prefix": False,
}


def made(
    kind: int, pieces: Iterable[tuple[str, float] | tuple[str, float, int]], **norm: bool
) -> ModelProto:
    """A model without a normalizer. Pieces whose type is not given are normal."""
    model = ModelProto()
    model.trainer_spec.model_type = kind
    model.normalizer_spec.add_dummy_prefix = norm.get("add_dummy_prefix", False)
    model.normalizer_spec.remove_extra_whitespaces = norm.get("remove_extra_whitespaces", False)
    model.pieces.add(piece="<unk>", type=PIECE.UNKNOWN)
    model.pieces.add(piece="<s>", type=PIECE.CONTROL)
    model.pieces.add(piece="</s>", type=PIECE.CONTROL)
    for text, score, *rest in pieces:
        model.pieces.add(piece=text, score=score, type=rest[0] if rest else PIECE.NORMAL)
    return model


def byte_pieces() -> list[tuple[str, float, int]]:
    return [(f"<0x{byte:02X}>", 0.0, PIECE.BYTE) for byte in range(256)]


def trained(kind: str, lines: Iterable[str] = TEXT, **options: object) -> ModelProto:
    """Return a model trained on `lines`. The options are passed to the trainer."""
    writer = io.BytesIO()
    given: dict[str, object] = {
        "vocab_size": 420 if options.get("byte_fallback") else 200,
        "hard_vocab_limit": False,
        "character_coverage": 0.98,
        "minloglevel": 2,
        **options,
    }
    spmcompat.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=writer, model_type=kind, **given
    )
    return ModelProto.FromString(writer.getvalue())


def verified(target: Target, model: ModelProto, lines: Iterable[str] = ()) -> Verification:
    """Encode the hard lines and `lines` with both libraries."""
    found = verify(model, target, target.files(model), [*hard_lines(model), *TEXT, *lines])
    assert not found.problem
    return found


def differing(target: Target, model: ModelProto, lines: Iterable[str] = ()) -> list[str]:
    found = verified(target, model, lines)
    return [difference.line for difference in found.differences]


def loaded(target: Target, model: ModelProto, folder: object) -> Loaded:
    """Export the model as a single file in `folder`, and load this file."""
    path = f"{folder}/export"
    with open(path, "wb") as file:
        file.write(target.files(model)[""])
    return target.load(path)
