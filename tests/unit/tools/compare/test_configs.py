"""Configurations from names and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.options.table import OPTIONS
from spmcompat.tools.compare.configs import BUILT_IN, DEFAULTS, Config, read_configs
from tests.kinds import raises_kind

FLAGS = {option.name for option in OPTIONS.values() if option.flag}


def write(folder: Path, text: str) -> str:
    path = folder / "configs.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_built_in_configurations_are_found_by_name() -> None:
    assert [config.name for config in read_configs(list(BUILT_IN), FLAGS)] == list(BUILT_IN)
    with raises_kind("usage"):
        read_configs(["unigrm"], FLAGS)


def test_models_without_spaces_are_those_with_separate_spaces() -> None:
    for kind in ("unigram", "bpe"):
        separate, dropped = read_configs([f"{kind}-separate-spaces", f"{kind}-no-spaces"], FLAGS)
        assert (separate.trainer, separate.flags) == (dropped.trainer, dropped.flags)
        assert (separate.drop_spaces, dropped.drop_spaces) == (False, True)
        assert separate.name in DEFAULTS
        assert dropped.name not in DEFAULTS


def test_each_table_of_a_file_is_a_configuration(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[a-1]\nmodel_type = "bpe"\nbyte_fallback = true\nshrinking_factor = 0.9\n'
        'num_threads = 2\n[b]\ntrainer = "tokenizers.wordpiece"\n[c]\ndrop_spaces = true\n',
    )
    flags = {
        "model_type": "bpe",
        "byte_fallback": "true",
        "shrinking_factor": "0.9",
        "num_threads": "2",
    }
    assert read_configs(["bpe", path], FLAGS) == [
        BUILT_IN["bpe"],
        Config("a-1", flags=flags),
        Config("b", trainer="tokenizers.wordpiece"),
        Config("c", drop_spaces=True),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "bad-config configs.toml"),
        (f"[a]\n{'.'.join('a' * 50_000)} = 1\n", "bad-config configs.toml:2 300"),
        (f"[{'.'.join('a' * 50_000)}]\n", "bad-config configs.toml:1 300"),
        ("# text\n" * 50_000, "bad-config 256"),
        ("".join(f"[a{i}]\n" for i in range(101)), "bad-config 100"),
        (f"[{'a' * 1001}]\n", "bad-config 1000"),
        ("[a", "bad-config configs.toml"),
        ("a = 1", "bad-config configs.toml"),
        ('["a/b"]', "bad-config configs.toml"),
        ('[a]\ntrainer = "other"', "bad-config other"),
        ('[a]\ntrainer = "tokenizers.unigram"\nnum_threads = 2', "bad-config configs.toml"),
        ('[a]\ndrop_spaces = "true"', "bad-config a.drop_spaces"),
        ("[a]\nvocab_size = 5", "bad-config vocab_size"),
        ('[a]\n"model_prefix=../../elsewhere" = "x"', "bad-config configs.toml"),
        ('[a]\n"-model_prefix" = "x"', "bad-config -model_prefix"),
        ("[a]\nmodel_prefix = 'x'", "bad-config model_prefix"),
        ("[a]\ndump = 'x'", "bad-config dump spm_train"),
        ("[a]\ninput = 'x'", "bad-config configs.toml"),
        ("[a]\ninput_format = 'tsv'", "bad-config input_format"),
        ("[a]\nhelp = true", "bad-config help"),
        ("[a]\nversion = true", "bad-config version"),
        ('[a]\n"" = 1', "bad-config configs.toml"),
        ('[a]\ncontrol_symbols = "a\\u0000b"', "bad-config a.control_symbols"),
        (f"[a]\nnum_threads = {'9' * 5000}", "bad-config 4300"),
        (f"[a]\nnum_threads = 0x{'F' * 5000}", "bad-config a.num_threads 20,000"),
        (f"a = {'[' * 100_000}", "bad-config configs.toml"),
        ('[".."]\nnum_threads = 2', "bad-config configs.toml"),
        ("[a]\ncontrol_symbols = []", "bad-config a.control_symbols"),
        ("[bpe]", "bad-config bpe"),
    ],
)
def test_the_error_says_what_is_wrong_with_a_file(text: str, message: str, tmp_path: Path) -> None:
    with raises_kind(message):
        read_configs(["bpe", write(tmp_path, text)], FLAGS)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with raises_kind("cannot-read nowhere.toml No such file or directory"):
        read_configs([str(tmp_path / "nowhere.toml")], FLAGS)
