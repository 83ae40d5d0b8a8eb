"""Input that cannot be read to its end gives an error in one clear line, and no file is written."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import random
import struct
import sys
import tarfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.cli.train import main
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.text import compression
from spmcompat.text.forms import Form
from spmcompat.text.opening import open_input
from tests.kinds import assert_error, raises_kind
from tests.parity import corpora

LINES = corpora.words_text(7, 300).splitlines()
TEXT = "".join(f"{line}\n" for line in LINES).encode()


def json_lines(lines: list[str] = LINES, **fields: object) -> bytes:
    return b"".join(json.dumps({"text": line, **fields}).encode() + b"\n" for line in lines)


def with_line(line: bytes, number: int = 7) -> bytes:
    """JSON Lines in which one line is replaced."""
    lines = json_lines().splitlines()
    lines[number - 1] = line
    return b"\n".join(lines) + b"\n"


def zstd(text: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    pytest.importorskip(name)
    packed: bytes = import_module(name).compress(text)
    return packed


def two_columns_of_one_name() -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    written = io.BytesIO()
    pq.write_table(pa.table([LINES, LINES], names=["text", "text"]), written)
    return written.getvalue()


def parquet(**columns: Any) -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written)
    return written.getvalue()


def arrow(form: str = "file", **columns: Any) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns or {"text": LINES})
    written = io.BytesIO()
    opened = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with opened(written, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return written.getvalue()


def offsets(lines: list[str]) -> bytes:
    ends = [0, *itertools.accumulate(len(line.encode()) for line in lines)]
    return struct.pack(f"<{len(ends)}i", *ends)


def dictionaries(*texts: list[str], changed: tuple[bytes, bytes]) -> bytes:
    """Return an Arrow stream with a dictionary for each batch, in which bytes are replaced."""
    pa = pytest.importorskip("pyarrow")
    columns = [pa.array(lines).dictionary_encode() for lines in texts]
    written = io.BytesIO()
    with pa.ipc.new_stream(written, pa.schema([("text", columns[0].type)])) as writer:
        for column in columns:
            writer.write(pa.record_batch([column], ["text"]))
    data = written.getvalue()
    assert data.count(changed[0]) == 1
    return data.replace(*changed)


def tar(text: bytes) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return written.getvalue()


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


MODEL = ModelProto(
    pieces=[{"piece": "<unk>", "score": 0, "type": "UNKNOWN"}, {"piece": "the", "score": -1.5}]
).SerializeToString()

# Each case: the name of the file, a function that returns its content, and a part of the message.
BROKEN: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "gzip named .txt": (
        "a.txt",
        lambda: gzip.compress(TEXT),
        "wrong-format a.txt a.txt.gz",
    ),
    "zstd named .txt": ("a.txt", lambda: zstd(TEXT), "wrong-format a.txt.zst"),
    "xz named .txt": ("a.txt", lambda: lzma.compress(TEXT), "wrong-format a.txt.xz"),
    "bzip2 named .txt": ("a.txt", lambda: bz2.compress(TEXT), "wrong-format a.txt.bz2"),
    "Parquet named .txt": (
        "a.txt",
        lambda: parquet(text=LINES),
        "wrong-format a.txt --input_format=parquet",
    ),
    "a model": (
        "m.model",
        lambda: MODEL,
        "wrong-format m.model --input_format=text",
    ),
    "a model named .txt": ("a.txt", lambda: MODEL, "wrong-format a.txt"),
    "zstd named .gz": (
        "a.gz",
        lambda: zstd(TEXT),
        "wrong-format a.gz a.zst",
    ),
    "a text named .gz": (
        "a.gz",
        lambda: TEXT,
        "wrong-format a.gz",
    ),
    "a text named .parquet": ("a.parquet", lambda: TEXT, "wrong-format a.parquet"),
    "empty gzip": ("a.gz", lambda: b"", "broken-file a.gz"),
    "gzip that ends early": (
        "a.gz",
        lambda: gzip.compress(TEXT)[:-100],
        "broken-file a.gz",
    ),
    "gzip without its last byte": (
        "a.gz",
        lambda: gzip.compress(TEXT)[:-1],
        "broken-file a.gz",
    ),
    "gzip whose second member ends early": (
        "a.gz",
        lambda: gzip.compress(TEXT) + gzip.compress(TEXT)[:50],
        "broken-file a.gz",
    ),
    "zstd that ends early": (
        "a.zst",
        lambda: zstd(TEXT) + zstd(TEXT)[:-9],
        "broken-file a.zst",
    ),
    "xz that ends early": ("a.xz", lambda: lzma.compress(TEXT)[:-9], "broken-file a.xz"),
    "bzip2 that ends early": ("a.bz2", lambda: bz2.compress(TEXT)[:-9], "broken-file a.bz2"),
    "gzip with a wrong checksum": (
        "a.gz",
        lambda: flipped(gzip.compress(TEXT), -6),
        "broken-file a.gz",
    ),
    "bzip2 with a damaged byte": (
        "a.bz2",
        lambda: flipped(bz2.compress(TEXT), 100),
        "broken-file a.bz2 bzip2",
    ),
    "something after gzip data": (
        "a.gz",
        lambda: gzip.compress(TEXT) + b"no gzip",
        "broken-file a.gz",
    ),
    "gzip twice": (
        "a.gz",
        lambda: gzip.compress(gzip.compress(TEXT)),
        "wrong-format a.gz",
    ),
    "an archive by name": ("a.tar.gz", lambda: gzip.compress(tar(TEXT)), "wrong-format"),
    "an archive by a short name": (
        "a.tgz",
        lambda: gzip.compress(tar(TEXT)),
        "wrong-format a.tgz",
    ),
    "an archive by content": ("a.gz", lambda: gzip.compress(tar(TEXT)), "wrong-format"),
    "compressed Parquet": (
        "a.parquet.gz",
        lambda: gzip.compress(parquet(text=LINES)),
        "wrong-format",
    ),
    "a line that is not JSON": (
        "a.jsonl",
        lambda: with_line(b'{"text": "a" "b"}'),
        "broken-record a.jsonl:7 14 --skip_bad_records",
    ),
    "a last line that was cut off": (
        "a.jsonl",
        lambda: json_lines()[:-5],
        f"broken-record a.jsonl:{len(LINES)}:",
    ),
    "a field that is missing": (
        "a.jsonl",
        lambda: with_line(b'{"body": "a", "id": 1}'),
        "broken-record a.jsonl:7 text body id --input_column",
    ),
    "a field that is nested": (
        "a.jsonl",
        lambda: with_line(b'{"id": 1, "meta": {"text": "a"}, "talk": [{"text": "b"}], "a": {}}'),
        "broken-record id meta.text talk.text --input_column",
    ),
    "a field of another type": (
        "a.jsonl",
        lambda: with_line(b'{"text": {"body": "a"}}'),
        "broken-record a.jsonl:7 text text.body --input_column",
    ),
    "a JSON array": (
        "a.jsonl",
        lambda: b"[\n" + with_line(b"]"),
        "broken-record a.jsonl:1 [] array.json lines.jsonl",
    ),
    "text in UTF-16": (
        "a.txt",
        lambda: TEXT.decode().encode("utf-16"),
        "wrong-format a.txt UTF-16 UTF-8",
    ),
    "compressed text in UTF-32": (
        "a.txt.gz",
        lambda: gzip.compress(TEXT.decode().encode("utf-32")),
        "wrong-format a.txt.gz UTF-32 UTF-8",
    ),
    "a list with a number": (
        "a.jsonl",
        lambda: with_line(b'{"text": ["a", null, 1]}'),
        "broken-record a.jsonl:7 text",
    ),
    "an Arrow file": (
        "a.feather",
        lambda: b"ARROW1\0\0" + bytes(100),
        "broken-file a.feather",
    ),
    "a Feather file of version 1": (
        "a.feather",
        lambda: b"FEA1\0" + bytes(100),
        "wrong-format a.feather",
    ),
    "a zip archive": (
        "a.zip",
        lambda: b"PK\x03\x04" + bytes(100),
        "wrong-format a.zip",
    ),
    "a record of another type": (
        "a.jsonl",
        lambda: with_line(b"17"),
        "broken-record a.jsonl:7",
    ),
    "lists that are nested deeply": (
        "a.jsonl",
        lambda: with_line(b'{"text": ' + b"[" * 700 + b"1" + b"]" * 700 + b"}"),
        "broken-record a.jsonl:7",
    ),
    "a lone surrogate": (
        "a.jsonl",
        lambda: with_line(b'{"text": "\\ud800"}'),
        "broken-record UTF-8",
    ),
    "a record that is not UTF-8": (
        "a.jsonl",
        lambda: with_line(b'{"text": "caf\xe9"}'),
        "broken-record a.jsonl:7 14 UTF-8",
    ),
    "JSON Lines in UTF-16": (
        "a.jsonl",
        lambda: json_lines().decode().encode("utf-16"),
        "wrong-format a.jsonl UTF-16 UTF-8",
    ),
    "a text named .jsonl": (
        "a.jsonl",
        lambda: TEXT,
        "broken-record --input_format=text",
    ),
    "a broken record in a compressed file": (
        "a.jsonl.gz",
        lambda: gzip.compress(with_line(b"{")),
        "broken-record a.jsonl.gz:7",
    ),
    "Parquet without the column": (
        "a.parquet",
        lambda: parquet(body=LINES, title=LINES, id=list(range(len(LINES)))),
        "wrong-column a.parquet column text --input_column",
    ),
    "a column of numbers": (
        "a.parquet",
        lambda: parquet(text=[1, 2], body=["a", "b"]),
        "wrong-column a.parquet column text --input_column",
    ),
    "Parquet with two columns of one name": (
        "a.parquet",
        two_columns_of_one_name,
        "wrong-column a.parquet column text",
    ),
    "Parquet that ends early": (
        "a.parquet",
        lambda: parquet(text=LINES)[:-20],
        "broken-file a.parquet",
    ),
    "Parquet with damaged pages": (
        "a.parquet",
        lambda: parquet(text=LINES)[:4] + b"\x15" * 200 + parquet(text=LINES)[204:],
        "broken-file a.parquet",
    ),
    "Arrow named .txt": (
        "a.txt",
        arrow,
        "wrong-format a.txt --input_format=arrow",
    ),
    "an Arrow stream named .txt": (
        "a.txt",
        lambda: arrow("stream"),
        "wrong-format a.txt --input_format=arrow",
    ),
    "two Arrow streams": (
        "a.arrows",
        lambda: arrow("stream") * 2,
        "broken-file a.arrows",
    ),
    "two compressed Arrow streams": (
        "a.arrows.gz",
        lambda: gzip.compress(arrow("stream")) * 2,
        "broken-file a.arrows.gz",
    ),
    "a text named .arrow": ("a.arrow", lambda: TEXT, "wrong-format a.arrow"),
    "compressed Arrow": (
        "a.arrow.gz",
        lambda: gzip.compress(arrow()),
        "wrong-format a.arrow.gz",
    ),
    "Arrow that ends early": (
        "a.arrow",
        lambda: arrow()[:-20],
        "broken-file a.arrow",
    ),
    "an Arrow stream that ends early": (
        "a.arrows",
        lambda: arrow("stream")[:-100],
        "broken-file a.arrows",
    ),
    "an Arrow stream that ends early between two batches": (
        "a.arrows",
        lambda: arrow("stream")[:-8],
        "broken-file a.arrows",
    ),
    "Arrow with wrong offsets": (
        "a.arrow",
        # The offsets of the first batch are 0, followed by the ends of its lines.
        lambda: arrow().replace(offsets(LINES[:3]), offsets(LINES[:2]) + b"\xff\xff\xff\x7f"),
        "broken-file a.arrow",
    ),
    "an index that is not in the Arrow dictionary": (
        "a.arrows",
        lambda: dictionaries(
            ["a", "b"],
            ["c", "d", "d"],
            changed=(struct.pack("<3i", 0, 1, 1), struct.pack("<3i", 0, 1, 2)),
        ),
        "broken-file a.arrows",
    ),
    "wrong offsets in the Arrow dictionary of the second batch": (
        "a.arrows",
        lambda: dictionaries(
            ["a", "b"],
            ["cd", "ef", "gh"],
            changed=(struct.pack("<4i", 0, 2, 4, 6), struct.pack("<4i", 0, 2, 99, 6)),
        ),
        "broken-file a.arrows",
    ),
    "Arrow without the column": (
        "a.feather",
        lambda: arrow(body=LINES, title=LINES),
        "wrong-column a.feather column text --input_column",
    ),
    "no column of strings but nested ones": (
        "a.arrow",
        lambda: arrow(talk=[{"a": "x", "b": "y"}]),
        "wrong-column column text talk.a talk.b --input_column",
    ),
    "a column with fields": (
        "a.arrow",
        lambda: arrow(text=[{"a": "x", "b": 1}]),
        "wrong-column text.a text.b --input_column",
    ),
    "nothing but broken records": (
        "a.jsonl",
        lambda: json_lines(LINES).replace(b'"text"', b'"body"'),
        "broken-record a.jsonl:1",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", BROKEN)
def test_one_line_says_what_to_do(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, content, message = BROKEN[what]
    Path(name).write_bytes(content())
    before = sorted(tmp_path.iterdir())
    err = io.StringIO()
    status = main(
        [f"--input={name}", "--model_prefix=m", "--model_type=char", "--minloglevel=2"],
        io.StringIO(),
        err,
    )
    assert status == 1
    assert_error(err.getvalue(), message)
    assert err.getvalue().startswith("spm_train: ")
    assert err.getvalue().count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def train(**options: Any) -> bytes:
    written = io.BytesIO()
    spmcompat.train(model_writer=written, model_type="char", minloglevel=2, **options)
    return written.getvalue()


CSV = b"id,text\n" + b"".join(b"%d,%s\n" % row for row in enumerate(TEXT.splitlines()))
BROKEN_CSV = {
    "a row with a field too few": (
        CSV + b"1\n",
        f"broken-record a.csv:{len(LINES) + 2}: skip_bad_records",
    ),
    "a quotation mark that is missing": (
        CSV.replace(b"\n4,", b'\n4,"'),
        "broken-record a.csv:6 input_format=text",
    ),
    "a quotation mark inside a field": (
        CSV.replace(b"\n4,", b'\n4,"a"'),
        "broken-record a.csv:6",
    ),
    "line ends of old systems": (
        CSV.replace(b"\n", b"\r"),
        "broken-record a.csv",
    ),
    "another delimiter": (
        CSV.replace(b",", b";"),
        "wrong-column a.csv",
    ),
    "tabs": (CSV.replace(b",", b"\t"), "wrong-column a.csv \\t"),
    "two columns of one name": (
        CSV.replace(b"id", b"text", 1),
        "wrong-column a.csv column text",
    ),
    "UTF-16": (CSV.decode().encode("utf-16"), "wrong-format a.csv UTF-16"),
    "gzip data": (gzip.compress(CSV), "wrong-format a.csv a.csv.gz"),
}


@pytest.mark.parametrize("what", BROKEN_CSV)
def test_one_line_says_what_to_do_about_csv(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content, message = BROKEN_CSV[what]
    Path("a.csv").write_bytes(content)
    with raises_kind(message):
        train(input="a.csv", input_column="text")


def pieces(model: bytes) -> list[Any]:
    from spmcompat.model.sentencepiece_model_pb2 import ModelProto

    return [str(piece) for piece in ModelProto.FromString(model).pieces]


def test_zero_bytes_between_members_are_padding(tmp_path: Path) -> None:
    half = len(TEXT) // 2
    padded = gzip.compress(TEXT[:half]) + bytes(700) + gzip.compress(TEXT[half:]) + bytes(70_000)
    (tmp_path / "a.gz").write_bytes(padded)
    (tmp_path / "a.txt").write_bytes(TEXT)
    packed = train(input=tmp_path / "a.gz", hard_vocab_limit=False)
    assert pieces(packed) == pieces(train(input=tmp_path / "a.txt", hard_vocab_limit=False))


def test_a_frame_that_decoders_skip_is_no_text(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"size"
    (tmp_path / "a.zst").write_bytes(skipped + zstd(TEXT) + skipped + zstd(TEXT) + skipped)
    (tmp_path / "a.txt").write_bytes(TEXT * 2)
    packed = train(input=tmp_path / "a.zst", hard_vocab_limit=False)
    assert pieces(packed) == pieces(train(input=tmp_path / "a.txt", hard_vocab_limit=False))
    (tmp_path / "b.txt").write_bytes(skipped + zstd(TEXT))
    with raises_kind("wrong-format b.txt.zst"):
        train(input=tmp_path / "b.txt")


@pytest.fixture
def _only_zstandard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the usual package, so that zstandard decompresses."""
    pytest.importorskip("zstandard")
    if sys.version_info >= (3, 14):
        pytest.skip("this Python has its own module")
    monkeypatch.setattr(compression, "is_installed", lambda module: module == "zstandard")


@pytest.mark.usefixtures("_only_zstandard")
def test_zstandard_reads_what_the_usual_package_reads(tmp_path: Path) -> None:
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<I", 4) + b"size"
    large = random.Random(0).randbytes(300_000).hex().encode() + b"\n" + bytes(5_000_000)
    for number, content in enumerate((TEXT, b"", large, TEXT * 200)):
        packed = skipped + zstd(content) + zstd(TEXT) + bytes(3) + skipped + zstd(content)
        path = tmp_path / f"{number}.zst"
        path.write_bytes(packed)
        for size in (1 << 16, 777, 50_000_000):
            with open_input(str(path)) as file:
                decompressed = compression.contents(file, Form("zstd", "text"))
                buffer = bytearray(size)
                found = b""
                while count := decompressed.readinto(buffer):
                    found += buffer[:count]
                assert file.consumed == len(packed)
            assert found == content + TEXT + content


@pytest.mark.usefixtures("_only_zstandard")
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-9],
        lambda data: data[:8] + b"\xff" * 9 + data[17:],
        lambda data: data + b"no zstd",
    ],
)
def test_zstandard_finds_damage(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / "a.zst").write_bytes(damage(zstd(TEXT)))
    with raises_kind("broken-file a.zst"):
        train(input=tmp_path / "a.zst")


def test_broken_records_are_left_out_and_counted_on_demand(tmp_path: Path) -> None:
    lines = json_lines().splitlines()
    lines[3:3] = [b"{", b'{"body": 1}', b"null", b'{"text": null}', b"", b'{"text": "\\ud800"}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"[]\n" + json_lines()))
    (tmp_path / "a.txt").write_bytes(TEXT * 2)
    log = io.StringIO()
    written = io.BytesIO()
    spmcompat.train(
        input=[tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"],
        model_writer=written,
        model_type="char",
        hard_vocab_limit=False,
        skip_bad_records=True,
        logstream=log,
    )
    plain = train(input=tmp_path / "a.txt", hard_vocab_limit=False)
    assert pieces(written.getvalue()) == pieces(plain)
    assert "Skipped 2 rows that are null." in log.getvalue()
    assert (
        f"Skipped 4 records that cannot be read (--skip_bad_records). The first: "
        f"{tmp_path}/a.jsonl:4: broken record: not valid JSON" in log.getvalue()
    )


def test_a_text_of_only_broken_records(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"body": "a"}\n' * 3)
    with raises_kind("empty-corpus"):
        train(input=tmp_path / "a.jsonl", skip_bad_records=True)


def test_broken_rows_are_left_out_and_counted_on_demand(tmp_path: Path) -> None:
    rows = CSV.splitlines(keepends=True)
    rows[3:3] = [b"1,2,3\n", b'1,"a"b\n', b"\n", b"1\n"]
    (tmp_path / "a.csv").write_bytes(b"".join(rows))
    (tmp_path / "a.txt").write_bytes(TEXT)
    log, written = io.StringIO(), io.BytesIO()
    spmcompat.train(
        input=tmp_path / "a.csv",
        input_column="text",
        model_writer=written,
        model_type="char",
        hard_vocab_limit=False,
        skip_bad_records=True,
        logstream=log,
    )
    plain = train(input=tmp_path / "a.txt", hard_vocab_limit=False)
    assert pieces(written.getvalue()) == pieces(plain)
    assert (
        f"Skipped 3 records that cannot be read (--skip_bad_records). The first: {tmp_path}/a.csv:4"
        in log.getvalue()
    )


@pytest.mark.parametrize("rows", [3, 20_000])
def test_a_missing_quotation_mark_does_not_skip_the_rows_after_it(
    rows: int, tmp_path: Path
) -> None:
    lines = ["text,id", '"open,1', *[f"{'a' * 1000},2"] * rows]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    with raises_kind("broken-record a.csv:2"):
        train(input=tmp_path / "a.csv", input_column="text", skip_bad_records=True)


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_a_file_that_changes_between_two_readings(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    from spmcompat.options.planning import PlanOptions, make_plan
    from spmcompat.plan import TextPlan
    from spmcompat.runtime.progress import Report
    from spmcompat.text.files import Files

    path = tmp_path / ("a.gz" if pack is gzip.compress else "a.txt")
    path.write_bytes(pack(TEXT * 200))
    files = Files(make_plan(PlanOptions(text=TextPlan(input=(str(path),)))).text, Report(3))
    assert len(list(files)) > 2
    path.write_bytes(pack(TEXT))
    for index in (0, len(files) - 1):
        with raises_kind("file-changed"):
            [load() for _, load in files.again([index])]
