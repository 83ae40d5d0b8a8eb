"""Errors raised before the text is read have the same types and messages as in the real library."""

import gzip
import os
from pathlib import Path

import pytest

from spmcompat.errors import BadValueError
from spmcompat.options.checks import check_options, check_settings
from spmcompat.options.from_keywords import from_kwargs
from spmcompat.options.settings import with_charsmaps
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.parity.case import Option
from tests.parity.harness import Trainers, file_case

TEXT = corpora.words_text(seed=2, lines=60, types=40)
SMALL = {"vocab_size": 60, "hard_vocab_limit": False, "num_threads": 2}
DUPLICATE = "is already defined"


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"vocab_size": 0}, ""),
        ({"vocab_size": -5}, ""),
        ({"vocab_size": 3}, "Vocabulary size is smaller than required_chars. 3 vs "),
        ({"byte_fallback": True}, "Vocabulary size is smaller than required_chars. 60 vs "),
        ({"use_all_vocab": True}, "use_all_vocab=true is valid for WORD/CHAR model."),
        ({"auto_character_coverage": True, "byte_fallback": True}, "use_sparse_pruning=true"),
        ({"character_coverage": 0.97}, ""),
        ({"character_coverage": 1.1}, ""),
        ({"character_coverage": "nan"}, ""),
        ({"max_sentencepiece_length": 0}, ""),
        ({"max_sentencepiece_length": 513}, ""),
        ({"num_sub_iterations": 11}, ""),
        ({"num_threads": 0}, ""),
        ({"num_threads": 1025}, ""),
        ({"shrinking_factor": 0.96}, ""),
        ({"shrinking_factor": 0.49}, ""),
        ({"max_sentence_length": 9}, ""),
        ({"max_sentence_length": 2**30 + 1}, ""),
        ({"input_sentence_size": 100}, ""),
        ({"unk_piece": ""}, ""),
        ({"pad_piece": ""}, ""),
        ({"input_format": "xml"}, "Supported formats are 'text' and 'tsv'."),
        ({"escape_whitespaces": False}, "escape_whitespaces"),
        ({"unk_id": -1}, "<unk> must be defined."),
        ({"bos_id": 60}, "bos_id"),
        ({"eos_id": 1}, "eos_id"),
        ({"bos_piece": "<unk>"}, ""),
        ({"bos_piece": "<x>", "eos_piece": "<x>"}, f"<x> {DUPLICATE}"),
        ({"control_symbols": ["<x>", "<x>"]}, "<x> is already defined. duplicated symbols"),
        ({"control_symbols": ["<x>"], "user_defined_symbols": ["<x>"]}, f"<x> {DUPLICATE}"),
        ({"user_defined_symbols": ["<unk>"]}, "must not be defined with"),
        ({"user_defined_symbols": ["a", "", "b"]}, ""),
        ({"input": "nowhere.txt"}, '"nowhere.txt": No such file or directory'),
        ({"input": "text0.txt,nowhere.txt"}, '"nowhere.txt": No such file or directory'),
        ({"input": "."}, '".": Is a directory'),
        ({"input": ""}, "SentenceIterator and trainer_spec.input() must be exclusive."),
        ({"model_prefix": ""}, "ModelProto and trainer_spec.model_prefix() must be exclusive."),
        ({"model_prefix": "nowhere/m"}, '"nowhere/m.model": No such file or directory'),
        ({"normalization_rule_name": "nfkz"}, "No precompiled charsmap is found: nfkz"),
        ({"normalization_rule_name": "NFKC"}, "Invalid charsmap name"),
        ({"normalization_rule_tsv": "nowhere"}, '"nowhere": No such file or directory'),
        ({"denormalization_rule_tsv": "nowhere"}, '"nowhere": No such file or directory'),
    ],
)
def test_both_refuse(trainers: Trainers, options: dict[str, Option], key: str) -> None:
    trainers.check_failure(file_case({**SMALL, **options}, [TEXT]), key=key)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"denormalization_rule_tsv": "r.tsv"}, "conflicting-options denormalization_rule_tsv"),
        ({"user_defined_symbols": ["a", "<\u034e>"]}, "bad-value U+034E"),
    ],
)
def test_marked_capitals_must_be_restored(options: dict[str, object], message: str) -> None:
    marking = {"normalization_rule_name": "nmt_nfkc_mark_case", **options}
    settings = from_kwargs(marking)
    for given in (settings, with_charsmaps(settings)):
        with raises_kind(message, BadValueError):
            check_options(given)
    # These options are allowed if the rules do not mark capitals.
    for other in ({"normalization_rule_name": "nmt_nfkc"}, {"normalization_rule_tsv": "r.tsv"}):
        check_options(from_kwargs({**marking, **other}))


@pytest.mark.parametrize(
    "options",
    [
        {"unk_id": -1, "byte_fallback": True, "vocab_size": 400},
        {"unk_id": -1, "bos_piece": "<unk>"},
        {"bos_id": 59, "eos_id": 7, "pad_id": 3},
        {"bos_id": -1, "eos_id": -7},
        {"bos_id": -1, "control_symbols": ["<s>", "</s>"]},
        {"user_defined_symbols": ["</s>", "<s>", "<pad>"]},
        {"user_defined_symbols": ["a b", "▅"]},
        {"bos_piece": "<0x41>", "byte_fallback": True, "vocab_size": 400},
        {"model_prefix": "dots.and spaces", "input_format": ""},
        {"max_sentence_length": 2**30, "num_threads": 64},
        {"vocab_size": 10**6, "normalization_rule_name": "identity"},
    ],
)
def test_both_accept(trainers: Trainers, options: dict[str, Option]) -> None:
    trainers.check({**SMALL, **options}, TEXT)


def _settings(folder: Path, **options: object) -> dict[str, object]:
    (folder / "text.txt").write_text(TEXT)
    return {"input": str(folder / "text.txt"), "model_prefix": str(folder / "m"), **options}


def test_only_the_first_file_must_exist_where_reading_may_stop(tmp_path: Path) -> None:
    files = f"{tmp_path / 'text.txt'},{tmp_path / 'nowhere'}"
    limits = {"input_sentence_size": 200, "shuffle_input_sentence": False}
    settings = from_kwargs(_settings(tmp_path, input=files, **limits))
    assert len(check_settings(settings, has_sentences=False, has_writer=False)) == 3
    settings.trainer.shuffle_input_sentence = True
    with raises_kind("cannot-read"):
        check_settings(settings, has_sentences=False, has_writer=False)


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    settings = from_kwargs(_settings(tmp_path, input=str(tmp_path / "pipe")))
    # Opening the pipe would wait for a writer that never comes.
    assert check_settings(settings, has_sentences=False, has_writer=False)


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"input_column": "body"}, "input_column"),
        ({"input_column": "body", "input_format": "tsv"}, "input_column"),
        ({"input_column": "body", "input_format": "text", "input": "a.jsonl"}, "input_column"),
        ({"skip_bad_records": True}, "skip_bad_records"),
        ({"skip_bad_records": True, "input": "a.txt,-"}, "skip_bad_records"),
        ({"skip_bad_records": True, "input": "*.txt"}, "skip_bad_records"),
        ({"skip_bad_records": True, "input_format": "parquet"}, "skip_bad_records"),
    ],
    ids=str,
)
def test_options_of_records_are_refused_where_no_input_has_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "a.jsonl"):
        Path(name).write_text(TEXT)
    settings = from_kwargs({"input": "a.txt", "model_prefix": "m", **given})
    with raises_kind(
        f"conflicting-options {option} input_format",
        BadValueError,
    ):
        check_settings(settings, has_sentences=False, has_writer=False)


@pytest.mark.parametrize(
    "given",
    [
        {"input": "a.txt,b.jsonl"},
        {"input": "a.txt,c.ndjson.gz"},
        {"input": "*"},
        {"input": "-", "input_format": "jsonl"},
        {"input": "pipe", "input_format": "jsonl"},
        {"input": "pipe.jsonl"},
        {"input": "memory://records/a.jsonl?b=c"},
        # Reading may stop before the second file, so this file need not exist.
        {
            "input": "a.txt,nowhere*.jsonl",
            "input_sentence_size": 200,
            "shuffle_input_sentence": False,
        },
    ],
    ids=str,
)
def test_options_of_records_are_accepted_if_one_input_may_have_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(TEXT)
    Path("b.jsonl").write_text("{}")
    Path("c.ndjson.gz").write_bytes(gzip.compress(b"{}"))
    for name in ("pipe", "pipe.jsonl"):
        if name in str(given["input"]):
            os.mkfifo(name)
    if "memory" in str(given["input"]):
        fsspec = pytest.importorskip("fsspec")
        with fsspec.open("memory://records/a.jsonl?b=c", "wb") as file:
            file.write(b"{}")
    options = {"model_prefix": "m", "input_column": "body", "skip_bad_records": True, **given}
    assert check_settings(from_kwargs(options), has_sentences=False, has_writer=False)


def test_a_column_of_parquet_files_has_an_effect(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = str(tmp_path / "a.parquet")
    parquet.write_table(pa.table({"body": ["a"]}), path)
    settings = from_kwargs(_settings(tmp_path, input=path, input_column="body"))
    assert check_settings(settings, has_sentences=False, has_writer=False)
    settings.own.skip_bad_records = True
    with raises_kind("conflicting-options skip_bad_records", BadValueError):
        check_settings(settings, has_sentences=False, has_writer=False)


def test_lines_of_sentences_with_counts_are_not_split() -> None:
    options = {"model_prefix": "m", "split_lines": True, "input_format": "tsv"}
    with raises_kind("conflicting-options split_lines", BadValueError):
        check_settings(from_kwargs(options), has_sentences=True, has_writer=False)


def test_two_sources_or_two_targets(tmp_path: Path) -> None:
    settings = from_kwargs(_settings(tmp_path))
    with raises_kind("conflicting-options"):
        check_settings(settings, has_sentences=True, has_writer=False)
    settings.trainer.input.clear()
    with raises_kind("conflicting-options"):
        check_settings(settings, has_sentences=False, has_writer=False)
    settings = from_kwargs(_settings(tmp_path))
    with raises_kind("conflicting-options model_prefix"):
        check_settings(settings, has_sentences=False, has_writer=True)
    settings.trainer.ClearField("model_prefix")
    with raises_kind("conflicting-options model_prefix"):
        check_settings(settings, has_sentences=False, has_writer=False)


def test_own_options(tmp_path: Path) -> None:
    with raises_kind("bad-value workers 1024", BadValueError):
        check_settings(
            from_kwargs(_settings(tmp_path, workers=0)), has_sentences=False, has_writer=False
        )


def test_the_target_must_not_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m.vocab").mkdir()
    settings = from_kwargs(_settings(tmp_path))
    with raises_kind("cannot-write m.vocab Is a directory"):
        check_settings(settings, has_sentences=False, has_writer=False)


def test_a_seed_file_must_exist(tmp_path: Path) -> None:
    settings = from_kwargs(_settings(tmp_path, seed_sentencepieces_file="nowhere.tsv"))
    with raises_kind("cannot-read nowhere.tsv"):
        check_settings(settings, has_sentences=False, has_writer=False)
