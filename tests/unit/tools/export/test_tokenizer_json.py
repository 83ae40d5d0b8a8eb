"""``tokenizer.json``: cases that were reported as issues in other projects, with the issue numbers.

SP is google/sentencepiece, HFt huggingface/tokenizers, TF huggingface/transformers.
"""

import json
from itertools import permutations

import numpy as np
import pytest

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.normalization.charsmaps import NAMES
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.causes import TIE, UNKNOWN_PIECE, Reference
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.importing import import_tokenizer
from spmcompat.tools.export.merges_of_pieces import encoder_without_symbols, mergeable, merges_of
from tests.searches import LONG
from tests.unit.tools.export.models import (
    FORMS,
    RULES,
    TEXT,
    changed,
    decoders,
    differences,
    loaded,
    train,
    trained,
)

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

pytestmark = pytest.mark.slow

PIECE = ModelProto.SentencePiece
TYPES = ("unigram", "bpe")


def add(model: ModelProto, piece: str, score: float, kind: int = PIECE.NORMAL) -> None:
    model.pieces.add(piece=piece, score=score, type=kind)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("model_type", TYPES)
def test_hard_lines_have_the_ids_of_sentencepiece(model_type: str, rules: str, form: str) -> None:
    model = trained(model_type, rules, form)
    found = differences(model, [*hard_lines(model), *TEXT[:8]])
    assert set(found.causes) <= ({TIE} if model_type == "unigram" else set()), found.differences


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model_type", TYPES)
def test_ids_are_decoded_to_the_text_of_sentencepiece(model_type: str, form: str) -> None:
    model = trained(model_type, "nmt_nfkc", form)
    expected, decoded = decoders(model)
    for ids in Reference(model).encode([*hard_lines(model), *TEXT[:8]]):
        assert decoded(ids) == expected(ids)
        # Control pieces decode to nothing, and the unknown piece to `unk_surface`.
        assert decoded([1, *ids, 0, 2]) == expected([1, *ids, 0, 2])


def test_char_models_are_exact() -> None:
    for form in ("plain", "bytes", "suffix", "symbols"):
        # In a char model, a required character that the text lacks would have the score -inf.
        text = [*TEXT, str(FORMS["bytes"]["required_chars"])]
        model = train("char", text, **FORMS[form])
        assert not differences(model, [*hard_lines(model), *TEXT[:8]]).causes


def test_names_of_bytes_are_not_found_by_char_models() -> None:
    """The characters of the names are no pieces."""
    model = train("char", ["abc", "cab", "bca"] * 9, byte_fallback=True, user_defined_symbols="ca")
    lines = ["<0x41>", "a<0x0A>ca</s>", "<s>\n<unk>", "\n\n"]
    assert not differences(model, lines).causes


@pytest.mark.parametrize("kind", [PIECE.UNUSED, PIECE.CONTROL, PIECE.USER_DEFINED])
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "char"])
def test_the_characters_are_collected_once_however_many_pieces_are_reserved(
    model_type: str, kind: PIECE.Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ModelProto()
    model.CopyFrom(trained(model_type, "identity", "plain"))
    for index in range(2_000):
        model.pieces.add(piece=f"<reserved {index}>", type=kind)
    calls: list[ModelProto] = []
    collect = tokenizer_json._characters
    monkeypatch.setattr(
        tokenizer_json, "_characters", lambda given: calls.append(given) or collect(given)
    )
    tokenizer_json.limits(model)
    assert len(calls) <= 2
    back, _ = import_tokenizer(tokenizer_json.files(model)[""])
    assert [piece.type for piece in back.pieces] == [
        # A BPE file cannot tell unused pieces from others.
        PIECE.NORMAL if (model_type, piece.type) == ("bpe", PIECE.UNUSED) else piece.type
        for piece in model.pieces
    ]


def test_word_models_are_refused() -> None:
    (limit,) = tokenizer_json.limits(train("word"))
    assert limit.refuses
    assert "--model_type=unigram" in limit.remedy


def test_scores_are_read_as_the_float32_that_they_are() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    model = trained("unigram", "identity", "plain")
    text = tokenizer_json.files(model)[""].decode()
    read = json.loads(tokenizers.Tokenizer.from_str(text).to_str())["model"]["vocab"]
    for piece, (_, score) in zip(model.pieces, read, strict=True):
        if piece.type == PIECE.NORMAL:
            assert np.float32(score) == np.float32(piece.score)
            assert abs(score - piece.score) <= abs(piece.score) * 2.0**-50


def test_merges_of_score_zero_are_kept() -> None:
    """TF#24233: pieces with score 0 had no merges, because 0 was treated as a missing score."""
    model = trained("bpe", "identity", "plain")
    first = max((one for one in model.pieces if one.type == PIECE.NORMAL), key=lambda p: p.score)
    assert first.score == 0
    assert "".join(merges_of(model)[0]) == first.piece
    assert not differences(model, [first.piece, first.piece * 3]).causes


def test_user_defined_symbols_keep_the_dummy_prefix_where_it_is() -> None:
    """TF#30824: the dummy prefix was ignored, or added again after each symbol."""
    lines = ["<mask>", "a<mask>b", "<mask> a <mask>  b", " <mask>", "a <mask>", "<mask>\u0301"]
    for model_type in TYPES:
        for form in ("symbols", "no_prefix", "spaces", "suffix"):
            symbols = FORMS["symbols"]
            model = train(model_type, **{**symbols, **FORMS[form]})
            assert not differences(model, lines).causes


@pytest.mark.parametrize("model_type", TYPES)
def test_symbols_that_begin_inside_of_what_a_rule_replaces_are_not_found(model_type: str) -> None:
    model = trained(model_type, "own", "symbols")
    lines = [
        "  the\u0301 \u2581th",
        "the\u0301",
        "e\u0301 the e\u0301",
        "th<mask>e<MASK>",
        "<m<mask>",
    ]
    found = differences(model, lines)
    assert not found.causes, found.differences


@pytest.mark.parametrize("rules", NAMES if LONG else ["nmt_nfkc", "nfkc_cf"])
def test_clusters_are_composed_like_in_sentencepiece(rules: str) -> None:
    """TF#15970, HFt#2334: `Precompiled` converts whole clusters, so it treats accents wrongly."""
    model = train("bpe", normalization_rule_name=rules)
    lines = [
        "Tie\u0302\u0301ng Vie\u0323\u0302t ra\u0302\u0301t \u0111e\u0323p A\u0301 I\u0307",
        "\u1112\u1161\u11ab\u1100\u1173\u11af \u1112\u1161 \u1100\u1161\u11a8\u11a8 \uffa1\uffc2",
        "\u304b\u3099\u304d\u3099\u306f\u309a \uff76\uff9e\uff8a\uff9f",
        "\u00aa\u0301 \uff21\u0301 \u2460\u0302 \ufb01\u0301 \u01c4\u0301 \U0001ccd6\u0301",
        "e\u0301\u0302\u0303 a\u0323\u0302\u0301 \u0301\u0302 o\u0308\u0304 q\u0323\u0307",
        "\u0928\u093c \u0915\u093c \u0bc6\u0bbe \u0f71\u0f72 \u05e9\u05c1 \u0344",
        "e\u0001\u0301 e\u200d\u0301 \r\n a\r\u0301",
    ]
    found = differences(model, lines)
    assert not found.causes, found.differences


def test_text_is_not_normalized_without_a_charsmap() -> None:
    """HFt#1682, HFt#1613, TF#48942: a model with the identity rules lacks a charsmap."""
    for model_type in TYPES:
        model = trained(model_type, "identity", "spaces")
        assert not model.normalizer_spec.precompiled_charsmap
        content = json.loads(tokenizer_json.files(model)[""])
        steps = [step["type"] for step in content["normalizer"]["normalizers"]]
        assert "Precompiled" not in steps
        assert not differences(model, ["ﬁ e\u0301 \uff21 ①", "a\tb\nc", "  "]).causes


@pytest.mark.parametrize("rules", RULES)
def test_odd_white_space(rules: str) -> None:
    """TF#12308: white space other than U+0020 was not handled as in sentencepiece."""
    spaces = "\t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u2000\u2003\u200b\u2028\u202f\u3000\ufeff▁"
    lines = [f"{one}a{one}{one}b {one} c{one}" for one in spaces] + list(spaces)
    for model_type in TYPES:
        for form in ("plain", "spaces", "suffix", "no_prefix"):
            assert not differences(trained(model_type, rules, form), lines).causes


def test_newlines_are_unknown_where_sentencepiece_does_not_know_them() -> None:
    """NeMo PR#5739: a newline became the unknown piece in one of the two libraries only."""
    lines = ["a\nb", "\n", "a\n\nb\n", "\na"]
    for model_type in TYPES:
        for rules in ("nmt_nfkc", "identity"):
            assert not differences(trained(model_type, rules, "plain"), lines).causes
        model = train(model_type, normalization_rule_name="identity", user_defined_symbols=["\n"])
        assert not differences(model, lines).causes


def test_unknown_characters_become_bytes_in_unigram_too() -> None:
    """llama.cpp#28862: byte_fallback of a Unigram model was ignored."""
    for model_type in TYPES:
        model = trained(model_type, "identity", "bytes")
        lines = ["\U00010348", "a\U00010348\U00010348b", "\x00\x7f\ufffd", "€uro"]
        assert not differences(model, lines).causes
        (ids,) = loaded(model).encode(["\U00010348"])
        assert [model.pieces[one].piece for one in ids[-4:]] == [
            "<0xF0>",
            "<0x90>",
            "<0x8D>",
            "<0x88>",
        ]


def test_a_model_without_unknown_piece() -> None:
    model = train("unigram", byte_fallback=True, unk_id=-1, character_coverage=0.98)
    assert not differences(model, ["\U00010348 a", "<unk>", "<0x00>"]).causes
    model = train("bpe", byte_fallback=True, unk_id=-1, character_coverage=0.98)
    assert not differences(model, ["\U00010348 a", "<unk>", "<0x00>"]).causes


def test_ties_are_said_before_and_named_after() -> None:
    """HFt#1213, SP#747, llama.cpp#13725: with equal scores, libraries choose differently."""
    model = trained("unigram", "identity", "plain")
    assert any("same score" in limit.text for limit in tokenizer_json.limits(model))
    lines = ["".join(["ab" * n, "aa" * m]) for n in range(40) for m in range(20)]
    assert set(differences(model, lines).causes) <= {TIE}


def test_merges_of_pieces_with_equal_scores_are_ordered() -> None:
    """SP#964, Chinese-LLaMA-Alpaca#872: manually added pieces have the score 0."""

    plain = trained("bpe", "identity", "plain")
    known = mergeable(plain)
    letters = [text for text in known if text.isascii() and len(text) == 1]
    left, middle, right = next(
        three
        for three in permutations(letters, 3)
        if three[0] + three[1] not in known and three[1] + three[2] not in known
    )
    texts = [middle + right, left + middle]

    def add_two(model: ModelProto) -> None:
        for text in texts:
            add(model, text, 0.0)

    model = changed(plain, add_two)
    # If two possible merges share a symbol and have the same score, sentencepiece makes the left
    # one, but `tokenizers` makes the one that comes first in the file.
    added = [pair for pair in merges_of(model) if "".join(pair) in texts]
    assert added == [(left, middle), (middle, right)]
    word = left + middle + right
    assert not differences(model, [word, f"{texts[0]}{texts[1]}", f"{left} {texts[0]}"]).causes


@pytest.mark.parametrize("model_type", TYPES)
def test_texts_of_control_pieces_are_plain_text(model_type: str) -> None:
    model = trained(model_type, "nmt_nfkc", "symbols")
    lines = ["<s>", "a<s>b</s>", "<unk>", "<ctl><ctl>", "¶", "a¶¶b", "<0x41>"]
    assert not differences(model, lines).causes


@pytest.mark.parametrize("text", ["b c", "▁", "▁b"])
@pytest.mark.parametrize("model_type", [*TYPES, "char"])
def test_control_pieces_may_contain_spaces(model_type: str, text: str) -> None:
    model = train(model_type, vocab_size=200, control_symbols=[text])
    assert not differences(model, [*hard_lines(model), *TEXT[:8]]).causes


def test_unused_pieces_of_a_char_model_are_never_found() -> None:
    model = retired(trained("char", "identity", "plain"), {"o"})
    assert not differences(model, ["ooo", "foo bar"]).causes


def retired(model: ModelProto, texts: set[str]) -> ModelProto:
    def retire(changing: ModelProto) -> None:
        for piece in changing.pieces:
            if piece.piece in texts:
                piece.type = PIECE.UNUSED

    return changed(model, retire)


def test_unused_pieces_of_a_unigram_model_are_never_found() -> None:
    model = trained("unigram", "identity", "plain")
    texts = [one.piece for one in model.pieces if one.type == PIECE.NORMAL and len(one.piece) > 1]
    unused = set(texts[:3])
    lines = [text.replace("▁", " ") for text in texts[:5]]
    assert not differences(retired(model, unused), lines).causes


def test_an_unused_character_of_a_unigram_model_is_said() -> None:
    model = retired(trained("unigram", "identity", "plain"), {"o"})
    assert any("'o'" in limit.text for limit in tokenizer_json.limits(model))
    assert set(differences(model, ["ooo"]).causes) == {UNKNOWN_PIECE}


def test_a_used_unused_piece_of_bpe_is_said() -> None:
    def retire(model: ModelProto) -> None:
        next(piece for piece in model.pieces if len(piece.piece) == 2).type = PIECE.UNUSED

    model = changed(trained("bpe", "identity", "plain"), retire)
    assert any("unused piece" in limit.text for limit in tokenizer_json.limits(model))


def test_reserved_texts_of_unknown_characters() -> None:
    text = ["abc abd abe " * 3] * 9
    assert not differences(train("unigram", text, vocab_size=20), ["<unk> abc <unk>"]).causes
    model = train("unigram", text, vocab_size=300, byte_fallback=True)
    assert any("'<unk>'" in limit.text for limit in tokenizer_json.limits(model))


def test_merges_are_every_split_into_two_pieces() -> None:
    model = trained("bpe", "identity", "plain")
    pieces = mergeable(model)
    expected = {
        (text[:cut], text[cut:])
        for text in pieces
        for cut in range(1, len(text))
        if text[:cut] in pieces and text[cut:] in pieces
    }
    merges = merges_of(model)
    assert set(merges) == expected
    assert len(merges) == len(expected)
    scores = [pieces[left + right] for left, right in merges]
    assert scores == sorted(scores, reverse=True)


def test_merges_are_what_sentencepiece_does() -> None:
    model = trained("bpe", "identity", "plain")
    reference, encoder = Reference(model), encoder_without_symbols(model)
    for line in TEXT[:8]:
        (ids,) = reference.encode([line])
        assert reference.pieces(ids) == encoder.encode("▁" + line.replace(" ", "▁"))
