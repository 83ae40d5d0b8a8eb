"""Turns flags of the command line into settings. Options that are not given are stored, too.

Source: ``spm_train_main.cc`` of ``sentencepiece`` 0.2.3.
"""

from collections.abc import Mapping

from spmcompat.errors import NotUtf8Error, TrainingError, UsageError
from spmcompat.options.checks import check_options
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS, with_recipe
from spmcompat.options.languages import open_counts
from spmcompat.options.named_rules import with_named_rules
from spmcompat.options.option import LIST, NORMALIZER, TRAINER
from spmcompat.options.reading import check_unicode, finish, release_of, store
from spmcompat.options.settings import Settings
from spmcompat.options.table import OPTIONS
from spmcompat.options.values import UINT32, parse_bool, parse_int, split_csv
from spmcompat.runtime.inputs import open_file
from spmcompat.runtime.libraries import MissingLibraryError

NO_SEED = UINT32[-1]
"""If ``random_seed`` has this value, there is no seed."""

_FILES_READ = {
    *OPTIONS_WITH_COUNTS,
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
}


def from_flags(flags: Mapping[str, object]) -> Settings:
    """Build the settings from the flags of a command line.

    Parameters
    ----------
    flags : mapping
        Names and values of the flags, as text.

    Raises
    ------
    BadValueError
        If a value cannot be read.
    MissingFileError
        If a file of symbols cannot be read.
    UnknownOptionError
        If a flag does not exist, or does not exist in the chosen release.
    """
    if any(flags.get(name, "") != "" for name in OPTIONS_WITH_COUNTS):
        from spmcompat.options.from_counts import with_counts

        return with_counts(flags, _settings)
    return _settings(flags)


def from_command_line(flags: Mapping[str, str]) -> Settings:
    """Return the settings of a command line, whose flags are checked.

    Raises
    ------
    UsageError
        If the flags themselves are wrong, whatever the files contain.
    TrainingError
        If a file cannot be read, or its content is wrong.
    """
    alone: dict[str, object] = {n: text for n, text in flags.items() if n not in _FILES_READ}
    if "required_chars_file" in flags:
        alone.pop("required_chars", None)  # required_chars_file replaces it
    given: dict[str, object] = {**flags}
    counts = None
    if path := flags.get("counts"):
        given["counts"] = counts = open_counts(path)
    elif paths := split_csv(flags.get("language_counts", "")):
        counts = open_counts(paths[0])
        given["language_counts"] = [counts, *paths[1:]]
    if counts is not None:
        from spmcompat.options.from_counts import counted_settings

        counted_settings(counts, from_flags)  # Raises if the counts store invalid options.
        # Whether a flag is wrong can depend on the options of the counts.
        alone = {**counts.origin.options, **alone}
    try:
        settings = from_flags(alone)
        if not settings.normalizer.normalization_rule_tsv:
            with_named_rules(settings.normalizer, settings.release)
        check_options(settings)
    except MissingLibraryError:
        raise
    except TrainingError as error:
        raise UsageError.of(error) from error
    return settings if _FILES_READ.isdisjoint(flags) else from_flags(given)


def _settings(flags: Mapping[str, object]) -> Settings:
    """Build the settings from flags that do not include ``counts``."""
    settings = Settings(release_of(flags))
    options, settings.recipe = with_recipe(flags)
    texts = {name: str(text) for name, text in options.items()}
    for name, text in texts.items():
        check_unicode(name, text)
    _store_defaults(settings)
    for name, text in texts.items():
        _store_flag(settings, name, text)
    # Files are read after all flags: required_chars_file replaces required_chars, and the other
    # files add symbols.
    if path := texts.get("required_chars_file"):
        settings.trainer.required_chars = "".join(_lines(path, settings))
    if path := texts.get("control_symbols_file"):
        settings.trainer.control_symbols.extend(_lines(path, settings))
    if path := texts.get("user_defined_symbols_file"):
        settings.trainer.user_defined_symbols.extend(_lines(path, settings))
    finish(settings, texts)
    return settings


def _store_defaults(settings: Settings) -> None:
    """Set every scalar field of the trainer and normalizer specs, so that its default is stored."""
    absent = settings.release.retired_options | settings.release.unknown_options
    for option in OPTIONS.values():
        if not option.flag or option.kind == LIST or option.name in absent:
            continue
        if option.stored_in == TRAINER:
            setattr(settings.trainer, option.name, option.default)
        elif option.stored_in == NORMALIZER:
            setattr(settings.normalizer, option.stored_as, option.default)


def _store_flag(settings: Settings, name: str, text: str) -> None:
    """Store one flag."""
    if name == "random_seed":
        seed = parse_int(text, UINT32, hexadecimal=True)
        settings.random_seed = None if seed == NO_SEED else seed
    elif name == "quiet":
        settings.own.min_log_level = 3 if parse_bool(text) else settings.own.min_log_level
    elif name.endswith("_file") and name != "seed_sentencepieces_file":
        pass  # read after all other flags
    elif name != "denormalization_rule_tsv" or text:
        store(settings, name, text, command_line=True)


def _lines(path: str, settings: Settings) -> list[str]:
    """Return the lines of a file of symbols, and note its path. Only a line feed ends a line."""
    settings.symbol_files.append(path)
    with open_file(path, "Check the path") as file:
        content = file.read()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8Error(f'"{path}" is not valid UTF-8. Write it in UTF-8.') from error
    return text.removesuffix("\n").split("\n") if text else []
