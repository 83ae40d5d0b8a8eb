"""What is compared: configurations by name, built in or from a TOML file."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from spmcompat.errors import BadValueError, MissingFileError
from spmcompat.options.values import to_text

OURS = "spmcompat"
HUGGING_FACE = ("wordpiece", "bytelevel-bpe", "unigram")


class Config(NamedTuple):
    """One way to train.

    Attributes
    ----------
    name : str
        What the report calls it.
    trainer : str
        `OURS`, or ``tokenizers.KIND`` for one of the kinds of `HUGGING_FACE`.
    flags : mapping of str to str
        Flags of ``spm_train`` beside input, output and vocabulary size.
    """

    name: str
    trainer: str = OURS
    flags: Mapping[str, str] = {}


# The comparison chooses what is read and where the results go.
_SET_BY_COMPARISON = ("input", "input_format", "model_prefix", "vocab_size")
# With these flags nothing is trained.
_NO_TRAINING = ("help", "version")

_SEPARATE = {"space_pieces": "separate"}

BUILT_IN = {
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


def read_configs(names: Sequence[str], known_flags: Collection[str]) -> list[Config]:
    """Return the configurations of the names: built in, or all of a ``.toml`` file.

    A file has a table for each configuration, whose keys are flags of ``spm_train``; the key
    ``trainer`` chooses another trainer.

    Parameters
    ----------
    names : sequence of str
        Built-in names, and paths that end in ``.toml``.
    known_flags : collection of str
        The flags of ``spm_train``. No other key may stand in a file.

    Raises
    ------
    BadValueError
        If a name is unknown, comes twice, or a file has another form.
    MissingFileError
        If a file cannot be read.
    """
    found: dict[str, Config] = {}
    for name in names:
        is_file = name.endswith(".toml")
        for config in _from_file(name, known_flags) if is_file else [_built_in(name)]:
            if config.name in found:
                raise BadValueError(f"The configuration {config.name} comes twice.")
            found[config.name] = config
    return list(found.values())


def _built_in(name: str) -> Config:
    if name not in BUILT_IN:
        raise BadValueError(
            f"There is no configuration {name}. Choose from {', '.join(BUILT_IN)}, or give a .toml "
            "file."
        )
    return BUILT_IN[name]


def _from_file(path: str, known_flags: Collection[str]) -> list[Config]:
    if sys.version_info < (3, 11):
        import tomli as tomllib  # noqa: PLC0415
    else:
        import tomllib  # noqa: PLC0415

    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise MissingFileError(f"{path}: {reason}: check --configs.") from error
    except ValueError as error:  # no TOML, no UTF-8, or a number of too many digits
        raise BadValueError(f"{path}: {error}.") from None
    except RecursionError:
        raise BadValueError(f"{path}: its values are nested too deeply.") from None
    if not tables:
        raise BadValueError(f"{path} holds no configuration. Give a [table] for each.")
    return [_from_table(name, table, path, known_flags) for name, table in tables.items()]


def _from_table(name: str, table: object, path: str, known_flags: Collection[str]) -> Config:
    if not isinstance(table, dict):
        raise BadValueError(f"{path}: {name} stands in no table. Write [name] above its flags.")
    if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise BadValueError(
            f"{path}: the name {name!r} may hold only letters, digits, dots, dashes, underscores."
        )
    for key in table:
        _check_key(key, f"{path}: {name}", known_flags)
    flags = {key: _as_flag(value, f"{path}: {name}.{key}") for key, value in table.items()}
    trainer = flags.pop("trainer", OURS)
    if trainer != OURS and trainer not in {f"tokenizers.{kind}" for kind in HUGGING_FACE}:
        raise BadValueError(
            f"{path}: {name}: there is no trainer {trainer!r}. Choose {OURS}, or tokenizers. with "
            f"one of {', '.join(HUGGING_FACE)} behind it."
        )
    if trainer != OURS and flags:
        raise BadValueError(f"{path}: {name}: {trainer} takes no flags.")
    return Config(name, trainer, flags)


def _check_key(key: str, place: str, known_flags: Collection[str]) -> None:
    """Raise unless the key is a flag that a configuration may set."""
    if key in _SET_BY_COMPARISON:
        raise BadValueError(f"{place}: leave {key} out, the comparison sets it.")
    if key != "trainer" and (key not in known_flags or key in _NO_TRAINING):
        raise BadValueError(
            f"{place}: {key!r} is no option of a training. Give options of spm_train, whose --help "
            "lists them, or trainer."
        )


def _as_flag(value: object, place: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and "\0" in value:
        raise BadValueError(f"{place}: the text holds U+0000. Remove it.")
    if isinstance(value, str | int | float):
        try:
            return to_text(value)
        except BadValueError as error:
            raise BadValueError(f"{place}: {error}") from None
    raise BadValueError(f"{place}: expected text, a number, true or false.")
