"""Turns Python values, keywords and strings into settings. Only the given options are stored.

In contrast, the command line stores every option (``from_flags``). Models contain the stored
options. So, as in the reference, a model trained from Python has different bytes than a model that
the command line trains.

Source: ``sentencepiece_trainer.cc`` of ``sentencepiece`` 0.2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from spmcompat.errors import BadSettingError, ConflictError, UnknownOptionError, WrongTypeError
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS, with_recipe
from spmcompat.options.option import NORMALIZER
from spmcompat.options.reading import as_text, finish, release_of, store
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS

if TYPE_CHECKING:
    from spmcompat.runtime.rounds import OnRound

SERIALIZED_NORMALIZER = "_serialized_normalizer_spec"
# The options whose values are Python objects, which the reference does not convert to text.
_OBJECTS = frozenset(
    {
        "normalizer",
        "pretokenizer",
        "allow_inconsistent_pretokenization",
        "on_round",
        "column",
        SERIALIZED_NORMALIZER,
    }
)


def from_kwargs(options: Mapping[str, object]) -> Settings:
    """Build the settings from keywords, whose values are converted to text as in the reference.

    The parameters and errors are those of `from_values`.
    """
    given = dict(options)
    for name, value in options.items():
        is_list_of_sizes = name == "vocab_size" and isinstance(value, list | tuple | range)
        if name not in (*_OBJECTS, *OPTIONS_WITH_COUNTS, "recipe") and not is_list_of_sizes:
            given[name] = as_text(name, value)
    return from_values(given)


def from_values(options: Mapping[str, object]) -> Settings:
    """Build the settings from Python values.

    Parameters
    ----------
    options : mapping
        Names and values of the options: text, numbers, booleans and lists; ``normalizer`` and
        ``pretokenizer`` are objects.

    Raises
    ------
    BadValueError
        If a value cannot be read.
    UnknownOptionError
        If an option does not exist, or does not exist in the chosen release.
    """
    if any(options.get(name) is not None for name in OPTIONS_WITH_COUNTS):
        from spmcompat.options.from_counts import with_counts

        return with_counts(options, _settings)
    return _settings(options)


def _settings(options: Mapping[str, object]) -> Settings:
    """Build the settings from options that do not include ``counts``."""
    options, recipe = with_recipe(options)
    settings = Settings(release_of(options))
    settings.recipe = recipe
    if options.get("normalizer"):
        _refuse_two_normalizers(options)
        settings.normalizer = _parse_normalizer(_serialized(options["normalizer"]))
    elif SERIALIZED_NORMALIZER in options:
        _refuse_two_normalizers(options)
        settings.normalizer = _parse_normalizer(options[SERIALIZED_NORMALIZER])
    settings.pretokenizer = options.get("pretokenizer")  # type: ignore[assignment]
    inconsistent = options.get("allow_inconsistent_pretokenization", False)
    settings.allow_inconsistent_pretokenization = bool(inconsistent)
    settings.on_round = _function(options.get("on_round"))
    settings.column = _column(options.get("column"))
    for name, value in options.items():
        if name not in _OBJECTS:
            store(settings, name, value)
    finish(settings, options)
    return settings


def from_string(arguments: str, keywords: Iterable[str] = ()) -> Settings:
    """Build the settings from one string such as ``--a=b --c=d``.

    The string is split at every space, so a value cannot contain a space. If an option is given
    twice, the first value is used.

    Parameters
    ----------
    arguments : str
        The string.
    keywords : iterable of str
        The names of keywords that were given in addition. The reference ignores all keywords.

    Raises
    ------
    BadValueError
        If a value cannot be read, or a keyword is not an option of the reference.
    UnknownOptionError
        If an option is unknown, or the string has two spaces in a row and the release does not skip
        empty arguments.
    """
    given = arguments.split(" ") if arguments else []
    options: dict[str, object] = {}
    previous = ""
    for argument in filter(None, given):
        name, _, value = argument.removeprefix("--").partition("=")
        if not name:
            raise _without_name()
        if not argument.startswith("--") and name not in OPTIONS:
            raise UnknownOptionError(
                f'unknown field name "{name}" in TrainerSpec. {_remedy_of_part(previous, argument)}'
            )
        previous = argument
        if name == SERIALIZED_NORMALIZER:
            options.setdefault(name, value.encode())
        else:
            options.setdefault(name, value)
    if "" in given and not release_of(options).skips_empty_arguments:
        raise _without_name()
    settings = from_kwargs(options)
    settings.notes += _ignored_keywords(keywords)
    return settings


def _without_name() -> UnknownOptionError:
    return UnknownOptionError(
        'unknown field name "" in TrainerSpec. Put exactly one space between two options and none '
        "at the ends."
    )


def _ignored_keywords(keywords: Iterable[str]) -> list[str]:
    """Return a warning for keywords beside a string of flags, if there are any."""
    names = list(keywords)
    for name in names:
        if name in OPTIONS and not OPTIONS[name].in_reference:
            raise ConflictError(
                f"{name} cannot be a keyword beside a string of flags. Write it into the string, "
                "or give all options as keywords."
            )
    return [f"{', '.join(names)}: keywords beside a string of flags are ignored."] if names else []


def _remedy_of_part(previous: str, part: str) -> str:
    """Return the remedy for a part of a string that is no option and follows another one."""
    if not previous:
        return "To train on a file, write --input=FILE."
    if "=" not in previous:
        return f"Write {previous}={part}."
    name, _, value = previous.removeprefix("--").partition("=")
    return (
        "The string is split at each space, so a value cannot contain one. Remove the space, or "
        f"pass all options as keywords: {name}={f'{value} {part}'!r}."
    )


def _function(on_round: object) -> OnRound | None:
    """Return `on_round`, or raise if it is not a function."""
    if on_round is not None and not callable(on_round):
        raise WrongTypeError(
            f"on_round must be a function that takes a Step, not {type(on_round).__name__}."
        )
    return on_round


def _column(column: object) -> str | None:
    """Return the name of a column. Raise if the name is not a string."""
    if column is not None and not isinstance(column, str):
        raise WrongTypeError(f"column must be the name of a column, not {type(column).__name__}.")
    return column


def _refuse_two_normalizers(options: Mapping[str, object]) -> None:
    """Raise if a complete normalizer is given together with one of its options."""
    parts = {option.name for option in OPTIONS.values() if option.stored_in == NORMALIZER}
    for name in sorted(parts & options.keys()):
        raise ConflictError(
            f"Cannot specify both {SERIALIZED_NORMALIZER} and normalizer-specific argument: "
            f"{name}. Set it in the normalizer instead."
        )


def _serialized(normalizer: object) -> object:
    """Serialize a normalizer, such as one made by ``sentencepiece``."""
    serialize = getattr(normalizer, "serialized_normalizer_spec", None)
    if serialize is None:
        raise WrongTypeError(
            "normalizer must be a SentencePieceNormalizer, or another object with "
            f"serialized_normalizer_spec(), not {type(normalizer).__name__}. To name predefined "
            "rules, use normalization_rule_name."
        )
    return serialize()


def _parse_normalizer(serialized: object) -> NormalizerSpec:
    """Read a serialized normalizer."""
    data = serialized.encode() if isinstance(serialized, str) else serialized
    try:
        if isinstance(data, bytes):
            return NormalizerSpec.FromString(data)
    except DecodeError:
        pass
    raise BadSettingError(
        f"Failed to parse {SERIALIZED_NORMALIZER}. "
        "Give the bytes that a normalizer's serialized_normalizer_spec() returns."
    )
