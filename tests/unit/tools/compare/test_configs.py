"""Configurations from names and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.errors import BadValueError, MissingFileError, UsageError
from spmcompat.options.table import OPTIONS
from spmcompat.tools.compare.configs import BUILT_IN, DEFAULTS, Config, read_configs

FLAGS = {option.name for option in OPTIONS.values() if option.flag}


def write(folder: Path, text: str) -> str:
    path = folder / "configs.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_built_in_configurations_are_found_by_name() -> None:
    assert [config.name for config in read_configs(list(BUILT_IN), FLAGS)] == list(BUILT_IN)
    with pytest.raises(UsageError, match=r"no configuration unigrm\. Choose from unigram"):
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
        ("", "contains no configuration"),
        (f"[a]\n{'.'.join('a' * 50_000)} = 1\n", "configs.toml:2 has more than 300 dots"),
        (f"[{'.'.join('a' * 50_000)}]\n", "configs.toml:1 has more than 300 dots"),
        ("# text\n" * 50_000, "is larger than 256 KiB"),
        ("".join(f"[a{i}]\n" for i in range(101)), "has more than 100 configurations"),
        (f"[{'a' * 1001}]\n", "has more than 1000 characters"),
        ("[a", "configs.toml: "),
        ("a = 1", "a is not in a table"),
        ('["a/b"]', "may contain only letters"),
        ('[a]\ntrainer = "other"', "there is no trainer 'other'"),
        ('[a]\ntrainer = "tokenizers.unigram"\nnum_threads = 2', "takes no flags"),
        ('[a]\ndrop_spaces = "true"', "a.drop_spaces: expected true or false"),
        ("[a]\nvocab_size = 5", "leave vocab_size out"),
        ('[a]\n"model_prefix=../../elsewhere" = "x"', "is not an option for training"),
        ('[a]\n"-model_prefix" = "x"', "a: '-model_prefix' is not an option for training"),
        ("[a]\nmodel_prefix = 'x'", "a: leave model_prefix out"),
        ("[a]\ndump = 'x'", "a: leave dump out. Only spm_train writes a dump"),
        ("[a]\ninput = 'x'", "a: leave input out"),
        ("[a]\ninput_format = 'tsv'", "a: leave input_format out"),
        ("[a]\nhelp = true", "a: 'help' is not an option for training"),
        ("[a]\nversion = true", "a: 'version' is not an option for training"),
        ('[a]\n"" = 1', "a: '' is not an option for training"),
        ('[a]\ncontrol_symbols = "a\\u0000b"', "a.control_symbols: the text contains U"),
        (f"[a]\nnum_threads = {'9' * 5000}", "4300"),
        (f"[a]\nnum_threads = 0x{'F' * 5000}", "a.num_threads: cannot parse a number of 20,000"),
        (f"a = {'[' * 100_000}", "configs.toml: "),
        ('[".."]\nnum_threads = 2', "may contain only letters"),
        ("[a]\ncontrol_symbols = []", "a.control_symbols: expected text"),
        ("[bpe]", "Two configurations are named bpe"),
    ],
)
def test_the_error_says_what_is_wrong_with_a_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadValueError, match=message) as caught:
        read_configs(["bpe", write(tmp_path, text)], FLAGS)
    assert "configs.toml" in str(caught.value) or "Two configurations" in message


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r'nowhere\.toml": No such file'):
        read_configs([str(tmp_path / "nowhere.toml")], FLAGS)
