"""spmcompat's own named rules in models.

The real library trains the same model from a file of these rules, and restores capitals when it
decodes.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import OWN_NAMES, case_restoring, decompile, precompiled
from spmcompat.normalization.rules import MARK_CASE, to_tsv
from spmcompat.unicode.marks import CASE_MARK
from tests.parity import corpora, reference
from tests.searches import LONG

PROSE = corpora.topics_text().split("\n")
LINES = [
    *PROSE[:1500],
    *corpora.mixed_text(3).split("\n"),
    "Crème BRÛLÉE, Ǆ ẞ İ, ΣΊΣΥΦΟΣ, Ёлка",
] * 2
BASE: dict[str, Any] = {"vocab_size": 700, "hard_vocab_limit": False, "minloglevel": 2}


def train(train: Any = spmcompat.train, **options: Any) -> bytes:
    written = io.BytesIO()
    train(sentence_iterator=iter(LINES), model_writer=written, **BASE, **options)
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "model_type"),
    [
        *((name, "unigram") for name in OWN_NAMES if name != MARK_CASE),
        *((MARK_CASE, kind) for kind in (["unigram", "bpe", "word", "char"] if LONG else ["bpe"])),
    ],
)
def test_the_library_trains_the_same_model_from_a_file_of_the_rules(
    name: str, model_type: str, tmp_path: Path
) -> None:
    files = {"normalization_rule_tsv": tmp_path / "rules.tsv"}
    files["normalization_rule_tsv"].write_text(to_tsv(decompile(precompiled(name))))
    if name == MARK_CASE:
        files["denormalization_rule_tsv"] = tmp_path / "restoring.tsv"
        files["denormalization_rule_tsv"].write_text(to_tsv(decompile(case_restoring())))
    paths = {option: str(path) for option, path in files.items()}
    theirs = train(
        reference.sentencepiece.SentencePieceTrainer.train, model_type=model_type, **paths
    )
    ours = train(normalization_rule_name=name, model_type=model_type)
    assert _with_rules_named(theirs, name) == ModelProto.FromString(ours)
    # If spmcompat trains with the rule files, too, both models have the same bytes.
    assert train(model_type=model_type, **paths) == theirs


def _with_rules_named(model: bytes, name: str) -> ModelProto:
    """Return a model as if it had been trained with named rules instead of rule files."""
    changed = ModelProto.FromString(model)
    for spec in (changed.normalizer_spec, changed.denormalizer_spec):
        if spec.normalization_rule_tsv:
            assert spec.name == "user_defined"
            spec.name = name
            spec.ClearField("normalization_rule_tsv")
    return changed


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"model_type": "bpe"},
        {"model_type": "char"},
        {"treat_whitespace_as_suffix": True},
        {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
        {"split_by_unicode_script": False},
        {"space_pieces": "separate"},
        {"user_defined_symbols": ["<B>", "NATO", "e", "Σ"]},
        {"compat": "0.2.1"},
    ],
)
def test_the_library_decodes_capitals(options: dict[str, Any]) -> None:
    """A model with case marks decodes to the same text as one without. No character is unknown."""
    options = {"byte_fallback": True, **options}
    plain = reference.load(train(normalization_rule_name="nmt_nfkc", **options))
    marked = reference.load(train(normalization_rule_name=MARK_CASE, **options))
    texts = [
        *LINES,
        *corpora.mixed_text(4).split("\n"),
        "<B>Bold</B> NATO and nato, EeEe ΣΣς",
        f"A{CASE_MARK}b {CASE_MARK}{CASE_MARK}C",
        "".join(chr(c) for c in range(0x20, 0x600)),
    ]
    for text in texts:
        expected = plain.decode(plain.encode(text))
        assert marked.decode(marked.encode(text)) == expected
        assert marked.decode(marked.encode(text, out_type=str)) == expected
        if options.get("model_type") != "char":
            sampled = marked.encode(text, enable_sampling=True, alpha=0.1, nbest_size=-1)
            assert marked.decode(sampled) == expected


def test_pieces_contain_case_marks() -> None:
    """A case mark may stand between the space mark and the word.

    The mark has the script Inherited, so the word is not separated from the space mark.
    """
    model = ModelProto.FromString(train(normalization_rule_name=MARK_CASE))
    pieces = [piece.piece for piece in model.pieces]
    assert any(piece.startswith(f"\u2581{CASE_MARK}t") for piece in pieces)
    assert not any(piece.isupper() for piece in pieces if len(piece) > 1 and piece.isalpha())


@pytest.mark.parametrize("name", OWN_NAMES)
def test_counts_give_the_model_of_their_text(name: str) -> None:
    table = spmcompat.count(
        sentence_iterator=iter(LINES), normalization_rule_name=name, minloglevel=2
    )
    written = io.BytesIO()
    spmcompat.train(counts=table, model_writer=written, **BASE)
    assert written.getvalue() == train(normalization_rule_name=name)


def test_a_normalizer_of_a_model_brings_its_rules_for_decoding() -> None:
    model = train(normalization_rule_name=MARK_CASE)
    normalizer = reference.normalizer({"model_proto": model})
    again = ModelProto.FromString(train(normalizer=normalizer))
    assert again.denormalizer_spec == ModelProto.FromString(model).denormalizer_spec
    assert again.pieces == ModelProto.FromString(model).pieces


def test_other_rules_have_none_for_decoding(tmp_path: Path) -> None:
    model = ModelProto.FromString(train(normalization_rule_name="nmt_nfkc_strip_accents"))
    assert not model.HasField("denormalizer_spec")
    # A file of rules replaces the named rules, as in the library.
    (tmp_path / "rules.tsv").write_text("41\t42\n")
    model = ModelProto.FromString(
        train(
            normalization_rule_name=MARK_CASE,
            normalization_rule_tsv=str(tmp_path / "rules.tsv"),
        )
    )
    assert not model.HasField("denormalizer_spec")
