"""Groups of gold words in the report and in ``gold-words.json``."""

from __future__ import annotations

import json
import re
from pathlib import Path

from spmcompat.tools.compare.gold_words import (
    GroupTable,
    gold_words,
    group_gold_words,
    groups_as_json,
)
from spmcompat.tools.compare.results import Result
from spmcompat.tools.evaluate.bootstrap import Bootstrap, Interval, Resampled
from spmcompat.tools.evaluate.gold import GoldWord
from spmcompat.tools.evaluate.gold_groups import NOT_COMPARED, GoldGroup
from spmcompat.tools.evaluate.gold_lists import GoldList

from .test_report import Tags, result

WORDS = (
    GoldWord("undo", frozenset({2})),
    GoldWord("cats", frozenset({3})),
    GoldWord("<b>s", frozenset({3})),
)
LISTS = [GoldList("a<b.tsv", WORDS, {})]


def results(size: int = 100) -> list[Result]:
    cuts = {"one": ((2,), (3,), ()), "two": ((2,), (1, 2), (3,))}
    return [
        result(name, 10, size=size, gold_cuts={"a<b.tsv": offsets})
        for name, offsets in cuts.items()
    ]


def tables(tmp_path: Path, made: list[Result]) -> list[GroupTable]:
    (tmp_path / "text").write_text("undo cats\nundo x\n\n<b>s undo,\n")
    return group_gold_words(made, LISTS, tmp_path / "text")


def test_there_is_a_table_for_each_size(tmp_path: Path) -> None:
    found = tables(tmp_path, [*results(100), *results(200)])
    assert [(table.gold, table.vocab_size) for table in found] == [
        ("a<b.tsv", 100),
        ("a<b.tsv", 200),
    ]
    assert found[0].models == ("one", "two")
    assert {g.name: (g.words, g.share) for g in found[0].groups} == {
        "all": (1, 2 / 6),
        "only one": (1, 1 / 6),
        "only two": (0, 0.0),
        "none": (0, 0.0),
        "a single token in some models": (1, 1 / 6),
    }
    assert group_gold_words(results(), [], tmp_path / "nowhere") == []


def test_the_report_shows_each_group_with_examples(tmp_path: Path) -> None:
    html = gold_words(tables(tmp_path, results()))
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert "<h3>a&lt;b.tsv, 100 pieces</h3>" in html
    row = re.search(r"<tr><th [^>]*>only one</th>(.*?)</tr>", html)
    assert row
    assert re.findall(r"<td[^>]*>(.*?)</td>", row[1]) == [
        *("1", "16.6667%", "cats", "16.6667%"),
        *("cat<i>|</i>s", "cat<i>|</i>s", "c<i>|</i>a<i>|</i>ts"),
    ]
    assert "&lt;b&gt;<i>|</i>s" in html
    empty = re.search(r"<tr><th [^>]*>only two</th>(.*?)</tr>", html)
    assert empty
    assert re.findall(r"<td[^>]*>(.*?)</td>", empty[1]) == ["0", "0.0000%", *"–––––"]
    assert gold_words([]) == ""


def test_json_contains_all_groups(tmp_path: Path) -> None:
    (table,) = json.loads(groups_as_json(tables(tmp_path, results())))
    assert (table["gold"], table["vocab_size"], table["models"]) == ("a<b.tsv", 100, ["one", "two"])
    group = {group["name"]: group for group in table["groups"]}["only one"]
    assert (group["words"], group["share"], group["words_interval"]) == (1, 1 / 6, None)
    parts = [["cat", "s"], ["c", "a", "ts"]]
    example = {"word": "cats", "share": 1 / 6, "gold": ["cat", "s"], "parts": parts}
    assert group["examples"] == [example]


def test_a_text_without_words_has_no_shares(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n")
    found = group_gold_words(results(), LISTS, tmp_path / "text")
    (table,) = json.loads(groups_as_json(found), parse_constant=lambda name: name)
    assert table["groups"][0]["share"] is None
    assert table["groups"][0]["examples"][0]["share"] is None
    assert "nan" not in gold_words(found)


def test_intervals_use_the_bootstrap_of_the_results(tmp_path: Path) -> None:
    resampled = Resampled(Bootstrap(100), 50, 1, {}, {})
    made = [r._replace(evaluation=r.evaluation._replace(resampled=resampled)) for r in results()]
    groups = tables(tmp_path, made)
    both = groups[0].groups[0].words_interval
    assert isinstance(both, Interval)
    assert f"1<small>{both.low:,.0f} to {both.high:,.0f}</small>" in gold_words(groups)


def test_small_combinations_are_not_shown() -> None:
    def group(name: str) -> GoldGroup:
        return GoldGroup(name, 1, 0.5, ())

    names = [f"group {i}" for i in range(30)]
    table = GroupTable("a", 9, ("m",), tuple(map(group, [*names, *NOT_COMPARED])))
    html = gold_words([table])
    assert "<p class=note>5 smaller groups are not shown.</p>" in html
    assert "group 24<" in html
    assert "group 25<" not in html
    assert all(name in html for name in NOT_COMPARED)
    assert "group 29" in groups_as_json([table])
