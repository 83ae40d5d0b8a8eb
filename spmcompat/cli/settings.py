"""Builds settings from the flags of ``spm_train``. Wrong flags raise a `UsageError`."""

from collections.abc import Mapping

from spmcompat.cli.flags import UsageError
from spmcompat.engine import GivenText
from spmcompat.errors import TrainingError
from spmcompat.options.checks import check_options
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS
from spmcompat.options.from_flags import from_flags
from spmcompat.options.languages import open_counts
from spmcompat.options.named_rules import with_named_rules
from spmcompat.options.settings import Settings
from spmcompat.options.values import split_csv
from spmcompat.runtime.libraries import MissingLibraryError

_FILES_READ = {
    *OPTIONS_WITH_COUNTS,
    "required_chars_file",
    "control_symbols_file",
    "user_defined_symbols_file",
}


def settings_of(flags: Mapping[str, str]) -> Settings:
    """Return the settings of flags of ``spm_train``.

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
        from spmcompat.options.from_counts import counted_settings  # noqa: PLC0415

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
        raise UsageError(str(error)) from error
    return settings if _FILES_READ.isdisjoint(flags) else from_flags(given)


def text_of_flags(flags: Mapping[str, str]) -> GivenText:
    """Return the text that flags of ``spm_train`` name. The errors are those of `settings_of`."""
    return GivenText(settings_of(flags), flags)
