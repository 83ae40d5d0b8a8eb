"""The targets of fuzzing: what each target reads, and the inputs with which its fuzzing starts.

The targets of `FILES` write the bytes of the fuzzer to a file. All other targets are the kinds of
`tests.hostile`, whose generators damage valid files: the bytes of the fuzzer choose the damage.
These targets reach code that runs only for nearly valid files.

No target reads raw bytes as Parquet, because pyarrow decodes pages without checking all of their
contents. The kinds ``counts`` and ``records`` damage the other parts of Parquet files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

import pyarrow.parquet as pq

from spmcompat.__main__ import main
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.stored_counts.table import KEY
from spmcompat.tools.compare.report import page
from spmcompat.tools.compare.results import read_result, write_result
from spmcompat.tools.compare.training import SplitTexts
from tests.fuzz.choices import Choices
from tests.hostile.kinds import (
    KINDS,
    configurations,
    gold_lists,
    kind_of,
    models,
    records,
    tokenizers,
)
from tests.unit.tools.compare.test_results import BOOTSTRAP, SETTINGS, full_result

_OPTIONS = "--model_prefix=o --hard_vocab_limit=false --minloglevel=2"
_CHAR = f"{_OPTIONS} --model_type=char --vocab_size=80"
_READ = (f"train --input={{file}} {_CHAR}", "count --input={file} --output=c --quiet")
_SPLIT = "--long_sentences=split --max_sentence_length=10"
_TRAIN = f"train --input={{valid}}/text.txt {_CHAR}"
_SEEDED = f"train --input={{valid}}/text.txt {_OPTIONS} --vocab_size=60 --model_type=unigram"
_EVALUATE = "evaluate --text={valid}/text.txt --workers=1 --quiet"
_UNIGRAM = "{valid}/unigram.model"
_TEXTS = SplitTexts(Path(__file__), Path(__file__), ("undo", "<b>"), "")


class Target(Protocol):
    """A target that the fuzzer runs."""

    def prepare(self, folder: Path) -> Sequence[bytes]:
        """Write valid files into the folder, which is also the working folder.

        Returns the inputs with which the fuzzer starts.
        """

    def command(self, data: bytes, valid: Path, folder: Path) -> Callable[[], int]:
        """Write damaged files into the folder, and return the command that reads them.

        `valid` is the folder that `prepare` filled.
        """


class FileTarget(NamedTuple):
    """The first byte of an input chooses a command; the other bytes are the file that it reads.

    Attributes
    ----------
    name : str
        The name of the file.
    seeds : callable
        Takes the folder of valid files, and returns contents of the file.
    commands : sequence of str or callable
        Command lines, in which ``{file}`` is the path of the file, and ``{valid}`` the folder of
        valid files; and functions that take the path and return an exit status.
    content : callable
        Converts the bytes to the content of the file. It also takes the folder of valid files.
    """

    name: str
    seeds: Callable[[Path], Sequence[bytes]]
    commands: Sequence[str | Callable[[Path], int]]
    content: Callable[[bytes, Path], bytes] = lambda data, _: data

    def prepare(self, folder: Path) -> Sequence[bytes]:
        """Write the valid files. Return an input for each command and each content of the file."""
        (folder / "text.txt").write_bytes(records.TEXT)
        numbers = range(len(self.commands))
        return [bytes([number]) + seed for seed in self.seeds(folder) for number in numbers]

    def command(self, data: bytes, valid: Path, folder: Path) -> Callable[[], int]:
        """Write the file, and choose a command."""
        path = folder / self.name
        path.write_bytes(self.content(data[1:], valid))
        command = self.commands[int.from_bytes(data[:1], "little") % len(self.commands)]
        if callable(command):
            return partial(command, path)
        return partial(main, [word.format(file=path, valid=valid) for word in command.split()])


class KindTarget(NamedTuple):
    """A target that uses one kind of damaged files of `tests.hostile`."""

    name: str

    def prepare(self, folder: Path) -> Sequence[bytes]:
        """Write the valid files. Return random bytes, which choose the damage."""
        kind_of(self.name).prepare(folder)
        return [Random(seed).randbytes(64) for seed in range(64)]

    def command(self, data: bytes, valid: Path, folder: Path) -> Callable[[], int]:
        """Damage a file. `data` decides how."""
        return kind_of(self.name).command(Choices(data), valid, folder)


def _models(folder: Path) -> Sequence[bytes]:
    models.prepare(folder)
    return [(folder / f"{name}.model").read_bytes() for name in models.MODELS]


def _charsmaps(folder: Path) -> Sequence[bytes]:
    read = map(ModelProto.FromString, _models(folder))
    return sorted({model.normalizer_spec.precompiled_charsmap for model in read})


def _model_with_charsmap(charsmap: bytes, valid: Path) -> bytes:
    model = ModelProto.FromString((valid / "unigram.model").read_bytes())
    model.normalizer_spec.precompiled_charsmap = charsmap
    model.denormalizer_spec.precompiled_charsmap = charsmap
    return model.SerializeToString()


def _metadata(folder: Path) -> Sequence[bytes]:
    text, counts = folder / "text.txt", folder / "counts"
    assert main(["count", f"--input={text}", f"--output={counts}", "--quiet"]) == 0
    return [pq.read_metadata(counts).metadata[KEY]]


def _counts_with_metadata(metadata: bytes, valid: Path) -> bytes:
    written = BytesIO()
    table = pq.read_table(valid / "counts")
    pq.write_table(table.replace_schema_metadata({KEY: metadata}), written)
    return written.getvalue()


def _tokenizers(folder: Path) -> Sequence[bytes]:
    tokenizers.prepare(folder)
    files = [path.read_bytes() for path in sorted(folder.glob("*.json"))]
    # Importing a file with the normalizer NFC takes seconds, and in the fuzzer a minute.
    return [file for file in files if b'"NFC"' not in file]


def _gold_lists(folder: Path) -> Sequence[bytes]:
    _models(folder)
    gold_lists.prepare(folder)
    return [(folder / name).read_bytes() for name in gold_lists.LISTS]


def _affixes(folder: Path) -> Sequence[bytes]:
    _models(folder)
    return [b"un-\nre-\n-ness\n-s\n"]


def _language_tables(folder: Path) -> Sequence[bytes]:
    _models(folder)
    rows = [{"text": line, "language": "en" if len(line) > 20 else "de"} for line in records.LINES]
    return ["".join(f"{json.dumps(row)}\n" for row in rows).encode()]


def _configurations(folder: Path) -> Sequence[bytes]:
    configurations.prepare(folder)
    return [(folder / "valid.toml").read_bytes()]


def _results(folder: Path) -> Sequence[bytes]:
    write_result(folder / "result.json", full_result(), SETTINGS)
    return [(folder / "result.json").read_bytes()]


def _report(path: Path) -> int:
    """Write a report from a stored result, as ``spmcompat compare`` does."""
    result = read_result(path, {})
    if result is None or not result.fits(_TEXTS.lines, ["a.tsv"], BOOTSTRAP):
        return 0  # spmcompat compare would ignore this result, and train again
    first = full_result()
    # The names of the configurations and their sizes never come from a stored result.
    page([first, result._replace(config="two", vocab_size=first.vocab_size)], _TEXTS, "a.txt")
    return 0


FILES = {
    "text": FileTarget("a.txt", lambda _: [records.TEXT], [*_READ, f"{_READ[0]} {_SPLIT}"]),
    "json_lines": FileTarget(
        "a.jsonl", lambda _: [records.JSONL], [*_READ, f"{_READ[0]} --skip_bad_records"]
    ),
    "tsv": FileTarget(
        "a.tsv", lambda _: [records.TABLE], [f"{one} --input_format=tsv" for one in _READ]
    ),
    "language_table": FileTarget(
        "a.jsonl",
        _language_tables,
        [f"evaluate --text={{file}} --language_column=language --workers=1 --quiet {_UNIGRAM}"],
    ),
    "symbols": FileTarget(
        "symbols.txt",
        lambda _: [b"cat\n<x>\n", "ü猫".encode()],
        [
            f"{_TRAIN} --{name}_file={{file}}"
            for name in ("user_defined_symbols", "control_symbols", "required_chars")
        ],
    ),
    "seeds": FileTarget(
        "seeds.tsv",
        lambda _: ["▁cat\t9\nat\t12\nthe\t5\n".encode()],
        [
            f"{_SEEDED} --seed_sentencepieces_file={{file}} {compat}"
            for compat in ("", "--compat=0.2.0")
        ],
    ),
    "rules": FileTarget(
        "rules.tsv",
        lambda _: [b"41\t61\n65 301\tE9\n74 68\tFE\n9\t20\nAD\t\n"],
        [
            f"{_TRAIN} --normalization_rule_tsv={{file}}",
            f"{_TRAIN} --normalization_rule_tsv={{file}} --compat=0.2.0",
            f"{_TRAIN} --denormalization_rule_tsv={{file}}",
        ],
    ),
    "model": FileTarget(
        "m.model",
        _models,
        [
            "show {file}",
            f"diff --all {{file}} {_UNIGRAM}",
            "edit {file} --output=o.model --add_user_defined=zzq --reorder_ids",
            "extend {file} --input={valid}/text.txt --add=5 --output=o.model",
            "trim {file} --input={valid}/text.txt --keep=36 --output=o.model",
            "merge {file} {file} --output=o.model",
            f"{_EVALUATE} {{file}}",
            *(f"export {{file}} --to={to} --output=o --verify=no" for to in models.TARGETS),
        ],
    ),
    "charsmap": FileTarget(
        "m.model",
        _charsmaps,
        [
            "extend {file} --input={valid}/text.txt --add=5 --output=o.model",
            "edit {file} --output=o.model --add_user_defined=zzq",
            "export {file} --to=tokenizer.json --output=o --verify=no",
            f"{_EVALUATE} {{file}}",
        ],
        _model_with_charsmap,
    ),
    "counts_metadata": FileTarget(
        "c.counts",
        _metadata,
        [
            "counts show {file}",
            "counts merge {file} {valid}/counts --output=merged",
            f"train --counts={{file}} {_CHAR}",
            f"train --language_counts={{file}},{{valid}}/counts {_OPTIONS} --model_type=bpe",
        ],
        _counts_with_metadata,
    ),
    "tokenizer_json": FileTarget(
        "tokenizer.json", _tokenizers, ["import {file} --output=o.model", "diff {file} {file}"]
    ),
    "gold_list": FileTarget(
        "gold.tsv", _gold_lists, [f"{_EVALUATE} --gold={{file}} {{valid}}/m.model"]
    ),
    "affixes": FileTarget("affixes.txt", _affixes, [f"{_EVALUATE} --affixes={{file}} {_UNIGRAM}"]),
    "configuration": FileTarget(
        "configs.toml",
        _configurations,
        ["compare --text={valid}/short.txt --configs={file} --output=report --quiet"],
    ),
    "stored_result": FileTarget("result.json", _results, [_report]),
}

TARGETS: dict[str, Target] = {**FILES, **{name: KindTarget(name) for name in KINDS}}
"""All targets by name."""
