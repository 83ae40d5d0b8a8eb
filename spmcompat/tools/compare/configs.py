"""The configurations to compare: built-in ones, and those that are read from TOML files."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from spmcompat.engine import to_text
from spmcompat.errors import BadValueError, UsageError
from spmcompat.runtime.inputs import open_file


class ConfigError(BadValueError):
    """A file of configurations is not valid."""

    kind = "bad-config"


OURS = "spmcompat"
HUGGING_FACE = ("wordpiece", "bytelevel-bpe", "unigram")
TRAINED_HERE = ("wordpiece", "bytelevel-bpe")
"""The kinds for which spmcompat finds the vocabulary of Hugging Face's trainer itself."""


class Config(NamedTuple):
    """A trainer and its options.

    Attributes
    ----------
    name : str
        The name of the configuration in the report.
    trainer : str
        `OURS`, or ``tokenizers.KIND`` with a kind of tokenizer from `HUGGING_FACE`.
    flags : mapping of str to str
        Flags of ``spm_train``, except input, output and vocabulary size.
    drop_spaces : bool
        Whether the evaluation drops tokens that consist of spaces only.
    """

    name: str
    trainer: str = OURS
    flags: Mapping[str, str] = {}
    drop_spaces: bool = False


# The command sets these flags itself.
_SET_BY_COMPARISON = ("input", "input_format", "model_prefix", "vocab_size")
# These flags write files outside of the report.
_WRITING = ("dump", "dump_format")

# A table may contain these keys, although they are not flags of spm_train.
_OTHER_KEYS = ("trainer", "drop_spaces")

# The time to parse a key such as a.b.c is quadratic in the number of its parts. So the number of
# dots in a line is limited.
_MOST_DOTS = 300
_MOST_BYTES = 1 << 18
# More configurations, or longer names, do not fit into the plots of a report.
_MOST_CONFIGS = 100
_LONGEST_NAME = 1000

_SEPARATE = {"space_pieces": "separate"}

DEFAULTS = {
    config.name: config
    for config in (
        Config("unigram", flags={"model_type": "unigram"}),
        Config("unigram-paper", flags={"model_type": "unigram", "recipe": "paper"}),
        Config("unigram-fsp", flags={"model_type": "unigram", "recipe": "fsp"}),
        Config("unigram-mingram", flags={"model_type": "unigram", "recipe": "mingram"}),
        Config("bpe", flags={"model_type": "bpe"}),
        Config("unigram-separate-spaces", flags={"model_type": "unigram", **_SEPARATE}),
        Config("bpe-separate-spaces", flags={"model_type": "bpe", **_SEPARATE}),
        *(Config(f"hf-{kind}", trainer=f"tokenizers.{kind}") for kind in HUGGING_FACE),
    )
}
"""The configurations that are compared by default."""

BUILT_IN = DEFAULTS | {
    f"{kind}-no-spaces": DEFAULTS[f"{kind}-separate-spaces"]._replace(
        name=f"{kind}-no-spaces", drop_spaces=True
    )
    for kind in ("unigram", "bpe")
}
"""The configurations that can be chosen by name."""


def read_configs(names: Sequence[str], known_flags: Collection[str]) -> list[Config]:
    """Return the built-in configurations with these names, and all configurations in the files.

    A file has one table for each configuration. The keys of a table are flags of ``spm_train``, and
    two others: ``trainer`` chooses another trainer, and ``drop_spaces`` drops the tokens that are
    only spaces.

    Parameters
    ----------
    names : sequence of str
        Names of built-in configurations, and paths that end in ``.toml``.
    known_flags : collection of str
        The flags of ``spm_train``, which a file may contain.

    Raises
    ------
    UsageError
        If a name is unknown.
    BadValueError
        If a name occurs twice, or if the content of a file is not valid.
    MissingFileError
        If a file cannot be read.
    """
    found: dict[str, Config] = {}
    for name in names:
        is_file = name.endswith(".toml")
        for config in _from_file(name, known_flags) if is_file else [_built_in(name)]:
            if config.name in found:
                raise ConfigError(
                    f"Two configurations are named {config.name}. Rename or remove one."
                )
            found[config.name] = config
    return list(found.values())


def _built_in(name: str) -> Config:
    if name not in BUILT_IN:
        raise UsageError(
            f"There is no configuration {name}. Choose from {', '.join(BUILT_IN)}, or give a .toml "
            "file."
        )
    return BUILT_IN[name]


def _from_file(path: str, known_flags: Collection[str]) -> list[Config]:
    if sys.version_info < (3, 11):
        import tomli as tomllib
    else:
        import tomllib

    with open_file(path, "Check --configs") as file:
        content = file.read(_MOST_BYTES + 1)
    try:
        _check_size(content, path)
        tables = tomllib.loads(content.decode())
    except BadValueError:
        raise
    except ValueError as error:  # not TOML, not UTF-8, or a number with too many digits
        raise ConfigError(f"{path}: {error}.") from None
    except RecursionError:
        raise ConfigError(f"{path}: the values are nested too deeply.") from None
    if not tables:
        raise ConfigError(f"{path} contains no configuration. Write one [table] for each.")
    if len(tables) > _MOST_CONFIGS:
        raise ConfigError(f"{path} has more than {_MOST_CONFIGS} configurations. Split the file.")
    return [_from_table(name, table, path, known_flags) for name, table in tables.items()]


def _check_size(content: bytes, path: str) -> None:
    """Raise for a file that would take too long to parse."""
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{path} is larger than {_MOST_BYTES >> 10} KiB. Split the file.")
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.count(b".") > _MOST_DOTS:
            raise ConfigError(f"{path}:{number} has more than {_MOST_DOTS} dots. Shorten it.")


def _from_table(name: str, table: object, path: str, known_flags: Collection[str]) -> Config:
    if not isinstance(table, dict):
        raise ConfigError(
            f"{path}: {name:.60} is not in a table. Write [NAME OF THE CONFIGURATION] above it."
        )
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise ConfigError(
            f"{path}: the name {name!r:.60} may contain only letters, digits, dots, dashes and "
            "underscores."
        )
    if len(name) > _LONGEST_NAME:
        raise ConfigError(
            f"{path}: the name {name!r:.60} has more than {_LONGEST_NAME} characters. Shorten it."
        )
    for key in table:
        _check_key(key, f"{path}: {name}", known_flags)
    drop_spaces = table.pop("drop_spaces", False)
    if not isinstance(drop_spaces, bool):
        raise ConfigError(f"{path}: {name}.drop_spaces: expected true or false.")
    flags = {key: _as_flag(value, f"{path}: {name}.{key}") for key, value in table.items()}
    trainer = flags.pop("trainer", OURS)
    trainers = [OURS, *(f"tokenizers.{kind}" for kind in HUGGING_FACE)]
    if trainer not in trainers:
        raise ConfigError(
            f"{path}: {name}: there is no trainer {trainer!r}. Choose from {', '.join(trainers)}."
        )
    if trainer != OURS and flags:
        raise ConfigError(f"{path}: {name}: {trainer} takes no flags. Leave them out.")
    return Config(name, trainer, flags, drop_spaces)


def _check_key(key: str, table: str, known_flags: Collection[str]) -> None:
    """Raise unless a configuration may contain this key."""
    if key in _SET_BY_COMPARISON:
        raise ConfigError(f"{table}: leave {key} out. spmcompat compare sets it.")
    if key in _WRITING:
        raise ConfigError(f"{table}: leave {key} out. Only spm_train writes a dump.")
    if key not in _OTHER_KEYS and key not in known_flags:
        raise ConfigError(
            f"{table}: {key!r} is not an option for training. Use an option that "
            "spm_train --help lists, or 'trainer' or 'drop_spaces'."
        )


def _as_flag(value: object, key: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and "\0" in value:
        raise ConfigError(f"{key}: the text contains U+0000. Remove it.")
    if isinstance(value, str | int | float):
        try:
            return to_text(value)
        except BadValueError as error:
            raise ConfigError(f"{key}: {error}") from None
    raise ConfigError(f"{key}: expected text, a number, true or false.")
