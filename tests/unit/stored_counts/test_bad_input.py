"""What cannot be counted, merged or trained from gets one clear line, and leaves no file."""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.errors import TrainingError
from spmcompat.stored_counts.table import KEY, CountTable

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEXT = ["the cat sat on the mat", "a dog", "the end"] * 20
Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path() -> Path:
    """The path of good counts, in an empty working folder."""
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save("good.counts")
    return Path("good.counts")


def train(counts: object, **options: Any) -> None:
    usual = {"model_prefix": "m", "vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2}
    spmcompat.SentencePieceTrainer.train(counts=counts, **{**usual, **options})


def refused(match: str, counts: object, **options: Any) -> None:
    with pytest.raises(TrainingError, match=match) as caught:
        train(counts, **options)
    assert "\n" not in str(caught.value)
    assert not list(Path().glob("m.*"))


def rewrite(path: Path, change: Change, schema: Any = None) -> None:
    """Write the file again with other rows."""
    file = pq.ParquetFile(path)
    metadata = {KEY: file.metadata.metadata[KEY]}
    rows = file.read().to_pylist()
    change(rows)
    schema = schema or file.schema_arrow
    loose = pa.schema([field.with_nullable(True) for field in schema])
    pq.write_table(pa.Table.from_pylist(rows, schema=loose.with_metadata(metadata)), path)


def test_good_counts_train(path: Path) -> None:
    train(path)
    assert Path("m.model").stat().st_size > 0


def test_a_missing_file() -> None:
    refused("no.counts: No such file or directory", "no.counts")


def test_a_folder_without_files(path: Path) -> None:
    Path("folder").mkdir()
    refused("folder: the folder holds no .parquet file", "folder")


def test_a_foreign_file(path: Path) -> None:
    path.write_text("not parquet")
    refused("is no Parquet file, or it is truncated", path)


def test_an_empty_file(path: Path) -> None:
    path.write_bytes(b"")
    refused("is no Parquet file, or it is truncated", path)


def test_a_truncated_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
    refused("is no Parquet file, or it is truncated", path)


def test_a_damaged_file(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(bytes(data))
    refused("good.counts", path)


def test_a_foreign_parquet_file(path: Path) -> None:
    pq.write_table(pa.table({"word": ["a"], "n": [1]}), path)
    refused("is a Parquet file, but not one of counts", path)


def test_a_newer_version(path: Path) -> None:
    file = pq.ParquetFile(path)
    metadata = json.loads(file.metadata.metadata[KEY])
    metadata["version"] = 99
    table = file.read().replace_schema_metadata({KEY: json.dumps(metadata).encode()})
    pq.write_table(table, path)
    refused("a newer spmcompat wrote this file", path)


def test_broken_metadata(path: Path) -> None:
    for text in (b"{", b"[]", b'{"version": 1, "cake": 2}', b'{"version": "x"}'):
        table = pq.ParquetFile(path).read().replace_schema_metadata({KEY: text})
        pq.write_table(table, "broken.counts")
        refused("broken.counts: its metadata are broken", "broken.counts")


def test_a_missing_column(path: Path) -> None:
    file = pq.ParquetFile(path)
    table = file.read().drop_columns(["next"])
    pq.write_table(table.replace_schema_metadata({KEY: file.metadata.metadata[KEY]}), path)
    refused("has no column next", path)


def test_a_column_of_another_type(path: Path) -> None:
    file = pq.ParquetFile(path)
    table = file.read()
    table = table.set_column(3, "count", pa.array(["many"] * len(table)))
    pq.write_table(table.replace_schema_metadata({KEY: file.metadata.metadata[KEY]}), path)
    refused("a column has another type than counts", path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("count", 0, "the column count holds 0; values from 1"),
        ("count", -5, "the column count holds -5"),
        ("count", 2**62 + 1, "the column count holds 4611686018427387905"),
        ("count", None, "the column count has an empty value"),
        ("place", 3, "the column place holds 3"),
        ("next", -1, "the column next holds -1"),
        ("next", 0x110000, "the column next holds 1114112"),
        ("pretoken", "", "a pretoken is empty"),
        ("pretoken", None, "the column pretoken has an empty value"),
    ],
)
def test_a_value_that_is_impossible(path: Path, field: str, value: object, message: str) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[1][field] = value

    rewrite(path, change)
    refused(message, path)


def test_a_pretoken_that_is_no_utf8(path: Path) -> None:
    file = pq.ParquetFile(path)
    table = file.read()
    binary = table["pretoken"].cast(pa.binary()).to_pylist()
    binary[2] = b"\xff\xfe"
    broken = pa.chunked_array([pa.array(binary, pa.binary()).view(pa.string())])
    table = table.set_column(0, "pretoken", broken)
    pq.write_table(table.replace_schema_metadata({KEY: file.metadata.metadata[KEY]}), path)
    refused("a pretoken is not valid UTF-8", path)


def test_a_row_that_stands_twice(path: Path) -> None:
    rewrite(path, lambda rows: rows.append(dict(rows[0])))
    refused("stands twice. Add up the counts of equal rows", path)


@pytest.mark.parametrize("ends", [0, 2])
def test_a_text_that_does_not_end_once(path: Path, ends: int) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["place"] == 2:
                row["count"] = ends
        rows[:] = [row for row in rows if row["count"]]

    rewrite(path, change)
    refused(f"the text ends {ends} times", path)


def test_counts_that_are_too_large_together(path: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows[:4]:
            row["count"] = 2**62

    rewrite(path, change)
    refused(r"2\*\*63 characters or more", path)


def test_u_0000_trains_as_from_the_text(tmp_path: Path) -> None:
    text = ["a\0b the cat", "the cat"] * 30
    options = {"vocab_size": 15, "hard_vocab_limit": False, "minloglevel": 2}
    for name, source in (
        ("text", {"sentence_iterator": text}),
        ("counts", {"counts": spmcompat.count(sentence_iterator=text, minloglevel=2)}),
    ):
        prefix = str(tmp_path / name)
        spmcompat.train(model_prefix=prefix, **source, **options)  # type: ignore[arg-type]
    assert (tmp_path / "text.vocab").read_bytes() == (tmp_path / "counts.vocab").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_sentence_length": 99}, "max_sentence_length=4192, and .* max_sentence_length=99"),
        ({"compat": "0.2.0"}, r"compat=0\.2\.3, and training was told compat=0\.2\.0"),
        ({"input": "x.txt"}, "either input or counts"),
        ({"sentence_iterator": TEXT}, "either sentence_iterator or counts"),
        ({"user_defined_symbols": ["cat"]}, "not cut at the symbol cat"),
        ({"user_defined_symbols": ["é"]}, "not cut at the symbol é"),
        ({"split_by_whitespace": False}, "split_by_whitespace=True, and"),
        ({"add_dummy_prefix": False}, "add_dummy_prefix=True, and"),
        ({"space_pieces": "separate"}, "space_pieces=prefix, and"),
        ({"pretokenizer": "script"}, "pretokenizer=None, and"),
        ({"required_chars": "", "character_coverage": 0.1}, "character_coverage"),
    ],
    ids=str,
)
def test_options_that_contradict_the_counts(
    path: Path, options: dict[str, Any], message: str
) -> None:
    refused(message, path, **options)


def test_samples_for_self_tests_need_the_text(path: Path) -> None:
    of_release = {"model_type": "bpe", "compat": "0.2.2"}
    counts = spmcompat.count(sentence_iterator=TEXT, minloglevel=2, **of_release)  # type: ignore[arg-type]
    refused("draws lines of the text", counts, model_type="bpe", self_test_sample_size=5)


def test_symbols_that_the_text_does_not_hold_are_free(path: Path) -> None:
    train(path, user_defined_symbols=["<sep>"], byte_fallback=True, vocab_size=300, pad_id=3)


def test_symbols_of_the_counts_that_training_lacks(path: Path) -> None:
    spmcompat.count(sentence_iterator=TEXT, user_defined_symbols=["cat"], minloglevel=2).save(
        "cut.counts"
    )
    refused("was cut at the symbols cat", "cut.counts", user_defined_symbols=["<sep>"])
    train("cut.counts")


def test_a_model_without_spaces_needs_the_sentences() -> None:
    text = ["日本語の文章" * 50] * 30 + ["a b"]
    counts = spmcompat.count(sentence_iterator=text, minloglevel=2)
    with pytest.raises(TrainingError, match=r"U\+2581 .* counts hold none"):
        spmcompat.train(counts=counts, model_prefix="m", vocab_size=12, character_coverage=0.99)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_by_whitespace": False}, "pieces cross spaces"),
        ({"compat": "0.2.2"}, "depends on the last sentences"),
        ({"compat": "0.2.1", "pretokenization_delimiter": "x"}, "in whole sentences"),
        ({"compat": "0.2.1", "input_format": "tsv"}, "counts seeds of a TSV in another text"),
        ({"input": "none.txt"}, "No such file"),
        ({"cake": 1}, 'unknown field name "cake"'),
        ({"max_sentence_length": "x"}, "cannot parse"),
    ],
    ids=str,
)
def test_what_cannot_be_counted(options: dict[str, Any], message: str) -> None:
    source = {} if "input" in options else {"sentence_iterator": TEXT}
    with pytest.raises(TrainingError, match=re.escape(message)):
        spmcompat.count(**source, **options, minloglevel=2)


def test_a_folder_that_is_not_there_or_not_writable(path: Path) -> None:
    counts = spmcompat.load_counts(path)
    with pytest.raises(TrainingError, match="No such file or directory"):
        counts.save("none/x.counts")
    Path("taken").mkdir()
    with pytest.raises(TrainingError, match="Is a directory"):
        counts.save("taken")


def test_a_full_disk_leaves_no_file(path: Path) -> None:
    script = (
        "import resource, signal, spmcompat, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
        "try:\n    spmcompat.load_counts('good.counts').save('new.counts')\n"
        "except spmcompat.TrainingError as error:\n    print(error)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env
    )
    assert "Choose another name, in a folder that is writable and has free space" in done.stdout
    assert sorted(os.listdir()) == ["good.counts"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 500


def test_the_longest_name_that_a_file_can_have() -> None:
    name = "数" * 85  # 255 bytes
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save(name)
    assert os.listdir() == [name]


def test_a_name_that_is_not_utf8(path: Path) -> None:
    name = os.fsdecode(b"\xff.counts")
    table = spmcompat.load_counts(path)
    table.save(name)
    loaded = spmcompat.load_counts(name)
    assert loaded.origin == table.origin
    assert [*loaded.in_order()] == [*table.in_order()]


def test_a_device_is_written_and_stays_a_device(path: Path) -> None:
    os.mkfifo("device")
    reader = os.open("device", os.O_RDONLY | os.O_NONBLOCK)
    try:
        spmcompat.load_counts(path).save("device")
        assert os.read(reader, 1 << 16) == path.read_bytes()
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat("device").st_mode)


def test_files_of_different_counts_in_one_folder(path: Path) -> None:
    Path("folder").mkdir()
    spmcompat.load_counts(path).save("folder/a.parquet")
    spmcompat.count(sentence_iterator=["x y"], minloglevel=2).save("folder/b.parquet")
    refused("its files were not made together", "folder")


def test_counts_that_are_no_counts() -> None:
    with pytest.raises(TrainingError, match="must be a CountTable or the path of one, not int"):
        train(7)


def test_a_table_that_is_changed_in_memory_is_checked(path: Path) -> None:
    counts = spmcompat.load_counts(path)
    rows = counts.to_arrow().to_pylist()
    rows[0]["count"] = -1
    broken = pa.Table.from_pylist(rows, schema=counts.to_arrow().schema)
    refused("the counts: the column count holds -1", CountTable(counts.origin, broken))
