"""The words of gold lists, grouped by the configurations that find their boundaries."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from spmcompat.tools.compare.html import show_interval
from spmcompat.tools.compare.results import Result, by_size
from spmcompat.tools.evaluate.bootstrap import Interval
from spmcompat.tools.evaluate.gold_groups import (
    NOT_COMPARED,
    Example,
    GoldGroup,
    count_listed_words,
    group_words,
)
from spmcompat.tools.evaluate.gold_lists import GoldList

GROUPS = "gold-words.json"
"""The file in the folder of the report that contains all groups."""

_MOST_GROUPS = 25  # the maximum number of groups shown for each gold list and size


class GroupTable(NamedTuple):
    """The groups of the words of one gold list, for the models of one vocabulary size."""

    gold: str
    vocab_size: int
    models: tuple[str, ...]
    groups: tuple[GoldGroup, ...]


def group_gold_words(
    results: Sequence[Result], gold: Sequence[GoldList], text: Path
) -> list[GroupTable]:
    """Group the words of each gold list for each vocabulary size.

    Parameters
    ----------
    results : sequence of Result
        The results, with the same bootstrap.
    gold : sequence of GoldList
        The gold lists of the results.
    text : Path
        The held-out text, in which the words are counted.
    """
    if not gold:
        return []
    wanted = frozenset(word.text for found in gold for word in found.words)
    with open(text, "rb") as file:
        counted = count_listed_words(file, wanted)
    resampled = results[0].evaluation.resampled
    tables = []
    for size, of_size in by_size(results).items():
        names = tuple(result.config for result in of_size)
        for found in gold:
            cuts = [[*map(frozenset, result.gold_cuts[found.name])] for result in of_size]
            bootstrap = None if resampled is None else resampled.settings
            groups = group_words(found.words, names, cuts, counted, bootstrap)
            tables.append(GroupTable(found.name, size, names, tuple(groups)))
    return tables


def groups_as_json(tables: Sequence[GroupTable]) -> str:
    """Return all groups as JSON."""
    document = [
        {
            **table._asdict(),
            "groups": [
                {**_as_json(group), "examples": [*map(_as_json, group.examples)]}
                for group in table.groups
            ],
        }
        for table in tables
    ]
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _as_json(found: GoldGroup | Example) -> dict[str, object]:
    return {**found._asdict(), "share": None if math.isnan(found.share) else found.share}


def gold_words(tables: Sequence[GroupTable]) -> str:
    """Return a heading and a table for each gold list and size, or "" if there is no gold list."""
    if not tables:
        return ""
    return (
        "<h2>Which tokenizers find the boundaries of gold words</h2>"
        "<p>A tokenizer finds the boundaries of a word if it cuts the word at all of them. Only "
        "words with one or two boundaries are compared, and only if no tokenizer keeps the word "
        "whole, because MorphScore does not count whole words. The share is the number of times "
        "that the words occur in the held-out text, divided by the number of all words in it. The "
        "text is split into words at white space only, so a word with a punctuation mark is a "
        f"different word. The examples are the most frequent words. {GROUPS} contains all "
        "groups.</p>" + "".join(map(_table, tables))
    )


def _table(table: GroupTable) -> str:
    names = ("words", "share", "example", "its share", "gold", *table.models)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    shown = [
        group
        for i, group in enumerate(table.groups)
        if i < _MOST_GROUPS or group.name in NOT_COMPARED
    ]
    rows = "".join(_rows(group, len(table.models)) for group in shown)
    hidden = len(table.groups) - len(shown)
    note = f"<p class=note>{hidden:,} smaller groups are not shown.</p>" if hidden > 0 else ""
    return (
        f"<h3>{escape(table.gold)}, {table.vocab_size:,} pieces</h3>"
        f'<div class="wide" tabindex="0"><table><thead><tr><th scope="col">found by</th>{head}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _rows(group: GoldGroup, models: int) -> str:
    """Return the rows of a group, one for each example."""
    span = max(len(group.examples), 1)
    first = (
        f'<th scope="rowgroup" rowspan="{span}">{escape(group.name)}</th>'
        f'<td rowspan="{span}">{group.words:,}{show_interval(group.words_interval, "{:,.0f}")}</td>'
        f'<td rowspan="{span}">{_share(group.share, group.share_interval)}</td>'
    )
    if not group.examples:
        return f"<tr>{first}{'<td>–</td>' * (models + 3)}</tr>"
    examples = [
        f"<td class=cut>{escape(example.word)}</td><td>{_share(example.share)}</td>"
        + "".join(
            f"<td class=cut>{show_parts(parts)}</td>" for parts in (example.gold, *example.parts)
        )
        for example in group.examples
    ]
    return "".join(f"<tr>{first if i == 0 else ''}{cells}</tr>" for i, cells in enumerate(examples))


def _share(share: float, both: Interval | None = None) -> str:
    if math.isnan(share):
        return "–"
    return f"{share:.4%}{show_interval(both, '{:.4%}')}"


def show_parts(parts: Sequence[str]) -> str:
    """Return the parts of a word as HTML, with vertical bars between them."""
    return "<i>|</i>".join(map(escape, filter(None, parts)))
