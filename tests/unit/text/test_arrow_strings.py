"""Strings of Arrow structs that are created by hand: all layouts, and errors."""

from __future__ import annotations

import ctypes
import gc
import io
import itertools
import mmap
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import spmcompat
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import TextPlan
from spmcompat.text.arrow_producers import strings_of
from spmcompat.text.columns import ArrowStrings
from spmcompat.text.lines import BUFFER_BYTES, LineFilter, ReadBuffer, ReservoirSample
from tests.kinds import raises_kind
from tests.unit.text import made_arrow
from tests.unit.text.made_arrow import Batch, Batches, Column, bitmap, offsets_of, strings, table

FORMATS = ["u", "z", "U", "Z", "vu", "vz"]
INDICES = ["c", "C", "s", "S", "i", "I", "l", "L"]
ROWS = ["a b", None, "", "é" * 30, "c\n", "x" * 12, None, "x" * 13, "\r\n", "d\ne\r\n", "long " * 9]


def texts_of(buffers: Sequence[ReadBuffer]) -> list[bytes]:
    """Return the non-empty strings in the buffers."""
    sample = ReservoirSample(1 << 40, False, 0)
    line_filter = LineFilter(make_plan(PlanOptions(text=TextPlan(max_sentence_length=2**30))).text)
    for buffer in buffers:
        sample.add(buffer, line_filter)
    return [*sample]


def read(data: Any, column: str | None = None) -> tuple[list[bytes], int, int]:
    """Return the non-empty strings, the number of all strings, and the number of nulls."""
    buffers = [*strings_of([data], column)]
    lines = sum(buffer.lines for buffer in buffers)
    return texts_of(buffers), lines, sum(buffer.nulls for buffer in buffers)


def expected(rows: Sequence[str | bytes | None]) -> tuple[list[bytes], int, int]:
    texts = [row.encode() if isinstance(row, str) else row for row in rows if row is not None]
    stripped = [text.rstrip(b"\r\n") for text in texts]
    return [text for text in stripped if text], len(texts), len(rows) - len(texts)


@pytest.mark.parametrize("skip", [0, 1, 3, 8])
@pytest.mark.parametrize("form", FORMATS)
def test_a_column_of_each_format(form: str, skip: int) -> None:
    for length in range(len(ROWS) - skip + 1):
        batch = Batch(strings(ROWS, form, skip, length))
        assert read(batch) == expected(ROWS[skip : skip + length])
        assert batch.made.is_released


@pytest.mark.parametrize("form", FORMATS)
def test_the_offsets_of_a_table_and_of_its_column_add_up(form: str) -> None:
    for skip, column_skip in itertools.product([0, 1, 2, 7], [0, 1, 3]):
        length = len(ROWS) - skip - column_skip
        column = strings(ROWS, form, column_skip, name="text")
        other = Column("l", len(ROWS), (None, bytes(8 * len(ROWS))), name="id")
        batch = Batch(table([other, column], length, skip))
        assert read(batch) == expected(ROWS[skip + column_skip :])


@pytest.mark.parametrize("form", [*FORMATS, "n"])
def test_rows_of_a_table_that_are_null_hold_no_text(form: str) -> None:
    for seed in range(20):
        dice = random.Random(seed)
        rows = [dice.choice(ROWS) for _ in range(20)]
        skip, column_skip = dice.randrange(10), dice.randrange(5)
        length = dice.randrange(20 - skip - column_skip)
        valid = [dice.random() < 0.7 for _ in range(20)]
        column = strings(rows, form, column_skip, name="text")
        batch = Batch(table([column], length, skip, bitmap(valid)))
        shown = [
            None if form == "n" or not valid[row] else rows[column_skip + row]
            for row in range(skip, skip + length)
        ]
        assert read(batch, "text") == expected(shown)


def test_a_column_without_a_bitmap_or_with_no_nulls_has_none() -> None:
    text = strings(["a", None, "b"])
    assert read(Batch(text)) == ([b"a", b"b"], 2, 1)
    text.null_count = 0
    assert read(Batch(text)) == ([b"a", b"??", b"b"], 3, 0)
    text.buffers = (None, *text.buffers[1:])
    text.null_count = -1
    assert read(Batch(text)) == ([b"a", b"??", b"b"], 3, 0)


@pytest.mark.parametrize("values", FORMATS)
@pytest.mark.parametrize("index", INDICES)
def test_dictionaries(index: str, values: str) -> None:
    size = {"c": 1, "s": 2, "i": 4, "l": 8}[index.lower()]
    entries = ["unused", "one", None, "", "three " * 5]
    rows = [1, None, 3, 0, 2, 1, None, 1]
    indices = b"".join((0 if row is None else row).to_bytes(size, "little") for row in rows)
    valid = bitmap(row is not None for row in rows)
    dictionary = strings(entries, values, skip=1)
    shown = [None if row is None else entries[row + 1] for row in rows]
    for skip, table_skip in itertools.product([0, 1, 5], [0, 2]):
        column = Column(index, 8 - skip, (valid, indices), skip, name="t", dictionary=dictionary)
        assert read(Batch(column)) == expected(shown[skip:])
        inside = Batch(table([column], 8 - skip - table_skip, table_skip))
        assert read(inside, "t") == expected(shown[skip + table_skip :])


def test_nothing_needs_buffers() -> None:
    for form in FORMATS:
        sizes = (None,) if form[0] == "v" else ()
        empty = Column(form, 0, (None, None, None, *sizes), name="text")
        assert read(Batch(empty)) == ([], 0, 0)
        assert read(Batches([empty, empty], empty)) == ([], 0, 0)
    assert read(Batches([], strings([]))) == ([], 0, 0)
    only_empty = Column("u", 3, (None, bytes(16), None))
    assert read(Batch(only_empty)) == ([], 3, 0)


@pytest.mark.parametrize("form", FORMATS)
def test_buffers_need_not_be_aligned(form: str) -> None:
    column = strings(ROWS, form)
    kept = []
    for i, buffer in enumerate(column.buffers):
        assert isinstance(buffer, bytes)
        shifted = ctypes.create_string_buffer(b"!" + buffer)
        kept.append(shifted)
        column.buffers = [
            *column.buffers[:i],
            ctypes.addressof(shifted) + 1,
            *column.buffers[i + 1 :],
        ]
    assert read(Batch(column)) == expected(ROWS)


def sparse(size: int) -> tuple[mmap.mmap, int]:
    """Return memory whose pages take no space until they are written, and its address."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    memory = mmap.mmap(-1, size, flags=flags)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


@pytest.mark.parametrize(
    ("form", "begin"),
    [("u", 2**31 - 5), ("z", 2**32 - 40), ("U", 2**31 - 5), ("U", 2**32 - 5), ("Z", 2**32 + 5)],
)
def test_strings_behind_the_first_2_gib(form: str, begin: int) -> None:
    memory, address = sparse(begin + 100)
    texts = [b"first one", b"", b"second", b"third\n"]
    memory[begin : begin + 21] = b"".join(texts)
    ends = offsets_of(texts, 8 if form in "UZ" else 4, begin)
    column = Column(form, 4, (None, ends, address))
    assert read(Batch(column)) == expected(texts)


def test_views_into_a_buffer_of_2_gib() -> None:
    begin = 2**31 - 20
    memory, address = sparse(2**31)
    memory[begin : begin + 15] = b"a long string, "
    view = (15).to_bytes(4, "little") + b"a lo" + bytes(4) + begin.to_bytes(4, "little")
    column = Column("vu", 1, (None, view, address, (2**31).to_bytes(8, "little")))
    assert read(Batch(column)) == ([b"a long string, "], 1, 0)


BROKEN: dict[str, Column] = {
    "the offsets of a string decrease": Column(
        "u", 2, (None, offsets_of([b"ab", b"c"], 4)[::-1], b"abc")
    ),
    "a view names a missing buffer": Column(
        "vu", 1, (None, b"\x0d\0\0\0abcd\x01\0\0\0\0\0\0\0", b"x" * 13, b"\x0d" + bytes(7))
    ),
    "a view ends after its buffer": Column(
        "vu", 1, (None, b"\x0d\0\0\0abcd\0\0\0\0\x01\0\0\0", b"x" * 13, b"\x0d" + bytes(7))
    ),
    "an index is not in its dictionary": Column("c", 1, (None, b"\xff"), dictionary=strings(["a"])),
    "a dictionary is missing": Column("c", 1, (None, b"\0"), dictionary=strings(["a"])),
    "a buffer is missing": Column("u", 1, (None, None, b"a")),
    "is too short or lacks buffers": table([strings(["a"], name="text")], 2),
    "lacks buffers": Column("u", 1, (None, bytes(8))),
    "a batch lacks a column": table([strings(["a"], name="text")], 1),
}


@pytest.mark.parametrize(("form", "index"), [("c", b"\x80"), ("s", b"\0\x80")])
def test_a_negative_index_is_refused_in_a_long_dictionary(form: str, index: bytes) -> None:
    dictionary = strings(["a"] * 40_000)
    with raises_kind("broken-arrow-data an index is not in its dictionary"):
        read(Batch(Column(form, 1, (None, index), dictionary=dictionary)))
    unsigned = Column(form.upper(), 1, (None, index), dictionary=dictionary)
    assert read(Batch(unsigned)) == ([b"a"], 1, 0)


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_data_are_refused(fault: str) -> None:
    column = BROKEN[fault]
    broken = column
    if fault == "a dictionary is missing":
        broken = Column("c", 1, (None, b"\0"))
    elif fault == "a batch lacks a column":
        broken = table([], 1)
    batches = Batches([broken], column)
    with raises_kind("broken-arrow-data Batches"):
        read(batches)
    assert batches.made.is_released


def test_errors_of_a_stream_are_told_and_end_it() -> None:
    text = strings(["a"])
    for code in (5, 22):
        batches = Batches([text, code], text, b"the disk\n is full\n")
        with raises_kind("broken-arrow-data"):
            read(batches)
        assert batches.made.is_released
        batches = Batches([text, code], text, None)
        with raises_kind(f"broken-arrow-data {os.strerror(code)}"):
            read(batches)
        assert batches.made.is_released
    batches = Batches([], 5, b"no schema \xff")
    with raises_kind("broken-arrow-data"):
        read(batches)
    assert batches.made.is_released


def test_a_stream_without_memory_is_no_mistake_of_the_user() -> None:
    batches = Batches([12], strings([]), b"bad_alloc")
    with pytest.raises(MemoryError):
        read(batches)
    assert batches.made.is_released
    batches = Batches([12], strings([]), b"bad_alloc")
    with raises_kind("out-of-memory"):
        spmcompat.train(sentence_iterator=batches, model_writer=io.BytesIO(), minloglevel=2)
    assert batches.made.is_released


class Raises:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise self.error


def test_exceptions_of_the_producer_are_named() -> None:
    with raises_kind("broken-arrow-data") as found:
        read(Raises(ValueError("no\ntwo lines")))
    assert isinstance(found.value.__cause__, ValueError)
    for error in (KeyboardInterrupt, MemoryError):
        with pytest.raises(error):
            read(Raises(error()))


@pytest.mark.parametrize("given", [None, (1, 2), 5, "capsule", (None,)])
def test_what_is_no_capsule_is_refused(given: Any) -> None:
    class Wrong:
        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return given

    with raises_kind("broken-arrow-data"):
        read(Wrong())


def test_data_that_were_handed_out_before() -> None:
    made = made_arrow.Made()
    empty = made_arrow.Stream()

    class Twice:
        def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
            return made_arrow.capsule(made.keep(empty))

    with raises_kind("broken-arrow-data"):
        read(Twice())


@pytest.mark.parametrize("kind", [Batch, Batches])
def test_data_of_another_type_are_released(kind: Any) -> None:
    column = Column("l", 1, (None, bytes(8)))
    data = Batch(column) if kind is Batch else Batches([column], column)
    with raises_kind("wrong-column column"):
        read(data)
    assert data.made.is_released


def test_one_batch_is_held_at_a_time() -> None:
    batches = Batches([strings(["a", "b"])] * 50, strings([]))
    assert read(batches)[1] == 100
    assert batches.made.is_released
    assert batches.made.most["array"] == 1
    assert batches.made.given["array"] == 50


@pytest.mark.slow
def test_one_of_several_objects_is_held_at_a_time() -> None:
    alive: list[Batch] = []

    def parts() -> Iterator[Batch]:
        for _ in range(5):
            gc.collect()
            assert all(one.made.is_released for one in alive)
            alive.append(Batch(strings(["a"])))
            yield alive[-1]

    assert sum(buffer.lines for buffer in strings_of(parts())) == 5


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[""], [None], ["", None, None]])
def test_many_rows_without_text_fill_read_buffers_too(rows: list[str | None]) -> None:
    part = Batch(strings(rows * 1000))
    parts = itertools.repeat(part, 5 * (BUFFER_BYTES // (1000 * len(rows))))
    found = [buffer.lines + buffer.nulls for buffer in strings_of(parts)]
    assert max(found) == BUFFER_BYTES
    assert len(found) in (5, 6)


def test_a_batch_is_cut_into_read_buffers() -> None:
    line = "x" * 999
    buffers = [*strings_of([Batch(strings([line] * 5000))])]
    assert [buffer.first_line for buffer in buffers] == [1, 1050, 2099, 3148, 4197]
    assert all(buffer.size < BUFFER_BYTES for buffer in buffers)
    [first, second] = strings_of([Batch(strings(["y" * (3 * BUFFER_BYTES), "z"]))])
    assert (first.lines, first.size) == (1, 3 * BUFFER_BYTES)
    assert (second.lines, second.first_line) == (1, 2)


def test_reading_may_stop_early() -> None:
    line = strings(["x" * BUFFER_BYTES])
    batches = Batches(itertools.repeat(line), line)
    buffers = strings_of([batches])
    next(buffers)
    assert batches.made.held == {"stream": 1, "schema": 0, "array": 1}
    buffers.close()
    del buffers
    gc.collect()
    assert batches.made.is_released
    strings_left = ArrowStrings(Batches([line], line))
    strings_left.close()
    assert strings_left.fill(ReadBuffer.of_rows("row", 1)) is False


TRAINING: dict[str, Any] = {"vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2}


@pytest.mark.parametrize("sample", [0, 200])
def test_an_error_of_a_training_releases_the_data(sample: int) -> None:
    """The data are released at once, even while the exception and its frames are alive."""
    line = strings(["a b " * 200])
    batches = Batches([*[line] * 3000, 5], line)
    with raises_kind("broken-arrow-data") as caught:
        spmcompat.train(
            sentence_iterator=batches,
            model_writer=io.BytesIO(),
            input_sentence_size=sample,
            **TRAINING,
        )
    assert caught.value.__traceback__ is not None
    assert batches.made.is_released


def test_an_interrupt_releases_the_data() -> None:
    line = strings(["a b " * 200])
    batches = Batches(itertools.repeat(line), line)

    def interrupted(sentence: str) -> list[str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        spmcompat.train(
            sentence_iterator=batches,
            model_writer=io.BytesIO(),
            pretokenizer=interrupted,
            **TRAINING,
        )
    assert caught.value.__traceback__ is not None
    assert batches.made.is_released


def test_a_sample_of_the_first_rows_stops_reading() -> None:
    text = strings([f"the cat sat on the {i} mat" for i in range(100_000)])
    batches = Batches(itertools.repeat(text), text)
    spmcompat.train(
        sentence_iterator=batches,
        model_writer=io.BytesIO(),
        input_sentence_size=200,
        shuffle_input_sentence=False,
        **TRAINING,
    )
    assert batches.made.given["array"] == 1
    assert batches.made.is_released


def test_an_error_names_the_row_with_the_nulls_before_it() -> None:
    rows = ["a\t1", None, "b\t2", None, None, "c", "d\t4"]
    for at in range(len(rows)):
        parts = [Batch(strings(rows[:at])), Batch(strings(rows[at:]))]
        with raises_kind("broken-record row:6"):
            spmcompat.train(
                sentence_iterator=parts,
                input_format="tsv",
                model_writer=io.BytesIO(),
                **TRAINING,
            )


def test_run_end_encoded_data_are_refused_with_a_remedy() -> None:
    pa = pytest.importorskip("pyarrow")
    compute = pytest.importorskip("pyarrow.compute")
    column = compute.run_end_encode(pa.array(["a", "a", "b"]))
    for data in (column, pa.table({"text": column})):
        with raises_kind("wrong-column +r"):
            read(data)
