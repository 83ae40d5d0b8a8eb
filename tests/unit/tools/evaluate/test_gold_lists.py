"""Gold lists in each format, and the rows that are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.errors import BadValueError
from spmcompat.tools.evaluate.gold_lists import (
    GoldList,
    read_gold,
    read_gold_lists,
    split_subset,
)
from tests.kinds import raises_kind
from tests.oracle.morphology import ends

MORPHSCORE_2 = "wordform,stem,lemma,preceding_part,following_part"
LADEC = "id_master,c1,c2,stim,correctParse"


def read(folder: Path, *lines: str) -> GoldList:
    path = folder / "gold"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_gold(path)


def segmented(found: GoldList) -> list[str]:
    """Return each word with spaces at its boundaries."""
    return [
        "".join(" " * (i in word.boundaries) + c for i, c in enumerate(word.text))
        for word in found.words
    ]


def test_only_the_first_line_of_a_word_counts(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_bytes("\ufeffwalking\twalk ing\n\nwalking\twal king\nhouse\thouse\r\n".encode())
    found = read_gold(path)
    assert segmented(found) == ["walk ing", "house"]
    assert found.summary == "gold.tsv: 2 words; left out: 1 row with a word of an earlier row"


def test_boundaries_are_the_ends_of_the_morphs(tmp_path: Path) -> None:
    morphs = ["un", "\u5b57\U00020000", "a"]
    (word,) = read(tmp_path, f"{''.join(morphs)}\t{' '.join(morphs)}").words
    assert sorted(word.boundaries) == ends(morphs)[:-1]


def test_morphscore_1(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "",
        ",full_word,pt1,rest",
        "0,walked,walk,ed",
        "",
        "1,it,it,",
        "2,ran,run,ed",
        '3,"a,b","a,",b',
    )
    assert segmented(found) == ["walk ed", "a, b"]
    assert found.left_out == {
        "with an empty part": 1,
        "with parts that do not join to the word": 1,
    }


def test_morphscore_2_takes_the_rows_of_the_published_code(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        f"{MORPHSCORE_2},unique,language",
        "Walked,walk,walk,,ed,unique,eng_latn",
        "undoing,do,do,un,ing,unique,eng_latn",
        "house,house,house,,,unique,eng_latn",
        "talked,talk,talk,,ed,duplicate,eng_latn",
        "ran,ran,run,,,unique,eng_latn",
        "7th,7,7,,th,unique,eng_latn",
        "\u0663th,\u0663,\u0663,,th,unique,eng_latn",
        "makes,mak,mak,,ing,unique,eng_latn",
        "per se,per,per,, se,unique,eng_latn",
    )
    assert segmented(found) == ["Walk ed", "un do ing", "house"]
    assert found.left_out == {
        "not marked as unique": 1,
        "with a stem other than the lemma": 1,
        "with a digit in the word": 2,
        "with parts that do not join to the word": 1,
        "with white space in the word": 1,
    }


def test_morphscore_2_without_further_columns_and_with_tabs(tmp_path: Path) -> None:
    found = read(tmp_path, MORPHSCORE_2.replace(",", "\t"), "cats\tcat\tcat\t\ts")
    assert segmented(found) == ["cat s"]
    assert found.summary == "gold: 1 word"


def test_morphscore_2_holds_one_language(tmp_path: Path) -> None:
    lines = [f"{MORPHSCORE_2},language", "cats,cat,cat,,s,eng_latn", "chats,chat,chat,,s,fra_latn"]
    with raises_kind("bad-word-list gold:3 eng_latn fra_latn"):
        read(tmp_path, *lines)


def test_ladec_takes_correct_parses(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        LADEC,
        "1,bake,shop,bakeshop,yes",
        "2,bakes,hop,bakeshop,no",
        "3,snow,ball,snowball,1",
        "4,car,pet,carpet,",
        "5,,pet,pet,yes",
    )
    assert segmented(found) == ["bake shop", "snow ball"]
    assert found.left_out == {"not marked as the correct parse": 2, "with an empty part": 1}


def test_derivational_lists_of_morphynet_cut_where_the_affix_ends(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "China\tChinese\tN\tN\tese\tsuffix",
        "Gang\tVorgang\tN\tN\tvor\tprefix",
        "Krankheit\tKrankheitswelle\tN\tN\ts\tsuffix",
        "a\tab\tN\tN\tab\tsuffix",
        "a\tb a\tN\tN\tb\tprefix",
        "a\taba\tN\tN\tb\tinterfix",
    )
    assert segmented(found) == ["Chin ese", "Vor gang"]
    assert found.left_out == {
        "with an affix that is not at that end of the word": 2,
        "with white space in the word": 1,
        "with neither a prefix nor a suffix": 1,
    }


def test_a_derived_word_has_the_boundaries_of_all_its_rows(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "happy\tunhappy\tJ\tJ\tun\tprefix",
        "unhappy\tunhappiness\tJ\tN\tness\tsuffix",
        "happiness\tunhappiness\tN\tN\tun\tprefix",
    )
    assert segmented(found) == ["un happy", "un happi ness"]
    assert found.left_out == {}


def test_inflectional_lists_of_morphynet_need_parts_that_join(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "cat\tcats\tN|PL\tcat|s",
        "mouse\tmice\tN|PL\tmouse|s",
        "sheep\tsheep\tN|PL\t-",
        "Haus\tHauses\tN|GEN\thaus|es",
        "cat\tcats\tN|GEN\tca|ts",
    )
    assert found.format == "MorphyNet, inflectional"
    assert segmented(found) == ["cat s", "Haus es"]
    assert found.left_out == {
        "with parts that do not join to the word": 2,
        "with a word of an earlier row": 1,
    }


def test_morpholex(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "ELP_ItemID,Word,POS,MorphoLexSegm",
        "1,lovely,JJ,{(love)}>ly>",
        "2,unlikely,JJ,{<un<{(like)}>ly>}",
        "3,footballer,NN,{(foot)}{(ball)}>er>",
        "4,socialism,NN,{{(soci)>al>}>ism>}",
        "5,AIDS,NN,{(aid)>s>}",
        "6,rerun,NN,{<re<(run)}",
        "7,happily,RB,{(happy)}>ly>",
        "8,broken,JJ,{(brok>en>}",
        "9,empty,JJ,",
        '10,"a b",NN,{(a)}{(b)}',
    )
    assert found.format == "MorphoLex"
    assert segmented(found) == [
        *("love ly", "un like ly", "foot ball er", "soci al ism", "AID S", "re run")
    ]
    assert [word.stem for word in found.words] == [(0, 4), (2, 6), None, (0, 4), (0, 3), (2, 5)]
    assert found.left_out == {
        "with parts that do not join to the word": 1,
        "with a segmentation that cannot be read": 2,
        "with white space in the word": 1,
    }


def test_morpholex_with_tabs(tmp_path: Path) -> None:
    found = read(tmp_path, "Word\tMorphoLexSegm", "lovely\t{(love)}>ly>")
    assert segmented(found) == ["love ly"]


def test_dagobert_cuts_around_the_base(tmp_path: Path) -> None:
    text = "||| ... |||a text with ___ and ,|||..."
    found = read(
        tmp_path,
        f"books|||unlikely|||like{text}",
        f"books|||unlikely|||like{text}",
        f"books|||readable|||read{text}",
        f"books|||prewar|||war{text}",
        f"books|||happiness|||happy{text}",
        f"books|||none|||{text}",
        f"books|||anana|||ana{text}",
    )
    assert found.format == "DagoBERT"
    assert segmented(found) == ["un like ly", "read able", "pre war"]
    assert [word.affixes for word in found.words] == ["both", "suffixes", "prefixes"]
    assert found.left_out == {
        "with a word of an earlier row": 1,
        "with a base that is not in the word": 2,
        "with a base that occurs several times in the word": 1,
    }


def test_subsets_have_only_prefixes_or_only_suffixes(tmp_path: Path) -> None:
    path = tmp_path / "lex.csv"
    rows = [
        *("lovely,{(love)}>ly>", "unlikely,{<un<{(like)}>ly>}", "football,{(foot)}{(ball)}"),
        *("rerun,{<re<(run)}", "non,{(non)}", "happily,{(happy)}>ly>", "unrerun,{<un<<re<(run)}"),
    ]
    path.write_text("\n".join(["Word,MorphoLexSegm", *rows]) + "\n")
    whole, prefixes, suffixes = read_gold_lists([str(path), f"{path}:prefixes", f"{path}:suffixes"])
    assert len(whole.words) == 6
    assert segmented(prefixes) == ["re run", "un re run"]
    assert segmented(suffixes) == ["love ly"]
    assert [found.name for found in (whole, prefixes)] == ["lex.csv", "lex.csv:prefixes"]
    assert prefixes.left_out == {
        "with parts that do not join to the word": 1,
        "with other affixes": 4,
    }
    assert split_subset("a:b:prefixes") == ("a:b", "prefixes")
    assert split_subset(":prefixes") == (":prefixes", "")
    assert split_subset("a.csv") == ("a.csv", "")


def test_derivations_of_morphynet_and_morphscore_2_have_subsets(tmp_path: Path) -> None:
    path = tmp_path / "derivations.tsv"
    path.write_text(
        "happy\tunhappy\tJ\tJ\tun\tprefix\nunhappy\tunhappiness\tJ\tN\tness\tsuffix\n"
        "happiness\tunhappiness\tN\tN\tun\tprefix\nread\treader\tV\tN\ter\tsuffix\n"
    )
    one, other = read_gold_lists([f"{path}:prefixes", f"{path}:suffixes"])
    assert (segmented(one), segmented(other)) == (["un happy"], ["read er"])
    assert [word.stem for word in read_gold(path).words] == [(2, 7), (2, 7), (0, 4)]
    path.write_text(f"{MORPHSCORE_2}\nundoing,do,do,un,ing\nwalked,walk,walk,,ed\n")
    (found,) = read_gold_lists([f"{path}:suffixes"])
    assert segmented(found) == ["walk ed"]


def test_a_list_without_stems_or_words_has_no_subset(tmp_path: Path) -> None:
    path = tmp_path / "gold.tsv"
    path.write_text("undo\tun do\n")
    with raises_kind("bad-word-list gold.tsv"):
        read_gold_lists([f"{path}:prefixes"])
    path.write_text("Word\tMorphoLexSegm\nlovely\t{(love)}>ly>\n")
    with raises_kind("bad-word-list gold.tsv"):
        read_gold_lists([f"{path}:prefixes"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["walking"], "bad-word-list gold:1"),
        (["", "walking"], "bad-word-list gold:2"),
        (["x" * 999], "bad-word-list"),
        (["walking\t"], "bad-word-list gold:1"),
        (["\twalk ing"], "bad-word-list gold:1"),
        (["a\ta", "walked\twalk ing"], "bad-word-list gold:2 walked"),
        ([""], "bad-word-list"),
        ([",full_word,pt1"], "bad-word-list gold:1"),
        ([",full_word,pt1,rest"], "bad-word-list"),
        ([",full_word,pt1,rest", "0,it,it,"], "bad-word-list"),
        ([",full_word,pt1,rest", "0,it"], "bad-word-list gold:2 full_word pt1"),
        (
            [",full_word,pt1,rest", "0,walked,walk,ed", '1,"'],
            "bad-word-list gold:3",
        ),
        ([LADEC, "1,bake"], "bad-word-list gold:2 c1 c2"),
        (["a\tab\tN\tN\tb\tsuffix", "a\tab"], "bad-word-list gold:2"),
        (["", ",full_word,pt1,rest", "", "0,walked"], "bad-word-list gold:4 full_word"),
        ([",full_word,pt1,rest", "0,a,b,a,b"], "bad-word-list gold:2 full_word"),
        (["cat\tcats\tN|PL\tcat|s", "cat"], "bad-word-list gold:2"),
        (["a|||b|||b|||x|||y|||z", "a|||b"], "bad-word-list gold:2"),
        (["Word,MorphoLexSegm", "lovely"], "bad-word-list gold:2"),
        (["ab\ta b", "a" * 100_000], "bad-word-list gold:2 65,536"),
    ],
)
def test_a_broken_list_is_an_error(lines: list[str], message: str, tmp_path: Path) -> None:
    with raises_kind(message):
        read(tmp_path, *lines)


def test_a_list_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with raises_kind("cannot-read"):
        read_gold(tmp_path / "nowhere.tsv")
    path = tmp_path / "latin1.tsv"
    path.write_bytes(b"caf\xe9\tcaf \xe9\n")
    with raises_kind("not-utf8 UTF-8", BadValueError):
        read_gold(path)


def test_lists_of_the_same_name_are_named_by_their_paths(tmp_path: Path) -> None:
    paths = [tmp_path / "en.tsv", tmp_path / "old" / "en.tsv", tmp_path / "de.tsv"]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text("a\ta\n")
    given = [str(path) for path in paths]
    assert [found.name for found in read_gold_lists(given)] == [*given[:2], "de.tsv"]
    with raises_kind("usage --gold de.tsv"):
        read_gold_lists([given[2], given[2]])
