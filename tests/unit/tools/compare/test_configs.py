"""Configurations by name and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from spmcompat.cli.flags import training_flags
from spmcompat.errors import BadValueError, MissingFileError
from spmcompat.tools.compare.configs import BUILT_IN, Config, read_configs

FLAGS = training_flags()


def write(folder: Path, text: str) -> str:
    path = folder / "configs.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_built_in_ones_by_name() -> None:
    assert [config.name for config in read_configs(list(BUILT_IN), FLAGS)] == list(BUILT_IN)
    with pytest.raises(BadValueError, match=r"no configuration unigrm\. Choose from unigram"):
        read_configs(["unigrm"], FLAGS)


def test_a_file_gives_all_of_its_tables(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[a-1]\nmodel_type = "bpe"\nbyte_fallback = true\nshrinking_factor = 0.9\n'
        'num_threads = 2\n[b]\ntrainer = "tokenizers.wordpiece"\n',
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
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no configuration"),
        ("[a", "configs.toml: "),
        ("a = 1", "a stands in no table"),
        ('["a/b"]', "may hold only letters"),
        ('[a]\ntrainer = "other"', "there is no trainer 'other'"),
        ('[a]\ntrainer = "tokenizers.unigram"\nnum_threads = 2', "takes no flags"),
        ("[a]\nvocab_size = 5", "leave vocab_size out"),
        ('[a]\n"model_prefix=../../elsewhere" = "x"', "is no option of a training"),
        ('[a]\n"-model_prefix" = "x"', "a: '-model_prefix' is no option of a training"),
        ("[a]\nmodel_prefix = 'x'", "a: leave model_prefix out"),
        ("[a]\ninput = 'x'", "a: leave input out"),
        ("[a]\ninput_format = 'tsv'", "a: leave input_format out"),
        ("[a]\nhelp = true", "a: 'help' is no option of a training"),
        ("[a]\nversion = true", "a: 'version' is no option of a training"),
        ('[a]\n"" = 1', "a: '' is no option of a training"),
        ('[a]\ncontrol_symbols = "a\\u0000b"', "a.control_symbols: the text holds U"),
        (f"[a]\nnum_threads = {'9' * 5000}", "4300 digits"),
        (f"[a]\nnum_threads = 0x{'F' * 5000}", "a.num_threads: cannot parse a number of 20,000"),
        (f"a = {'[' * 100_000}", "configs.toml: "),
        ('[".."]\nnum_threads = 2', "may hold only letters"),
        ("[a]\ncontrol_symbols = []", "a.control_symbols: expected text"),
        ("[bpe]", "The configuration bpe comes twice"),
    ],
)
def test_what_is_wrong_with_a_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadValueError, match=message) as caught:
        read_configs(["bpe", write(tmp_path, text)], FLAGS)
    assert "configs.toml" in str(caught.value) or "comes twice" in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"nowhere\.toml: No such file"):
        read_configs([str(tmp_path / "nowhere.toml")], FLAGS)
