"""Groups of gold words equal plain sets, and their intervals equal those of a naive bootstrap."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmcompat.tools.evaluate.bootstrap import Bootstrap
from spmcompat.tools.evaluate.gold import GoldWord, boundaries
from spmcompat.tools.evaluate.gold_groups import (
    NOT_COMPARED,
    SOME_WHOLE,
    UNSCORED,
    WHOLE,
    GoldGroup,
    WordCounts,
    count_listed_words,
    group_words,
)
from tests.oracle.morphology import ends
from tests.oracle.resampling import interval_of

GOLD = "walk ing|un do ing|cat s|dog s|talk ed|house|run s|jump s|re play"
CUTS = {
    "one": "walk ing|un do ing|cat s|do gs|ta lked|hou se|runs|jumps|re play",
    "two": "walk ing|undo ing|ca ts|dog s|ta lked|house|run s|jumps|rep lay",
    "three": "wal k ing|u n do ing|ca ts|d ogs|ta l ked|house|run s|jumps|re p lay",
}
TEXT = "cats cats dogs, dogs walking house\n\nundoing walking walking replay Cats\n"


def words_of(line: str) -> list[GoldWord]:
    return [
        GoldWord(parts.replace(" ", ""), boundaries(parts.split())) for parts in line.split("|")
    ]


def cuts_of(line: str) -> list[frozenset[int]]:
    return [boundaries(parts.split()) for parts in line.split("|")]


def grouped(bootstrap: Bootstrap | None = None) -> dict[str, GoldGroup]:
    words = words_of(GOLD)
    counted = count_listed_words(TEXT.encode().splitlines(), frozenset(word.text for word in words))
    cuts = [cuts_of(line) for line in CUTS.values()]
    found = group_words(words, [*CUTS], cuts, counted, bootstrap)
    return {group.name: group for group in found}


def test_each_word_is_in_the_group_of_the_models_that_find_it() -> None:
    groups = grouped()
    assert {name: group.words for name, group in groups.items()} == {
        "all": 1,
        "only one": 1,
        "only two": 1,
        "only three": 0,
        "none": 1,
        "all but two": 2,
        SOME_WHOLE: 1,
        WHOLE: 1,
        UNSCORED: 1,
    }
    assert [e.word for e in groups["all but two"].examples] == ["replay", "undoing"]
    assert groups["only two"].examples[0].parts == (("do", "gs"), ("dog", "s"), ("d", "ogs"))
    assert groups["only two"].examples[0].gold == ("dog", "s")


def test_shares_count_words_between_white_space() -> None:
    groups = grouped()
    total = len(TEXT.split())
    assert groups["all"].share == pytest.approx(3 / total)
    # "dogs," and "Cats" in the text are not the gold words "dogs" and "cats".
    assert groups["only two"].share == pytest.approx(1 / total)
    assert groups["only one"].share == pytest.approx(2 / total)
    assert groups["all but two"].share == pytest.approx(2 / total)
    assert groups["only three"].share == 0
    assert groups["all"].examples[0].share == pytest.approx(3 / total)


def test_two_models_and_one_model_have_no_other_combinations() -> None:
    words, cuts = words_of(GOLD), cuts_of(GOLD)
    text = WordCounts(Counter(), 0)
    two = [group.name for group in group_words(words, ["a", "b"], [cuts, cuts], text)]
    assert two == ["all", "only a", "only b", "none", UNSCORED]
    (every, none, _) = group_words(words, ["a"], [cuts], text)
    assert (every.name, every.words, none.name, none.words) == ("all", 8, "none", 0)
    assert every.share != every.share  # NaN: the text has no words


def test_combinations_of_many_models_have_the_shorter_name() -> None:
    word = [GoldWord("walking", frozenset({4}))]
    hit, miss = [frozenset({4})], [frozenset({3})]
    text = WordCounts(Counter(), 1)
    models = ["a", "b", "c", "d", "e"]

    def name(cuts: list[list[frozenset[int]]]) -> str:
        (found,) = [g.name for g in group_words(word, models, cuts, text) if g.words]
        return found

    assert name([hit, hit, miss, miss, miss]) == "a, b"
    assert name([hit, miss, hit, miss, hit]) == "all but b, d"
    assert name([miss, miss, miss, miss, hit]) == "only e"


MORPHS = st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=4)


@given(
    st.lists(
        st.tuples(MORPHS, st.lists(st.sets(st.integers(1, 11)), min_size=3, max_size=3)),
        max_size=12,
        unique_by=lambda drawn: "".join(drawn[0]),
    ),
    st.lists(st.text("ab", min_size=1, max_size=4), max_size=30),
)
def test_groups_follow_their_definition(
    drawn: list[tuple[list[str], list[set[int]]]], text: list[str]
) -> None:
    models = ["x", "y", "z"]
    words = [GoldWord("".join(morphs), boundaries(morphs)) for morphs, _ in drawn]
    cuts = [
        [
            frozenset(cut for cut in of_word[i] if cut < len(word.text))
            for word, (_, of_word) in zip(words, drawn, strict=True)
        ]
        for i in range(3)
    ]
    counted = count_listed_words([" ".join(text).encode()], frozenset(word.text for word in words))
    expected: dict[object, list[str]] = defaultdict(list)
    for i, (morphs, _) in enumerate(drawn):
        gold = ends(morphs)[:-1]
        whole = [not cut[i] for cut in cuts]
        if len(morphs) not in (2, 3):
            expected[UNSCORED].append("".join(morphs))
        elif any(whole):
            expected[WHOLE if all(whole) else SOME_WHOLE].append("".join(morphs))
        else:
            finders = [m for m, cut in zip(models, cuts, strict=True) if {*gold} <= cut[i]]
            expected[frozenset(finders)].append("".join(morphs))
    names = {"all": {*models}, "none": set()} | {f"only {model}": {model} for model in models}
    names |= {f"all but {model}": {*models} - {model} for model in models}
    found = group_words(words, models, cuts, counted)
    assert sum(group.words for group in found) == len(words)
    for group in found:
        key = group.name if group.name in NOT_COMPARED else frozenset(names[group.name])
        members = expected[key]
        assert group.words == len(members)
        share = sum(text.count(word) for word in members) / len(text) if text else float("nan")
        assert group.share == pytest.approx(share, nan_ok=True)
        by_use = sorted(members, key=lambda word: (-text.count(word), word))
        assert [example.word for example in group.examples] == by_use[:3]


def test_intervals_are_those_of_a_naive_bootstrap() -> None:
    settings = Bootstrap(50, 7, 80.0)
    groups = grouped(settings)
    words = [word.text for word in words_of(GOLD)]
    members = {"only one": ["cats"], "all but two": ["undoing", "replay"], WHOLE: ["jumps"]}
    total = len(TEXT.split())
    uses = Counter(TEXT.split())
    for name, own in members.items():

        def size(drawn: list[object], own: list[str] = own) -> float:
            return sum(word in own for word in drawn)

        def share(drawn: list[object], own: list[str] = own) -> float:
            return sum(uses[str(word)] for word in drawn if word in own) / total

        for statistic, both in (
            (size, groups[name].words_interval),
            (share, groups[name].share_interval),
        ):
            assert both == pytest.approx(interval_of(words, statistic, 50, 7, 80.0))
    assert grouped()["all"].words_interval is None


def test_parts_of_a_word() -> None:
    word = GoldWord("undoing", frozenset({2, 4}))
    assert word.parts(word.boundaries) == ["un", "do", "ing"]
    assert word.parts([]) == ["undoing"]
    for size in range(4):
        for cut in itertools.combinations(range(1, 7), size):
            assert "".join(word.parts(cut)) == "undoing"
            assert boundaries(word.parts(cut)) == frozenset(cut)
