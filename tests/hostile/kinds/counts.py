"""Damaged files of counts, read by every command that reads counts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import spmcompat
from spmcompat.__main__ import main
from spmcompat.stored_counts.table import KEY
from tests.hostile.mutations import damage_bytes, damage_document, to_json

TEXT = ["the cat sat on the mat", "a dog, naïve", "the end", "猫 がいる 123"] * 20
COUNTS = ("plain", "rules", "merged", "unordered", "parts")
UNORDERED = b"spmcompat.unordered"
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
NUMBERS = (0, -1, 1, 2, 3, 4, 5, 127, 0xD800, 0x110000, 2**31 - 1, 2**62, 2**63 - 1, -(2**63), None)
PRETOKENS = (b"", b"\xff\xfe", b"\0", b"\x1b[2J", "▁".encode(), b"\n", b"a" * 70_000, None)


def prepare(folder: Path) -> None:
    """Count a text in several ways, and train a model on the counts."""
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in TEXT), encoding="utf-8")
    rules = folder / "rules.tsv"
    rules.write_text("63 61 74\t64 6F 67\n", encoding="utf-8")
    counting = ["count", f"--input={text}", "--quiet"]
    for name, flags in {"plain": [], "rules": [f"--normalization_rule_tsv={rules}"]}.items():
        assert main([*counting, f"--output={folder / name}", *flags]) == 0
    plain = str(folder / "plain")
    merged = str(folder / "merged")
    assert main(["counts", "merge", plain, plain, "--weights=2,1.5", f"--output={merged}"]) == 0
    counter = spmcompat.arrow_counter(minloglevel=2)
    rows = pa.Table.from_batches([*counter.count([pa.record_batch({"text": TEXT})])])
    metadata = counter.metadata[UNORDERED.decode()]
    pq.write_table(rows.replace_schema_metadata({UNORDERED: metadata}), folder / "unordered")
    fields = [{"name": "pretoken", "metadata": {UNORDERED.decode(): metadata}}]
    stored = {SPARK: json.dumps({"type": "struct", "fields": fields})}
    (folder / "parts").mkdir()
    for part in range(3):
        taken = rows.take([*range(part, len(rows), 3)]).replace_schema_metadata(stored)
        pq.write_table(taken, folder / "parts" / f"{part}.parquet")
    training = [f"--counts={plain}", f"--model_prefix={folder / 'base'}", "--vocab_size=40"]
    assert main(["train", *training, "--hard_vocab_limit=false"]) == 0
    for name in COUNTS:
        for command in _commands(folder / name, folder):
            assert main(command) in (0, 1), command


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Write damaged counts to `folder`, and return a random command that reads them."""
    name = chance.choice(COUNTS)
    damaged = folder / "c.counts"
    if name == "parts":
        damaged.mkdir()
        for part in sorted((valid / name).iterdir()):
            (damaged / part.name).write_bytes(part.read_bytes())
        target = damaged / f"{chance.randrange(3)}.parquet"
        if chance.random() < 0.2:  # replace one file of the folder with a file of other counts
            target.write_bytes((valid / chance.choice(COUNTS[:4])).read_bytes())
        else:
            _damage(target, target, chance)
    else:
        _damage(valid / name, damaged, chance)
    return partial(main, chance.choice(_commands(damaged, valid)))


def _commands(counts: Path, valid: Path) -> list[list[str]]:
    c, other, model = str(counts), str(valid / "plain"), str(valid / "base.model")
    training = [f"--counts={c}", "--model_prefix=m", "--vocab_size=40", "--hard_vocab_limit=false"]
    return [
        ["counts", "show", c],
        ["counts", "merge", c, other, "--output=merged"],
        ["counts", "merge", other, c, "--output=merged", "--weights=0.3,7"],
        ["counts", "merge", c, other, "--output=merged", "--temperature=0.5", "--min_count=2"],
        *(
            ["train", *training, f"--model_type={kind}"]
            for kind in ("unigram", "bpe", "word", "char")
        ),
        ["train", f"--language_counts={c},{other}", *training[1:], "--model_type=bpe"],
        ["extend", model, f"--counts={c}", "--add=5", "--output=extended.model"],
        ["trim", model, f"--counts={c}", "--keep=35", "--output=trimmed.model"],
    ]


def _damage(source: Path, target: Path, chance: random.Random) -> None:
    damage = chance.choice([_damage_bytes, _damage_metadata, _damage_rows, _damage_columns])
    damage(source, target, chance)


def _damage_bytes(source: Path, target: Path, chance: random.Random) -> None:
    data = source.read_bytes()
    if chance.random() < 0.5:
        target.write_bytes(damage_bytes(data, chance))
        return
    # The footer is not damaged, so that the metadata can be read.
    footer = int.from_bytes(data[-8:-4], "little") + 8
    target.write_bytes(damage_bytes(data[:-footer], chance) + data[-footer:])


def _damage_metadata(source: Path, target: Path, chance: random.Random) -> None:
    table = pq.ParquetFile(source).read()
    metadata = dict(table.schema.metadata)
    for key in (KEY, UNORDERED):
        if key in metadata:
            metadata[key] = _damaged_json(metadata[key], chance)
    if SPARK in metadata:
        document = json.loads(metadata[SPARK])
        holder = document["fields"][0]["metadata"]
        inner = _damaged_json(holder[UNORDERED.decode()].encode(), chance)
        holder[UNORDERED.decode()] = inner.decode()
        if chance.random() < 0.3:
            document = damage_document(document, chance)
        metadata[SPARK] = to_json(document).encode()
    pq.write_table(table.replace_schema_metadata(metadata), target)


def _damaged_json(text: bytes, chance: random.Random) -> bytes:
    document = json.loads(text)
    hostile = {
        "dump": "dump",
        "normalization_rule_tsv": "/etc/passwd",
        "user_defined_symbols_file": "/etc/passwd",
        "compat": "0.2.1",
        "input_format": "parquet",
        "max_sentence_length": "-1",
        "unk_id": "2147483647",
        "user_defined_symbols": "<x>",
        "space_pieces": "dropped",
        "pretokenizer": "regex:((a*)*)*b",
    }
    if chance.random() < 0.3:
        name = chance.choice([*hostile])
        document["options"][name] = hostile[name]
    else:
        document = damage_document(document, chance)
    return to_json(document).encode()


def _damage_rows(source: Path, target: Path, chance: random.Random) -> None:
    table = pq.ParquetFile(source).read()
    rows = table.set_column(0, "pretoken", table["pretoken"].cast(pa.binary())).to_pylist()
    for _ in range(chance.choice([1, 1, 3])):
        row = chance.randrange(len(rows))
        match chance.randrange(6):
            case 0:
                rows[row]["pretoken"] = chance.choice(PRETOKENS)
            case 1:
                rows.insert(chance.randrange(len(rows)), dict(rows[row]))
            case 2:
                rows[row]["count"] = chance.choice(NUMBERS)
            case 3:
                rows[row]["place"] = _limited(chance.choice(NUMBERS), 2**7)
            case 4:
                rows[row]["next"] = _limited(chance.choice(NUMBERS), 2**31)
            case 5:
                del rows[row : row + chance.choice([1, 1, 1000])]
                rows = rows or [{"pretoken": b"a", "place": 2, "next": 0, "count": 1}]
    if chance.random() < 0.2:
        chance.shuffle(rows)
    columns = {name: [row[name] for row in rows] for name in table.schema.names}
    arrays = [
        # The bytes need not be valid UTF-8, so the strings are made from binary data.
        pa.array(columns["pretoken"], pa.binary()).view(pa.string()),
        pa.array(columns["place"], pa.int8()),
        pa.array(columns["next"], pa.int32()),
        pa.array(columns["count"], pa.int64()),
    ]
    damaged = pa.Table.from_arrays(arrays, names=table.schema.names)
    groups = chance.choice([1, 3, len(rows)])
    written = damaged.replace_schema_metadata(table.schema.metadata)
    pq.write_table(written, target, row_group_size=groups)


def _limited(number: int | None, limit: int) -> int | None:
    """Return the number, or the nearest one that the integer type can store."""
    return None if number is None else max(-limit, min(number, limit - 1))


def _damage_columns(source: Path, target: Path, chance: random.Random) -> None:
    table = pq.ParquetFile(source).read()
    metadata = table.schema.metadata
    column = chance.randrange(table.num_columns)
    name = table.schema.names[column]
    values = table.column(column)
    changes: dict[str, Callable[[], Any]] = {
        "missing": lambda: table.drop_columns([name]),
        "renamed": lambda: table.rename_columns(
            [
                chance.choice(["next", "\x1b[2J", ""]) if one == name else one
                for one in table.schema.names
            ]
        ),
        "twice": lambda: table.append_column(name, values),
        "more": lambda: table.append_column("\x1b[2J", values),
        "order": lambda: table.select(chance.sample(table.schema.names, table.num_columns)),
        "dictionary": lambda: table.set_column(column, name, values.dictionary_encode()),
        "text": lambda: table.set_column(column, name, values.cast(pa.string())),
        "large": lambda: table.set_column(column, name, values.cast(pa.large_string())),
        "view": lambda: table.set_column(column, name, values.cast(pa.string_view())),
        "nulls": lambda: table.set_column(column, name, pa.nulls(len(table))),
        "lists": lambda: table.set_column(column, name, pa.array([[1]] * len(table))),
        "structs": lambda: table.set_column(column, name, pa.array([{name: 1}] * len(table))),
        "floats": lambda: table.set_column(column, name, pa.array([float("nan")] * len(table))),
        "unsigned": lambda: table.set_column(
            column, name, pa.array([2**63] * len(table), pa.uint64())
        ),
        "empty": lambda: table.slice(0, 0),
    }
    damaged = changes[chance.choice([*changes])]().replace_schema_metadata(metadata)
    compression = chance.choice(["none", "snappy", "gzip", "zstd"])
    pq.write_table(
        damaged, target, compression=compression, row_group_size=chance.choice([5, 1000])
    )
