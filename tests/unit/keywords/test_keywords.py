"""The types of keywords and the docstrings agree with the table of options and with the flags."""

import inspect
import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import spmcompat
from spmcompat.cli.flags import Command
from spmcompat.counts import _OF_PARTS
from spmcompat.engine import TEXT_OPTIONS
from spmcompat.normalization.charsmaps import OWN_NAMES
from spmcompat.options import keywords, option
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS
from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
from spmcompat.options.option import Option
from spmcompat.options.table import OPTIONS
from spmcompat.releases import DEFAULT
from spmcompat.tools.compare import command as compare
from spmcompat.tools.counts import command as counts
from spmcompat.tools.evaluate import command as evaluate
from spmcompat.tools.export.targets import TARGETS


def _hints(options: type) -> dict[str, Any]:
    # Only type checkers can evaluate the string `Sentences`, so it counts as `Any` here.
    return get_type_hints(options, localns={"Sentences": Any})


ALL = _hints(keywords.SentencePieceOptions)
PLAIN = {
    option.BOOL: bool,
    option.INT32: int,
    option.UINT32: int,
    option.UINT64: int,
    option.FLOAT: float,
}
PYTHON = {name for name, one in OPTIONS.items() if one.keyword and not name.startswith("_")}

# Parameters that the docstring of `train` and the table of options describe in different words,
# because their Python types differ, or because the table mentions flags.
OWN_WORDS = {
    *("input", "sentence_iterator", "column", "counts", "model_prefix", "model_writer"),
    *("language_counts", "language_development", "language_ratios"),
    *("model_type", "vocab_size", "num_threads", "pretokenizer", "normalizer", "logstream"),
    *("input_format", "input_column", "split_lines", "long_sentences", "skip_bad_records"),
    *("allow_inconsistent_pretokenization", "control_symbols", "user_defined_symbols"),
    *("vocabulary_output_piece_score", "workers", "sampling_seed", "dump", "on_round", "compat"),
}


def _parameters(function: Callable[..., object]) -> set[str]:
    return set(inspect.signature(function).parameters)


def test_sentencepiece_trainer_takes_every_keyword() -> None:
    # `precompiled_charsmap` is bytes, which text cannot express; `logstream` is a parameter.
    assert set(ALL) == PYTHON - {"precompiled_charsmap", "logstream"}


def test_train_takes_every_option_that_is_not_old() -> None:
    parameters = _parameters(spmcompat.train) - {"old_options"}
    old = set(_hints(keywords.OldOptions))
    assert old == DEFAULT.retired_options | {"name", "escape_whitespaces"}
    assert parameters == PYTHON - old - {"precompiled_charsmap", "sentence_reader"}


def test_functions_for_texts_take_the_options_for_texts() -> None:
    named = {"input", "counts", "character_coverage"}
    options = set(_hints(keywords.TextOptions))
    assert options | named == {*TEXT_OPTIONS, "character_coverage"}
    assert named <= _parameters(spmcompat.extend) & _parameters(spmcompat.trim)


def test_functions_that_count_take_the_options_for_counting() -> None:
    more = {"column", "strict", "workers", "minloglevel", "model_type", "normalizer", "input"}
    wanted = {name for name in OPTIONS_OF_COUNTING if OPTIONS[name].keyword}
    assert set(_hints(keywords.CountOptions)) | {"input"} == wanted | more
    of_parts = {name for name in _OF_PARTS if OPTIONS[name].keyword}
    assert set(_hints(keywords.PartOptions)) == of_parts


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_keyword_has_the_type_of_its_option(name: str) -> None:
    one, hint = OPTIONS[name], ALL[name]
    if one.kind in PLAIN:
        assert hint == (int | Sequence[int] if name == "vocab_size" else PLAIN[one.kind])
    elif one.choices and not any(choice.endswith(":N") for choice in one.choices):
        assert get_args(hint) == one.choices
    elif one.kind == option.LIST:
        assert str in get_args(hint)
        assert list[str] in get_args(hint)
    elif get_origin(hint) is Literal:
        assert set(get_args(hint)) == _allowed(one)
    elif name not in OPTIONS_WITH_COUNTS and one.kind == option.TEXT:
        assert hint is str or str in get_args(hint)


def _allowed(one: Option) -> set[str]:
    """Return the allowed values of an option of type text that accepts only certain values."""
    if one.name == "input_format":
        return set(re.findall(r"'(\w+)'", one.help))
    data = Path(spmcompat.__file__).parent / "normalization" / "data"
    return {path.stem for path in data.glob("*.charsmap")} | {"identity", *OWN_NAMES}


def test_train_uses_the_same_types() -> None:
    source = {**vars(keywords), "Sentences": Any}
    for name, parameter in inspect.signature(spmcompat.train).parameters.items():
        if name in ALL and OPTIONS[name].kind != option.LIST:
            own = eval(parameter.annotation, source)
            assert own == ALL[name] | None, name


def test_targets_of_export_are_known() -> None:
    annotation = inspect.signature(spmcompat.export).parameters["to"].annotation
    assert set(re.findall(r"'(.*?)'", annotation)) == set(TARGETS)


def _entries(function: Callable[..., object]) -> dict[str, str]:
    """Return the parameters that a docstring describes, with their descriptions."""
    section = re.split(r"\n(\w+)\n-+\n", inspect.getdoc(function) or "")
    text = section[section.index("Parameters") + 1]
    found = re.finditer(r"^(\S.*?)(?: : .*)?\n((?:    .*\n?)+)", text, re.MULTILINE)
    return {
        name.lstrip("*"): " ".join(match[2].split())
        for match in found
        for name in match[1].split(", ")
    }


@pytest.mark.parametrize("name", [n for n in spmcompat.__all__ if n.islower() and n[0] != "_"])
def test_docstrings_describe_every_parameter(name: str) -> None:
    function = getattr(spmcompat, name)
    assert [*_entries(function)] == [*inspect.signature(function).parameters]
    assert "Raises\n------\nTrainingError\n" in inspect.getdoc(function)  # type: ignore[operator]


def test_the_docstring_of_train_has_the_words_of_the_table() -> None:
    entries = _entries(spmcompat.train)
    del entries["old_options"]
    differ = {name for name, text in entries.items() if text != OPTIONS[name].help}
    assert differ == OWN_WORDS


@pytest.mark.parametrize(
    ("command", "function", "only_command", "only_python"),
    [
        (
            evaluate.command(),
            spmcompat.evaluate,
            {"json", "csv", "tsv", "html", "quiet"},
            {"models", "minloglevel", "logstream"},
        ),
        (
            counts.merging(),
            spmcompat.merge_counts,
            {"quiet"},
            {"counts", "minloglevel", "logstream"},
        ),
        (compare.command(), spmcompat.compare, {"json", "quiet"}, {"minloglevel", "logstream"}),
    ],
)
def test_functions_take_the_flags_of_their_commands(
    command: Command,
    function: Callable[..., object],
    only_command: set[str],
    only_python: set[str],
) -> None:
    flags = {flag.name for flag in command.flags}
    assert flags - only_command == _parameters(function) - only_python


def test_paths_are_accepted_where_options_name_files() -> None:
    for name in ("model_prefix", "dump", "normalization_rule_tsv", "seed_sentencepieces_file"):
        assert {str, PathLike[str]} == set(get_args(ALL[name]))
