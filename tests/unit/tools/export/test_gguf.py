"""GGUF files: their content, and how llama.cpp encodes with them.

`test_tokenizer_json.py` explains the abbreviations of issue numbers.
"""

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export import gguf, gguf_file
from tests.unit.tools.export.small_models import (
    BPE,
    EXACT,
    PIECE,
    TEXT,
    UNIGRAM,
    byte_pieces,
    differing,
    loaded,
    made,
    trained,
    verified,
)

BYTES_AND_EXACT = {"byte_fallback": True, **EXACT}


def needs_llama() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")


def keys_of(model: ModelProto, folder: Path) -> dict[str, Any]:
    """Return the keys and values that the ``gguf`` package reads from the exported model."""
    reader = pytest.importorskip("gguf", reason="gguf is not installed").GGUFReader
    path = folder / "m.gguf"
    path.write_bytes(gguf.files(model)[""])
    read = reader(path)
    assert len(read.tensors) == 0
    fields = {name: field.contents() for name, field in read.fields.items()}
    assert fields.pop("GGUF.version") == 3
    assert fields.pop("GGUF.tensor_count") == 0
    assert fields.pop("GGUF.kv_count") == len(fields)
    return fields


def encode(model: ModelProto, text: str) -> list[int]:
    processor = SentencePieceProcessor(model_proto=model.SerializeToString())
    ids: list[int] = processor.encode(text)
    return ids


def texts_of(model: ModelProto) -> str:
    return " ".join(limit.line for limit in gguf.limits(model))


def refusals(model: ModelProto) -> str:
    return " ".join(limit.line for limit in gguf.limits(model) if limit.refuses)


class TestFile:
    """The bytes of a GGUF file, and the keys and values that it contains."""

    def test_the_header_is_that_of_version_3_and_the_file_ends_aligned(self) -> None:
        content = gguf_file.serialize({"a": 7})
        assert content[:24] == b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
        assert content[24:45] == struct.pack("<Q", 1) + b"a" + struct.pack("<II", 4, 7) + bytes(4)
        assert len(content) == 64

    def test_an_empty_list_of_values_is_a_file_too(self) -> None:
        assert len(gguf_file.serialize({})) == 32

    @pytest.mark.parametrize(("kind", "name"), [("unigram", "t5"), ("bpe", "llama")])
    def test_all_keys(self, kind: str, name: str, tmp_path: Path) -> None:
        rules = tmp_path / "rules.tsv"
        rules.write_text("71 75\t6B\n", encoding="utf-8")
        options = {"normalization_rule_tsv": str(rules), "pad_id": 3}
        model = trained(kind, byte_fallback=kind == "bpe", **options)
        spec = model.normalizer_spec
        types = {1: 1, 2: 2, 3: 3, 6: 6}  # GGUF numbers these types of pieces as sentencepiece does
        assert keys_of(model, tmp_path) == {
            "general.architecture": name,
            "general.name": "vocabulary",
            "tokenizer.ggml.model": name,
            "tokenizer.ggml.pre": "default",
            "tokenizer.ggml.tokens": [piece.piece for piece in model.pieces],
            "tokenizer.ggml.scores": [piece.score for piece in model.pieces],
            "tokenizer.ggml.token_type": [types[piece.type] for piece in model.pieces],
            "tokenizer.ggml.add_space_prefix": True,
            "tokenizer.ggml.remove_extra_whitespaces": True,
            "tokenizer.ggml.add_bos_token": False,
            "tokenizer.ggml.add_eos_token": False,
            "tokenizer.ggml.precompiled_charsmap": list(spec.precompiled_charsmap),
            "tokenizer.ggml.bos_token_id": 1,
            "tokenizer.ggml.eos_token_id": 2,
            "tokenizer.ggml.unknown_token_id": 0,
            "tokenizer.ggml.padding_token_id": 3,
        }

    @pytest.mark.parametrize("kind", ["unigram", "bpe"])
    def test_what_the_model_does_not_have_is_absent(self, kind: str, tmp_path: Path) -> None:
        model = trained(kind, bos_id=-1, eos_id=-1, **EXACT)
        keys = keys_of(model, tmp_path)
        assert keys["tokenizer.ggml.add_space_prefix"] is False
        assert keys["tokenizer.ggml.remove_extra_whitespaces"] is False
        assert "tokenizer.ggml.precompiled_charsmap" not in keys
        ids = {key: keys[key] for key in keys if key.endswith("_id")}
        assert ids == {"tokenizer.ggml.unknown_token_id": 0}

    def test_ids_follow_the_pieces_after_an_edit(self, tmp_path: Path) -> None:
        model = made(UNIGRAM, [("a", -1.0)])
        model.trainer_spec.bos_piece = "[B]"
        model.pieces.add(piece="[B]", type=PIECE.CONTROL)
        assert keys_of(model, tmp_path)["tokenizer.ggml.bos_token_id"] == 4


class TestRefusals:
    """Models that llama.cpp cannot express. Nothing is written."""

    @pytest.mark.parametrize("kind", ["char", "word"])
    def test_other_kinds_of_models(self, kind: str) -> None:
        assert f"no tokenizer for a {kind} model" in refusals(trained(kind))

    @pytest.mark.parametrize("kind", ["unigram", "bpe"])
    def test_a_space_after_the_text(self, kind: str) -> None:
        model = trained(kind, treat_whitespace_as_suffix=True, byte_fallback=kind == "bpe")
        assert "does not append a space to the text" in refusals(model)

    def test_whitespace_as_suffix_without_a_dummy_prefix_is_exact(self) -> None:
        needs_llama()
        model = trained("bpe", treat_whitespace_as_suffix=True, **BYTES_AND_EXACT)
        assert not gguf.limits(model)
        assert differing(gguf, model) == []

    def test_extra_spaces_removed_without_a_dummy_prefix(self) -> None:
        model = trained("unigram", add_dummy_prefix=False)
        assert "--add_dummy_prefix=true" in refusals(model)

    def test_that_refusal_is_needed(self, tmp_path: Path) -> None:
        needs_llama()
        model = trained("unigram", add_dummy_prefix=False)
        [ids] = loaded(gguf, model, tmp_path).encode(["the"])
        assert ids != encode(model, "the")
        assert ids == encode(trained("unigram"), "the")

    def test_bpe_without_byte_fallback(self) -> None:
        assert "--byte_fallback=true" in refusals(trained("bpe", **EXACT))

    def test_that_refusal_is_needed_since_llama_ends_the_program(self, tmp_path: Path) -> None:
        needs_llama()
        path = tmp_path / "m.gguf"
        path.write_bytes(gguf.files(made(BPE, [("a", -1.0)]))[""])
        program = (
            "from spmcompat.tools.export import gguf; "
            f"encode = gguf.load({str(path)!r}).encode; "
            "print(encode(['aa']), flush=True); encode(['b'])"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,  # the working folder could contain spmcompat without compiled modules
            env={**os.environ, "GGML_NO_BACKTRACE": "1", "PYTHONPATH": ":".join(sys.path)},
        )
        assert done.stdout == "[[3, 3]]\n"
        assert done.returncode < 0

    def test_a_nul_character_in_a_piece(self) -> None:
        assert "NUL" in refusals(made(UNIGRAM, [("a\0b", -1.0)]))

    def test_no_unknown_piece(self) -> None:
        model = trained("unigram", byte_fallback=True, unk_id=-1)
        assert "--unk_id" in refusals(model)

    def test_spaces_that_are_kept(self) -> None:
        model = made(UNIGRAM, [("a", -1.0)])
        model.normalizer_spec.escape_whitespaces = False
        assert "space mark" in refusals(model)


class TestBpe:
    """The `llama` tokenizer, which does not normalize."""

    @pytest.mark.parametrize("add_dummy_prefix", [True, False])
    def test_without_a_normalizer_no_line_differs(self, add_dummy_prefix: bool) -> None:
        needs_llama()
        options = {**BYTES_AND_EXACT, "add_dummy_prefix": add_dummy_prefix}
        model = trained("bpe", **options)
        assert gguf.limits(model) == []
        assert differing(gguf, model, ["", " ", "  a  ", "x\0y"]) == []

    def test_what_the_normalizer_changes_differs_and_is_said_before(self) -> None:
        needs_llama()
        model = trained("bpe", byte_fallback=True)
        assert "--normalization_rule_name=identity" in texts_of(model)
        assert "--remove_extra_whitespaces=false" in texts_of(model)
        found = verified(gguf, model)
        assert set(found.causes) <= {"normalizer", "symbols"}
        assert found.causes["normalizer"] > 10

    def test_equal_scores_are_merged_from_the_left(self, tmp_path: Path) -> None:
        """HFt#1213 is about merges with equal scores."""
        needs_llama()
        pieces = [*byte_pieces(), ("ab", -1.0), ("bc", -1.0), ("a", -2.0), ("b", -2.0)]
        model = made(BPE, [*pieces, ("c", -2.0), ("ca", -1.0)])
        model.trainer_spec.byte_fallback = True
        lines = ["abc", "bcab", "cabcabca", "aabbccaabbcc", "abcabcabcabc"]
        encoded = loaded(gguf, model, tmp_path).encode(lines)
        assert encoded == [encode(model, line) for line in lines]

    def test_pieces_of_score_0_are_merged_as_in_sentencepiece(self, tmp_path: Path) -> None:
        """TF#24233, SP#964 and Chinese-LLaMA-Alpaca#872 are about added pieces with the score 0."""
        needs_llama()
        model = trained("bpe", **BYTES_AND_EXACT)
        for text in ("th", "he", "own", "ow"):
            if all(piece.piece != text for piece in model.pieces):
                model.pieces.add(piece=text, score=0.0)
        encoded = loaded(gguf, model, tmp_path).encode(TEXT)
        assert encoded == [encode(model, line) for line in TEXT]

    def test_a_newline_becomes_its_byte(self, tmp_path: Path) -> None:
        """NeMo Speech PR#5739 is about a newline that became the unknown piece instead."""
        needs_llama()
        model = trained("bpe", **BYTES_AND_EXACT)
        [ids] = loaded(gguf, model, tmp_path).encode(["\n"])
        assert [model.pieces[one].piece for one in ids] == ["<0x0A>"]
        assert ids == encode(model, "\n")

    def test_symbols_without_a_dummy_prefix_are_exact(self) -> None:
        needs_llama()
        symbols = ["<sep>", "é", "x\u2581y", "a b", "\n", "of"]
        model = trained("bpe", user_defined_symbols=symbols, **BYTES_AND_EXACT)
        assert gguf.limits(model) == []
        assert differing(gguf, model, ["a b x y x\u2581y", "of\nof x  y", "x y<sep>"]) == [
            "x\u2581y",  # llama.cpp looks for the symbol as "x y"
            "a b x y x\u2581y",
        ]

    def test_symbols_with_a_dummy_prefix_differ_and_are_said_before(self) -> None:
        """TF#30824 is about user-defined symbols and the dummy prefix."""
        needs_llama()
        options = {**BYTES_AND_EXACT, "add_dummy_prefix": True}
        model = trained("bpe", user_defined_symbols=["<sep>"], **options)
        assert "<sep> at the start of a text" in texts_of(model)
        assert verified(gguf, model).causes.keys() == {"symbols"}

    def test_symbols_of_one_character_are_exact_with_a_dummy_prefix(self) -> None:
        needs_llama()
        options = {**BYTES_AND_EXACT, "add_dummy_prefix": True}
        model = trained("bpe", user_defined_symbols=["\n", "é", "0"], **options)
        assert gguf.limits(model) == []
        assert differing(gguf, model, ["\n", "é", "a\nb", "100 café"]) == []

    def test_symbols_that_overlap(self) -> None:
        needs_llama()
        model = trained("bpe", user_defined_symbols=["ab", "bcd"], **BYTES_AND_EXACT)
        assert "ab, bcd may overlap" in texts_of(model) or "ab may overlap" in texts_of(model)
        assert "abcd" in differing(gguf, model, ["abcd"])

    @pytest.mark.parametrize("symbol", ["<|im_end|>", "<|endoftext|>"])
    def test_symbols_whose_names_llama_knows(self, symbol: str) -> None:
        needs_llama()
        model = trained("bpe", user_defined_symbols=[symbol], **BYTES_AND_EXACT)
        assert f"gives {symbol} another type" in texts_of(model)
        assert symbol in differing(gguf, model)

    def test_control_pieces_that_pieces_add_up_to(self, tmp_path: Path) -> None:
        needs_llama()
        pieces = [*byte_pieces(), ("<s", -1.0), ("<", -2.0), ("s", -2.0), (">", -2.0)]
        model = made(BPE, pieces)
        model.trainer_spec.byte_fallback = True
        assert "merges pieces to <s>" in texts_of(model)
        assert loaded(gguf, model, tmp_path).encode(["<s>"]) == [[1]]
        assert encode(model, "<s>") != [1]

    def test_unused_pieces(self, tmp_path: Path) -> None:
        needs_llama()
        pieces = [*byte_pieces(), ("ab", -1.0, PIECE.UNUSED), ("a", -2.0), ("b", -2.0)]
        model = made(BPE, pieces)
        model.trainer_spec.byte_fallback = True
        assert "uses the unused pieces of a BPE model: ab" in texts_of(model)
        assert loaded(gguf, model, tmp_path).encode(["ab"]) != [encode(model, "ab")]


class TestUnigram:
    """The tokenizer `t5`, which applies the charsmap."""

    @pytest.mark.parametrize("rule", ["nmt_nfkc", "nfkc_cf", "identity"])
    @pytest.mark.parametrize("spaces", ["default", "kept"])
    def test_only_ties_differ(self, rule: str, spaces: str) -> None:
        """TF#48942: a missing charsmap. TF#12308: odd white space. TF#15970: grapheme clusters."""
        needs_llama()
        kept = {"remove_extra_whitespaces": False, "add_dummy_prefix": False}
        options = kept if spaces == "kept" else {}
        model = trained("unigram", normalization_rule_name=rule, **options)
        found = verified(gguf, model)
        # Only `nmt_nfkc` normalizes the space mark itself.
        marks = {"normalizer"} if rule != "nmt_nfkc" and spaces == "default" else set()
        assert set(found.causes) - {"tie"} <= marks
        assert found.causes.get("normalizer", 0) <= 1
        assert bool(marks) == ("U+2581 at the end" in texts_of(model))

    def test_a_charsmap_of_ones_own(self, tmp_path: Path) -> None:
        needs_llama()
        rules = tmp_path / "rules.tsv"
        rules.write_text("71 75\t6B\n6F\t30\nFC\t\n", encoding="utf-8")  # qu -> k, o -> 0, ü -> ""
        model = trained("unigram", normalization_rule_tsv=str(rules))
        assert set(verified(gguf, model, ["quo ü quü"]).causes) <= {"tie", "normalizer"}
        assert len(differing(gguf, model)) <= 2

    def test_text_of_spaces_with_a_dummy_prefix(self) -> None:
        needs_llama()
        model = trained(
            "unigram", normalization_rule_name="identity", remove_extra_whitespaces=False
        )
        assert "a text of only spaces" in texts_of(model)
        assert differing(gguf, model) == [" ", "   "]

    def test_keys_that_are_absent_would_change_lines(self, tmp_path: Path) -> None:
        """llama.cpp#8089: llama.cpp's defaults of two options differ from the trainer's."""
        needs_llama()
        model = trained("unigram")
        content = gguf.files(model)[""]
        renamed = content.replace(b"remove_extra_whitespaces", b"remove_extra_whitespaceX")
        assert renamed != content
        path = tmp_path / "m.gguf"
        path.write_bytes(renamed)
        assert gguf.load(str(path)).encode(["a  b"]) != [encode(model, "a  b")]
        assert loaded(gguf, model, tmp_path).encode(["a  b"]) == [encode(model, "a  b")]

    def test_byte_fallback_gives_the_unknown_piece(self, tmp_path: Path) -> None:
        """llama.cpp#28862: llama.cpp ignores byte_fallback in Unigram models."""
        needs_llama()
        model = trained("unigram", byte_fallback=True)
        assert "--byte_fallback=false" in texts_of(model)
        pieces = [piece.piece for piece in model.pieces]
        assert loaded(gguf, model, tmp_path).encode(["\U0001f999"]) == [[pieces.index("\u2581"), 0]]
        known = ["the quick brown fox", "да выпей"]
        assert set(differing(gguf, model, known)) & set(known) == set()

    def test_the_unknown_score_is_10_below_the_lowest(self, tmp_path: Path) -> None:
        """The piece `a?b` wins. If the unknown score were -10, the piece would lose with -13.5."""
        needs_llama()
        for score in (-13.5, -12.5):
            model = made(UNIGRAM, [("a", -1.0), ("b", -2.0), ("a?b", score)])
            encoded = loaded(gguf, model, tmp_path).encode(["a?b"])
            assert encoded == [encode(model, "a?b")]

    def test_symbols_have_the_score_of_sentencepiece(self, tmp_path: Path) -> None:
        needs_llama()
        # The symbol has the score 0.1 * (4 - 1) = 0.3; the two pieces together have 0.298 or 0.302.
        for score in (0.149, 0.151):
            pieces = [("abcd", 0.0, PIECE.USER_DEFINED), ("ab", score), ("cd", score)]
            model = made(UNIGRAM, pieces)
            assert loaded(gguf, model, tmp_path).encode(["abcd"]) == [encode(model, "abcd")]

    @pytest.mark.parametrize("rule", ["nmt_nfkc", "identity"])
    def test_symbols_are_exact_with_a_dummy_prefix(self, rule: str) -> None:
        """TF#30824 and HFt#1613 are about user-defined symbols and the dummy prefix."""
        needs_llama()
        symbols = ["<sep>", "<|im_end|>", "x\u2581y", "a b", "\u2603"]
        model = trained("unigram", user_defined_symbols=symbols, normalization_rule_name=rule)
        lines = ["x y", "a b", "x\u2581y<sep> \u2603", "<sep>a<sep> b  <sep>"]
        assert set(differing(gguf, model, lines)) & {*lines, *symbols} == set()

    def test_a_symbol_that_composes_with_a_mark(self) -> None:
        needs_llama()
        model = trained("unigram", user_defined_symbols=["<e"])
        assert "the end of <e together with a combining mark" in texts_of(model)
        assert "a<e\u0301" in differing(gguf, model, ["a<e\u0301"])

    def test_a_symbol_that_the_normalizer_changes(self) -> None:
        needs_llama()
        symbols = {"user_defined_symbols": ["<MASK>"], "normalization_rule_name": "nfkc_cf"}
        model = trained("unigram", **symbols)
        assert "adds a space after the symbol" in texts_of(model)
        assert "a<MASK>b" in differing(gguf, model, ["a<MASK>b"])
        options = {"remove_extra_whitespaces": False, "add_dummy_prefix": False}
        model = trained("unigram", **symbols, **options)
        assert "The normalizer would change <MASK>" in texts_of(model)
        assert "a space after" not in texts_of(model)
        found = differing(gguf, model, ["a<MASK>b", "a<MASK"])
        assert "a<MASK>b" not in found
        assert "a<MASK" in found

    def test_such_a_symbol_with_other_characters_breaks_no_text(self) -> None:
        needs_llama()
        model = trained("unigram", user_defined_symbols=["\u2460x", "\u2014"])
        assert "normalizes \u2460x like other text" in texts_of(model)
        lines = ["a\u2460x", "a \u2461 b \u2014 c \u2013 \u2026 d\u201ce\u201d"]
        assert lines[0] in differing(gguf, model, lines)
        assert lines[1] not in differing(gguf, model, lines)

    @pytest.mark.parametrize("name", ["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"])
    def test_control_pieces_whose_names_llama_knows(self, name: str) -> None:
        needs_llama()
        model = trained("unigram", control_symbols=[name])
        assert f"gives {name} another type" in texts_of(model)
        assert name in differing(gguf, model)

    def test_control_pieces_in_the_text_are_text(self) -> None:
        needs_llama()
        model = trained("unigram", control_symbols=["<mask>"])
        lines = ["<s>", "a </s> b", "<mask>", "<unk>", "<pad><mask>"]
        assert set(differing(gguf, model, lines)) & set(lines) == set()

    def test_unused_pieces_are_not_used(self, tmp_path: Path) -> None:
        needs_llama()
        pieces = [("ab", -1.0, PIECE.UNUSED), ("a", -2.0), ("b", -2.0), ("c", 0.0, PIECE.UNUSED)]
        model = made(UNIGRAM, pieces)
        lines = ["ab", "abc", "c"]
        assert loaded(gguf, model, tmp_path).encode(lines) == [encode(model, one) for one in lines]

    def test_a_tie(self) -> None:
        """SP#747, llama.cpp#13725: llama.cpp adds scores in float64, sentencepiece in float32."""
        needs_llama()
        pieces = [("." * size, -1.1 * size - 0.01) for size in (1, 3)]
        model = made(UNIGRAM, [*pieces, ("a", -1.0)])
        found = verified(gguf, model, ["." * size for size in range(2, 60)])
        assert set(found.causes) <= {"tie"}

    def test_a_missing_eos_is_said(self) -> None:
        assert "The model has no eos" in texts_of(trained("unigram", eos_id=-1))
