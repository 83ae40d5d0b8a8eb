"""Damaged tables of words, read by every command that reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from spmcompat.__main__ import main
from spmcompat.words.table import KEY
from tests.hostile.mutations import damage_bytes, damage_document, to_json

TEXT = "The cat sat on the mat, it's 123 naïve cafés; 猫がいる\n"
NUMBERS = (0, -1, 1, 2**31, 2**62, 2**63 - 1, -(2**63), None)
WORDS = (b"", b"\xff\xfe", b"\0", b"\x1b[2J", b"\n", b"a" * 70_000, None)


def prepare(folder: Path) -> None:
    """Count words, and run the commands."""
    text = folder / "text.txt"
    text.write_text(TEXT * 5, encoding="utf-8")
    for name in ("gpt2", "qwen2"):
        counting = ["count", f"--like={name}", f"--input={text}", "--quiet"]
        assert main([*counting, f"--output={folder / name}"]) == 0
    *reading, training = _commands(folder / "gpt2", folder)
    for arguments in reading:
        assert main(arguments) == 0, arguments
    assert main(training) == 1  # spm_train cannot read words


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Write damaged words to `folder`, and return a random command that reads them."""
    source, damaged = valid / chance.choice(["gpt2", "qwen2"]), folder / "damaged"
    if chance.random() < 0.3:
        damaged.write_bytes(damage_bytes(source.read_bytes(), chance))
    else:
        pq.write_table(_damaged(pq.ParquetFile(source), chance), damaged)
    return partial(main, chance.choice(_commands(damaged, valid)))


def _damaged(file: pq.ParquetFile, chance: random.Random) -> pa.Table:
    """Return the table of a file with damaged rows or metadata."""
    rows = file.read()
    metadata = file.metadata.metadata[KEY.encode()]
    if chance.random() < 0.5:
        document = damage_document(json.loads(metadata), chance)
        return rows.replace_schema_metadata({KEY: to_json(document)})
    if chance.random() < 0.3:
        metadata = metadata.replace(b'"has_total": false', b'"has_total": true')
    words = rows["word"].cast(pa.binary()).to_pylist()
    counts = rows["count"].to_pylist()
    for _ in range(chance.choice([1, 1, 3])):
        row = chance.randrange(len(words))
        if chance.random() < 0.5:
            words[row] = chance.choice(WORDS)
        else:
            counts[row] = chance.choice(NUMBERS)
    # The bytes need not be valid UTF-8, so the strings are made from binary data.
    columns = {
        "word": pa.array(words, pa.large_binary()).view(pa.large_string()),
        "count": pa.array(counts, pa.int64()),
    }
    if chance.random() < 0.2:
        del columns[chance.choice([*columns])]
    return pa.table(columns).replace_schema_metadata({KEY: metadata})


def _commands(words: Path, valid: Path) -> list[list[str]]:
    w, other = str(words), str(valid / "gpt2")
    return [
        ["counts", "show", w],
        ["counts", "merge", w, other, "--output=merged", "--quiet"],
        ["counts", "merge", other, w, "--output=merged", "--weights=0.3,7", "--quiet"],
        ["counts", "merge", w, other, "--output=merged", "--bytes=500,1000", "--min_count=2"],
        [
            *("train_tokenizer", "--like=gpt2", f"--counts={w}", "--vocab_size=300"),
            *("--quiet", "--output=trained"),
        ],
        [
            *("train_tokenizer", "--like=gpt2", f"--language_counts={w},{other}", "--quiet"),
            *(f"--language_development={other},{w}", "--vocab_size=300", "--output=trained"),
        ],
        ["train", f"--counts={w}", "--model_prefix=m", "--vocab_size=40"],
    ]
