"""Files in the layouts of ``transformers`` become models that encode alike.

The files are written by the classes of ``transformers`` itself, with the vocabularies and charsmaps
of small models. Each difference that the import reports must have an example: a text that the file
and the model really encode differently.
"""

import json
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import Normalizer, precompiled
from spmcompat.tools.export.causes import TIE, Reference
from spmcompat.tools.export.exporting import import_file
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.importing import import_tokenizer
from spmcompat.tools.export.layouts import layout_of
from spmcompat.tools.export.tokenizer_json import load
from spmcompat.tools.export.verifying import compare_encodings
from tests.kinds import raises_kind
from tests.unit.tools.export.models import TEXT, train, trained

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
Regex, normalizers, pre_tokenizers = (
    tokenizers.Regex,
    tokenizers.normalizers,
    tokenizers.pre_tokenizers,
)

PIECE = ModelProto.SentencePiece
LINES = [*TEXT[:8], "Ａ  b\tc ", "``quoted'' '''text'''", "ÄÖÜ ﬁ ½ Ⅷ é İ ΑΣ", "가각 ㄱ 한글", ""]
# The cause of the differences between a model and every file with special tokens.
SPECIAL = "symbols"


def _merges(model: ModelProto) -> tuple[dict[str, int], list[tuple[str, str]]]:
    from transformers.convert_slow_tokenizer import generate_merges

    vocabulary = {piece.piece: index for index, piece in enumerate(model.pieces)}
    scores = {piece.piece: piece.score for piece in model.pieces}
    return vocabulary, generate_merges(vocabulary, scores)


def _bpe() -> ModelProto:
    return train(
        "bpe",
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )


def _pieces(model: ModelProto) -> list[tuple[str, float]]:
    return [(piece.piece, piece.score) for piece in model.pieces if piece.type == PIECE.NORMAL]


def _charsmap(name: str = "nmt_nfkc") -> bytes:
    return precompiled(name, "")


def llama() -> Any:
    vocabulary, merges = _merges(_bpe())
    return transformers.LlamaTokenizer(vocab=vocabulary, merges=merges).backend_tokenizer


def llama_legacy() -> Any:
    """Llama 2 as stored by ``transformers`` 4."""
    backend = llama()
    steps = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    backend.normalizer, backend.pre_tokenizer = normalizers.Sequence(steps), None
    return backend


def _t5_vocabulary() -> list[tuple[str, float]]:
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    extra = [(f"<extra_id_{number}>", 0.0) for number in range(99, -1, -1)]
    return [*special, *_pieces(trained("unigram", "nmt_nfkc", "plain")), *extra]


def t5() -> Any:
    return transformers.T5Tokenizer(
        vocab=_t5_vocabulary(), _spm_precompiled_charsmap=_charsmap()
    ).backend_tokenizer


def t5_older() -> Any:
    """T5 as stored by ``transformers`` 4."""
    backend = t5()
    backend.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(_charsmap()),
            normalizers.Strip(left=False, right=True),
            normalizers.Replace(Regex(" {2,}"), "▁"),
        ]
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    return backend


def nllb() -> Any:
    vocabulary, merges = _merges(train("bpe"))
    return transformers.NllbTokenizer(
        vocab=vocabulary, merges=merges, _spm_precompiled_charsmap=_charsmap()
    ).backend_tokenizer


def t5_without_rules() -> Any:
    return transformers.T5Tokenizer(vocab=_t5_vocabulary()).backend_tokenizer


def xlm_roberta() -> Any:
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces = _pieces(trained("unigram", "nmt_nfkc", "plain"))
    return transformers.XLMRobertaTokenizer(
        vocab=[*special, *pieces, ("<mask>", 0.0)], _spm_precompiled_charsmap=_charsmap()
    ).backend_tokenizer


def _albert(*, keep_accents: bool, rules: str = "nmt_nfkc") -> Any:
    special = [(text, 0.0) for text in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
    return transformers.AlbertTokenizer(
        vocab=[*special, *_pieces(trained("unigram", "nfkc_cf", "plain"))],
        keep_accents=keep_accents,
        _spm_precompiled_charsmap=_charsmap(rules),
    ).backend_tokenizer


def albert() -> Any:
    return _albert(keep_accents=False)


def albert_saved_again() -> Any:
    """ALBERT as loaded and stored again by an early ``transformers`` 5: steps occur twice."""
    backend = albert()
    steps = [
        normalizers.NFKD(),
        normalizers.StripAccents(),
        normalizers.Lowercase(),
        normalizers.Replace(Regex(" {2,}"), " "),
    ]
    quotes = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    backend.normalizer = normalizers.Sequence([*quotes, *steps, *steps])
    return backend


def albert_with_accents() -> Any:
    return _albert(keep_accents=True)


def albert_with_other_rules() -> Any:
    return _albert(keep_accents=False, rules="nfkc")


@cache
def file_of(make: Callable[[], Any]) -> str:
    return str(make().to_str())


CLUSTERS, WHITE_SPACE, FIRST_SPACE = "grapheme cluster", "U+0085", "already begins with a space"
LAST_SPACE = "keeps a space at the end"
CASES = [
    (llama, [FIRST_SPACE]),
    (llama_legacy, []),
    (t5, [CLUSTERS, WHITE_SPACE]),
    (t5_older, [CLUSTERS, WHITE_SPACE]),
    (nllb, [CLUSTERS, LAST_SPACE]),
    (t5_without_rules, [FIRST_SPACE]),
    (xlm_roberta, [CLUSTERS, WHITE_SPACE]),
    (albert, []),
    (albert_with_accents, [CLUSTERS]),
    (albert_with_other_rules, [FIRST_SPACE]),
    (albert_saved_again, [FIRST_SPACE]),
]


@pytest.mark.parametrize(("make", "expected"), CASES)
def test_a_public_layout_is_imported(
    make: Callable[[], Any], expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(file_of(make), encoding="utf-8")
    model, limits = import_tokenizer(path.read_bytes())
    reference, loaded = Reference(model), load(str(path))
    lines = [line for line in LINES if LAST_SPACE not in expected or not line.endswith(" ")]
    assert set(compare_encodings(reference, loaded, lines).causes) <= {TIE}
    differences = [limit for limit in limits if limit.refuses]
    assert len(differences) == len(expected)
    for limit, words in zip(differences, expected, strict=True):
        assert words in limit.text
        assert reference.encode([limit.example]) != loaded.encode([limit.example]), limit
    # Special tokens always cause differences. The normalizer also does if `expected` is not empty.
    # Nothing else causes any.
    found = compare_encodings(reference, loaded, hard_lines(model))
    assert set(found.causes) - {TIE} == {SPECIAL, *(["normalizer"] if expected else [])}


@pytest.mark.parametrize(
    ("make", "name", "normal"),
    [(llama, "identity", "bpe"), (t5, "nmt_nfkc", "u"), (xlm_roberta, "nmt_nfkc", "u")],
)
def test_the_model_has_the_pieces_and_rules_of_the_original(
    make: Callable[[], Any], name: str, normal: str
) -> None:
    model, _ = import_tokenizer(file_of(make).encode())
    original = _bpe() if normal == "bpe" else trained("unigram", "nmt_nfkc", "plain")
    assert _pieces(model) == _pieces(original)
    assert model.normalizer_spec == original.normalizer_spec
    assert model.normalizer_spec.name == name


@pytest.mark.parametrize("make", [llama, xlm_roberta])
def test_the_type_of_the_model_need_not_be_named(make: Callable[[], Any]) -> None:
    untyped = changed(make, lambda content: content["model"].pop("type"))
    assert import_tokenizer(untyped) == import_tokenizer(file_of(make).encode())


def test_special_tokens_get_their_ids() -> None:
    def ids(make: Callable[[], Any]) -> tuple[int, int, int, int]:
        spec = import_tokenizer(file_of(make).encode())[0].trainer_spec
        return spec.unk_id, spec.bos_id, spec.eos_id, spec.pad_id

    assert ids(llama) == (0, 1, 2, -1)
    assert ids(t5) == (2, -1, 1, 0)
    assert ids(xlm_roberta) == (3, 0, 2, 1)
    assert ids(albert) == (1, -1, -1, 0)
    spec = import_tokenizer(file_of(albert).encode())[0].trainer_spec
    assert list(spec.control_symbols) == ["[CLS]", "[SEP]", "[MASK]"]


@pytest.mark.parametrize(
    "options",
    [
        {"model_type": "bpe", "byte_fallback": True, "user_defined_symbols": ["<x>", "@@"]},
        {"model_type": "unigram"},
        {"model_type": "unigram", "add_dummy_prefix": False},
        {
            "model_type": "bpe",
            "byte_fallback": True,
            "normalization_rule_name": "identity",
            "remove_extra_whitespaces": False,
        },
    ],
)
def test_a_model_comes_back_from_the_conversion_of_transformers(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """``AutoTokenizer`` converts the model, and saves the result."""
    model = train(**options)
    (tmp_path / "tokenizer.model").write_bytes(model.SerializeToString())
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path, local_files_only=True)
    back, limits = import_tokenizer(tokenizer.backend_tokenizer.to_str().encode())
    assert back.pieces == model.pieces
    assert back.normalizer_spec == model.normalizer_spec
    model.trainer_spec.ClearField("hard_vocab_limit")  # an option that only affects training
    assert back.trainer_spec == model.trainer_spec
    has_rules = bool(model.normalizer_spec.precompiled_charsmap)
    assert [limit.refuses for limit in limits].count(True) == has_rules


def _albert_steps(**options: bool) -> tuple[Any, Normalizer]:
    backend = _albert(**options)
    layout = layout_of(json.loads(backend.to_str()), 0)
    ours = Normalizer(
        layout.spec.precompiled_charsmap, add_dummy_prefix=False, remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )  # fmt: skip
    return backend.normalizer, ours


@pytest.mark.parametrize("keep_accents", [True, False])
def test_the_rules_of_albert_equal_its_steps_for_all_characters(keep_accents: bool) -> None:
    theirs, ours = _albert_steps(keep_accents=keep_accents)
    # `unicodedata` and `tokenizers` have different versions of Unicode, so unassigned characters
    # are left out here, and the results for newer characters may differ.
    characters = [
        chr(code)
        for code in (*range(1, 0xD800), *range(0xF900, 0x10000), *range(0x1D400, 0x1D800))
        if unicodedata.category(chr(code)) != "Cn"
    ]
    different = [
        one
        for one in characters
        if ours.normalize(one.encode()).decode()
        != " ".join(theirs.normalize_str(one).replace("\x85", " ").split(" "))
    ]
    newer = {one for one in different if unicodedata.ucd_3_2_0.category(one) == "Cn"}
    assert len(newer) < 200
    assert set(different) <= newer


def changed(make: Callable[[], Any], change: Callable[[dict[str, Any]], object]) -> bytes:
    content = json.loads(file_of(make))
    change(content)
    return json.dumps(content).encode()


def _set(part: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda content: content.__setitem__(part, value)


def _set_model(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["model"].__setitem__(name, value)


def _sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(steps)}


def _replace(text: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def _cuts(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(steps)}


def _split(pattern: str) -> dict[str, Any]:
    cut = {"pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Split", **cut}


COLLAPSE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
NMT_NFKC = ({"type": "Nmt"}, {"type": "NFKC"})
WORDS = {"type": "WhitespaceSplit"}
MARKS = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


@pytest.mark.parametrize(
    ("make", "change", "name"),
    [
        (xlm_roberta, _set("pre_tokenizer", WORDS), "pre_tokenizer"),
        (
            xlm_roberta,
            _set("pre_tokenizer", _cuts(WORDS, {**MARKS, "prepend_scheme": "never"})),
            "pre_tokenizer",
        ),
        (t5, _set("pre_tokenizer", {**MARKS, "replacement": "_"}), "pre_tokenizer"),
        (t5, _set("pre_tokenizer", {**MARKS, "prepend_scheme": "some"}), "pre_tokenizer"),
        (t5, _set("pre_tokenizer", _cuts(WORDS, MARKS, MARKS)), "pre_tokenizer"),
        (t5, _set("pre_tokenizer", _cuts(_cuts(WORDS), MARKS)), "pre_tokenizer"),
        (t5, _set("pre_tokenizer", {"type": "Digits"}), "pre_tokenizer"),
        (t5, _set("normalizer", _sequence(_sequence({"type": "NFKD"}))), "Sequence"),
        (t5, _set("normalizer", {"type": "Nonsense"}), "Nonsense"),
        # The steps of SentencePieceUnigramTokenizer, with a further step.
        (t5, _set("normalizer", _sequence(*NMT_NFKC, COLLAPSE, {"type": "Strip"})), "Nmt"),
        (t5, _set("normalizer", _sequence(_replace("ab", "c"), _replace("bd", "e"))), "Replace"),
        (t5, _set("normalizer", _sequence(_replace("a", "b"), _replace("b", "c"))), "Replace"),
        (t5, _set("normalizer", _sequence(*[_replace("a", "b")] * 200)), "Replace"),
        (t5, _set("normalizer", _sequence(COLLAPSE, _replace(" b", "c"), COLLAPSE)), "normalizer"),
        (
            nllb,
            _set("pre_tokenizer", {**MARKS, "prepend_scheme": "never"}),
            "normalizer",
        ),
        (llama_legacy, _set("pre_tokenizer", MARKS), "pre_tokenizer"),
        (llama, _set_model("dropout", 0.1), "dropout"),
        (llama, _set_model("end_of_word_suffix", "</w>"), "end_of_word_suffix"),
        (t5, _set_model("unk_id", None), "model"),
        (llama_legacy, _set("pre_tokenizer", _split("a|<s>|ab")), "pre_tokenizer"),
        (llama_legacy, _set("pre_tokenizer", _split(r"[\d]")), "pre_tokenizer"),
        (t5_older, _set("pre_tokenizer", _cuts(MARKS, _split("a|ab"))), "pre_tokenizer"),
        (t5_older, _set("pre_tokenizer", _cuts(MARKS, _split("<absent>"))), "<absent>"),
        (t5_older, _set("pre_tokenizer", _cuts(MARKS, _split("a|[bc]+"))), "pre_tokenizer"),
        (
            llama,
            _set("pre_tokenizer", {**_split(""), "pattern": {"String": " "}}),
            "pre_tokenizer",
        ),
    ],
)
def test_steps_that_no_model_has_are_refused(
    make: Callable[[], Any], change: Callable[[dict[str, Any]], object], name: str
) -> None:
    with raises_kind(f"cannot-import {name}"):
        import_tokenizer(changed(make, change))


def _without_a_merge(content: dict[str, Any]) -> None:
    """Remove a merge, but keep its piece, as a trainer of ``tokenizers`` would."""
    content["model"]["merges"].pop()


def _without_bytes(content: dict[str, Any]) -> None:
    content["model"].update(byte_fallback=False, unk_token="<unk>", fuse_unk=False)


def _skips_unknown(content: dict[str, Any]) -> None:
    content["model"].update(byte_fallback=False, unk_token=None)


def _ignores_merges(content: dict[str, Any]) -> None:
    vocabulary = content["model"]["vocab"]
    vocabulary["▁qzx"] = len(vocabulary)
    content["model"]["ignore_merges"] = True


def _with_byte_names(content: dict[str, Any]) -> None:
    model = content["model"]
    model["vocab"] += [[f"<0x{byte:02X}>", 0.0] for byte in range(256)]
    model["byte_fallback"] = True


def _with_a_long_piece(content: dict[str, Any]) -> None:
    content["model"]["vocab"].append(["▁the▁lazy", 0.0])


def _with_a_rough_score(content: dict[str, Any]) -> None:
    content["model"]["vocab"][-1][1] += 1e-9


def _with_a_symbol(content: dict[str, Any]) -> None:
    ids = [token["id"] for token in content["added_tokens"]]
    new = {**content["added_tokens"][0], "content": "<new>", "special": False}
    size = len(content["model"]["vocab"])
    content["added_tokens"].append({**new, "id": max(*ids, size - 1) + 1})


@pytest.mark.parametrize(
    ("make", "change", "words", "has_example"),
    [
        (llama_legacy, _without_a_merge, "are missing in the file", False),
        (llama_legacy, _without_bytes, "each unknown character", True),
        (llama_legacy, _skips_unknown, "leaves out unknown characters", True),
        (llama_legacy, _ignores_merges, "'▁qzx'", True),
        (llama_legacy, _with_a_symbol, "Added tokens such as '<new>'", True),
        (albert, _with_byte_names, "names of bytes", True),
        (albert, _with_a_long_piece, "'▁the▁lazy'", True),
        (albert, _with_a_rough_score, "scores of 1 pieces", False),
        (albert, _with_a_symbol, "Added tokens such as '<new>'", True),
    ],
)
def test_each_difference_is_listed_with_a_text(
    make: Callable[[], Any],
    change: Callable[[dict[str, Any]], object],
    words: str,
    has_example: bool,
    tmp_path: Path,
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(changed(make, change))
    model, limits = import_tokenizer(path.read_bytes())
    (limit,) = (limit for limit in limits if limit.refuses)
    assert words in limit.text
    assert bool(limit.example) == has_example
    if has_example:
        assert Reference(model).encode([limit.example]) != load(str(path)).encode([limit.example])


def test_differences_need_approximate(tmp_path: Path) -> None:
    path, output = tmp_path / "tokenizer.json", tmp_path / "m.model"
    path.write_text(file_of(t5), encoding="utf-8")
    with raises_kind("inexact-import --approximate"):
        import_file(str(path), str(output), pytest.fail)
    assert not output.exists()
    notes: list[str] = []
    import_file(str(path), str(output), notes.append, approximate=True)
    assert output.exists()
    assert any("Example: 'a\\x85b'." in note for note in notes)


def _gemma(**symbol: object) -> dict[str, Any]:
    """Return a file that adds no space before the text, with an added token."""
    content: dict[str, Any] = json.loads(file_of(llama_legacy))
    content["normalizer"] = _replace(" ", "▁")
    content["pre_tokenizer"] = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    _with_a_symbol(content)
    content["added_tokens"][-1].update(symbol)
    return content


def test_symbols_of_a_layout_without_rules_are_exact(tmp_path: Path) -> None:
    """Gemma adds no space before the text, and finds added tokens even if they are not special."""
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(_gemma()), encoding="utf-8")
    model, limits = import_tokenizer(path.read_bytes())
    assert not any(limit.refuses for limit in limits)
    assert model.pieces[-1] == PIECE(piece="<new>", score=0, type=PIECE.USER_DEFINED)
    lines = [*LINES, "a<new>b", "<new> <new>a", "  <new>"]
    assert compare_encodings(Reference(model), load(str(path)), lines).different == 0


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        ({"single_word": True}, "only as a separate word"),
        ({"lstrip": True}, "removes white space around '<new>'"),
        ({"rstrip": True}, "removes white space around '<new>'"),
        ({"content": "the lazy"}, "never finds 'the lazy'"),
        ({"content": "the▁lazy", "normalized": False}, "finds 'the▁lazy' also with spaces"),
    ],
)
def test_settings_of_symbols_are_differences(
    symbol: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(_gemma(**symbol)), encoding="utf-8")
    model, limits = import_tokenizer(path.read_bytes())
    (limit,) = (limit for limit in limits if limit.refuses)
    assert words in limit.text
    assert Reference(model).encode([limit.example]) != load(str(path)).encode([limit.example])


def test_a_file_that_tokenizers_has_saved_again_is_imported(tmp_path: Path) -> None:
    """``tokenizers`` changes the last bits of some scores when it saves a file."""
    model = trained("unigram", "nmt_nfkc", "plain")
    path = tmp_path / "tokenizer.json"
    from spmcompat.tools.export.tokenizer_json import files

    path.write_bytes(files(model)[""])
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.add_special_tokens(["<new>"])
    tokenizer.save(str(path))
    back, limits = import_tokenizer(path.read_bytes())
    assert not any(limit.refuses for limit in limits)
    assert back.pieces[:-1] == model.pieces[:]
    assert back.pieces[-1].piece == "<new>"
