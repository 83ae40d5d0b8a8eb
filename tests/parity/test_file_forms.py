"""A file of any format yields the model that the real library trains on the text as lines."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.parity import corpora
from tests.parity.case import Option
from tests.parity.harness import Trainers
from tests.processes import start_python
from tests.searches import LONG

SOFT: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False, "num_threads": 3}
KINDS = ["unigram", "bpe", "word", "char"]
Write = Callable[[Path, bytes], str]


def parts(text: bytes) -> tuple[bytes, bytes]:
    """Split a text into two halves; the split is usually inside a line."""
    half = len(text) // 2
    return text[:half], text[half:]


def zstd_module() -> Any:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    return pytest.importorskip(name)


def records(text: bytes) -> list[str]:
    return text.decode().removesuffix("\n").split("\n")


def json_lines(text: bytes) -> bytes:
    """Write every line as a JSON value: a string, or an object in one of several layouts."""
    lines = []
    for number, line in enumerate(records(text)):
        record: object = {"id": number, "meta": {"text": [None, 1.5]}, "text": line}
        if number % 3 == 1:
            record = {"text": line, "url": "https://example.org/é"}
        lines.append(json.dumps(line if number % 7 == 3 else record, ensure_ascii=number % 2 == 0))
    return "\n".join(lines).encode()


def parquet(text: bytes, **options: Any) -> bytes:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    lines = records(text)
    table = pa.table({"id": range(len(lines)), "text": lines})
    written = io.BytesIO()
    pq.write_table(table, written, row_group_size=100, **options)
    return written.getvalue()


def csv_rows(text: bytes) -> bytes:
    """Write every line as a field of a CSV row with other columns. Some fields are quoted."""
    written = io.StringIO()
    for number, line in enumerate(["text", *records(text)]):
        quoting = csv.QUOTE_ALL if number % 3 == 1 else csv.QUOTE_MINIMAL
        writer = csv.writer(written, quoting=quoting, lineterminator=("\n", "\r\n")[number % 2])
        writer.writerow([number, line, f'a "b",\n{number}'])
        if number % 5 == 2:
            written.write("\n")
    return written.getvalue().encode()


def arrow_table(text: bytes, kind: str = "string") -> Any:
    """Return a table with the lines as strings, in a nested field, or in lists (see `kind`)."""
    pa = pytest.importorskip("pyarrow")
    lines: list[Any] = records(text)
    column: Any = pa.array(lines)
    if kind == "dictionary":
        column = column.dictionary_encode()
    elif kind == "nested":
        column = pa.array([{"n": 1, "text": line} for line in lines])
    elif kind == "list":
        # Rows that contain no line, one line or several lines.
        cuts = sorted({0, 1, len(lines) // 3, len(lines) // 2, len(lines)})
        column = pa.array([[], *(lines[a:b] for a, b in itertools.pairwise(cuts)), []])
    return pa.table({"id": range(len(column)), "meta" if kind == "nested" else "text": column})


def arrow(text: bytes, kind: str = "string", *, stream: bool = False, **options: Any) -> bytes:
    pa = pytest.importorskip("pyarrow")
    table = arrow_table(text, kind)
    written = io.BytesIO()
    opened = pa.ipc.new_stream if stream else pa.ipc.new_file
    with opened(written, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=100)
    return written.getvalue()


def feather(text: bytes) -> bytes:
    written = io.BytesIO()
    pytest.importorskip("pyarrow.feather").write_feather(arrow_table(text), written, chunksize=90)
    return written.getvalue()


def parquet_of(kind: str) -> Callable[[bytes], bytes]:
    def write(text: bytes) -> bytes:
        written = io.BytesIO()
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(arrow_table(text, kind), written, row_group_size=100)
        return written.getvalue()

    return write


def nested_json_lines(text: bytes) -> bytes:
    lines = [json.dumps({"meta": {"n": 1, "text": line}, "text": 5}) for line in records(text)]
    return "\n".join(lines).encode()


def json_lists(text: bytes) -> bytes:
    lines = records(text)
    lists = [[], lines[:1], lines[1:50], lines[50:]]
    return "\n".join(json.dumps({"text": one}) for one in lists).encode()


def form(name: str, pack: Callable[[bytes], bytes]) -> Write:
    """Return a function that writes a text to a file and returns the value of ``--input``."""

    def write(folder: Path, text: bytes) -> str:
        (folder / name).write_bytes(pack(text))
        return name

    return write


def write_for_a_pattern(folder: Path, text: bytes) -> str:
    """Write the text to several files. Sorted by name, they contain the text in order."""
    (folder / "parts").mkdir()
    lines = text.splitlines(keepends=True)
    for number in range(4):
        part = b"".join(lines[number * len(lines) // 4 : (number + 1) * len(lines) // 4])
        name = f"parts/{number}.txt"
        (folder / name).write_bytes(part)
        if number % 2:
            (folder / name).unlink()
            (folder / f"{name}.gz").write_bytes(gzip.compress(part))
    (folder / "parts" / "4.other").write_bytes(b"not this one\n")
    return "parts/[0-3].txt*"


def write_remote(folder: Path, text: bytes) -> str:
    pytest.importorskip("fsspec")
    (folder / "far.txt").write_bytes(text)
    return f"file://{folder}/far.txt"


def write_to_memory(_: Path, text: bytes) -> str:
    fsspec = pytest.importorskip("fsspec")
    first, second = parts(text)
    with fsspec.open("memory://texts/far.txt.gz", "wb") as file:
        file.write(gzip.compress(first) + gzip.compress(second))
    return "memory://texts/far.txt.gz"


def write_mixed(folder: Path, text: bytes) -> str:
    """Write each third of the text to its own file: plain text, compressed JSON Lines, Parquet."""
    lines = text.splitlines(keepends=True)
    third = len(lines) // 3
    (folder / "a.txt").write_bytes(b"".join(lines[:third]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(json_lines(b"".join(lines[third:-third]))))
    (folder / "c.parquet").write_bytes(parquet(b"".join(lines[-third:])))
    return "a.txt,b.jsonl.gz,c.parquet"


FORMS: dict[str, Write] = {
    "plain": form("a.txt", bytes),
    "gz": form("a.txt.gz", gzip.compress),
    "gz of several members": form(
        "a.txt.gz", lambda text: b"".join(gzip.compress(part) for part in parts(text))
    ),
    "zst": form("a.zst", lambda text: zstd_module().compress(text)),
    "zst of several frames": form(
        "a.txt.zst", lambda text: b"".join(zstd_module().compress(part) for part in parts(text))
    ),
    "xz": form("a.txt.xz", lzma.compress),
    "bz2": form("a.txt.bz2", lambda text: b"".join(bz2.compress(part) for part in parts(text))),
    "jsonl": form("a.jsonl", json_lines),
    "jsonl.gz": form("a.jsonl.gz", lambda text: gzip.compress(json_lines(text))),
    "parquet": form("a.parquet", parquet),
    "parquet without dictionary": form(
        "a.parquet", lambda text: parquet(text, use_dictionary=False)
    ),
    "parquet of dictionaries": form("a.parquet", parquet_of("dictionary")),
    "csv": form("a.csv", csv_rows),
    "csv.gz": form("a.csv.gz", lambda text: gzip.compress(csv_rows(text))),
    "arrow": form("a.arrow", arrow),
    "arrow stream": form("a.arrow", lambda text: arrow(text, stream=True)),
    "arrows.gz": form("a.arrows.gz", lambda text: gzip.compress(arrow(text, stream=True))),
    "arrow of dictionaries": form("a.ipc", lambda text: arrow(text, "dictionary")),
    "compressed arrow": form("a.arrow", lambda text: arrow(text, compression="zstd")),
    "feather": form("a.feather", feather),
    "nested jsonl": form("a.jsonl", nested_json_lines),
    "nested parquet": form("a.parquet", parquet_of("nested")),
    "nested arrow": form("a.arrow", lambda text: arrow(text, "nested")),
    "lists in jsonl": form("a.jsonl", json_lists),
    "lists in parquet": form("a.parquet", parquet_of("list")),
    "lists in arrow": form("a.arrow", lambda text: arrow(text, "list")),
    "pattern": write_for_a_pattern,
    "remote": write_remote,
    "remote gz": write_to_memory,
    "mixed": write_mixed,
}
OPTIONS: dict[str, dict[str, str]] = {
    name: {"input_column": "meta.text" if name.startswith("nested") else "text"}
    for name in FORMS
    if name.startswith(("csv", "nested"))
}
TEXTS = {
    "words": corpora.words_text(1, 400).encode(),
    "topics": corpora.topics_text(60_000).encode(),
    "han": corpora.words_text(2, 400, "han").encode(),
    "ties": corpora.ties_text(3, 300).encode(),
    "mixed": corpora.mixed_text(5, 400).encode(),
}
SMALL: dict[str, Option] = {**SOFT, "num_threads": 2}
SEEDS = 5
SMALL_TEXTS = [
    make(seed).encode()
    for seed in range(SEEDS)
    for make in (
        lambda seed: corpora.words_text(seed, 60),
        lambda seed: corpora.words_text(seed, 60, "han"),
        lambda seed: corpora.ties_text(seed, 60),
        lambda seed: corpora.mixed_text(seed, 60),
    )
]


def stored(model: bytes) -> bytes:
    """Return the model without the names of its input and output files."""
    proto = ModelProto.FromString(model)
    proto.trainer_spec.ClearField("input")
    proto.trainer_spec.ClearField("model_prefix")
    return proto.SerializeToString()


def trained(folder: Path, path: str, options: dict[str, Option], **own: Any) -> bytes:
    before = Path.cwd()
    os.chdir(folder)
    try:
        written = io.BytesIO()
        spmcompat.train(
            input=path.split(","), model_writer=written, minloglevel=2, **options, **own
        )
    finally:
        os.chdir(before)
    return stored(written.getvalue())


@pytest.fixture(scope="module")
def of_reference(trainers: Trainers) -> Callable[[bytes, dict[str, Option]], bytes]:
    """Return a function that trains with the real library, once for each text and options."""
    known: dict[str, bytes] = {}

    def train(text: bytes, options: dict[str, Option]) -> bytes:
        key = repr((text, options))
        if key not in known:
            model = trainers.check(options, text).reference.output(".model")
            assert model is not None
            known[key] = stored(model)
        return known[key]

    return train


# In a short run, each form has each text with one model type, and all of the types.
ALL_FORMS = [
    (form, name, kind)
    for place, form in enumerate(FORMS)
    for number, name in enumerate(TEXTS)
    for index, kind in enumerate(KINDS)
    if LONG or (place + number) % len(KINDS) == index
]


@pytest.mark.parametrize(("form", "name", "kind"), ALL_FORMS)
def test_every_form(
    of_reference: Callable[[bytes, dict[str, Option]], bytes],
    form: str,
    name: str,
    kind: str,
    tmp_path: Path,
) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": kind}
    path = FORMS[form](tmp_path, TEXTS[name])
    found = trained(tmp_path, path, options, **OPTIONS.get(form, {}))
    assert found == of_reference(TEXTS[name], options)


@pytest.fixture(scope="module")
def of_plain_text(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], bytes]:
    """The models trained on small plain text files, keyed by text number and model type.

    Each text has one model type, and each maker of texts has all of them.
    """
    folder = tmp_path_factory.mktemp("plain")
    models = {}
    for number, text in enumerate(SMALL_TEXTS):
        path = FORMS["plain"](folder, text)
        seed, maker = divmod(number, len(SMALL_TEXTS) // SEEDS)
        kind = KINDS[(seed + maker) % len(KINDS)]
        models[number, kind] = trained(folder, path, {**SMALL, "model_type": kind})
    return models


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_small_texts(
    of_plain_text: dict[tuple[int, str], bytes], form: str, tmp_path: Path
) -> None:
    for (number, kind), expected in of_plain_text.items():
        folder = tmp_path / f"{number}-{kind}"
        folder.mkdir()
        path = FORMS[form](folder, SMALL_TEXTS[number])
        options: dict[str, Option] = {**SMALL, "model_type": kind}
        assert trained(folder, path, options, **OPTIONS.get(form, {})) == expected, (number, kind)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("path", ["-", '""'])
def test_standard_input(trainers: Trainers, path: str, packed: bool, tmp_path: Path) -> None:
    text = TEXTS["words"]
    model = trainers.check(SOFT, text, form="cli").reference.output(".model")
    assert model is not None
    flags = [f"--{name}={str(value).lower()}" for name, value in SOFT.items()]
    arguments = ["-m", "spmcompat", "train", f"--input={path}", "--model_prefix=m", *flags]
    with start_python(arguments, tmp_path, stdin=subprocess.PIPE) as process:
        process.communicate(gzip.compress(text) if packed else text)
    assert process.returncode == 0
    assert stored((tmp_path / "m.model").read_bytes()) == stored(model)


def test_a_file_whose_name_is_a_dash_or_a_pattern(trainers: Trainers) -> None:
    files = {"-": b"abc abd\n" * 9, "a[1]*.txt": b"abc ab\n" * 9}
    trainers.check({**SOFT, "input": "-"}, files=files)
    trainers.check({**SOFT, "input": "a[1]*.txt,-"}, files=files)


@pytest.mark.parametrize("release", ["0.2.1", "0.2.3"])
@pytest.mark.parametrize("place", range(3))
def test_an_empty_text_among_others(
    trainers: Trainers, place: int, release: str, tmp_path: Path
) -> None:
    """As in the reference, an empty file before the last file adds a line, even if compressed."""
    texts = [b"abc abc abd", b"abd abe\n"]
    texts.insert(place, b"")
    options: dict[str, Option] = {**SOFT, "model_type": "word"}
    model = trainers.check(options, *texts, release=release).reference.output(".model")
    assert model is not None
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.gz").write_bytes(gzip.compress(text))
    path = "0.gz,1.gz,2.gz"
    assert trained(tmp_path, path, options, compat=release) == stored(model)


def test_counted_lines_in_compressed_files(trainers: Trainers, tmp_path: Path) -> None:
    text = b"".join(b"%s\t%d\n" % (line, 1 + at % 5) for at, line in enumerate(lines_of("words")))
    options: dict[str, Option] = {**SOFT, "input_format": "tsv"}
    model = trainers.check(options, text).reference.output(".model")
    assert model is not None
    (tmp_path / "a.tsv.xz").write_bytes(lzma.compress(text))
    assert trained(tmp_path, "a.tsv.xz", options) == stored(model)


def lines_of(name: str) -> Sequence[bytes]:
    return TEXTS[name].splitlines()


def test_records_with_line_breaks_are_those_of_an_iterator(
    trainers: Trainers, tmp_path: Path
) -> None:
    sentences = ["abc abd\r\n", "two\nlines abc", "", "\n", "é\r\r", "a\n\nb"] * 5
    case = trainers.check_sentences(SOFT, sentences, writer=True)
    model = case.reference.output(".model")
    assert model is not None
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in sentences))
    assert trained(tmp_path, "a.jsonl", SOFT) == stored(model)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": sentences}), tmp_path / "a.parquet")
    assert trained(tmp_path, "a.parquet", SOFT) == stored(model)


def test_lines_of_records_are_those_of_an_iterator(trainers: Trainers, tmp_path: Path) -> None:
    documents = ["abc abd\r\nabe", "two\nlines abc\n", "", "\n\n", "é\r\r", "a\n\nb"] * 5
    lines = [line.rstrip("\r") for document in documents for line in document.split("\n")]
    case = trainers.check_sentences(SOFT, lines, writer=True)
    model = case.reference.output(".model")
    assert model is not None
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in documents))
    assert trained(tmp_path, "a.jsonl", SOFT, split_lines=True) == stored(model)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"text": documents}), tmp_path / "a.parquet")
    assert trained(tmp_path, "a.parquet", SOFT, split_lines=True) == stored(model)
    written = io.BytesIO()
    spmcompat.train(
        sentence_iterator=documents, model_writer=written, split_lines=True, minloglevel=2, **SOFT
    )
    assert stored(written.getvalue()) == stored(model)


@pytest.fixture(params=["en-docs", "zh-laws", "code-python", "ru-courses", "hi-stories"])
def public_text(large_corpora: dict[str, Path], request: pytest.FixtureRequest) -> bytes:
    if request.param not in large_corpora:
        pytest.skip(f"the folder of large corpora has no {request.param}.txt")
    return corpora.head(large_corpora[request.param], 1_500_000)


@pytest.mark.parametrize("form", FORMS)
def test_public_corpora(
    of_reference: Callable[[bytes, dict[str, Option]], bytes],
    public_text: bytes,
    form: str,
    tmp_path: Path,
) -> None:
    options: dict[str, Option] = {"vocab_size": 2000, "model_type": "bpe"}
    path = FORMS[form](tmp_path, public_text)
    found = trained(tmp_path, path, options, **OPTIONS.get(form, {}))
    assert found == of_reference(public_text, options)
