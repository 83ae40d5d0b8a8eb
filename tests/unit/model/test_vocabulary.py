"""The final vocabulary and the model: reference models are disassembled and reassembled."""

import math
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

from spmcompat.model import sentencepiece_model_pb2 as schema
from spmcompat.model.meta_pieces import MetaPiece, meta_pieces
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.model.vocabulary import assemble, breaking_pieces, fill_ids, vocabulary_lines
from spmcompat.options.from_keywords import from_kwargs
from spmcompat.options.settings import with_charsmaps
from tests.kinds import raises_kind
from tests.parity import corpora, reference
from tests.parity.case import Case
from tests.parity.sides import REFERENCE, run_here

TEXT = corpora.words_text(seed=3, lines=80, types=60)
NORMAL = ModelProto.SentencePiece.NORMAL
CONTROL = ModelProto.SentencePiece.CONTROL

OPTION_SETS: list[dict[str, Any]] = [
    {},
    {"hard_vocab_limit": False, "vocab_size": 5000},
    {"byte_fallback": True, "vocab_size": 330},
    {"byte_fallback": True, "vocab_size": 330, "unk_id": -1},
    {"pad_id": 3, "bos_id": -1, "control_symbols": ["<a>", "</s>"]},
    {"unk_id": 7, "bos_id": 20, "eos_id": 3, "user_defined_symbols": ["<u>", "<s>"]},
    {"normalization_rule_name": "identity", "vocabulary_output_piece_score": False},
    {"normalization_rule_name": "nfkc_cf", "add_dummy_prefix": False},
    {"denormalization_rule_tsv": "rules.tsv", "unk_surface": "?"},
    {"normalization_rule_tsv": "rules.tsv", "required_chars": "ß"},
    {"split_digits": True, "treat_whitespace_as_suffix": True, "character_coverage": 0.99},
]


def _reference_run(options: dict[str, Any]) -> tuple[dict[str, Any], bytes, bytes]:
    every = {"input": "t.txt", "model_prefix": "m", "vocab_size": 70, "num_threads": 2, **options}
    files = {"t.txt": TEXT.encode(), "rules.tsv": b"41\t42\n"}
    outcome = run_here(REFERENCE, Case(options=every, files=files))
    model, vocabulary = outcome.output(".model"), outcome.output(".vocab")
    assert model is not None, outcome.failure
    assert vocabulary is not None
    return every, model, vocabulary


@pytest.mark.parametrize("options", OPTION_SETS, ids=str)
def test_reference_models_are_assembled_to_the_same_bytes(
    options: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    every, model, vocabulary = _reference_run(options)
    parsed = ModelProto.FromString(model)
    assert parsed.SerializeToString() == model
    pieces = [(entry.piece.encode(), entry.score) for entry in parsed.pieces]
    with_scores = options.get("vocabulary_output_piece_score", True)
    assert vocabulary_lines(pieces, with_scores) == vocabulary

    (tmp_path / "rules.tsv").write_bytes(b"41\t42\n")
    monkeypatch.chdir(tmp_path)
    learned = [(p.piece.encode(), p.score) for p in parsed.pieces if p.type == NORMAL]
    settings = with_charsmaps(from_kwargs(every))
    meta = meta_pieces(settings.trainer)
    assert fill_ids(learned, meta, settings.trainer) == pieces
    specs = settings.trainer, settings.normalizer, settings.denormalizer
    assert assemble(pieces, meta, *specs).SerializeToString() == model


def test_the_schema_is_that_of_the_reference_and_of_older_releases() -> None:
    older = {("self_test_data", 4, FieldDescriptor.TYPE_MESSAGE, True, "")}
    assert older < _fields(ModelProto)
    theirs = reference.schema()
    for ours in (schema.TrainerSpec, schema.NormalizerSpec, ModelProto, ModelProto.SentencePiece):
        other = theirs
        for part in ours.DESCRIPTOR.full_name.removeprefix("spmcompat.proto.").split("."):
            other = getattr(other, part)
        assert _fields(ours) - older == _fields(other)


def _fields(message: Any) -> set[tuple[Any, ...]]:
    return {
        (f.name, f.number, f.type, f.has_presence, str(f.default_value) if f.type != 11 else "")
        for f in message.DESCRIPTOR.fields
    }


def _assemble(
    learned: list[tuple[bytes, float]], meta: dict[int, MetaPiece], **options: Any
) -> ModelProto:
    trainer = TrainerSpec(**options)
    vocabulary = fill_ids(learned, meta, trainer)
    return assemble(vocabulary, meta, trainer, NormalizerSpec(), NormalizerSpec())


def test_too_few_pieces() -> None:
    meta = {0: MetaPiece("<unk>", CONTROL)}
    with raises_kind("vocabulary-too-large <="):
        _assemble([(b"a", -1.0)], meta, vocab_size=9)
    soft = _assemble([(b"a", -1.0)], meta, vocab_size=9, hard_vocab_limit=False)
    assert soft.trainer_spec.vocab_size == 2


def test_the_vocabulary_size_of_all_words_or_characters() -> None:
    meta = {0: MetaPiece("<unk>", CONTROL)}
    learned = [(b"a", -1.0), (b"b", -2.0)]
    every = _assemble(learned, meta, model_type=TrainerSpec.WORD, use_all_vocab=True, vocab_size=1)
    assert every.trainer_spec.vocab_size == len(every.pieces) == 3
    # A char model may have fewer pieces than requested, even with hard_vocab_limit.
    assert _assemble(learned, meta, model_type=TrainerSpec.CHAR).trainer_spec.vocab_size == 3


def test_symbols_of_a_word_model_are_added_with_the_space_mark_too() -> None:
    symbols = ["a", "▁b"]
    meta = meta_pieces(TrainerSpec(model_type=TrainerSpec.WORD, user_defined_symbols=symbols))
    assert [piece.piece for piece in meta.values()][3:] == ["a", "▁a", "▁b"]
    meta = meta_pieces(TrainerSpec(model_type=TrainerSpec.BPE, user_defined_symbols=symbols))
    assert [piece.piece for piece in meta.values()][3:] == symbols


def test_a_learned_piece_that_is_also_a_symbol() -> None:
    with raises_kind("bad-symbol"):
        _assemble([(b"a", -1.0)], {0: MetaPiece("a", CONTROL)}, vocab_size=2)


def test_an_id_beyond_the_number_of_pieces() -> None:
    with raises_kind("bad-symbol <s>"):
        _assemble([(b"a", -1.0)], {5: MetaPiece("<s>", CONTROL)}, vocab_size=9)


def test_invalid_pieces() -> None:
    with raises_kind("bad-symbol UTF-8"):
        _assemble([(b"\xff", -1.0)], {}, vocab_size=1)
    with raises_kind("bad-symbol"):
        _assemble([(b"", -1.0)], {}, vocab_size=1)
    with raises_kind("vocabulary-too-small vocab_size"):
        _assemble([(b"a", -1.0), (b"b", -2.0)], {}, vocab_size=1)


def test_pieces_that_break_the_vocab_file() -> None:
    assert breaking_pieces([(b"a b", -1.0), (b"c", -2.0)]) == [b"a b"]


def test_scores_are_written_as_cpp_streams_write_them() -> None:
    texts = ["0", "-0", "1", "-100000", "1e+06", "1.23457e+07", "-1.5e-07", "3e+38", "inf", "-nan"]
    scores = [0.0, -0.0, 1.0, -1e5, 1e6, 12345678.0, -1.5e-7, 3e38, math.inf, -math.nan]
    lines = vocabulary_lines([(b"a", score) for score in scores], True)
    assert lines.decode() == "".join(f"a\t{text}\n" for text in texts)
