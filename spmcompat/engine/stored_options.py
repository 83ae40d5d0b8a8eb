"""The options that a model stores: the releases that have them, and a command with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spmcompat.errors import TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec, TrainerSpec
from spmcompat.normalization.charsmaps import NAMES, OWN_NAMES, precompiled
from spmcompat.options.checks import check_options
from spmcompat.options.from_flags import from_flags
from spmcompat.options.help import default_text
from spmcompat.options.option import DENORMALIZER, LIST, NORMALIZER, TRAINER, Option
from spmcompat.options.table import OPTIONS
from spmcompat.options.values import to_text
from spmcompat.releases import DEFAULT, RELEASES, Release
from spmcompat.runtime.rounding import shortest

_SPECS = (TRAINER, NORMALIZER, DENORMALIZER)


def possible_writers(model: ModelProto) -> tuple[list[Release], bool]:
    """Return the releases of ``sentencepiece`` that can have written a model.

    Returns
    -------
    releases : list of Release
        The known releases that have the normalization rules and all stored options of the model.
    is_predefined : bool
        Whether a release, or spmcompat, has exactly these rules under the name in the model.
    """
    having_rules = [one for one in RELEASES.values() if _has_rules(one, model.normalizer_spec)]
    writers = [
        one for one in RELEASES.values() if _can_have_written(one, model, one in having_rules)
    ]
    return writers, bool(having_rules)


def _can_have_written(release: Release, model: ModelProto, has_rules: bool) -> bool:
    """Return whether a release has all stored options of a model, and its rules."""
    missing = release.unknown_options | release.retired_options
    has_options = not any(
        option.name in missing and _is_stored(option, model)
        for option in OPTIONS.values()
        if option.in_reference
    )
    normalizer = model.normalizer_spec
    is_users = normalizer.name not in (*NAMES, *OWN_NAMES, "identity")
    is_known = normalizer.name not in OWN_NAMES and has_rules
    return has_options and (is_users or is_known)


def _is_stored(option: Option, model: ModelProto) -> bool:
    """Return whether a model stores an option."""
    if option.stored_in not in _SPECS:
        return False
    spec = getattr(model, option.stored_in)
    return option.stored_as in {field.name for field, _ in spec.ListFields()}


def _has_rules(release: Release, normalizer: NormalizerSpec) -> bool:
    """Return whether a normalizer has the predefined rules that a release has under its name."""
    if normalizer.name not in (*NAMES, *OWN_NAMES, "identity"):
        return False
    own = precompiled(normalizer.name, release.characters_without_rules)
    return bool(normalizer.precompiled_charsmap == own)


def command_of(model: ModelProto, releases: Sequence[Release]) -> tuple[list[str], str]:
    """Return the command line with the vocabulary size and the options that are not defaults.

    If spm_train refuses the options, returns an empty command line, and the reason.
    """
    release = DEFAULT if DEFAULT in releases or not releases else releases[-1]
    chosen = {} if release is DEFAULT else {"compat": release.version}
    defaults = from_flags(chosen)
    given = {"input": "YOUR_TEXT", "model_prefix": "m", **chosen}
    given["vocab_size"] = str(model.trainer_spec.vocab_size)
    for name, option in OPTIONS.items():
        if not option.flag or not _is_stored(option, model) or name not in _flags_of(release):
            continue
        value = getattr(getattr(model, option.stored_in), option.stored_as)
        if value != getattr(getattr(defaults, _ATTRIBUTES[option.stored_in]), option.stored_as):
            given[name] = _text(name, value)
    try:
        check_options(from_flags(given))
    except TrainingError as error:
        return [], str(error)
    return ["spm_train", *(f"--{name}={text}" for name, text in given.items())], ""


def stored_defaults(release: Release) -> dict[str, str]:
    """Return the options that ``spm_train`` stores even if they are not given, and their values."""
    return {
        name: default_text(option)
        for name, option in OPTIONS.items()
        if option.flag
        and option.stored_in in (TRAINER, NORMALIZER)
        and option.kind != LIST
        and name in _flags_of(release)
    }


# The attributes of `Settings` that contain the specs of a model.
_ATTRIBUTES = {TRAINER: "trainer", NORMALIZER: "normalizer", DENORMALIZER: "denormalizer"}


def _flags_of(release: Release) -> set[str]:
    """Return the flags that have an effect in a release."""
    return {*OPTIONS} - release.unknown_options - release.retired_options


def _text(name: str, value: Any) -> str:
    """Return the value of a flag as text."""
    if name == "model_type":
        return str(TrainerSpec.ModelType.Name(value).lower())
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return to_text(shortest(value))
    return to_text(value if isinstance(value, str | bytes | int) else [*value])
