"""Files that must be unpacked: reading them, reading them again, progress and memory."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.cli.train import main
from spmcompat.errors import BadValueError, MissingFileError
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import TextPlan
from spmcompat.runtime.progress import Report
from spmcompat.text import line_buffers
from spmcompat.text.files import Files
from spmcompat.text.lines import LineReader, ReadBuffer
from spmcompat.text.paths import expand
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.processes import start_python
from tests.unit.text.json_oracle import sentences_of
from tests.waiting import LIMIT

QUIET = Report(3)
LINES = [line for line in corpora.words_text(3, 500).splitlines() if line]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


def files_of(*paths: Path | str, **options: Any) -> Files:
    plan = make_plan(PlanOptions(text=TextPlan(input=tuple(map(str, paths)), **options)))
    return Files(plan.text, QUIET)


def all_sentences(buffers: Iterator[ReadBuffer] | Files) -> list[str]:
    return [one.decode() for buffer in buffers for one in sentences_of(buffer)]


def packed(folder: Path) -> dict[str, Path]:
    """The same text in several compressions and formats."""
    records = "".join(f"{json.dumps({'text': line})}\n" for line in LINES).encode()
    contents = {
        "a.txt": TEXT,
        "a.txt.gz": gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:]),
        "a.jsonl": records,
        "a.jsonl.gz": gzip.compress(records),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    found = {name: folder / name for name in contents}
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return found
    table = pa.table({"text": LINES})
    parquet.write_table(table, folder / "a.parquet", row_group_size=70)
    for name, opened in (("a.arrow", pa.ipc.new_file), ("a.arrows", pa.ipc.new_stream)):
        with opened(folder / name, table.schema) as writer:
            writer.write_table(table, max_chunksize=70)
    return {**found, **{name: folder / name for name in ("a.parquet", "a.arrow", "a.arrows")}}


@pytest.mark.parametrize("size", [1, 100, 1 << 20])
def test_every_form_holds_the_same_sentences(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", size)
    for path in packed(tmp_path).values():
        assert all_sentences(files_of(path)) == LINES, path


@pytest.mark.parametrize("size", [1000, 100])
def test_read_buffers_end_at_the_last_line_end_wherever_it_is(size: int) -> None:
    for place in range(600):
        text = b"a" * place + b"\n" + b"b" * (599 - place)
        buffers = [
            *iter(
                LineReader(io.BytesIO(text), "file", size, longest=None, numbered=True).read, None
            )
        ]
        lines = [buffer.lines_text() for buffer in buffers]
        assert lines == [line for line in (text[: place + 1], text[place + 1 :]) if line]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_read_buffers_can_be_loaded_again(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Load all buffers, or some of them in order, as seeding chunks do."""
    dice = random.Random(seed)
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", dice.choice([64, 1000]))
    paths = dice.sample(sorted(packed(tmp_path).values()), 3)
    files = files_of(*paths)
    first = [sentences_of(buffer) for buffer in files]
    assert not files.why_once()
    assert len(files) == len(first)
    for _ in range(4):
        count = dice.randint(1, len(first))
        start = dice.randrange(len(first))
        indexes = sorted(dice.sample(range(len(first)), count))
        indexes = dice.choice([indexes, list(range(start, len(first))), list(range(len(first)))])
        again = [(index, sentences_of(load())) for index, load in files.again(indexes)]
        assert again == [(index, first[index]) for index in indexes]


def test_progress_is_that_of_the_bytes_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", 1000)
    for path in packed(tmp_path).values():
        files = files_of(path)
        assert files.size() == path.stat().st_size
        sizes = [buffer.input_size for buffer in files]
        # The buffer size that the test sets does not apply to tables.
        assert len(sizes) > 3 or path.suffix in (".parquet", ".arrow", ".arrows")
        assert min(sizes) >= 0
        assert sum(sizes) == path.stat().st_size, path


def test_the_log_knows_the_size_of_compressed_input(tmp_path: Path) -> None:
    path = packed(tmp_path)["a.jsonl.gz"]
    log = io.StringIO()
    spmcompat.train(
        input=path,
        model_writer=io.BytesIO(),
        model_type="char",
        hard_vocab_limit=False,
        logstream=log,
    )
    assert f"Reading: {path.stat().st_size:,} bytes" in log.getvalue()
    assert f"Reading: done {path.stat().st_size:,} bytes" in log.getvalue()


def test_nulls_are_skipped_and_counted(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    values = [None if number % 3 == 0 else line for number, line in enumerate(LINES)]
    pq.write_table(pa.table({"text": values}), tmp_path / "a.parquet", row_group_size=70)
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps({'text': v})}\n" for v in values))
    for name in ("a.parquet", "a.jsonl"):
        files = files_of(tmp_path / name)
        buffers = list(files)
        assert all_sentences(iter(buffers)) == [value for value in values if value is not None]
        assert sum(buffer.nulls for buffer in buffers) == values.count(None)


@pytest.mark.parametrize(
    "kind",
    [
        "string",
        "large_string",
        "binary",
        "large_binary",
        "string_view",
        "dictionary",
        "null",
    ],
)
def test_types_of_parquet_columns(kind: str, tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    if kind == "dictionary":
        column = pa.array(LINES).dictionary_encode()
    elif kind == "null":
        column = pa.nulls(len(LINES))
    else:
        if not hasattr(pa, kind):
            pytest.skip(f"this pyarrow has no type {kind}")
        column = pa.array(LINES).cast(getattr(pa, kind)())
    pq.write_table(pa.table({"n": range(len(LINES)), "text": column}), tmp_path / "a.parquet")
    expected = [] if kind == "null" else LINES
    assert all_sentences(files_of(tmp_path / "a.parquet")) == expected


def test_a_parquet_file_without_rows(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": LINES}), tmp_path / "b.parquet")
    assert all_sentences(files_of(tmp_path / "a.parquet", tmp_path / "b.parquet")) == LINES


def test_the_column_that_is_read(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    others = [line[::-1] for line in LINES]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(len(LINES)), "body": LINES}), path)
    assert all_sentences(files_of(path)) == LINES
    nested = [{"text": "no"}] * len(LINES)
    pq.write_table(pa.table({"nested": nested, "body": others, "text": LINES}), path)
    assert all_sentences(files_of(path)) == LINES
    assert all_sentences(files_of(path, input_column="body")) == others
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps({'text': 1, 'a.é': line})}\n" for line in LINES))
    assert all_sentences(files_of(path, input_column="a.é")) == LINES


@pytest.mark.slow
def test_a_row_group_takes_no_more_memory_because_of_a_dictionary(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lines = [f"{number} {LINES[number % len(LINES)]}" * 4 for number in range(100_000)]
    table = pa.table({"text": lines})
    path = tmp_path / "a.parquet"

    def most() -> int:
        before = pa.total_allocated_bytes()
        return max(pa.total_allocated_bytes() - before for _ in files_of(path))

    pq.write_table(table, path, use_dictionary=False)
    plain = most()
    pq.write_table(table, path)
    assert most() < plain + 5_000_000
    as_dictionary = pa.table({"text": pa.array(lines).dictionary_encode()})
    pq.write_table(table, path, dictionary_pagesize_limit=1 << 30)
    decoded = most()
    pq.write_table(as_dictionary, path, dictionary_pagesize_limit=1 << 30)
    assert most() < decoded + 5_000_000


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.arrow", "a.arrows"])
def test_nested_fields_and_lists(name: str, tmp_path: Path) -> None:
    records: list[dict[str, Any]] = [
        {"meta": {"text": "a", "tags": ["b\n", None, "c"]}, "talk": [{"by": "x", "text": "d"}]},
        {"meta": {"text": None, "tags": []}, "talk": [{"by": "x", "text": "e"}, None]},
        {"meta": None, "talk": None},
        {"meta": {"text": "", "tags": None}, "talk": []},
    ]
    path = tmp_path / name

    def write(records: list[dict[str, Any]]) -> None:
        if name == "a.jsonl":
            path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
            return
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.Table.from_pylist(records)
        if name == "a.parquet":
            pq.write_table(table, path)
            return
        opened = pa.ipc.new_file if name == "a.arrow" else pa.ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table)

    def read(column: str) -> tuple[list[str], int, int]:
        buffers = list(files_of(path, input_column=column))
        texts = sum(buffer.lines for buffer in buffers), sum(buffer.nulls for buffer in buffers)
        return all_sentences(iter(buffers)), *texts

    write(records)
    assert read("meta.text") == (["a"], 2, 2)
    assert read("meta.tags") == (["b", "c"], 2, 3)
    assert read("talk.text") == (["d", "e"], 2, 2)
    write([{**record, "meta.text": "literal"} for record in records])
    assert read("meta.text") == (["literal"] * 4, 4, 0)
    with raises_kind("broken-record txt" if name == "a.jsonl" else "wrong-column meta.txt"):
        read("meta.txt")


def test_csv_files_are_tables_only_if_a_column_or_the_format_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,text\n1,a b\n")
    assert all_sentences(files_of(path)) == ["n,text", "1,a b"]
    assert all_sentences(files_of(path, input_column="n")) == ["1"]
    assert all_sentences(files_of(path, input_format="csv")) == ["a b"]
    assert all_sentences(files_of(path, input_format="text", input_column="n")) == [
        "n,text",
        "1,a b",
    ]


@pytest.mark.parametrize("size", [7, 100, 1 << 20])
def test_fields_of_csv_are_those_of_pyarrow(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow_csv = pytest.importorskip("pyarrow.csv")
    monkeypatch.setattr(line_buffers, "BUFFER_BYTES", size)
    dice = random.Random(size)
    parts = ["a", "é", "漢", " ", ",", '"', "\n", "\r\n", "b c", "\t", "'", ";"]
    rows = [["".join(dice.choices(parts, k=dice.randrange(9))) for _ in "ab"] for _ in range(300)]
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator=dice.choice(["\n", "\r\n"])).writerows(
            [["n", "text"], *rows]
        )
    table = arrow_csv.read_csv(
        path,
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types={"text": "string"}),
    )
    expected = [text.rstrip("\r\n") for text in table["text"].to_pylist()]
    assert expected == [text.rstrip("\r\n") for _, text in rows]
    assert all_sentences(files_of(path, input_column="text")) == [one for one in expected if one]
    split = list(files_of(path, input_column="text", split_lines=True))
    lines = [line.rstrip("\r") for text in expected for line in text.split("\n")]
    assert all_sentences(iter(split)) == [line for line in lines if line]


def test_csv_files_are_read_as_bytes_and_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbftext,\xc3\xa9.b\r\n\r\n"a \xff",b\r\n\x85c,d')
    found = [one for buffer in files_of(path, input_column="text") for one in sentences_of(buffer)]
    assert found == [b"a \xff", b"\x85c"]
    assert all_sentences(files_of(path, input_column="é.b")) == ["b", "d"]
    monkeypatch.setattr(line_buffers, "LONGEST_RECORD", 200_000)
    csv.field_size_limit(1000)
    path.write_bytes(b'text\n"a' + b"b c\n" * 100_000)
    with raises_kind("broken-record a.csv:2"):
        list(files_of(path, input_column="text"))
    path.write_bytes(b"text\na\n" + b"b c" * 100_000)
    with raises_kind("broken-record a.csv:3 200,000"):
        list(files_of(path, input_column="text"))


def test_a_mark_of_utf_8_at_the_start_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n{"text": "b"}')
    assert all_sentences(files_of(path)) == ["a", "b"]


def test_formats_by_option_and_by_name(tmp_path: Path) -> None:
    found = packed(tmp_path)
    (tmp_path / "a.log").write_bytes(found["a.jsonl"].read_bytes())
    (tmp_path / "A.NDJSON").write_bytes(found["a.jsonl"].read_bytes())
    assert all_sentences(files_of(tmp_path / "a.log", input_format="jsonl")) == LINES
    assert all_sentences(files_of(tmp_path / "A.NDJSON")) == LINES
    if "a.parquet" in found:
        (tmp_path / "a.bin").write_bytes(found["a.parquet"].read_bytes())
        assert all_sentences(files_of(tmp_path / "a.bin", input_format="parquet")) == LINES


def test_a_pipe_is_read_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[gzip.compress(TEXT)], daemon=True)
    writer.start()
    files = files_of(path)
    assert "can be read only once" in files.why_once()
    assert files.size() is None
    assert all_sentences(files) == LINES
    writer.join(LIMIT)


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.text", "x/d.txt", "x/y/e.txt", "[a].txt", "dir.txt/f"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("a\n")
    assert expand(["*.txt"]) == ("[a].txt", "a.txt", "b.txt")
    assert expand(["?.t*"]) == ("a.txt", "b.txt", "c.text")
    assert expand(["[ab].txt", "c.text"]) == ("a.txt", "b.txt", "c.text")
    assert expand(["[a].txt"]) == ("[a].txt",)
    assert expand(["**/*.txt"]) == ("[a].txt", "a.txt", "b.txt", "x/d.txt", "x/y/e.txt")
    assert expand(["-", ""]) == ("", "")
    Path("-").write_text("a\n")
    assert expand(["-"]) == ("-",)
    with pytest.raises(MissingFileError):
        expand(["*.none"])


def test_remote_patterns() -> None:
    fsspec = pytest.importorskip("fsspec")
    for name in ("b.txt", "a.txt", "c.gz"):
        with fsspec.open(f"memory://patterns/{name}", "wb") as file:
            file.write(b"a\n")
    found = expand(["memory://patterns/*.txt"])
    assert [one.rpartition("/")[2] for one in found] == ["a.txt", "b.txt"]
    assert all_sentences(files_of(*found)) == ["a", "a"]
    assert files_of(*found).size() == 4
    assert expand(["https://host/a?b=[1]"]) == ("https://host/a?b=[1]",)


@pytest.mark.parametrize(
    "options", [{"input_format": "jsonl"}, {"input_column": "a"}, {"skip_bad_records": True}]
)
def test_options_of_files_are_refused_for_sentences(options: dict[str, Any]) -> None:
    with raises_kind("conflicting-options sentence_iterator", BadValueError):
        spmcompat.train(sentence_iterator=LINES, model_writer=io.BytesIO(), **options)


@pytest.mark.parametrize("options", [{"input_column": "a"}, {"skip_bad_records": True}])
@pytest.mark.parametrize("call", [spmcompat.train, spmcompat.count])
def test_options_of_records_are_refused_for_plain_text(
    call: Callable[..., object], options: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    more = {"model_writer": io.BytesIO()} if call is spmcompat.train else {}
    with raises_kind("conflicting-options", BadValueError):
        call(input=str(path), **more, **options)


@pytest.mark.parametrize("form", ["python", "command line"])
def test_a_model_stores_no_format_that_sentencepiece_does_not_know(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_bytes(TEXT)
    Path("b.txt").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    models = []
    for given in (
        {"input": "a.txt"},
        {"input": "a.txt", "input_format": "auto"},
        {"input": "b.txt", "input_format": "jsonl", "split_lines": "true"},
    ):
        options = {**given, "model_type": "char", "hard_vocab_limit": "false", "minloglevel": "2"}
        if form == "python":
            written = io.BytesIO()
            spmcompat.SentencePieceTrainer.train(model_writer=written, **options)
            models.append(written.getvalue())
        else:
            flags = [f"--{name}={value}" for name, value in options.items()]
            assert main([*flags, "--model_prefix=m"]) == 0
            models.append(Path("m.model").read_bytes())
    assert models[0] == models[1]
    assert models[0].replace(b"a.txt", b"b.txt") == models[2]


PROGRAM = """
import io, resource, sys, spmcompat
spmcompat.train(input=sys.argv[1], model_writer=io.BytesIO(), model_type="char",
                hard_vocab_limit=False, minloglevel=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(path: Path) -> int:
    """Return the peak memory of a training run in KiB."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        cwd=Path(spmcompat.__file__).parents[1],
        check=True,
        capture_output=True,
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet"])
def test_a_large_file_takes_no_more_memory_than_a_small_one(name: str, tmp_path: Path) -> None:
    lines = corpora.words_text(5, 20_000, types=2000).splitlines()
    text = "".join(f"{json.dumps({'id': 1, 'text': line})}\n" for line in lines).encode()
    small, large = tmp_path / f"small-{name}", tmp_path / f"large-{name}"
    copies = 50  # the number of copies of the text in the large file
    assert len(text) > 1_000_000
    if name == "a.jsonl.gz":
        member = gzip.compress(text, 1)
        small.write_bytes(member * 2)
        large.write_bytes(member * copies)
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({"id": range(len(lines)), "text": lines})
        for path, number in ((small, 2), (large, copies)):
            with pq.ParquetWriter(path, table.schema) as writer:
                for _ in range(number):
                    writer.write_table(table)
    assert peak(large) < peak(small) + 20_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_reading_a_table_does_not_import_pandas(name: str, tmp_path: Path) -> None:
    """For some calls, pyarrow imports pandas if it is installed. Its import takes 45 MB."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": ["a b", "b a"]})
    if name == "a.parquet":
        pq.write_table(table, tmp_path / name)
    else:
        with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
    (tmp_path / "pandas.py").write_text("raise SystemExit('pandas was imported')")
    process = start_python(["-c", PROGRAM, name], tmp_path, stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors


def as_table(module: str, function: str, lines: list[str]) -> bytes:
    """Return a Parquet or Arrow file with many small parts."""
    pa = pytest.importorskip("pyarrow")
    file = io.BytesIO()
    write = getattr(importlib.import_module(module), function)
    sizes = {"row_group_size": 500} if function == "write_table" else {"chunksize": 500}
    write(pa.table({"text": lines}), file, **sizes)
    return file.getvalue()


MAKERS: dict[str, Callable[[list[str]], bytes]] = {
    "a.txt": lambda lines: "\n".join(lines).encode(),
    "a.txt.gz": lambda lines: gzip.compress("\n".join(lines).encode()),
    "a.jsonl": lambda lines: "\n".join(json.dumps({"text": one}) for one in lines).encode(),
    "a.csv": lambda lines: "\n".join(["text", *lines]).encode(),
    "a.parquet": lambda lines: as_table("pyarrow.parquet", "write_table", lines),
    "a.arrow": lambda lines: as_table("pyarrow.feather", "write_feather", lines),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_file_that_becomes_shorter_while_it_is_read(name: str, tmp_path: Path) -> None:
    """The cut is at the end of a line, so that the rest looks like a complete text."""
    path = tmp_path / name
    letters = random.Random(1)
    lines = [letters.randbytes(500).hex() for _ in range(20_000)]
    path.write_bytes(MAKERS[name](lines))
    del lines
    buffers = iter(files_of(path, input_column="text" if name == "a.csv" else ""))
    next(buffers)
    with open(path, "rb") as file:
        file.seek(path.stat().st_size // 2)
        file.readline()
        os.truncate(path, file.tell())
    kind = "broken-file" if name in ("a.parquet", "a.arrow") else "file-changed"
    with raises_kind(f"{kind} {name}"):
        list(buffers)


def test_standard_input_that_becomes_shorter(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a line of text\n" * 500_000)
    script = (
        "import os, sys\n"
        "sys.path.remove('')\n"  # the sources may lack compiled modules
        "sys.path.append(sys.argv[2])\n"
        "from tests.unit.text.test_files import files_of\n"
        "buffers = iter(files_of(''))\n"
        "next(buffers)\n"
        "os.truncate(sys.argv[1], 3_000_000)\n"
        "list(buffers)\n"
    )
    with open(path, "rb") as file:
        done = subprocess.run(
            [sys.executable, "-c", script, str(path), str(Path(__file__).parents[3])],
            stdin=file,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "FileChangedError: standard input " in done.stderr
