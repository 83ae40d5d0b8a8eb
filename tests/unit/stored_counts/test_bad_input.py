"""Invalid input for counting, merging or training gives a one-line error and leaves no file."""

from __future__ import annotations

import io
import json
import os
import random
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.releases import DEFAULT
from spmcompat.stored_counts.merging_tables import Merging
from spmcompat.stored_counts.metadata import FIELDS, RULES
from spmcompat.stored_counts.table import KEY, CountTable
from tests.kinds import raises_kind

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.slow

TEXT = ["the cat sat on the mat", "a dog", "the end"] * 20
Change = Callable[[list[dict[str, Any]]], None]


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path() -> Path:
    """The path of a valid file of counts. The working folder contains nothing else."""
    spmcompat.count(sentence_iterator=TEXT, minloglevel=2).save("good.counts")
    return Path("good.counts")


def train(counts: object, **options: Any) -> None:
    usual = {"model_prefix": "m", "vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2}
    spmcompat.SentencePieceTrainer.train(counts=counts, **{**usual, **options})


def refused(expected: str, counts: object, **options: Any) -> None:
    with raises_kind(expected):
        train(counts, **options)
    assert not list(Path().glob("m.*"))


def rewrite(path: Path, change: Change, schema: Any = None) -> None:
    """Change the rows of a file of counts."""
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
    refused("cannot-read no.counts No such file or directory", "no.counts")
    refused("cannot-read a.counts,b.counts merge", "a.counts,b.counts")


def test_a_folder_without_files(path: Path) -> None:
    Path("folder").mkdir()
    refused("cannot-read folder .parquet", "folder")


def test_a_foreign_file(path: Path) -> None:
    path.write_text("not parquet")
    refused("bad-counts good.counts", path)


def test_an_empty_file(path: Path) -> None:
    path.write_bytes(b"")
    refused("bad-counts good.counts", path)


def test_a_truncated_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])
    refused("bad-counts good.counts", path)


def test_a_damaged_file(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(bytes(data))
    refused("bad-counts good.counts", path)


def test_a_column_whose_name_is_not_utf8(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"pretoken", b"\x94retoken"))
    refused("bad-counts good.counts", path)


def test_a_foreign_parquet_file(path: Path) -> None:
    pq.write_table(pa.table({"word": ["a"], "n": [1]}), path)
    refused("bad-counts good.counts", path)


def with_metadata(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the metadata of a file of counts."""
    file = pq.ParquetFile(path)
    document = json.loads(file.metadata.metadata[KEY])
    change(document)
    text = json.dumps(document).encode()
    pq.write_table(file.read().replace_schema_metadata({KEY: text}), path)


@pytest.mark.parametrize("version", [1, 99, 10**400])
def test_another_version(path: Path, version: int) -> None:
    with_metadata(path, lambda document: document.update(version=version))
    refused("counts-version good.counts", path)


@pytest.mark.parametrize(
    "text",
    [
        *(b"{", b"[]", b"null", b"[" * 100_000, b"\xff"),
        *(b'{"version": 2}', b'{"version": 2, "cake": 2}'),
        *(b'{"version": "x"}', b'{"version": true}'),
    ],
    ids=lambda text: repr(text[:30]),
)
def test_metadata_that_are_not_those_of_counts(path: Path, text: bytes) -> None:
    table = pq.ParquetFile(path).read().replace_schema_metadata({KEY: text})
    pq.write_table(table, "broken.counts")
    refused("bad-counts broken.counts", "broken.counts")


WRONG_VALUES = [
    *(None, True, -1, 2**63, 10**400, 1.5, float("nan")),
    *("\ud800", "\x1b[2J", [], [1], {"": 1}),
]
VALID = {
    "huge_characters": (1.5, 2**63),
    "changes": ([],),
    "symbols": ([],),
    "delimiter": ("\x1b[2J",),
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", WRONG_VALUES, ids=lambda value: repr(value)[:20])
def test_a_field_of_metadata_with_a_wrong_value(path: Path, field: str, value: object) -> None:
    if value in VALID.get(field, ()):
        pytest.skip("this value is valid")
    with_metadata(path, lambda document: document.update({field: value}))
    for read in (spmcompat.load_counts, train):
        with raises_kind("bad-counts good.counts") as caught:
            read(path)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("value", [None, -1, 2**63, "x"])
def test_a_rule_of_metadata_with_a_wrong_value(path: Path, rule: str, value: object) -> None:
    with_metadata(path, lambda document: document["rules"].update({rule: value}))
    refused(f"bad-counts {rule}", path)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda d: d.update(lines=1, sentences=2), ""),
        (lambda d: d.update(cake=1), "cake"),
        (lambda d: d.pop("nulls"), "nulls"),
        (lambda d: d["rules"].update({"\x1b": 1}), r"\x1b"),
        (lambda d: d.update(normalization_rules="41\t42"), ""),
        (lambda d: d["options"].update(normalization_rule_tsv="/etc/passwd"), ""),
        (
            lambda d: d.update(
                normalization_rules="x", options={"normalization_rule_tsv": "/etc/passwd"}
            ),
            "normalization_rules",
        ),
        (lambda d: d["options"].update(max_sentence_length="x"), "max_sentence_length"),
        (lambda d: d["options"].update(compat="9.9"), "9.9"),
        (lambda d: d["options"].update(pretokenizer="a" * 70_000), "pretokenizer"),
        (lambda d: d["options"].update(space_pieces="\x1b"), "space_pieces"),
        (lambda d: d["options"].update(max_sentence_length="3"), "max_sentence_length"),
    ],
)
def test_metadata_that_contradict_each_other(
    path: Path, change: Callable[[dict[str, Any]], object], name: str
) -> None:
    with_metadata(path, change)
    refused(f"bad-counts good.counts {name}", path)


@pytest.mark.parametrize(
    "option",
    [
        "dump",
        "model_prefix",
        "vocab_size",
        "seed_sentencepieces_file",
        "user_defined_symbols_file",
        "control_symbols_file",
        "required_chars_file",
        "denormalization_rule_tsv",
        "recipe",
        "counts",
        "_serialized_normalizer_spec",
    ],
)
def test_counts_set_no_option_that_does_not_belong_to_them(path: Path, option: str) -> None:
    os.mkfifo("pipe")
    with_metadata(path, lambda document: document["options"].update({option: "pipe"}))
    refused(f"bad-counts {option}", path)
    assert sorted(os.listdir()) == ["good.counts", "pipe"]
    status = main(["counts", "show", str(path)], io.StringIO(), io.StringIO())
    assert status == 1


def test_rules_of_a_file_are_in_the_counts() -> None:
    Path("rules.tsv").write_text("63 61 74\t64 6F 67\n75\t\n", encoding="utf-8")
    options = {"normalization_rule_tsv": "rules.tsv", "vocab_size": 30, "hard_vocab_limit": False}
    spmcompat.train(sentence_iterator=TEXT, model_prefix="m", minloglevel=2, **options)  # type: ignore[arg-type]
    from_text = Path("m.model").read_bytes()
    spmcompat.count(sentence_iterator=TEXT, normalization_rule_tsv="rules.tsv", minloglevel=2).save(
        "c.counts"
    )
    Path("rules.tsv").unlink()
    train("c.counts")
    assert Path("m.model").read_bytes() == from_text


def test_a_pipe_is_not_opened() -> None:
    os.mkfifo("pipe")
    refused("cannot-read pipe", "pipe")


def test_a_missing_column(path: Path) -> None:
    file = pq.ParquetFile(path)
    table = file.read().drop_columns(["next"])
    pq.write_table(table.replace_schema_metadata({KEY: file.metadata.metadata[KEY]}), path)
    refused("bad-counts next", path)


def test_a_column_of_another_type(path: Path) -> None:
    file = pq.ParquetFile(path)
    table = file.read()
    table = table.set_column(3, "count", pa.array(["many"] * len(table)))
    pq.write_table(table.replace_schema_metadata({KEY: file.metadata.metadata[KEY]}), path)
    refused("bad-counts count", path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("count", 0, "bad-counts count 0"),
        ("count", -5, "bad-counts count -5"),
        ("count", 2**62 + 1, "bad-counts count 4611686018427387905"),
        ("count", None, "bad-counts count"),
        ("place", 3, "bad-counts place 3"),
        ("next", -1, "bad-counts next -1"),
        ("next", 0x110000, "bad-counts next 1114112"),
        ("pretoken", "", "bad-counts pretoken"),
        ("pretoken", None, "bad-counts pretoken"),
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
    refused("bad-counts UTF-8", path)


READERS: dict[str, Callable[[CountTable], object]] = {
    **{kind: partial(train, model_type=kind) for kind in ("unigram", "bpe", "word", "char")},
    "save": lambda counts: counts.save("saved"),
    "batches": lambda counts: [*counts.batches()],
    "summary": lambda counts: counts.summary(),
    "add": lambda counts: counts + counts,
    "merge": lambda counts: [*Merging([counts, counts])],
}


def twice(rows: list[dict[str, Any]]) -> None:
    rows.insert(1, dict(rows[0]))


def two_ends(rows: list[dict[str, Any]]) -> None:
    rows.insert(1, {**rows[0], "place": 2, "next": 0, "count": 1})


def large_end(rows: list[dict[str, Any]]) -> None:
    next(row for row in rows if row["place"] == 2)["count"] = 2


def no_end(rows: list[dict[str, Any]]) -> None:
    rows[:] = [row for row in rows if row["place"] != 2]


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("row_group_size", [1, 1000])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (twice, "bad-counts"),
        (two_ends, "bad-counts"),
        (large_end, "bad-counts"),
        (no_end, "bad-counts"),
        (list.reverse, "bad-counts"),
    ],
)
def test_every_reader_refuses_rows_that_no_text_has(
    path: Path, change: Change, message: str, reader: str, row_group_size: int, in_memory: bool
) -> None:
    counts = spmcompat.load_counts(path)
    rows = counts.to_arrow().to_pylist()
    change(rows)
    table = pa.Table.from_pylist(rows, schema=counts.to_arrow().schema)
    if in_memory:
        changed = CountTable(counts.origin, table)
    else:
        metadata = pq.ParquetFile(path).metadata.metadata
        table = table.replace_schema_metadata({KEY: metadata[KEY]})
        pq.write_table(table, "changed.counts", row_group_size=row_group_size)
        changed = spmcompat.load_counts("changed.counts")
    with raises_kind(message):
        READERS[reader](changed)
    assert not Path("saved").exists()
    assert not list(Path().glob("m.*"))


def test_counts_that_are_too_large_together(path: Path) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows[:4]:
            row["count"] = 2**62

    rewrite(path, change)
    refused("too-large 2**62", path)


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
        (
            {"max_sentence_length": 99},
            "counts-mismatch max_sentence_length=4192 max_sentence_length=99",
        ),
        ({"compat": "0.2.0"}, f"counts-mismatch compat={DEFAULT.version} compat=0.2.0"),
        ({"input": "x.txt"}, "conflicting-options input counts"),
        ({"sentence_iterator": TEXT}, "conflicting-options sentence_iterator counts"),
        ({"user_defined_symbols": ["cat"]}, "counts-mismatch cat"),
        ({"user_defined_symbols": ["é"]}, "counts-mismatch é"),
        ({"split_by_whitespace": False}, "counts-mismatch split_by_whitespace=True"),
        ({"add_dummy_prefix": False}, "counts-mismatch add_dummy_prefix=True"),
        (
            {"normalization_rule_name": "identity"},
            "counts-mismatch normalization_rule_name=nmt_nfkc",
        ),
        ({"space_pieces": "separate"}, "counts-mismatch space_pieces=prefix"),
        ({"pretokenizer": "script"}, "counts-mismatch pretokenizer=None"),
        ({"required_chars": "", "character_coverage": 0.1}, "bad-value character_coverage"),
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
    refused(
        "conflicting-options self_test_sample_size",
        counts,
        model_type="bpe",
        self_test_sample_size=5,
    )


def test_symbols_that_the_text_does_not_hold_are_free(path: Path) -> None:
    train(path, user_defined_symbols=["<sep>"], byte_fallback=True, vocab_size=300, pad_id=3)


def test_symbols_of_the_counts_that_training_lacks(path: Path) -> None:
    spmcompat.count(sentence_iterator=TEXT, user_defined_symbols=["cat"], minloglevel=2).save(
        "cut.counts"
    )
    refused("counts-mismatch cat", "cut.counts", user_defined_symbols=["<sep>"])
    train("cut.counts")


def test_a_model_without_spaces_needs_the_sentences() -> None:
    text = ["日本語の文章" * 50] * 30 + ["a b"]
    counts = spmcompat.count(sentence_iterator=text, minloglevel=2)
    with raises_kind("needs-sentences U+2581"):
        spmcompat.train(counts=counts, model_prefix="m", vocab_size=12, character_coverage=0.99)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_by_whitespace": False}, "needs-sentences split_by_whitespace"),
        ({"compat": "0.2.2"}, "needs-sentences"),
        (
            {"compat": "0.2.1", "pretokenization_delimiter": "x"},
            "needs-sentences pretokenization_delimiter",
        ),
        ({"compat": "0.2.1", "input_format": "tsv"}, "needs-sentences"),
        ({"input": "none.txt"}, "cannot-read none.txt No such file or directory"),
        ({"cake": 1}, "unknown-option cake"),
        ({"vocab_size": 500}, "bad-value vocab_size"),
        ({"max_sentence_length": "x"}, "bad-value max_sentence_length"),
    ],
    ids=str,
)
def test_what_cannot_be_counted(options: dict[str, Any], message: str) -> None:
    source = {} if "input" in options else {"sentence_iterator": TEXT}
    with raises_kind(message):
        spmcompat.count(**source, **options, minloglevel=2)


def test_a_folder_that_is_not_there_or_not_writable(path: Path) -> None:
    counts = spmcompat.load_counts(path)
    with raises_kind("cannot-write none/x.counts No such file or directory"):
        counts.save("none/x.counts")
    Path("taken").mkdir()
    with raises_kind("cannot-write taken Is a directory"):
        counts.save("taken")


def test_a_full_disk_leaves_no_file(path: Path) -> None:
    script = (
        "import resource, signal, sys\n"
        "sys.dont_write_bytecode = True  # the limit would truncate it\n"
        "import spmcompat\n"
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
    refused("counts-mismatch folder", "folder")


def test_counts_that_are_no_counts() -> None:
    with raises_kind("wrong-type"):
        train(7)


def test_a_table_that_is_changed_in_memory_is_checked(path: Path) -> None:
    counts = spmcompat.load_counts(path)
    rows = counts.to_arrow().to_pylist()
    rows[0]["count"] = -1
    broken = pa.Table.from_pylist(rows, schema=counts.to_arrow().schema)
    refused("bad-counts count -1", CountTable(counts.origin, broken))


def test_a_file_that_becomes_shorter_while_it_is_read() -> None:
    letters = random.Random(1)
    words = ["".join(letters.choices("abcdefghij", k=12)) for _ in range(300_000)]
    spmcompat.count(sentence_iterator=words, minloglevel=2).save("large.counts")
    batches = spmcompat.load_counts("large.counts").batches(1000)
    next(batches)
    os.truncate("large.counts", os.stat("large.counts").st_size // 4)
    with raises_kind("bad-counts large.counts"):
        list(batches)
