"""Refuses options that contradict each other or the model type, as the table of options says."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from spmcompat.errors import ConflictError, ExclusiveError
from spmcompat.model.pieces import model_type_of
from spmcompat.options.option import Option
from spmcompat.options.settings import Settings, value_of
from spmcompat.options.table import OPTIONS


def refuse_conflicts(
    settings: Settings, names: Collection[str] = OPTIONS.keys(), unknown: Collection[str] = ()
) -> None:
    """Raise if an option that is set does not go with the model type or with another option.

    Parameters
    ----------
    settings : Settings
        The settings of the run.
    names : collection of str
        The options to check.
    unknown : collection of str
        Options whose values are not known yet. Conflicts with them are ignored.

    Raises
    ------
    TrainingError
        If ``sentencepiece`` has all options of the conflict.
    BadValueError
        If it does not.
    """
    for option in OPTIONS.values():
        if option.name not in names:
            continue
        for other, sentence, remedy in _conflicts(settings, option):
            if other not in unknown and _is_set(settings, option):
                theirs = option.in_reference and OPTIONS[other].in_reference
                raise (ExclusiveError if theirs else ConflictError)(f"{sentence} {remedy}")


def _conflicts(settings: Settings, option: Option) -> Iterator[tuple[str, str, str]]:
    """Yield the conflicts that an option has if it is set.

    Each is the name of the other option, a sentence that describes the conflict, and the remedy.
    """
    name, refusals = option.name, option.refusals
    model_type = model_type_of(settings.trainer)
    is_strict = not option.in_reference or "models" in refusals
    if is_strict and option.models and model_type not in option.models:
        source = f" ({settings.recipe})" if f" --{name}=" in settings.recipe else ""
        sentence = f"{name} is for {' and '.join(option.models)} models only{source}."
        remedy = f"Leave {name} out, or change model_type."
        yield "model_type", refusals.get("models", sentence), remedy
    for need in option.needs:
        other = need.partition("=")[0]
        users = OPTIONS[other].models
        if not _holds(settings, need) and (not users or model_type in users):
            sentence = refusals.get(need, f"{name} needs {need}.")
            yield other, sentence, "Give both or neither."
    for excluded in option.excludes:
        if _holds(settings, excluded):
            sentence = refusals.get(excluded, f"{excluded} does not use {name}.")
            yield excluded.partition("=")[0], sentence, "Leave one of the two out."


def _holds(settings: Settings, condition: str) -> bool:
    """Return whether an option is set, or has the value in ``name=value``."""
    name, has_value, value = condition.partition("=")
    if has_value:
        return bool(value_of(settings, name) == value)
    return _is_set(settings, OPTIONS[name])


def _is_set(settings: Settings, option: Option) -> bool:
    """Return whether the value of an option differs from its default."""
    value = value_of(settings, option.name)
    return value is not None if option.default is None else bool(value != option.default)
