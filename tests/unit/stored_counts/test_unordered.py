"""Counting parts of a text: the sums over all parts do not depend on how the text is divided."""

from __future__ import annotations

import io
import json
import pickle
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.stored_counts.merging_tables import Merging
from spmcompat.stored_counts.table import CountTable
from spmcompat.stored_counts.unordered import FACT, FACTS
from tests.kinds import raises_kind
from tests.oracle import counting as oracle
from tests.parity import corpora

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXT = [*corpora.words_text(seed=5, lines=300, types=90).splitlines(), "  ", "", "end"]
KEYS = ["pretoken", "place", "next"]


def parts_of(lines: Sequence[Any], parts: int, seed: int = 1) -> list[list[Any]]:
    """Shuffle lines and divide them into parts."""
    shuffled = random.Random(seed).sample([*lines], len(lines))
    return [shuffled[part::parts] for part in range(parts)]


def added_up(counter: Any, parts: Sequence[Any]) -> Any:
    """Count each part, as an engine does, and add up the counts of equal rows."""
    batches = [
        batch
        for part in parts
        for batch in counter.count([pa.record_batch({"text": pa.array(part, pa.string())})])
    ]
    rows = pa.Table.from_batches(batches).group_by(KEYS).aggregate([("count", "sum")])
    return rows.rename_columns([*KEYS, "count"]).cast(counter.schema)


def write_files(folder: Path, counter: Any, rows: Any, files: int = 3, seed: int = 1) -> Path:
    """Write the rows to files in a random order, as an engine such as Spark may do."""
    folder.mkdir()
    order = random.Random(seed).sample(range(rows.num_rows), rows.num_rows)
    rows = rows.take(pa.array(order, pa.int64())).replace_schema_metadata(counter.metadata)
    for file in range(files):
        pq.write_table(
            rows.take(pa.array(range(file, len(order), files), pa.int64())),
            folder / f"{file}.parquet",
        )
    return folder


def counted(folder: Path, lines: Sequence[Any], parts: int = 3, **options: Any) -> CountTable:
    counter = spmcompat.arrow_counter(minloglevel=2, **options)
    rows = added_up(counter, parts_of(lines, parts))
    return spmcompat.load_counts(write_files(folder, counter, rows))


def rows_of(table: CountTable) -> Counter[oracle.Row]:
    columns = table.to_arrow().to_pydict()
    found = [*zip(*(columns[name] for name in KEYS), strict=True)]
    assert len(set(found)) == len(found) == len(table)
    return Counter(dict(zip(found, columns["count"], strict=True)))


def trained(**options: Any) -> bytes:
    written = io.BytesIO()
    usual = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}
    spmcompat.train(model_writer=written, **usual, **options)
    return written.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3, 50])
@pytest.mark.parametrize("table_bytes", [1, 1 << 16, 1 << 28])
def test_any_parts_give_the_counts_of_the_definition(
    tmp_path: Path, parts: int, table_bytes: int
) -> None:
    table = counted(tmp_path / "c", TEXT, parts, table_bytes=table_bytes)
    assert rows_of(table) == oracle.without_order(oracle.rows(TEXT))
    assert table.origin.sentences == len([line for line in TEXT if line.split()])
    assert table.origin.lines == len([line for line in TEXT if line])


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
def test_training_gives_the_bytes_of_the_lines_in_that_order(
    tmp_path: Path, model_type: str
) -> None:
    counted(tmp_path / "c", TEXT)
    in_order = oracle.in_that_order(TEXT)
    assert in_order != TEXT
    expected = trained(sentence_iterator=in_order, model_type=model_type)
    assert trained(counts=tmp_path / "c", model_type=model_type) == expected


def _cut(sentence: str) -> list[str]:
    return [sentence[:3], sentence[3:]]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"user_defined_symbols": ["aé", "0"], "control_symbols": "<c>"},
    {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    {"space_pieces": "separate", "add_dummy_prefix": False},
    {"pretokenization_delimiter": "e"},
    {"max_sentence_length": 40},
    {"compat": "0.2.2", "model_type": "bpe"},
    {"space_pieces": "separate", "pretokenizer": _cut},
]


def _name(options: dict[str, Any]) -> str:
    """Return a test id without addresses of functions, so all test processes use the same id."""
    return str({option: getattr(value, "__name__", value) for option, value in options.items()})


@pytest.mark.parametrize("options", OPTIONS, ids=_name)
def test_only_the_end_differs_from_the_counts_in_order(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    lines = [*corpora.mixed_text(seed=3).split("\n"), "a▅b", "x" * 50, "a \r\n", "b\r", "\n"]
    ordered = rows_of(spmcompat.count(sentence_iterator=lines, minloglevel=2, **options))
    table = counted(tmp_path / "c", lines, **options)
    assert rows_of(table) == oracle.without_order(ordered)


SCRIPT: list[dict[str, Any]] = [
    {"pretokenizer": "script"},
    {"pretokenizer": "script", "remove_extra_whitespaces": False},
    {"pretokenizer": "script", "space_pieces": "dropped"},
    {"pretokenizer": "regex:.e", "space_pieces": "separate"},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", SCRIPT, ids=str)
@pytest.mark.parametrize("parts", [1, 20])
def test_a_pretokenizer_does_not_end_the_text_inside_of_a_sentence(
    tmp_path: Path, options: dict[str, Any], parts: int
) -> None:
    lines = [line for line in corpora.mixed_text(3, 60).split("\n") if line.strip()]
    lines = [f"!a{i}é {line}z{i % 7}" for i, line in enumerate(lines)]
    last_pretokens = {
        row[0]: line
        for line in lines
        for row in rows_of(spmcompat.count(sentence_iterator=[line], minloglevel=2, **options))
        if row[1] == oracle.AT_TEXT_END
    }
    last = last_pretokens[min(last_pretokens, key=str.encode)]
    in_order = [*lines, last]
    in_order.remove(last)
    ordered = spmcompat.count(sentence_iterator=in_order, minloglevel=2, **options)
    table = counted(tmp_path / "c", lines, parts, **options)
    assert rows_of(table) == rows_of(ordered)
    assert table.origin == ordered.origin


def test_the_facts_are_those_of_the_text(tmp_path: Path) -> None:
    lines = [*TEXT, "a\u2585b", "x" * 5000]
    origin = counted(tmp_path / "c", [*lines, None, None], 7).origin
    expected = spmcompat.count(sentence_iterator=lines, minloglevel=2).origin
    assert origin.nulls == 2
    assert origin._replace(nulls=0) == expected


KINDS = [
    "string",
    "large_string",
    "dictionary",
    "string_view",
]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_strings_of_any_type(kind: str) -> None:
    lines = ["before", "a b", None, "", "c\n", None, "é"] * 3
    array = pa.array(lines, pa.string())
    if kind == "dictionary":
        array = array.dictionary_encode()
    elif not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    else:
        array = array.cast(getattr(pa, kind)())
    counter = spmcompat.arrow_counter("t", minloglevel=2)
    sliced = pa.record_batch({"other": pa.array(range(21)), "t": array}).slice(1)
    rows = pa.Table.from_batches(counter.count([sliced])).to_pylist()
    found = {(row["pretoken"], row["place"], row["next"]): row["count"] for row in rows}
    mark = ord("\u2581")
    assert found == {
        ("\u2581a", 0, mark): 3,
        ("\u2581b", 1, mark): 3,
        ("\u2581before", 1, mark): 2,
        ("\u2581c", 1, mark): 3,
        ("\u2581é", 1, mark): 3,
        ("", FACT, FACTS.index("lines")): 11,
        ("", FACT, FACTS.index("sentences")): 11,
        ("", FACT, FACTS.index("nulls")): 6,
        ("", FACT, FACTS.index("bytes_read")): 30,
        ("", FACT, FACTS.index("pretokens")): 14,
    }


def test_bytes_that_are_no_text_count_as_in_a_file() -> None:
    lines = [b"a \xff\xfe b", b"\x80", b"\xe2\x96 c"]
    ends = pa.py_buffer(memoryview(b"".join(n.to_bytes(4, "little") for n in [0, 6, 7, 11])))
    strings = pa.Array.from_buffers(pa.string(), 3, [None, ends, pa.py_buffer(b"".join(lines))])
    counter = spmcompat.arrow_counter(minloglevel=2)
    batches = counter.count([pa.record_batch({"text": strings})])
    found = {row["pretoken"] for batch in batches for row in batch.to_pylist() if row["pretoken"]}
    table = spmcompat.count(sentence_iterator=lines, minloglevel=2).to_arrow()
    assert found == {*table["pretoken"].to_pylist()}


def test_a_counter_can_be_sent_to_another_process(tmp_path: Path) -> None:
    counter = pickle.loads(pickle.dumps(spmcompat.arrow_counter(minloglevel=2)))
    rows = added_up(counter, [TEXT])
    folder = write_files(tmp_path / "c", counter, rows)
    expected = oracle.without_order(oracle.rows(TEXT))
    assert rows_of(spmcompat.load_counts(folder)) == expected


@pytest.mark.parametrize(("files", "name"), [(1, "0.parquet"), (3, "")])
def test_messages_name_the_folder_if_there_are_several_files(
    files: int, name: str, tmp_path: Path
) -> None:
    counter = spmcompat.arrow_counter(minloglevel=2)
    folder = write_files(tmp_path / "c", counter, added_up(counter, [TEXT]), files)
    assert spmcompat.load_counts(folder).name == str(folder / name)


def test_no_batches_give_no_rows() -> None:
    batches = [*spmcompat.arrow_counter(minloglevel=2).count([])]
    assert sum(batch.num_rows for batch in batches) == 0


def test_a_long_text_is_read_in_bounded_memory() -> None:
    """A full table is yielded before the text ends, and counting goes on with an empty table."""
    lines = [f"{i}a {i}b" for i in range(100_000)]
    counter = spmcompat.arrow_counter(table_bytes=1 << 20, minloglevel=2)
    given = 0

    def batches() -> Any:
        nonlocal given
        for first in range(0, len(lines), 10_000):
            given += 1
            yield pa.record_batch({"text": lines[first : first + 10_000]})

    rows = counter.count(batches())
    first = next(rows).num_rows
    assert first > 0
    assert given < 10
    assert first + sum(batch.num_rows for batch in rows) > 200_000


def test_saved_and_shown_counts_are_in_order(tmp_path: Path) -> None:
    table = counted(tmp_path / "c", [*TEXT, None])
    table.save(tmp_path / "saved")
    saved = spmcompat.load_counts(tmp_path / "saved")
    assert rows_of(saved) == rows_of(table)
    assert saved.origin == table.origin
    keys = [[row[name] for name in KEYS] for row in saved.to_arrow().to_pylist()]
    assert keys == sorted(keys, key=lambda key: (key[0].encode(), *key[1:]))
    assert saved.summary() == table.summary()
    shown = io.StringIO()
    assert main(["counts", "show", str(tmp_path / "c")], shown, io.StringIO()) == 0
    assert "skipped, null" in shown.getvalue()


def test_merging_takes_them_like_other_counts(tmp_path: Path) -> None:
    unordered = counted(tmp_path / "c", TEXT)
    unordered.save(tmp_path / "saved")
    saved = spmcompat.load_counts(tmp_path / "saved")
    other = spmcompat.count(sentence_iterator=["another cat"] * 9, minloglevel=2)
    assert rows_of(unordered + other) == rows_of(saved + other)
    assert rows_of(other + unordered) == rows_of(other + saved)
    weights = [Fraction(1, 3), Fraction(5, 2)]
    merged = [
        pa.Table.from_batches(Merging([first, other], weights, 2)) for first in (unordered, saved)
    ]
    assert merged[0].equals(merged[1])


def test_many_rows_are_sorted_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spmcompat.stored_counts import sorting

    table = counted(tmp_path / "c", TEXT)
    expected = pa.Table.from_batches(table.in_order())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(sorting, "_ROWS_AT_A_TIME", 7)
    rows = sorting.sorted_rows(table.batches(40), run_bytes=1000)
    first = next(rows)
    assert len([*scratch.glob("*/*.arrow")]) > 2
    assert pa.Table.from_batches([first, *rows]).equals(expected)
    assert not [*scratch.iterdir()]


Change = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.remove(_row(rows, 0)), "bad-counts"),
        (lambda rows: rows.remove(_row(rows, 1)), "bad-counts"),
        (lambda rows: _row(rows, 0).update(place=2, next=0), "bad-counts"),
        (lambda rows: _row(rows, FACT).update(next=77), "bad-counts"),
        (lambda rows: _name_facts(rows, "a"), "bad-counts"),
        (lambda rows: _row(rows, FACT).update(count=-1), "bad-counts"),
        (lambda rows: _row(rows, FACT).update(count=1), "bad-counts"),
        (lambda rows: _row(rows, FACT).update(next=None), "bad-counts column"),
        (lambda rows: rows.append(dict(_row(rows, 0))), "bad-counts pretoken"),
        (lambda rows: rows.append(dict(_row(rows, 1))), "bad-counts pretoken"),
        (lambda rows: _row(rows, FACT).update(place=5), "bad-counts column"),
        (lambda rows: _row(rows, 0).update(place=None), "bad-counts column"),
        (lambda rows: _row(rows, 0).update(pretoken=""), "bad-counts"),
        (lambda rows: _drop(rows, lambda row: row["place"] == FACT), "bad-counts"),
        (
            lambda rows: _drop(rows, lambda row: row["place"] == 1),
            "bad-counts",
        ),
    ],
)
def test_rows_that_were_changed_are_refused(tmp_path: Path, change: Change, message: str) -> None:
    counter = spmcompat.arrow_counter(minloglevel=2)
    rows = added_up(counter, [TEXT]).to_pylist()
    change(rows)
    schema = pa.schema([field.with_nullable(True) for field in counter.schema])
    folder = write_files(tmp_path / "c", counter, pa.Table.from_pylist(rows, schema))
    with raises_kind(message):
        spmcompat.load_counts(folder)


def _row(rows: list[dict[str, Any]], place: int) -> dict[str, Any]:
    return next(row for row in rows if row["place"] == place)


def _name_facts(rows: list[dict[str, Any]], pretoken: str) -> None:
    for row in rows:
        if row["place"] == FACT:
            row["pretoken"] = pretoken


def _drop(rows: list[dict[str, Any]], which: Callable[[dict[str, Any]], bool]) -> None:
    rows[:] = [row for row in rows if not which(row)]


def test_a_part_of_the_files_is_refused(tmp_path: Path) -> None:
    counted(tmp_path / "c", TEXT)
    for file in (tmp_path / "c").iterdir():
        with raises_kind("bad-counts"):
            spmcompat.load_counts(file)


def test_files_of_two_countings_are_refused(tmp_path: Path) -> None:
    counted(tmp_path / "c", TEXT)
    counted(tmp_path / "d", TEXT, max_sentence_length=100)
    (tmp_path / "d" / "0.parquet").rename(tmp_path / "c" / "d0.parquet")
    with raises_kind("counts-mismatch"):
        spmcompat.load_counts(tmp_path / "c")


def test_metadata_of_a_newer_release_are_refused(tmp_path: Path) -> None:
    counter = spmcompat.arrow_counter(minloglevel=2)
    rows = added_up(counter, [TEXT])
    (key, text), *_ = counter.metadata.items()
    document = {**json.loads(text), "version": 99}
    pq.write_table(rows.replace_schema_metadata({key: json.dumps(document)}), tmp_path / "c")
    with raises_kind("counts-version"):
        spmcompat.load_counts(tmp_path / "c")


@pytest.mark.parametrize("lines", [[], [""], ["  "], [None]])
def test_a_text_without_a_sentence_is_refused(tmp_path: Path, lines: list[str | None]) -> None:
    with raises_kind("bad-counts"):
        counted(tmp_path / "c", lines)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input": "a.txt"}, "conflicting-options"),
        ({"input_format": "tsv"}, "conflicting-options input_format"),
        (
            {"input_sentence_size": 5},
            "conflicting-options input_sentence_size",
        ),
        ({"shuffle_input_sentence": True}, "conflicting-options shuffle_input_sentence"),
        ({"sampling_seed": 1}, "conflicting-options sampling_seed"),
        ({"workers": 2}, "conflicting-options workers"),
        ({"vocab_size": 8000}, "bad-value vocab_size"),
        (
            {"max_sentence_lenght": 8},
            "bad-value max_sentence_length",
        ),
        ({"max_sentence_length": "x"}, "bad-value max_sentence_length"),
        ({"normalization_rule_name": "none"}, "bad-value"),
        ({"add_dummy_prefix": False}, "needs-sentences add_dummy_prefix=false"),
        ({"treat_whitespace_as_suffix": True}, "needs-sentences treat_whitespace_as_suffix=true"),
        ({"pretokenizer": str.split}, "needs-sentences pretokenizer"),
        ({"user_defined_symbols": ["\u2581a"]}, "needs-sentences U+2581"),
        ({"pretokenization_delimiter": "\u2581"}, "needs-sentences pretokenization_delimiter"),
        ({"split_by_whitespace": False}, "needs-sentences split_by_whitespace=false"),
        ({"compat": "0.2.2"}, "needs-sentences"),
        ({"column": 5}, "wrong-type column"),
        ({"table_bytes": 0}, "wrong-type table_bytes"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, Any], message: str) -> None:
    with raises_kind(message):
        spmcompat.arrow_counter(**{"minloglevel": 2, **options})


def test_a_batch_without_the_column_is_refused() -> None:
    counter = spmcompat.arrow_counter("words", minloglevel=2)
    with raises_kind("wrong-column 'words' text"):
        [*counter.count([pa.record_batch({"text": ["a"]})])]
    with raises_kind("wrong-column column words"):
        [*counter.count([pa.record_batch({"words": [1]})])]


def test_weights_repeat_the_lines(tmp_path: Path) -> None:
    counter = spmcompat.arrow_counter(minloglevel=2)
    table = spmcompat.load_counts(
        write_files(tmp_path / "c", counter, added_up(counter, parts_of(TEXT, 3)))
    )
    merging = Merging([table, table], [Fraction(3), Fraction(2)])
    rows = pa.Table.from_batches([*merging])
    in_order = [line for line in oracle.in_that_order(TEXT) if line.split()]
    expected = spmcompat.count(sentence_iterator=in_order * 5, minloglevel=2)
    assert rows.to_pylist() == expected.to_arrow().to_pylist()
    assert merging.origin().sentences == expected.sentences
