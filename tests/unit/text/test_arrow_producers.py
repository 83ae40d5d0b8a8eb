"""Arrow data from every library gives the same sentences as an iterator over its rows."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import BadValueError
from spmcompat.text.arrow_producers import arrow_parts, strings_of
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.unit.text.test_arrow_strings import expected, texts_of

Rows = Sequence[str | None]
TEXT = corpora.words_text(seed=6, lines=40, types=30).splitlines()
ROWS: list[str | None] = [*TEXT[:9], None, "", "é\r\n", *TEXT[9:], "x" * 500, None, "a\nb", "end\n"]
SMALL: dict[str, Any] = {"vocab_size": 50, "hard_vocab_limit": False, "minloglevel": 2}


def read(data: Any, column: str | None = None) -> tuple[list[bytes], int, int]:
    """Return the texts of the data, the number of lines and the number of nulls."""
    parts = arrow_parts(data, column)
    assert parts is not None
    buffers = [*strings_of(parts, column)]
    lines = sum(buffer.lines for buffer in buffers)
    return texts_of(buffers), lines, sum(buffer.nulls for buffer in buffers)


def trained(sentences: Any, **options: Any) -> bytes:
    written = io.BytesIO()
    spmcompat.train(sentence_iterator=sentences, model_writer=written, **SMALL, **options)
    return written.getvalue()


MODEL = trained([row for row in ROWS if row is not None])


# pyarrow

KINDS = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]
DICTIONARIES = [*itertools.product(["int8", "uint16", "int32", "int64"], KINDS[:2] + KINDS[3:5])]


def arrow_array(rows: Rows, kind: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    texts = [row if row is None or "binary" not in kind else row.encode() for row in rows]
    return pa.array(texts, getattr(pa, kind)())


def arrow_dictionary(rows: Rows, index: str, kind: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    entries = [*dict.fromkeys(row for row in rows if row is not None)]
    places = {entry: place for place, entry in enumerate(entries)}
    places = [None if row is None else places[row] for row in rows]
    indices = pa.array(places, getattr(pa, index)())
    return pa.DictionaryArray.from_arrays(indices, arrow_array(entries, kind))


def forms_of(array: Any, seed: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield the array as tables, columns and readers: whole, sliced and in chunks."""
    import pyarrow as pa

    dice = random.Random(seed)
    cuts = sorted(dice.randrange(len(array)) for _ in range(5))
    chunks = [array[a:b] for a, b in itertools.pairwise([0, *cuts, len(array)])]
    numbers = pa.array(range(len(array)))
    table = pa.table({"n": numbers, "text": array})
    batches = table.to_batches(max_chunksize=7)
    yield "array", array
    yield "chunks", pa.chunked_array(chunks, array.type)
    yield "table", table
    yield "table of chunks", pa.table({"n": numbers, "text": pa.chunked_array(chunks, array.type)})
    yield "batch", table.to_batches()[0]
    yield "reader", pa.RecordBatchReader.from_batches(table.schema, iter(batches))
    yield "list of batches", batches
    yield "iterator of batches", iter(batches)
    yield "iterator of tables", iter([table[:3], table[3:3], table[3:]])
    yield "struct", pa.StructArray.from_arrays([numbers, array], ["n", "text"])


def check_forms(array: Any, rows: Rows) -> None:
    for name, form in forms_of(array):
        if isinstance(form, list | Iterator):
            assert trained(form) == trained([row for row in rows if row is not None]), name
        else:
            assert read(form) == expected(rows), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_pyarrow(kind: str) -> None:
    array = arrow_array(ROWS, kind)
    check_forms(array, ROWS)
    check_forms(array[5:], ROWS[5:])
    check_forms(array[3:-2], ROWS[3:-2])
    for name, form in forms_of(array):
        assert trained(form) == MODEL, name


@pytest.mark.slow
@pytest.mark.parametrize(("index", "kind"), DICTIONARIES)
def test_dictionaries_of_pyarrow(index: str, kind: str) -> None:
    array = arrow_dictionary(ROWS, index, kind)
    check_forms(array, ROWS)
    check_forms(array[3:-2], ROWS[3:-2])


def test_a_struct_with_nulls_of_its_own() -> None:
    pa = pytest.importorskip("pyarrow")
    mask = [row % 3 == 1 for row in range(len(ROWS))]
    struct = pa.StructArray.from_arrays(
        [pa.array(ROWS, pa.string())], ["text"], mask=pa.array(mask)
    )
    shown = [None if hidden else row for row, hidden in zip(ROWS, mask, strict=True)]
    for skip in (0, 1, 9):
        assert read(struct[skip:]) == expected(shown[skip:])


def test_nothing_but_nulls() -> None:
    pa = pytest.importorskip("pyarrow")
    for nulls in (pa.nulls(5), pa.nulls(5, pa.string()), pa.table({"text": pa.nulls(5)})):
        assert read(nulls) == ([], 0, 5)
        with raises_kind("empty-corpus"):
            trained(nulls)
    # A table that contains only nulls has a column of the type null, not string.
    parts = [pa.table({"text": pa.nulls(5)}), pa.table({"text": ["a", None]})]
    assert [(one.lines, one.nulls) for one in strings_of(parts)] == [(1, 6)]


def test_rows_that_are_no_text_are_those_of_an_iterator() -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [
        b"a \xff\xfe b",
        b"\x80",
        b"\xe2\x96 c",
        b"\xed\xa0\x80",
        b"d\0e",
        *map(str.encode, TEXT),
    ]
    assert trained(pa.array(rows, pa.binary())) == trained(rows)


def test_nulls_are_logged_and_stored() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ROWS})
    log = io.StringIO()
    usual = {**SMALL, "minloglevel": 0}
    spmcompat.train(sentence_iterator=table, model_writer=io.BytesIO(), logstream=log, **usual)
    assert "WARNING spmcompat: Skipped 2 rows that are null.\n" in log.getvalue()
    log = io.StringIO()
    counts = spmcompat.count(sentence_iterator=table, logstream=log)
    assert "Skipped 2 rows that are null." in log.getvalue()
    assert counts.origin.nulls == 2
    plain = spmcompat.count(sentence_iterator=[row for row in ROWS if row is not None])
    assert counts.origin._replace(nulls=0) == plain.origin
    assert counts.to_arrow().equals(plain.to_arrow())
    assert (counts + counts).origin.nulls == 4
    sample = {"input_sentence_size": 1000, "minloglevel": 2}
    assert spmcompat.count(sentence_iterator=table, **sample).origin.nulls == 2


def test_exceptions_behind_a_reader_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")

    def batches(error: BaseException) -> Iterator[Any]:
        yield pa.record_batch({"text": ["a"]})
        raise error

    def reader(error: BaseException) -> Any:
        return pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches(error))

    with raises_kind("broken-arrow-data RecordBatchReader: ValueError: not in one line"):
        trained(reader(ValueError("not in\none line")))
    with pytest.raises(KeyboardInterrupt):
        trained(reader(KeyboardInterrupt()))
    with pytest.raises(spmcompat.OutOfMemoryError):
        trained(reader(MemoryError()))
    with raises_kind("iterator-failed"):
        trained(batches(ValueError("broken")))


def test_items_that_are_not_all_arrow_data() -> None:
    pa = pytest.importorskip("pyarrow")
    batch = pa.record_batch({"text": ["a"]})
    with raises_kind("broken-arrow-data str"):
        trained([batch, "a"])
    with raises_kind("wrong-type"):
        trained(["a", batch])


def test_memory_of_a_reader_does_not_grow() -> None:
    pa = pytest.importorskip("pyarrow")
    most = 0

    def batches() -> Iterator[Any]:
        nonlocal most
        for _ in range(40):
            most = max(most, pa.total_allocated_bytes() - before)
            yield pa.record_batch({"text": pa.array(["x" * 1000] * 5000)})

    before = pa.total_allocated_bytes()
    schema = pa.schema({"text": pa.string()})
    for data in (pa.RecordBatchReader.from_batches(schema, batches()), batches()):
        most = 0
        spmcompat.count(sentence_iterator=data, minloglevel=2)
        assert most < 3 * 5_000_000


def test_files_and_data_sets_of_pyarrow(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    ds, pq = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow.parquet")
    nested = [{"text": row} for row in ROWS]
    table = pa.table({"n": range(len(ROWS)), "text": ROWS, "meta": nested, "a.b": ROWS[::-1]})
    for begin in range(0, len(ROWS), 20):
        pq.write_table(table[begin : begin + 20], tmp_path / f"{begin:03}.parquet")
    whole = tmp_path / "whole"
    pq.write_table(table, whole, row_group_size=9)
    stored = io.BytesIO()
    with pa.ipc.new_file(stored, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    dataset = ds.dataset([*map(str, sorted(tmp_path.glob("*.parquet")))])
    makers: list[Callable[[], Any]] = [
        lambda: dataset,
        lambda: ds.dataset(table),
        lambda: dataset.scanner(columns=["meta", "a.b", "text"], batch_size=8),
        lambda: pq.ParquetFile(whole),
        lambda: pa.ipc.open_file(stored),
    ]
    for make in makers[:2] + makers[3:]:  # not the scanner: its columns are fixed
        assert read(make()) == expected(ROWS)
        assert trained(make()) == MODEL
        assert read(make(), "a.b") == expected(ROWS[::-1])
    for make in makers:
        assert read(make(), "meta.text") == expected(ROWS)
        with raises_kind("wrong-column column body"):
            trained(make(), column="body")


# polars


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    series = pl.Series("text", ROWS)
    parts = [series[:3], series[3:20], series[20:]]
    chunks = pl.concat(parts, rechunk=False)
    assert chunks.n_chunks() == 3
    binary = pl.Series("text", [row if row is None else row.encode() for row in ROWS])
    for text in (series, chunks, series.cast(pl.Categorical), binary):
        frame = pl.DataFrame({"n": range(len(ROWS)), "text": text})
        for data in (text, frame, frame.lazy(), frame.lazy().filter(pl.col("n") >= 0)):
            assert read(data) == expected(ROWS)
            assert trained(data) == MODEL
        for data in (text[2:-1], frame[2:-1], frame.lazy().slice(2, len(ROWS) - 3)):
            assert read(data) == expected(ROWS[2:-1])
    enum = pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["a", "b"]))
    assert read(enum) == expected(["b", None, "a", "b"])
    struct = pl.DataFrame({"text": ROWS}).to_struct("s")
    assert read(struct) == expected(ROWS)


def test_a_lazy_frame_computes_no_other_column() -> None:
    pl = pytest.importorskip("polars")

    def refuse(_: Any) -> Any:
        raise AssertionError("computed")

    frame = pl.LazyFrame({"text": ROWS, "n": range(len(ROWS))})
    frame = frame.with_columns(pl.col("n").map_batches(refuse, return_dtype=pl.Int64))
    assert read(frame) == expected(ROWS)
    with raises_kind("wrong-column column"):
        trained(frame, column="n")


def test_a_lazy_frame_is_collected_in_batches_in_order() -> None:
    pl = pytest.importorskip("polars")
    count = 100_000
    frame = pl.LazyFrame({"n": range(count)}).select(pl.col("n").cast(pl.String).alias("^a.*$"))
    for data, column in ((frame, None), (frame, "^a.*$")):
        assert read(data, column)[0] == [str(n).encode() for n in range(count)]


def test_a_lazy_frame_of_a_polars_that_has_no_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    pl = pytest.importorskip("polars")
    if hasattr(pl.LazyFrame, "collect_batches"):
        monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    assert read(pl.LazyFrame({"text": ROWS})) == expected(ROWS)


def test_an_exception_in_a_lazy_frame() -> None:
    pl = pytest.importorskip("polars")

    def fail(_: Any) -> Any:
        raise ValueError("broken")

    frame = pl.LazyFrame({"text": ROWS}).map_batches(fail, schema={"text": pl.String})
    with raises_kind("iterator-failed"):
        trained(frame)


# pandas


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    kinds = ["object", "string", "category"]
    for kind in kinds:
        series = pd.Series(ROWS, dtype=kind, index=range(5, 5 + len(ROWS)))
        frame = pd.DataFrame({"n": range(len(ROWS)), "text": series.array})
        assert trained(frame) == MODEL
        assert read(frame) == expected(ROWS)
        assert read(frame[2:-1]) == expected(ROWS[2:-1])
        if hasattr(series, "__arrow_c_stream__"):
            assert read(series) == expected(ROWS)
            assert read(series[::-1]) == expected(ROWS[::-1])
            assert trained(series) == MODEL
    frame = pd.DataFrame({"text": TEXT}, index=pd.Index(TEXT, name="key"))
    assert read(frame) == expected(TEXT)
    binary = pd.DataFrame({"text": [line.encode() for line in TEXT]})
    assert read(binary) == expected(TEXT)


def test_a_series_without_pyarrow_is_an_iterable(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr("spmcompat.text.arrow_producers.is_installed", lambda name: False)
    assert arrow_parts(pd.Series(TEXT), None) is None
    assert trained(pd.Series(TEXT)) == trained(TEXT)


# DuckDB


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("create table texts (n integer, text varchar)")
        connection.executemany("insert into texts values (?, ?)", [*enumerate(ROWS)])
        texts = connection.table("texts").order("n")
        assert read(texts) == expected(ROWS)
        assert trained(texts) == MODEL
        assert trained(texts, column="text") == MODEL
        assert read(connection.sql("from texts order by n limit 20 offset 3")) == expected(
            ROWS[3:23]
        )
        named = connection.sql('select n, text as "a ""b" from texts order by n')
        assert read(named) == expected(ROWS)
        assert read(named, 'a "b') == expected(ROWS)
        blobs = connection.sql("select encode(text) as text from texts order by n")
        assert read(blobs) == expected(ROWS)
        enum = connection.sql("select unnest(['b', null, 'a'])::enum('a', 'b') as text")
        assert read(enum) == expected(["b", None, "a"])


def test_a_relation_is_read_in_batches_in_order() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        query = "select i::varchar as text, i as n from range(100000) as numbers(i)"
        assert read(connection.sql(query))[0] == [str(n).encode() for n in range(100_000)]
        failing = "select case when i < 50000 then 'a' else error('gone wrong') end as text "
        with raises_kind("broken-arrow-data"):
            trained(connection.sql(failing + "from range(100000) as numbers(i)"))


def test_a_relation_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.setattr("spmcompat.text.arrow_producers.is_installed", lambda name: False)
    with duckdb.connect() as connection:
        assert read(connection.sql("select 'a' as text union all select null")) == ([b"a"], 1, 1)


# nanoarrow


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary"])
def test_nanoarrow(kind: str) -> None:
    na = pytest.importorskip("nanoarrow")
    rows = [row if row is None or "binary" not in kind else row.encode() for row in ROWS]
    of_kind = getattr(na, kind)()
    array = na.Array(rows, of_kind)
    assert read(array) == expected(ROWS)
    assert trained(array) == MODEL
    assert read(na.ArrayStream(rows, of_kind)) == expected(ROWS)
    assert read(na.Array.from_chunks([array, array])) == expected([*ROWS, *ROWS])
    table = na.c_array_from_buffers(
        na.struct({"text": of_kind}), len(ROWS), [None], children=[na.c_array(array)]
    )
    assert read(na.Array(table)) == expected(ROWS)
    assert read(table) == expected(ROWS)


@pytest.mark.parametrize("kind", ["string_view", "binary_view"])
def test_views_of_nanoarrow(kind: str) -> None:
    # nanoarrow 0.9 crashes when it creates or exports an Array of views.
    na = pytest.importorskip("nanoarrow")
    pa = pytest.importorskip("pyarrow")
    chunks = pa.chunked_array([arrow_array(ROWS, kind)])
    assert read(na.ArrayStream(chunks)) == expected(ROWS)


# datasets


@pytest.fixture
def datasets(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("datasets")


Change = Callable[[Any], Any]
REVERSED = [*range(len(ROWS))][::-1]
SAME_ROWS: dict[str, Change] = {
    "plain": lambda data: data,
    "selected": lambda data: data.select(range(len(ROWS))),
    "reversed twice": lambda data: data.select(REVERSED).select(REVERSED),
    "sorted": lambda data: data.shuffle(seed=5).sort("n"),
    "formatted": lambda data: data.with_format("numpy"),
    "formatted without the column": lambda data: data.with_format("numpy", columns=["n"]),
    "mapped": lambda data: data.map(lambda row: {"text": row["text"]}),
    "iterable": lambda data: data.to_iterable_dataset(),
    "iterable, sharded": lambda data: data.to_iterable_dataset(num_shards=3),
    "iterable, mapped": lambda data: data.to_iterable_dataset().map(lambda row: row),
    "iterable, formatted": lambda data: data.to_iterable_dataset().with_format("numpy"),
}


@pytest.mark.parametrize("change", SAME_ROWS)
@pytest.mark.filterwarnings("default")
def test_datasets(datasets: Any, change: str) -> None:
    numbers = [*range(len(ROWS))]
    data = SAME_ROWS[change](datasets.Dataset.from_dict({"n": numbers, "text": ROWS}))
    assert read(data) == expected(ROWS)
    assert trained(data) == MODEL
    assert trained(data, column="text") == MODEL


@pytest.mark.filterwarnings("default")
def test_the_rows_that_a_data_set_selects(datasets: Any) -> None:
    data = datasets.Dataset.from_dict({"text": ROWS})
    shuffled = data.shuffle(seed=3)
    order = [row["text"] for row in shuffled]
    assert order != ROWS
    assert read(shuffled) == expected(order)
    assert read(shuffled.select([4, 2, 2])) == expected([order[4], order[2], order[2]])
    assert read(shuffled.filter(lambda row: row["text"] is None)) == ([], 0, 2)
    iterable = data.to_iterable_dataset().shuffle(seed=3, buffer_size=10)
    assert read(iterable) == expected([row["text"] for row in iterable])
    assert read(iterable.skip(3).take(5)) == expected([row["text"] for row in iterable][3:8])


@pytest.mark.filterwarnings("default")
def test_many_rows_of_a_data_set(datasets: Any) -> None:
    rows = [str(n) for n in range(5000)]
    data = datasets.Dataset.from_dict({"only": rows})
    assert read(data)[0] == [row.encode() for row in rows]
    assert read(data.to_iterable_dataset())[0] == [row.encode() for row in rows]


@pytest.mark.filterwarnings("default")
def test_a_data_set_made_by_a_generator(datasets: Any) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for row in ROWS:
            yield {"text": row, "n": 1}

    data = datasets.IterableDataset.from_generator(rows)
    assert data.features is None
    assert read(data) == expected(ROWS)
    with raises_kind("wrong-column column body"):
        trained(data, column="body")


def test_several_data_sets_are_refused(datasets: Any) -> None:
    data = datasets.Dataset.from_dict({"text": TEXT})
    iterable = data.to_iterable_dataset()
    for splits in (
        datasets.DatasetDict(train=data, test=data),
        datasets.IterableDatasetDict(train=iterable, test=iterable),
    ):
        with raises_kind("wrong-type 'train', 'test' data['train']"):
            trained(splits)


def test_a_data_set_with_a_transform_is_refused(datasets: Any) -> None:
    data = datasets.Dataset.from_dict({"text": TEXT})
    with raises_kind("wrong-type with_transform"):
        trained(data.with_transform(lambda rows: {"text": [text.upper() for text in rows["text"]]}))


def test_the_column_of_a_data_set_is_an_iterable_of_texts(datasets: Any) -> None:
    data = datasets.Dataset.from_dict({"text": TEXT})
    assert trained(data["text"]) == trained(TEXT)


# Other objects


def test_a_class_of_the_same_name_is_an_iterable() -> None:
    class Dataset:
        def __iter__(self) -> Iterator[str]:
            return iter(TEXT)

    assert trained(Dataset()) == trained(TEXT)


def test_a_column_of_what_is_no_table() -> None:
    for sentences in (TEXT, iter(TEXT)):
        with raises_kind("conflicting-options text", BadValueError):
            trained(sentences, column="text")
    with raises_kind("conflicting-options column", BadValueError):
        spmcompat.train(input="t.txt", column="text", model_prefix="m")
    with raises_kind("conflicting-options column", BadValueError):
        spmcompat.count(input="t.txt", column="text")
    with raises_kind("wrong-type column"):
        trained(TEXT, column=5)


def test_no_batches_are_an_empty_text() -> None:
    counts = spmcompat.count(sentence_iterator=iter([]), column="text", allow_empty=True)
    assert counts.summary()[0] == 0
    with raises_kind("empty-corpus"):
        trained(iter([]), column="text")


def test_the_trainer_of_sentencepiece_takes_arrow_data_too() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"title": ["no"] * len(ROWS), "body": ROWS})
    for name in ("sentence_iterator", "sentence_reader"):
        written = io.BytesIO()
        spmcompat.SentencePieceTrainer.train(
            **{name: table}, column="body", model_writer=written, **SMALL
        )
        assert written.getvalue() == MODEL
