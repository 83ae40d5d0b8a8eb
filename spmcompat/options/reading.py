"""Reads the value of an option, and stores it where the table of options says."""

import math
import os
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from spmcompat.errors import BadSettingError, BadValueError, NotUtf8Error, UnknownOptionError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.options import values
from spmcompat.options.arguments import notes_of_spaces
from spmcompat.options.named_rules import restore_only
from spmcompat.options.option import (
    BOOL,
    BYTES,
    CHOICE,
    DENORMALIZER,
    FLOAT,
    INT32,
    LIST,
    MODEL_TYPE,
    NORMALIZER,
    SETTINGS,
    TRAINER,
    UINT32,
    UINT64,
    Option,
)
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS
from spmcompat.options.values import (
    parse_bool,
    parse_float,
    parse_int,
    split_csv,
    stream_float,
    stream_int,
    to_text,
)
from spmcompat.releases import DEFAULT, RELEASES, Release, find_release
from spmcompat.text.formats import OWN_FORMATS
from spmcompat.unicode.marks import SPACE_MARK

_WIDTHS = {INT32: values.INT32, UINT32: values.UINT32, UINT64: values.UINT64}
_SPACE = " \t\n\v\f\r"


def release_of(options: Mapping[str, object]) -> Release:
    """Return the release that the ``compat`` option names, or the default release.

    Raises
    ------
    BadValueError
        If there is no such release.
    UnknownOptionError
        If an option does not exist in the release.
    """
    release = find_release(str(options.get("compat", DEFAULT.version)))
    for name in sorted(release.unknown_options & options.keys()):
        raise UnknownOptionError(
            f'unknown field name "{name}" in TrainerSpec: sentencepiece {release.version} does '
            "not have it. Leave it out, or choose another release with compat."
        )
    return release


def store(settings: Settings, name: str, given: object, *, command_line: bool = False) -> None:
    """Store the value of one option.

    Parameters
    ----------
    settings : Settings
        The settings, which get the value.
    name : str
        The name of the option.
    given : object
        The value, or the value as text.
    command_line : bool
        Whether the value comes from the command line; see `parse`.

    Raises
    ------
    BadValueError
        If the value is not valid for the option.
    UnknownOptionError
        If there is no such option.
    """
    option = OPTIONS.get(name)
    if option is None or not (option.flag if command_line else option.keyword):
        raise unknown_option(name, settings.release, command_line)
    if name in settings.release.retired_options:
        settings.notes.append(f"--{name} is deprecated and ignored.")
        return
    if name == "vocab_size" and isinstance(given, list | tuple | range):
        _store_sizes(settings, given, command_line)
        return
    given = _value_or_text(option, given)
    check_unicode(name, given)
    if name == "vocab_size" and isinstance(given, str) and "," in given:
        _store_sizes(settings, given.split(","), command_line)
    elif option.stored_in == DENORMALIZER:
        _set_denormalization_rules(settings, str(given))
    elif name == "input_format" and given in OWN_FORMATS:
        settings.input_format = str(given)
    elif name == "pretokenizer":
        settings.pretokenizer = str(given) or None
    elif option.stored_in in (TRAINER, NORMALIZER):
        spec = settings.trainer if option.stored_in == TRAINER else settings.normalizer
        value = parse(option, given, settings.release, command_line=command_line)
        if option.kind == LIST:
            getattr(spec, name).extend(value)
        else:
            setattr(spec, option.stored_as, value)
    elif option.stored_in == SETTINGS:
        value = parse(option, given, settings.release, command_line=command_line)
        setattr(settings.own, option.stored_as, value)
    elif name != "compat":  # compat was read before all other options
        raise unknown_option(name, settings.release, command_line)


def _store_sizes(settings: Settings, items: Sequence[object], command_line: bool) -> None:
    """Store one vocabulary size, or several."""
    if not items:
        raise BadValueError("vocab_size is an empty list. Give at least one size.")
    sizes: list[int] = []
    for item in items:
        if isinstance(item, str) and not item.strip(_SPACE):
            raise BadValueError(
                "vocab_size has an empty item. Separate the sizes with single commas."
            )
        option = OPTIONS["vocab_size"]
        given = _value_or_text(option, item)
        value = cast(int, parse(option, given, settings.release, command_line=command_line))
        if value in sizes:
            raise BadValueError(f"vocab_size lists {value} twice. Give each size once.")
        sizes.append(value)
    settings.sizes = tuple(sizes)
    settings.trainer.vocab_size = max(sizes)


def unknown_option(name: str, release: Release, command_line: bool = False) -> UnknownOptionError:
    """Return the error for an option that does not exist, or is not available on this interface."""
    from spmcompat.options.near_names import did_you_mean

    taken = {one.name for one in OPTIONS.values() if (one.flag if command_line else one.keyword)}
    if name in taken:
        hint = " It is a Python object: give it as a keyword of SentencePieceTrainer.train."
    elif name in OPTIONS:
        hint = f" Only {'Python' if command_line else 'the command line'} takes it."
    else:
        hint = did_you_mean(name, taken - release.unknown_options - release.retired_options)
        hint = hint or " help(spmcompat.train) lists all options."
    return UnknownOptionError(f'unknown field name "{name}" in TrainerSpec.{hint}')


def check_unicode(name: str, given: object) -> None:
    """Raise if the value is text, or a list with a text, that cannot be encoded as UTF-8."""
    for text in given if isinstance(given, list) else [given]:
        try:
            if isinstance(text, str):
                text.encode()
        except UnicodeEncodeError:
            raise NotUtf8Error(
                f"the value of {name} is not valid UTF-8: {text!r}. Write it in UTF-8."
            ) from None


def parse(option: Option, given: object, release: Release, *, command_line: bool = False) -> object:
    """Return the value of an option.

    Parameters
    ----------
    option : Option
        The row of the option in the table of options.
    given : object
        The value, with the type of the option, or its text.
    release : Release
        The release, which determines how numbers are read.
    command_line : bool
        Whether the text comes from the command line. There, the reference uses Abseil, which
        accepts hexadecimal numbers, and white space around a truth value.

    Raises
    ------
    BadValueError
        If the value is not valid for the option.
    """
    try:
        return _parse(option, given, release, command_line) if isinstance(given, str) else given
    except BadValueError as error:
        message = f"{error} It was given for {option.name}."
        # The reference reports a bad log level as an internal error, not as a bad value.
        raise (BadSettingError if option.name == "minloglevel" else BadValueError)(
            message
        ) from None


def as_text(name: str, value: object) -> str:
    """Return the value of an option as text. The reference converts all keywords in this way."""
    try:
        return to_text(value)
    except BadValueError as error:
        raise BadValueError(f"{error} It was given for {name}.") from None


def _value_or_text(option: Option, given: object) -> object:
    """Return the value if it can be stored as it is; otherwise, return it as text."""
    if isinstance(given, str) or _is_plain(option, given):
        return given
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    return as_text(option.name, given)


def _is_plain(option: Option, given: object) -> bool:
    """Return whether storing a value directly has the same effect as reading it from text.

    The effects differ for some lists: reading a list from text drops an empty last item, and the
    characters after a NUL in an item.
    """
    if option.kind == BOOL:
        return isinstance(given, bool)
    if option.kind in _WIDTHS:
        return type(given) is int and given in _WIDTHS[option.kind]
    if option.kind == FLOAT:
        return type(given) is float and math.isfinite(given)
    if option.kind == LIST and isinstance(given, list):
        return all(isinstance(item, str) and item and "\0" not in item for item in given)
    return False


def _parse(option: Option, text: str, release: Release, command_line: bool) -> object:
    value: object = text
    streams = release.streams_numbers and option.in_reference
    if option.kind == BOOL:
        value = parse_bool(text.strip(_SPACE) if command_line else text)
    elif option.kind in _WIDTHS:
        allowed = _WIDTHS[option.kind]
        value = (
            stream_int(text, allowed)
            if streams
            else parse_int(text, allowed, hexadecimal=command_line)
        )
    elif option.kind == FLOAT:
        value = stream_float(text) if streams else parse_float(text)
    elif option.kind == LIST:
        value = split_csv(text)
    elif option.kind == MODEL_TYPE:
        value = _model_type(text)
    elif option.kind == CHOICE:
        value = _choice(option, text)
    elif option.kind == BYTES:
        value = text.encode()
    return value


def _choice(option: Option, text: str) -> str:
    """Return the choice that the text names. A number after a colon is in its shortest form."""
    name, colon, digits = text.partition(":")
    if colon and f"{name}:N" in option.choices:
        number = parse_int(digits, _WIDTHS[UINT32])
        if (option.least or 0) <= number <= (option.most or 0):
            return f"{name}:{number}"
    elif text in option.choices:
        return text
    allowed = ", ".join(option.choices)
    limits = f", with N from {option.least} to {option.most}" if option.most else ""
    raise BadValueError(f'"{text}" is not one of {allowed}{limits}.')


def _model_type(text: str) -> int:
    """Return the number of a model type; case does not matter."""
    names = {name.lower(): kind for name, kind in TrainerSpec.ModelType.items()}
    word = text.lower() if text.isascii() else ""
    if word not in names:
        raise BadValueError(
            f'unknown enumeration value of "{text}" as model_type. Choose from {", ".join(names)}.'
        )
    return names[word]


def _set_denormalization_rules(settings: Settings, path: str) -> None:
    """Set the file of denormalization rules, and turn off all other denormalizer functions."""
    settings.denormalizer.normalization_rule_tsv = path
    restore_only(settings.denormalizer)


def finish(settings: Settings, given: Collection[str]) -> None:
    """Change the options that depend on other options, and note warnings.

    This must be called after all options are stored.

    Some extensions change options of the reference. Options without an effect get a warning.

    Parameters
    ----------
    settings : Settings
        The settings to change.
    given : collection of str
        The names of the options that were given.
    """
    _note_ignored(settings, given)
    _note_unusual(settings)
    _separate_spaces(settings)


def _note_ignored(settings: Settings, given: Collection[str]) -> None:
    """Note a warning for each given option that has no effect because of an extension."""
    own = settings.own
    ignored = {
        "shrinking_factor": own.objective == "fewest_tokens"
        and "objective=fewest_tokens, which prunes once",
        "seed_sentencepiece_size": own.seed_factor > 0
        and "seed_factor, which sets the number of seed pieces",
        "add_dummy_prefix": own.space_pieces != "prefix"
        and settings.normalizer.add_dummy_prefix
        and f"space_pieces={own.space_pieces}, which adds no space before a sentence",
    }
    for name, reason in ignored.items():
        if reason and name in given:
            settings.notes.append(f"{name} has no effect with {reason}.")


def _note_unusual(settings: Settings) -> None:
    """Note warnings about options that are allowed, but probably not intended."""
    spec = settings.trainer
    bare = spec.model_prefix.removesuffix(".model")
    if bare and bare != spec.model_prefix:
        settings.notes.append(
            f"model_prefix ends in .model, and .model is added to it. Give model_prefix={bare} to "
            f"write {bare}.model."
        )
    for name in ("control_symbols", "user_defined_symbols"):
        settings.notes += notes_of_spaces(name, getattr(spec, name))
    if spec.unk_id == -1:
        too_old = [name for name, release in RELEASES.items() if not release.unk_is_optional]
        settings.notes.append(
            f"unk_id is -1: sentencepiece {too_old[-1]} and earlier cannot load such a model."
        )
    if settings.own.drop_unused and spec.hard_vocab_limit:
        settings.notes.append(
            "drop_unused may leave fewer pieces than vocab_size, which makes training fail: pass "
            "hard_vocab_limit=false to accept a smaller vocabulary."
        )


def _separate_spaces(settings: Settings) -> None:
    """Make U+2581 a user-defined symbol if the options make spaces separate pieces."""
    if settings.own.space_pieces != "prefix":
        settings.normalizer.add_dummy_prefix = False
        if SPACE_MARK not in settings.trainer.user_defined_symbols:
            settings.trainer.user_defined_symbols.append(SPACE_MARK)
