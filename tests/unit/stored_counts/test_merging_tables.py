"""Tables of counts compared with their definition: counting, merging, weights, rare pretokens."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import spmcompat
from spmcompat.errors import BadValueError
from spmcompat.stored_counts import merging_tables
from spmcompat.stored_counts.merging_tables import Merging, tempered
from spmcompat.stored_counts.table import CountTable
from tests.kinds import raises_kind
from tests.oracle import counting as oracle

pa = pytest.importorskip("pyarrow")

PLAIN = {"normalization_rule_name": "identity", "minloglevel": 2}


def sentences(seed: int, lines: int = 200, types: int = 60) -> list[str]:
    dice = random.Random(seed)
    words = [f"w{number}" for number in range(types)] + ["é", "日本", "x" * 40]
    text = [" ".join(dice.choices(words, k=dice.randint(0, 9))) for _ in range(lines)]
    return [dice.choice([line, line, line, " "]) for line in text]


def table(text: list[str]) -> CountTable:
    return spmcompat.count(sentence_iterator=iter(text), **PLAIN)


def rows_of(counts: CountTable) -> Counter[oracle.Row]:
    return Counter(
        {
            (row["pretoken"], row["place"], row["next"]): row["count"]
            for row in counts.to_arrow().to_pylist()
        }
    )


def merged(*args: object, **kwargs: object) -> CountTable:
    merging_ = Merging(*args, **kwargs)  # type: ignore[arg-type]
    rows = pa.Table.from_batches([*merging_])
    return CountTable(merging_.origin(), rows)


def filled_in_order(text: list[str]) -> list[str]:
    """The sentences in the order of the reference.

    The reference leaves out empty lines, and moves the last sentence to the position of each line
    of spaces.
    """
    left = [line for line in text if line]
    position = 0
    while position < len(left):
        if left[position].strip():
            position += 1
        else:
            last = left.pop()
            if position < len(left):
                left[position] = last
    return left


@pytest.mark.parametrize("workers", [1, 3])
def test_the_rows_of_a_text(workers: int) -> None:
    text = sentences(1)
    counts = spmcompat.count(sentence_iterator=iter(text), workers=workers, **PLAIN)
    assert rows_of(counts) == oracle.rows(filled_in_order(text))
    assert counts.sentences == sum(bool(line.strip()) for line in text)
    keys = [(r["pretoken"].encode(), r["place"], r["next"]) for r in counts.to_arrow().to_pylist()]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("rows_at_a_time", [7, 1 << 20])
def test_merged_tables(monkeypatch: pytest.MonkeyPatch, rows_at_a_time: int) -> None:
    monkeypatch.setattr(merging_tables, "_ROWS_AT_A_TIME", rows_at_a_time)
    monkeypatch.setattr(merging_tables, "_LEAST_ROWS", 3)
    tables = [table(sentences(seed)) for seed in range(5)]
    expected = oracle.concatenated([rows_of(one) for one in tables])
    assert rows_of(merged(tables)) == expected
    assert rows_of(sum(tables)) == expected  # type: ignore[arg-type]
    assert merged(tables).sentences == sum(one.sentences for one in tables)


def test_weights_round_halves_up_and_drop_what_becomes_nothing() -> None:
    tables = [table(sentences(seed)) for seed in range(2)]
    weights = [Fraction("0.25"), Fraction("2.5")]
    first, second = (rows_of(one) for one in tables)
    expected = oracle.concatenated(
        [
            oracle.repeated(first, weights[0], is_last=False),
            oracle.repeated(second, weights[1], is_last=True),
        ]
    )
    found = merged(tables, weights)
    assert rows_of(found) == expected
    assert found.origin.changes == ("merged with the weights 0.25, 2.5",)


def test_a_sentence_is_left_however_low_the_weight(tmp_path: Path) -> None:
    low = merged([table(["a b"] * 3)], [Fraction("0.1")])
    assert (low.sentences, low.origin.lines) == (1, 1)
    low.save(tmp_path / "low.counts")
    loaded = spmcompat.load_counts(tmp_path / "low.counts")
    assert rows_of(loaded) == rows_of(low) != {}


def test_rare_pretokens_are_dropped_and_their_share_is_told() -> None:
    one = table(sentences(3, types=400))
    found = merged([one], None, 3)
    expected = oracle.without_rare(rows_of(one), 3)
    assert rows_of(found) == expected
    dropped = 1 - expected.total() / rows_of(one).total()
    assert f"{dropped:.4%} of the text" in found.origin.changes[0]


def test_a_temperature_flattens_the_shares() -> None:
    assert tempered([900, 100], 1.0) == [1, 1]
    large, small = tempered([900, 100], 0.0)
    assert (round(900 * large), round(100 * small)) == (500, 500)
    large, small = tempered([900, 100], 0.3)
    share = 0.9**0.3 / (0.9**0.3 + 0.1**0.3)
    assert float(900 * large) == pytest.approx(1000 * share, abs=0.01)
    assert float(100 * small) == pytest.approx(1000 * (1 - share), abs=0.01)


def test_large_counts_are_exact_or_refused() -> None:
    one = table(["a b"] * 3)
    rows = one.to_arrow().to_pylist()
    for row in rows:
        row["count"] = 2**53 + 1 if row["place"] == 0 else row["count"]
    large = CountTable(one.origin, pa.Table.from_pylist(rows, schema=one.to_arrow().schema))
    found = rows_of(merged([large], [Fraction(3)]))
    assert {c for r, c in found.items() if r[1] == 0} == {3 * (2**53 + 1)}
    with raises_kind("bad-value", BadValueError):
        merged([large], [Fraction(2**20)])
    with raises_kind("too-large 64"):
        merged([large] * 700)


def test_tables_of_different_rules_are_not_merged() -> None:
    one = table(["a b"])
    other = spmcompat.count(sentence_iterator=["a b"], minloglevel=2)
    with raises_kind("counts-mismatch"):
        one + other
    symbols = spmcompat.count(sentence_iterator=["a b"], user_defined_symbols=["x"], **PLAIN)
    with raises_kind("counts-mismatch"):
        one + symbols


def test_rows_out_of_order_are_refused(tmp_path: Path) -> None:
    one = table(sentences(4))
    rows = one.to_arrow()
    shuffled = CountTable(one.origin, rows.take(pa.array(range(len(rows) - 1, -1, -1))))
    with raises_kind("bad-counts"):
        merged([shuffled])


def test_other_operands_are_refused() -> None:
    with pytest.raises(TypeError):
        table(["a"]) + 1  # type: ignore[operator]


def test_the_summary_does_not_depend_on_how_rows_are_divided() -> None:
    counts = table(sentences(9))
    rows = counts.to_arrow()
    divided = CountTable(counts.origin, pa.Table.from_batches(rows.to_batches(max_chunksize=1)))
    assert divided.summary() == counts.summary()
    expected: Counter[str] = Counter()
    for (pretoken, _, _), count in rows_of(counts).items():
        expected[pretoken] += count
    distinct, occurrences, top = counts.summary(3)
    assert (distinct, occurrences) == (len(expected), expected.total())
    assert sorted(expected.values(), reverse=True)[:3] == [expected[one] for one in top]
