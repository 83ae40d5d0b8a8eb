"""The report of a comparison: its contents, and the marks at the best values and differences."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spmcompat.tools.compare import report
from spmcompat.tools.compare.plots import curves
from spmcompat.tools.compare.report import page, tables
from spmcompat.tools.compare.results import Result
from spmcompat.tools.compare.training import SplitTexts
from spmcompat.tools.evaluate.bootstrap import Bootstrap, Interval, Resampled
from spmcompat.tools.evaluate.evaluation import Evaluation
from spmcompat.tools.evaluate.gold import GoldScores, GoldWord, score_boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.languages import LanguageFigures, Languages
from spmcompat.tools.evaluate.models import Token


def result(
    config: str,
    tokens: int,
    loss: float = math.nan,
    size: int = 100,
    *,
    pieces: int | None = None,
    lost: float = 0.0,
    gold: Mapping[str, GoldScores] | None = None,
    gold_cuts: Mapping[str, tuple[tuple[int, ...], ...]] | None = None,
) -> Result:
    evaluation = Evaluation(
        model=f"{config}.model",
        model_type="unigram",
        pieces=size if pieces is None else pieces,
        loss_per_character=loss,
        loss_per_byte=loss,
        renormalized_loss_per_character=loss,
        renormalized_loss_per_byte=loss,
        tokens=tokens,
        words=8,
        tokens_per_word=1.5,
        characters_per_token=3.0,
        bytes_per_token=3.0,
        unknown_rate=0.0,
        lost_characters=lost,
        lost_spaces=0.0,
        byte_piece_rate=0.0,
        renyi_efficiency=0.5,
        renyi_efficiency_observed=0.6,
        whole_words=0.7,
        unused_pieces=3,
        uses=(9, 4, 1, 0),
        gold=gold or {},
    )
    vocabulary = ("a", "b", "c", "ab", "abc")
    tokens = ((Token(7, "un"), Token(8, "do")), (Token(0, "<b>", "unknown"),))
    command = f"train <{config}>"
    return Result(config, size, command, 1.0, 50.0, evaluation, tokens, vocabulary, gold_cuts or {})


@pytest.fixture
def texts(tmp_path: Path) -> SplitTexts:
    for name in ("train", "held"):
        (tmp_path / name).write_text("text\n")
    return SplitTexts(tmp_path / "train", tmp_path / "held", ("undo", "<b>"), "")


@pytest.fixture(autouse=True)
def _few_drawings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw plots only in tests of plots: those of one page take a third of a second."""
    if "drawings" not in request.fixturenames:
        monkeypatch.setattr(report, "_plots", lambda *_: "")


@pytest.fixture
def drawings() -> None:
    """Mark a test of plots."""


class Tags(HTMLParser):
    """Checks that every tag is closed, in the right order."""

    VOID = ("meta", "path", "use", "line", "wbr")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.mark.slow
@pytest.mark.usefixtures("drawings")
def test_the_page_is_complete_and_loads_no_other_file(texts: SplitTexts) -> None:
    html = page(
        [result("one", 10, 1.25), result("two", 12), result("one", 9, 1.0, 200)], texts, "a<b"
    )
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert not re.search(r'(?:src|href)="(?!#)', html)
    assert "Tokenizers on a&lt;b" in html
    assert "train &lt;two&gt;" in html
    assert re.search(r"<span[^>]*>un</span><wbr><span[^>]*>do</span>", html)
    assert "&lt;b&gt;" in html
    assert html.count("<figure>") == 5


def test_the_best_value_of_each_vocabulary_size_is_marked(texts: SplitTexts) -> None:
    html = page(
        [result("one", 10, 1.25), result("two", 8), result("three", 12, 1.5)], texts, "text"
    )
    rows = dict(re.findall(r'<tr><th scope="row">(one|two|three)</th>(.*?)</tr>', html))
    assert re.findall(r"<td class=best .*?>(.*?)</td>", rows["one"]) == ["1.2500", "1.2500"]
    assert re.findall(r"<td class=best .*?>(.*?)</td>", rows["two"]) == ["8"]
    assert "class=best" not in rows["three"]
    assert cells_of(html.split("<h2>100 pieces")[1], "two")[3] == "–"


def test_a_model_that_loses_text_is_never_best(texts: SplitTexts) -> None:
    results = [
        result("one", 10, 1.25),
        result("two", 8, 1.0, lost=0.01),
        result("three", 12, 1.5, lost=0.004),
    ]
    html = page(results, texts, "text")
    rows = dict(re.findall(r'<tr><th scope="row">(one|two|three)\b(.*?)</tr>', html))
    best = re.findall(r"<td class=best .*?>(.*?)</td>", rows["one"])
    assert best[:4] == ["10", "0.000%", "1.2500", "1.2500"]
    assert "loses text" in rows["two"]
    assert "class=best" not in rows["two"]
    assert "loses text" not in rows["one"] + rows["three"]
    assert "<b>two</b> loses text: it loses 1.000% of the characters (more than 0.5%)." in html


def with_languages(given: Result, gini: float, left_out: tuple[str, ...]) -> Result:
    figures = LanguageFigures(1, 1, 1, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, "")
    of_languages = dict.fromkeys(("a", "b", "c"), figures)
    languages = Languages("a", False, gini, "a", left_out, of_languages)
    return given._replace(evaluation=given.evaluation._replace(languages=languages))


@pytest.mark.parametrize(("left_out", "lost"), [((), 0.0), (("c",), 0.0), (("c",), 0.01)])
def test_gini_coefficients_of_different_languages_are_not_compared(
    texts: SplitTexts, left_out: tuple[str, ...], lost: float
) -> None:
    results = [
        with_languages(result("one", 10), 0.3, ()),
        with_languages(result("two", 10), 0.2, ()),
        with_languages(result("three", 10, lost=lost), 0.1, left_out),
    ]
    _, _, languages = page(results, texts, "text").partition("<h3>Languages</h3>")
    table, _, _ = languages.partition("</table>")
    best = re.findall(r"<td class=best .*?>(.*?)</td>", table)
    # A model that loses text in only one language may still be compared in all other figures.
    assert (
        best
        == {((), 0.0): ["0.1000"], (("c",), 0.0): [], (("c",), 0.01): ["0.2000"]}[left_out, lost]
    )


def test_nothing_is_best_if_one_model_is_left_to_compare(texts: SplitTexts) -> None:
    html = page([result("one", 10, 1.25), result("two", 8, 1.0, lost=0.01)], texts, "text")
    assert "class=best" not in html


@pytest.mark.usefixtures("drawings")
def test_a_column_without_values_is_left_out(texts: SplitTexts) -> None:
    html = page([result("one", 10), result("two", 8)], texts, "text")
    assert "nats per character" not in html.split("<tbody>")[0]
    assert "Boundaries" not in html
    assert "MorphScore" not in html
    assert html.count("<figure>") == 2


def cells(html: str, name: str, config: str) -> dict[str, str]:
    """Return the cells of one row in a gold list's table; the keys are the column titles."""
    _, _, rest = html.partition(f"<h3>Boundaries in words of {name}</h3>")
    table, _, _ = rest.partition("</table>")
    titles = re.findall(r'<th scope="col">(.*?)</th>', table)[1:]
    (row,) = re.findall(rf'<tr><th scope="row">{config}</th>(<td.*?)</tr>', table)
    return dict(zip(titles, re.findall(r"<td.*?>(.*?)</td>", row), strict=True))


def test_each_gold_list_has_a_table_with_the_words_of_each_score(texts: SplitTexts) -> None:
    word = GoldWord("walking", frozenset({4}))
    right = score_boundaries([word, word], [["walk", "ing"], ["walking"]])
    wrong = score_boundaries([word, word], [["wal", "king"], ["wal", "king"]])
    lists = [GoldList(name, (word, word), {"with an empty part": 2}) for name in ("a", "b")]
    results = [
        result("one", 9, gold={"a": right, "b": wrong}),
        result("two", 8, gold={"a": wrong, "b": wrong}),
    ]
    html = page(results, texts, "text", lists)
    assert "a: 2 words; left out: 2 rows with an empty part." in html
    assert cells(html, "a", "one") == {
        "words": "2",
        "precision": "1.000",
        "recall": "0.500",
        "F1": "0.667",
        "tokens per word": "1.500",
        "words of MorphScore": "1",
        "MorphScore": "1.000",
        "its precision by cuts": "1.000",
        "its precision by tokens": "0.500",
        "words with single tokens": "2",
        "MorphScore with single tokens": "1.000",
    }
    assert cells(html, "b", "one")["words of MorphScore"] == "2"
    assert re.search("<td class=best [^>]*>1.000<", html)


def with_intervals(given: Result, tokens: Sequence[float], losses: Sequence[float]) -> Result:
    samples = {"tokens": tuple(tokens), "loss_per_character": tuple(losses)}
    intervals = {name: Interval(min(values), max(values)) for name, values in samples.items()}
    resampled = Resampled(Bootstrap(100), 50, 1, intervals, samples)
    return given._replace(evaluation=given.evaluation._replace(resampled=resampled))


def cells_of(html: str, config: str) -> list[str]:
    """Return the cells of the first row of a configuration."""
    row = re.search(rf'<tr><th scope="row">{config}</th>(.*?)</tr>', html)
    assert row
    return re.findall(r"<td[^>]*>(.*?)</td>", row[1])


def test_changes_against_the_baseline_are_shown_for_each_size(texts: SplitTexts) -> None:
    results = [
        result("one", 10, 1.25),
        result("two", 12, 1.0)._replace(vocabulary=("a", "b", "ab", "cd")),
        result("one", 9, 1.0, 200),
        result("two", 9, 1.1, 200),
    ]
    table = page(results, texts, "text", baseline="one").split("<h2>")[1]
    assert table.startswith("Changes against one")
    small, large = table.split("pieces</th>")[1:]
    # The two models have six different pieces and share three of them. Three of the six have more
    # than one character; the models share one of these.
    assert cells_of(small, "one") == ["–"] * 5
    assert cells_of(small, "two") == ["+20.00%", "-20.00%", "-20.00%", "50.0%", "33.3%"]
    assert cells_of(large, "two") == ["+0.00%", "+10.00%", "+10.00%", "100.0%", "100.0%"]
    other = page(results, texts, "text", baseline="two").split("<h2>")[1]
    assert cells_of(other, "one")[0] == "-16.67%"


def test_overlaps_are_columns_of_the_table_of_each_size(texts: SplitTexts) -> None:
    results = [result("one", 10), result("two", 12)._replace(vocabulary=("a", "b", "ab", "cd"))]
    table = page(results, texts, "text").split("<h2>100 pieces")[1].split("</table>")[0]
    assert "overlap with one" in table
    assert cells_of(table, "one")[-4:-2] == ["–", "–"]
    assert cells_of(table, "two")[-4:-2] == ["50.0%", "33.3%"]
    alone = page([result("one", 10)], texts, "text")
    assert "overlap" not in alone
    assert "Changes against" not in alone


def test_a_model_that_is_smaller_than_asked_for_is_seen_in_the_tables(texts: SplitTexts) -> None:
    small = [result("one", 10, pieces=87), result("two", 12)]
    results = [*small, result("one", 10, size=50), result("two", 12, size=50)]
    of_100, of_50 = tables(results)
    assert (of_100.head[:2], of_50.head[1]) == (["100 pieces", "pieces"], "nats per character")
    assert [row[:2] for row in of_100.rows] == [("one", "87"), ("two", "100")]
    html_of_100, html_of_50 = re.split("<h2>(?:100|50) pieces", page(results, texts, "text"))[1:]
    assert [cells_of(html_of_100, name)[0] for name in ("one", "two")] == ["87", "100"]
    assert '<th scope="col">pieces</th>' not in html_of_50


def test_intervals_stand_below_values_and_stars_mark_differences(texts: SplitTexts) -> None:
    results = [
        with_intervals(result("one", 10, 1.25), [9, 10, 11], [1.2, 1.25, 1.3]),
        with_intervals(result("two", 12, 1.25), [11, 12, 14], [1.3, 1.25, 1.2]),
    ]
    html = page(results, texts, "text")
    table = html.split("<h2>")[1]
    tokens, loss, *_ = cells_of(table, "two")
    assert tokens.startswith("+20.00%<b>*</b><small>+20.")
    assert loss.startswith("+0.00%<small>-")
    lossy = with_intervals(result("two", 12, 1.25, lost=0.1), [11, 12, 14], [1.3, 1.25, 1.2])
    changes = page([results[0], lossy], texts, "text").split("<h2>")[1]
    assert "</b><small>" not in changes
    own = cells_of(html.split("<h2>100 pieces")[1], "one")
    assert own[0] == "10<small>9 to 11</small>"
    assert own[3] == "1.2500<small>1.2000 to 1.3000</small>"
    assert "95 % intervals from 100 resamples of 50 lines (seed 0)" in html
    assert "<small>" not in page([result("one", 10, 1.25)], texts, "text").split("<tbody>")[1]


def best(html: str, config: str) -> list[str]:
    """Return the titles of a configuration's marked cells in the table of the first size."""
    row = re.search(rf'<tr><th scope="row">{config}\b(.*?)</tr>', html.split("<h2>100 pieces")[1])
    assert row
    return re.findall(r'<td class=best data-title="(.*?)">', row[1])


def test_a_difference_within_the_noise_is_not_best(texts: SplitTexts) -> None:
    one = with_intervals(result("one", 10, 1.25), [9, 10, 11], [1.2, 1.25, 1.3])
    # The intervals overlap, but in every resample, the second model has more tokens. Its loss is
    # lower only in some resamples.
    two = with_intervals(result("two", 11, 1.24), [10, 11, 12], [1.24, 1.24, 1.24])
    html = page([one, two], texts, "text")
    assert best(html, "one") == ["tokens"]
    assert best(html, "two") == []
    # All models have the same text, so these figures are as certain as the tokens.
    wider = one._replace(
        evaluation=one.evaluation._replace(tokens_per_word=1.4, bytes_per_token=3.1)
    )
    figures = ["tokens", "tokens per word", "bytes per token"]
    assert best(page([wider, two], texts, "text"), "one") == figures
    # A third model does not make the first two comparable, unless it loses text.
    three = with_intervals(result("three", 9, 1.5), [8, 9, 12], [1.5, 1.5, 1.5])
    assert best(page([one, two, three], texts, "text"), "three") == []
    assert best(page([one, two, three], texts, "text"), "one") == []
    lossy = with_intervals(result("three", 9, 1.5, lost=0.1), [8, 9, 12], [1.5, 1.5, 1.5])
    assert best(page([one, two, lossy], texts, "text"), "one") == ["tokens"]


@pytest.mark.parametrize(("others", "marked"), [((0.6, 0.8), []), ((0.5, 0.6), ["whole words"])])
def test_without_resamples_of_a_figure_its_intervals_decide(
    texts: SplitTexts, others: tuple[float, float], marked: list[str]
) -> None:
    def with_words(given: Result, share: float, both: Interval) -> Result:
        found = with_intervals(given, [10, 10], [1.25, 1.25])
        resampled = found.evaluation.resampled
        assert resampled
        resampled = resampled._replace(intervals={**resampled.intervals, "whole_words": both})
        evaluation = found.evaluation._replace(whole_words=share, resampled=resampled)
        return found._replace(evaluation=evaluation)

    results = [
        with_words(result("one", 10), 0.75, Interval(0.7, 0.9)),
        with_words(result("two", 10), others[0], Interval(*others)),
    ]
    assert best(page(results, texts, "text"), "one") == marked


def test_the_page_points_to_intervals_if_there_are_none(texts: SplitTexts) -> None:
    plain = [result("one", 10, 1.25), result("two", 12)]
    assert "--bootstrap" in page(plain, texts, "text")
    both = [with_intervals(r, [10, 10], [1.25, 1.25]) for r in plain]
    assert "--bootstrap" not in page(both, texts, "text")


def test_the_time_and_memory_of_one_training_are_never_best(texts: SplitTexts) -> None:
    results = [result("one", 10)._replace(seconds=9.0, mib=9.0), result("two", 10)]
    assert [best(page(results, texts, "text"), name) for name in ("one", "two")] == [[], []]


def test_columns_that_decide_come_first(texts: SplitTexts) -> None:
    html = page([result("one", 10, 1.25), result("two", 12)], texts, "text")
    table = html.split("<h2>100 pieces")[1]
    titles = re.findall(r'<th scope="col">(.*?)</th>', table)
    assert titles[1:4] == ["tokens", "lost characters", "unknown tokens"]


def test_each_cell_has_a_title_for_its_card(texts: SplitTexts) -> None:
    html = page([result("one", 10, 1.25), result("<two>", 12)], texts, "text")
    for table in re.findall(r"<table>(.*?)</table>", html):
        titles = re.findall(r'<th scope="col".*?>(.*?)</th>', table)[1:]
        rows = re.findall(r'<tr><th scope="row">.*?</tr>', table)
        assert len(rows) >= 2
        for row in rows:
            assert re.findall(r'<td[^>]* data-title="(.*?)">', row) == titles
    assert "&lt;two&gt; 100" in html


@pytest.mark.slow
@pytest.mark.usefixtures("drawings")
def test_several_sizes_are_drawn_as_curves(texts: SplitTexts) -> None:
    gold = {"g": score_boundaries([GoldWord("undo", frozenset({2}))], [["un", "do"]])}
    results = [
        result(config, 10, 1.25, size, gold=gold) for size in (100, 200) for config in ("a", "b")
    ]
    html = page(results, texts, "text")
    titles = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    assert titles == [
        "Loss and vocabulary size",
        "Bytes per token and vocabulary size",
        "MorphScore and vocabulary size",
        "Loss and number of tokens",
        "Changes of loss and tokens from a",
        "Lengths of pieces",
        "Frequency by rank",
    ]
    one_size = page(results[:2], texts, "text")
    assert "and vocabulary size" not in one_size


def test_names_may_contain_characters_that_fonts_lack() -> None:
    """matplotlib would print a warning for each character, and the character itself."""
    results = [result("\x7f漢", 10, 1.25, size) for size in (100, 200)]
    assert "漢" in curves(results, "loss_per_character", "loss")


def test_curves_have_bands_if_there_are_intervals() -> None:
    plain = [result("one", 10, 1.25, size) for size in (100, 200)]
    banded = [with_intervals(r, [9, 10, 11], [1.2, 1.25, 1.3]) for r in plain]
    assert "FillBetween" in curves(banded, "loss_per_character", "loss")
    assert "FillBetween" not in curves(plain, "loss_per_character", "loss")
    assert curves([result("one", 10, size=s) for s in (1, 2)], "loss_per_character", "") == ""


def test_the_tables_fit_any_gold_list_and_baseline(texts: SplitTexts) -> None:
    scores = score_boundaries([GoldWord("undo", frozenset({2}))], [["un", "do"]])
    gold = {"g": scores, "<h>": scores}
    results = [result("one", 10, gold=gold), result("two", 12, gold=gold)]
    table = page(results, texts, "text").split("<h2>")[1]
    assert "MorphScore [g]" in table
    assert "MorphScore [&lt;h&gt;]" in table
    assert cells_of(table, "two")[-2:] == ["1.000", "1.000"]
