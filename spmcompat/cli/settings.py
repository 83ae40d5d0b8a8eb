"""Builds settings from the flags of ``spm_train``. Wrong flags raise a `UsageError`."""

from collections.abc import Mapping

from spmcompat.cli.flags import UsageError
from spmcompat.errors import TrainingError
from spmcompat.options.checks import check_options
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS
from spmcompat.options.from_flags import from_flags
from spmcompat.options.named_rules import with_named_rules
from spmcompat.options.settings import Settings
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
    counts = None
    if path := flags.get("counts"):
        from spmcompat.stored_counts.table import load_counts  # noqa: PLC0415

        counts = load_counts(path)
        # The release determines how values are read, so use the release that the counts store.
        alone = {n: text for n, text in counts.origin.options.items() if n == "compat"} | alone
    try:
        settings = from_flags(alone)
        if not settings.normalizer.normalization_rule_tsv:
            with_named_rules(settings.normalizer, settings.release)
        check_options(settings)
    except MissingLibraryError:
        raise
    except TrainingError as error:
        raise UsageError(str(error)) from error
    if counts is not None:
        from spmcompat.options.from_counts import with_counts  # noqa: PLC0415

        return with_counts({**flags, "counts": counts}, from_flags)
    return settings if _FILES_READ.isdisjoint(flags) else from_flags(flags)
