"""Edits of single pieces: what they change, what stays, and what is refused."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from spmcompat.model.pieces import CONTROL, NORMAL, UNUSED, USER_DEFINED, pieces_of
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.vocabulary import lowest_score
from tests.kinds import raises_kind
from tests.unit.tools.edit.models import TYPES, by_text, lines, processor, trained

CUT = ("unigram", "bpe")

pytestmark = pytest.mark.reference


def edited(model: ModelProto, **edits: Any) -> Any:
    before = model.SerializeToString()
    new, result = edit_model(model, Edits(**edits))
    assert model.SerializeToString() == before, "the source was changed"
    assert result.model == new.SerializeToString()
    processor(new)  # it loads
    return SimpleNamespace(**{**result._asdict(), "model": new})


def refused(expected: str, model: ModelProto, **edits: Any) -> None:
    with raises_kind(expected):
        edit_model(model, Edits(**edits))


def assert_others_stay(old: ModelProto, new: ModelProto, changed: set[str]) -> None:
    after = by_text(new)
    for text, found in by_text(old).items():
        if text not in changed:
            assert after[text] == found


# ---------------------------------------------------------------- add


@pytest.mark.slow
@pytest.mark.parametrize("model_type", TYPES)
def test_a_control_piece_is_appended_and_no_text_is_encoded_to_it(model_type: str) -> None:
    model = trained(model_type)
    new = edited(model, add_control=["<tool>"]).model
    assert by_text(new)["<tool>"] == (len(model.pieces), ("<tool>", 0.0, CONTROL))
    assert_others_stay(model, new, set())
    assert list(new.trainer_spec.control_symbols) == ["<tool>"]
    assert new.trainer_spec.vocab_size == len(new.pieces)
    assert len(model.pieces) not in processor(new).encode("a <tool> b")
    assert processor(new).encode(lines()) == processor(model).encode(lines())


@pytest.mark.slow
@pytest.mark.parametrize("model_type", TYPES)
def test_a_user_defined_symbol_is_one_token_everywhere(model_type: str) -> None:
    model = trained(model_type, normalization_rule_name="nmt_nfkc_cf")
    new = edited(model, add_user_defined=["<ＴＯＯＬ>"]).model
    assert by_text(new)["<ＴＯＯＬ>"] == (len(model.pieces), ("<ＴＯＯＬ>", 0.0, USER_DEFINED))
    assert list(new.trainer_spec.user_defined_symbols) == ["<ＴＯＯＬ>"]
    if model_type != "word":  # a word model only has whole words
        assert "<ＴＯＯＬ>" in processor(new).encode("ab<ＴＯＯＬ>cd", out_type=str)
    assert processor(new).encode(lines()) == processor(model).encode(lines())


@pytest.mark.parametrize("model_type", CUT)
def test_scores_of_added_pieces_continue_below_the_lowest(model_type: str) -> None:
    # An added piece with score 0 would rank above every merge, and could change the pieces of any
    # text: google/sentencepiece#964, Chinese-LLaMA-Alpaca#872.
    model = trained(model_type)
    new = edited(model, add=["Ж", "Щ", "ЖЩ"]).model
    scores = [by_text(new)[text][1].score for text in ("Ж", "Щ", "ЖЩ")]
    assert lowest_score(pieces_of(model)) > scores[0] > scores[1] > scores[2]
    assert processor(new).encode("ЖЩ", out_type=str)[-1] == "ЖЩ"
    assert processor(new).encode(lines()) == processor(model).encode(lines())


def test_an_added_bpe_piece_is_merged_after_all_others() -> None:
    model = trained("bpe")
    tokens = next(
        found
        for line in lines()
        for found in [processor(model).encode(line.split()[0], out_type=str)]
        if len(found) == 2
    )
    whole = "".join(tokens)
    new = edited(model, add=[whole]).model
    assert processor(new).encode(whole.removeprefix("▁"), out_type=str) == [whole]
    for old, now in zip(
        processor(model).encode(lines(), out_type=str),
        processor(new).encode(lines(), out_type=str),
        strict=True,
    ):
        apart = [token for piece in now for token in (tokens if piece == whole else [piece])]
        assert apart == old


def test_a_bpe_piece_that_no_merges_reach_is_refused_with_the_pieces_between() -> None:
    model = trained("bpe")
    refused("bad-edit ▁qzxw ▁q, ▁qz, ▁qzx.", model, add=["▁qzxw"])
    new = edited(model, add=["▁q", "▁qz", "▁qzx", "▁qzxw"]).model
    assert processor(new).encode("qzxw", out_type=str) == ["▁qzxw"]


def test_a_unigram_piece_that_its_parts_beat_is_refused_with_their_score() -> None:
    model = trained("unigram")
    scores = {piece.text: piece.score for piece in pieces_of(model)}
    needed = scores["▁the"] + scores["▁of"]
    refused(f"bad-edit ▁the▁of {needed:.6g}", model, add=["▁the▁of"])
    low, high = needed - 0.01, needed + 0.01
    refused("bad-edit ▁the▁of", model, add=["▁the▁of"], set_score={"▁the▁of": low})
    new = edited(model, add=["▁the▁of"], set_score={"▁the▁of": high}).model
    assert processor(new).encode("the of", out_type=str) == ["▁the▁of"]


@pytest.mark.parametrize("model_type", CUT)
def test_a_piece_that_holds_a_symbol_is_refused(model_type: str) -> None:
    model = trained(model_type, user_defined_symbols=("<x>",))
    refused("bad-edit <x>", model, add=["a<x>"], set_score={"a<x>": -60})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("piece", "other"),
    [
        ("Ａ", "'A'"),
        ("e\u0301", "'é'"),
        ("▁▁", ""),
        ("a b", "a▁b"),
        ("\u200b", "'▁'"),
    ],
)
def test_pieces_that_the_normalizer_changes_are_refused(piece: str, other: str) -> None:
    refused(f"bad-edit {other}", trained("unigram"), add=[piece])


@pytest.mark.slow
def test_what_the_normalizer_changes_depends_on_the_model() -> None:
    plain = trained("bpe", normalization_rule_name="identity", remove_extra_whitespaces=False)
    new = edited(plain, add=["Ａ", "▁▁"]).model
    assert processor(new).encode("Ａ  Ａ", out_type=str) == ["▁", "Ａ", "▁▁", "Ａ"]
    refused("bad-edit", trained("bpe", normalization_rule_name="nmt_nfkc_cf"), rename={"▁": "A"})


def test_a_piece_that_only_a_rule_makes_is_let_through() -> None:
    # The rules are applied only once: Ж becomes Щ, although Щ alone becomes c.
    from spmcompat.normalization.charsmaps import compile_charsmap

    model = ModelProto()
    model.CopyFrom(trained("bpe", normalization_rule_name="identity"))
    rules = {"Ж": "Щ", "Щ": "c", "Ю": "ЯЩЭ", "Я": "d", "Э": "f"}
    model.normalizer_spec.precompiled_charsmap = compile_charsmap(
        {tuple(map(ord, source)): tuple(map(ord, target)) for source, target in rules.items()}
    )
    new = edited(model, add=["Щ"]).model
    assert processor(new).encode("Ж", out_type=str) == ["▁", "Щ"]
    refused("bad-edit Щ", model, add=["Ж"])
    # A piece may also begin or end within the target of a rule.
    for piece, text in (("ЩЭЩ", "ЮЖ"), ("qЯЩ", "qЮ"), ("ЭqЩ", "ЮqЖ"), ("Э", "Ю")):
        steps = [piece[:n] for n in range(2, len(piece))]
        new = edited(model, add=[*"ЩЯЭ".replace(piece, ""), *steps, piece]).model
        assert piece in processor(new).encode(text, out_type=str)
    refused("bad-edit ЭЭ", model, add=["ЭЭ"])


def test_a_symbol_with_a_space_is_refused() -> None:
    refused("bad-edit U+2581 a▁b", trained("bpe"), add_user_defined=["a b"])
    new = edited(trained("bpe"), add_user_defined=["zq▁zq"]).model
    assert "zq▁zq" in processor(new).encode("a zq zq", out_type=str) or "zq▁zq" in processor(
        new
    ).encode("azq zq", out_type=str)


@pytest.mark.parametrize("option", ["add", "add_control", "add_user_defined"])
def test_a_duplicate_is_refused(option: str) -> None:
    model = trained("unigram")
    refused(f"bad-edit ▁the {_id(model, '▁the')}", model, **{option: ["▁the"]})
    refused("bad-edit <q>", model, **{option: ["<q>", "<q>"]})
    refused("bad-edit <q>", model, add_control=["<q>"], add_user_defined=["<q>"])
    refused("bad-edit add", model, **{option: [""]})


def _id(model: ModelProto, text: str) -> int:
    return by_text(model)[text][0]


def test_pieces_that_sentencepiece_would_not_load_are_refused() -> None:
    model = trained("unigram")
    refused("bad-model U+0000", model, add_user_defined=["a\0b"])
    refused("bad-model", model, add_control=["x" * 8000])
    edited(model, add_control=["x" * 7999])


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_scores_of_added_pieces_differ_below_a_score_of_a_billion(model_type: str) -> None:
    """Near -1e9, float32 can only represent every 64th whole number."""
    model = ModelProto()
    model.CopyFrom(trained(model_type))
    model.pieces[-1].score = -1e9
    added = by_text(edited(model, add=["Ж", "Ю"]).model)
    assert -1e9 > added["Ж"][1].score > added["Ю"][1].score


def test_scores_stop_at_the_lowest_number() -> None:
    model = ModelProto()
    model.CopyFrom(trained("bpe"))
    model.pieces[50].score = -3.4028234663852886e38
    refused("bad-value -3.40282e+38", model, add=["Ж"])
    model.pieces[50].score = -3.4e38
    assert by_text(edited(model, add=["Ж"]).model)["Ж"][1].score < -3.4e38


def test_word_and_char_models_take_words_and_characters() -> None:
    refused("bad-edit ab", trained("char"), add=["ab"])
    refused("bad-edit word", trained("word"), add=["▁ab▁cd"])
    assert processor(edited(trained("char"), add=["Ж"]).model).encode("Ж", out_type=str)[-1] == "Ж"
    new = edited(trained("word"), add=["▁Жq"]).model
    assert processor(new).id_to_piece(processor(new).encode("Жq")) == ["▁Жq"]


def test_a_word_model_gets_a_symbol_with_and_without_the_space_mark() -> None:
    # A word model that sentencepiece 0.2.3 trains also contains each symbol in both forms.
    new = edited(trained("word"), add_user_defined=["<q>"]).model
    assert processor(new).id_to_piece(processor(new).encode("a <q>"))[-1] == "▁<q>"
    assert {"<q>", "▁<q>"} <= by_text(new).keys()
    edited(trained("word"), add_user_defined=["<q>", "▁<q>"])


def test_both_forms_of_a_symbol_of_a_word_model_are_removed_and_renamed() -> None:
    model = trained("word", user_defined_symbols=("SYM",))
    forms = {text: by_text(model)[text][0] for text in ("SYM", "▁SYM")}
    text = "SYM a SYM"

    new = edited(model, remove=["SYM"]).model
    assert not {*forms.values()} & {*processor(new).encode(text)}
    assert list(new.trainer_spec.user_defined_symbols) == []
    result = edited(model, rename={"SYM": "GYM"})
    assert result.ids == {"GYM": forms["SYM"], "▁GYM": forms["▁SYM"]}
    assert list(result.model.trainer_spec.user_defined_symbols) == ["GYM"]

    # A form that another edit names is changed only by that edit.
    new = edited(model, remove=["SYM", "▁SYM"]).model
    assert not {*forms.values()} & {*processor(new).encode(text)}
    new = edited(model, remove=["SYM"], rename={"▁SYM": "▁GYM"}).model
    assert by_text(new)["▁GYM"][0] == forms["▁SYM"]
    new = edited(model, remove=["▁SYM"]).model
    assert by_text(new)["SYM"] == by_text(model)["SYM"]
    new = edited(model, rename={"SYM": "▁GYM"}).model
    assert by_text(new)["▁SYM"] == by_text(model)["▁SYM"]
    assert edited(model, remove=["SYM"], add_user_defined=["SYM"]).model == model


def test_a_null_piece_that_sentencepiece_ignores_stays() -> None:
    # google/sentencepiece#1308
    model = ModelProto()
    model.CopyFrom(trained("bpe", byte_fallback=True))
    model.pieces.add(piece="\0", score=-999)
    assert by_text(edited(model, add_control=["<c>"]).model)["\0"] == by_text(model)["\0"]


def test_placeholders_that_are_normal_pieces_are_taken_too() -> None:
    model = ModelProto()
    model.CopyFrom(trained("unigram"))
    model.pieces.add(piece="[unused7]", score=-9)
    assert edited(model, add=["Ж"], use_unused=True).ids == {"Ж": len(model.pieces) - 1}


@pytest.mark.parametrize("model_type", CUT)
def test_pieces_that_hold_a_new_symbol_are_named(model_type: str) -> None:
    model = trained(model_type)
    result = edited(model, remove=["in"], add_user_defined=["in"])
    holders = {p.text for p in pieces_of(model) if p.type == NORMAL and "in" in p.text} - {"in"}
    assert set(result.unreachable) | set(result.covering) == holders
    encoded = processor(result.model).encode(lines(), out_type=str)
    used = {token for line in encoded for token in line}
    assert not used & set(result.unreachable)
    # A Unigram model may prefer a piece with a high score to the symbol that the piece contains.
    assert bool(used & set(result.covering)) == bool(result.covering) == (model_type == "unigram")


def test_a_unigram_model_may_prefer_pieces_that_overlap_a_symbol() -> None:
    new = edited(trained("unigram"), add_user_defined=["at▁"]).model
    assert processor(new).encode("at the", out_type=str) == ["▁", "at", "▁the"]


# ---------------------------------------------------------------- remove


@pytest.mark.parametrize("model_type", TYPES)
def test_a_removed_piece_keeps_its_id_and_is_never_used(model_type: str) -> None:
    model = trained(model_type)
    gone = "e" if model_type == "char" else "▁the"
    new = edited(model, remove=[gone]).model
    piece_id, piece = by_text(model)[gone]
    assert by_text(new)[gone] == (piece_id, piece._replace(type=UNUSED))
    assert_others_stay(model, new, {gone})
    before, after = processor(model).encode(lines()), processor(new).encode(lines())
    assert not any(piece_id in line for line in after)
    for old, now in zip(before, after, strict=True):
        assert old == now or piece_id in old
    assert processor(new).decode([piece_id]) == processor(model).decode([piece_id])


def test_what_is_merged_from_a_removed_piece_is_merged_as_before() -> None:
    model = trained("bpe")
    new = edited(model, remove=["▁th"]).model
    assert processor(new).encode("the this that", out_type=str) == processor(model).encode(
        "the this that", out_type=str
    )
    assert "▁th" not in processor(new).encode("th", out_type=str)


@pytest.mark.parametrize("model_type", CUT)
def test_adding_a_removed_piece_brings_the_model_back(model_type: str) -> None:
    model = trained(model_type)
    first = next(piece for piece in pieces_of(model) if piece.type == NORMAL).text
    for text in (first, "▁the", "ing"):
        removed = edited(model, remove=[text]).model
        assert edited(removed, add=[text]).model == model


def test_the_type_of_a_piece_changes_by_removing_and_adding() -> None:
    model = trained("bpe")
    new = edited(model, remove=["▁the"], add_user_defined=["▁the"]).model
    assert by_text(new)["▁the"] == (_id(model, "▁the"), ("▁the", 0.0, USER_DEFINED))
    assert processor(new).encode("other theory", out_type=str)[-2:] != ["▁theory"]
    assert "▁the" in processor(new).encode("other theory", out_type=str)
    back = edited(new, remove=["▁the"], add=["▁the"]).model
    assert by_text(back)["▁the"][1].score < lowest_score(pieces_of(model))


def test_a_removed_symbol_of_a_bpe_model_is_merged_last() -> None:
    model = trained("bpe", user_defined_symbols=("ab",))
    new = edited(model, remove=["ab"]).model
    assert by_text(new)["ab"][1].score < lowest_score(pieces_of(model))
    assert list(new.trainer_spec.user_defined_symbols) == []
    assert "ab" not in processor(new).encode("cab about", out_type=str)


@pytest.mark.parametrize("model_type", TYPES)
def test_what_a_model_needs_is_not_removed(model_type: str) -> None:
    model = trained(model_type)
    refused("bad-edit <unk>", model, remove=["<unk>"])
    if model_type in CUT:
        model = trained(model_type, byte_fallback=True)
        refused("bad-edit <0x41>", model, remove=["<0x41>"])
        refused("bad-edit <0x41>", model, rename={"<0x41>": "A"})


def test_bos_can_be_removed() -> None:
    new = edited(trained("unigram"), remove=["<s>"]).model
    assert processor(new).bos_id() == new.trainer_spec.bos_id == -1


def test_names_that_do_not_exist_are_refused_with_near_ones() -> None:
    model = trained("unigram")
    refused("bad-edit --remove the ▁the", model, remove=["the"])
    refused("bad-edit ▁the", model, rename={" the": "x"})
    refused("bad-edit --set_score functon", model, set_score={"functon": -1.0})
    refused("bad-edit <unk>", model, rename={"unk": "x"})


def test_two_edits_of_one_piece_are_refused() -> None:
    model = trained("unigram")
    refused("bad-edit", model, remove=["▁the", "▁the"])
    refused("bad-edit ▁the", model, remove=["▁the"], rename={"▁the": "▁teh"})
    refused("bad-edit ▁the", model, remove=["▁the"], set_score={"▁the": -3.0})
    removed = edited(model, remove=["▁the"]).model
    refused("bad-edit ▁the", removed, remove=["▁the"])


# ---------------------------------------------------------------- rename


@pytest.mark.parametrize("model_type", TYPES)
def test_meta_pieces_are_renamed_in_the_options_too(model_type: str) -> None:
    model = trained(model_type, control_symbols=("<c>",), user_defined_symbols=("<u>",))
    names = {"<unk>": "[UNK]", "<s>": "[BOS]", "</s>": "[EOS]", "<c>": "[C]", "<u>": "[U]"}
    new = edited(model, rename=names).model
    spec = new.trainer_spec
    assert (spec.unk_piece, spec.bos_piece, spec.eos_piece) == ("[UNK]", "[BOS]", "[EOS]")
    assert list(spec.control_symbols) == ["[C]"]
    assert list(spec.user_defined_symbols) == ["[U]"]
    for old, text in names.items():
        assert by_text(new)[text] == (_id(model, old), by_text(model)[old][1]._replace(text=text))
    assert (processor(new).unk_id(), processor(new).bos_id(), processor(new).eos_id()) == (0, 1, 2)
    assert_others_stay(model, new, {*names, "▁<u>"})


def test_a_normal_piece_is_renamed_with_its_score() -> None:
    model = trained("unigram")
    new = edited(model, rename={"▁the": "▁qxqxq"}).model
    assert by_text(new)["▁qxqxq"] == (
        _id(model, "▁the"),
        by_text(model)["▁the"][1]._replace(text="▁qxqxq"),
    )


def test_two_pieces_can_swap_their_texts() -> None:
    model = trained("unigram")
    new = edited(model, rename={"▁the": "▁of", "▁of": "▁the"}).model
    assert (_id(new, "▁of"), _id(new, "▁the")) == (_id(model, "▁the"), _id(model, "▁of"))


def test_renaming_to_an_existing_piece_is_refused() -> None:
    model = trained("unigram")
    refused("bad-edit --rename ▁of", model, rename={"▁the": "▁of"})
    refused("bad-edit --reorder_ids", model, rename={"▁the": "▁of"}, remove=["▁of"])
    refused("bad-edit --rename ▁the", model, rename={"▁the": ""})


def test_renaming_what_others_are_merged_from_is_refused() -> None:
    refused("bad-edit ▁this", trained("bpe"), rename={"▁th": "▁q"})


# ---------------------------------------------------------------- scores


@pytest.mark.parametrize("model_type", CUT)
@pytest.mark.parametrize("score", [0.0, 1.0, math.inf, math.nan, -1e39])
def test_impossible_scores_are_refused(model_type: str, score: float) -> None:
    refused("bad-edit --set_score ▁the", trained(model_type), set_score={"▁the": score})


def test_a_score_is_stored_as_float32() -> None:
    new = edited(trained("unigram"), set_score={"▁the": -3.3}).model
    assert by_text(new)["▁the"][1].score == pytest.approx(-3.3, rel=1e-7)


def test_scores_of_other_types_are_refused() -> None:
    refused("bad-edit --set_score <s> control", trained("bpe"), set_score={"<s>": -1.0})


def test_scores_that_leave_a_piece_without_use_are_refused() -> None:
    model = trained("unigram")
    refused("bad-edit ▁the", model, set_score={"▁the": -300.0})
    refused("bad-edit ing", model, set_score=dict.fromkeys("ing", -0.01))


# ---------------------------------------------------------------- ids


def test_new_pieces_take_unused_ids_and_placeholders() -> None:
    # Published models (BERT, Gemma) contain pieces such as <unused0> for users to replace.
    model = trained(
        "unigram", user_defined_symbols=("<unused0>", "[unused1]"), control_symbols=("<c>",)
    )
    removed = edited(model, remove=["▁the"]).model
    result = edited(
        removed, add_control=["<a>"], add_user_defined=["<b>"], add=["Ж"], use_unused=True
    )
    ids = [_id(model, text) for text in ("<unused0>", "[unused1]", "▁the")]
    assert result.ids == dict(zip(("<a>", "<b>", "Ж"), ids, strict=True))
    assert len(result.model.pieces) == len(model.pieces)
    assert list(result.model.trainer_spec.user_defined_symbols) == ["<b>"]
    assert list(result.model.trainer_spec.control_symbols) == ["<c>", "<a>"]
    assert result.model.trainer_spec.vocab_size == model.trainer_spec.vocab_size
    assert_others_stay(model, result.model, {"<unused0>", "[unused1]", "▁the"})
    refused("bad-edit --use_unused 4 3", removed, add=list("ЖЩЮЯ"), use_unused=True)


def test_ids_of_pieces_that_others_are_merged_from_are_not_taken() -> None:
    model = edited(trained("bpe"), remove=["▁th"]).model
    refused("bad-edit --use_unused 1 0", model, add=["Ж"], use_unused=True)


@pytest.mark.parametrize("model_type", CUT)
def test_reordered_ids_have_no_gaps_and_follow_the_scores(model_type: str) -> None:
    model = trained(model_type, pad_id=300)
    texts = [p.text for p in pieces_of(model) if p.type == NORMAL]
    gone = [one for one in texts if len(one) > 3 and sum(one in other for other in texts) == 1][:9]
    new = edited(model, remove=gone, add=["Ж"], add_control=["<c>"], reorder_ids=True).model
    pieces = pieces_of(new)
    assert len(pieces) == len(model.pieces) - len(gone) + 2 == new.trainer_spec.vocab_size
    assert [p.text for p in pieces[:5]] == ["<unk>", "<s>", "</s>", "<pad>", "<c>"]
    scores = [p.score for p in pieces[5:]]
    assert scores == sorted(scores, reverse=True)
    assert processor(new).pad_id() == new.trainer_spec.pad_id == 3
    left = {p for p in pieces_of(model) if p.text not in gone}
    assert left <= set(pieces)


def test_dropping_what_others_are_merged_from_is_refused() -> None:
    refused("bad-edit", trained("bpe"), remove=["▁th"], reorder_ids=True)


# ---------------------------------------------------------------- other fields


def test_all_other_fields_stay() -> None:
    model = ModelProto()
    model.CopyFrom(trained("unigram", normalization_rule_name="nfkc"))
    unknown = ModelProto.FromString(model.SerializeToString() + b"\xc2\x3e\x03abc")
    unknown.pieces[5].MergeFromString(b"\xc2\x3e\x01x")
    new = edited(unknown, add_control=["<c>"]).model
    assert new.SerializeToString().endswith(b"\xc2\x3e\x03abc")
    assert new.pieces[5] == unknown.pieces[5]
    assert new.pieces[5].SerializeToString().endswith(b"\xc2\x3e\x01x")
    assert new.normalizer_spec == model.normalizer_spec
    new.trainer_spec.ClearField("control_symbols")
    new.trainer_spec.vocab_size = model.trainer_spec.vocab_size
    assert new.trainer_spec == model.trainer_spec


def test_samples_for_self_tests_are_dropped() -> None:
    model = trained("unigram", compat="0.2.0", self_test_sample_size=5)
    assert len(model.self_test_data.samples) == 5
    result = edited(model, add_control=["<c>"])
    assert result.dropped_samples == 5
    assert not result.model.HasField("self_test_data")


def test_fields_with_their_default_stay_stored() -> None:
    model = ModelProto()
    model.CopyFrom(trained("bpe"))
    model.pieces[9].type = NORMAL
    new = edited(model, add_control=["<c>"]).model
    assert new.pieces[9].HasField("type")
    assert new.trainer_spec.model_type == TrainerSpec.BPE
