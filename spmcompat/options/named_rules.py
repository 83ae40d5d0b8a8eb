"""Compiles named rules, or the rules in a file, to the charsmap that a model stores."""

from copy import deepcopy

from spmcompat.errors import ExclusiveError
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec
from spmcompat.normalization.rules import MARK_CASE, Rules
from spmcompat.releases import Release

DEFAULT_RULES = "nmt_nfkc"
"""The name of the predefined rules that are used if a normalizer does not name any rules."""


def with_named_rules(
    spec: NormalizerSpec, release: Release, rules: Rules | None = None
) -> NormalizerSpec:
    """Return a copy of the spec with compiled rules: those of its file, or predefined ones.

    Parameters
    ----------
    spec : NormalizerSpec
        The spec.
    release : Release
        The release of ``sentencepiece`` to train as.
    rules : mapping, optional
        The rules in the file that the spec names. If they are not given, the file is read.

    Raises
    ------
    TrainingError
        If the name is unknown or the rules cannot be read.
    """
    if spec.normalization_rule_tsv:
        return with_rules_of_file(spec, release, rules)
    complete = deepcopy(spec)
    complete.name = spec.name or DEFAULT_RULES
    if not spec.precompiled_charsmap:
        from spmcompat.normalization.charsmaps import precompiled

        # For "identity", this stores an empty charsmap.
        complete.precompiled_charsmap = precompiled(complete.name, release.characters_without_rules)
    return complete


def restore_only(denormalizer: NormalizerSpec) -> None:
    """Turn off all functions of a denormalizer except its rules."""
    denormalizer.add_dummy_prefix = False
    denormalizer.remove_extra_whitespaces = False
    denormalizer.escape_whitespaces = False


def marks_case(normalizer: NormalizerSpec) -> bool:
    """Return whether a normalizer marks capitals.

    A normalizer with a file of rules does not mark them, because the file replaces the named rules.
    """
    return bool(normalizer.name == MARK_CASE and not normalizer.normalization_rule_tsv)


def case_restorer(release: Release) -> NormalizerSpec:
    """Return the denormalizer that restores the capitals that `MARK_CASE` marks."""
    from spmcompat.normalization.charsmaps import case_restoring

    rules = case_restoring(release.characters_without_rules)
    denormalizer = NormalizerSpec(name=MARK_CASE, precompiled_charsmap=rules)
    restore_only(denormalizer)
    return denormalizer


def with_rules_of_file(
    spec: NormalizerSpec, release: Release, rules: Rules | None = None
) -> NormalizerSpec:
    """Return the spec with the rules of the file that it names; the spec itself if it names none.

    The parameters are those of `with_named_rules`.

    Raises
    ------
    TrainingError
        If the rules cannot be read, or the spec already has rules.
    """
    if not spec.normalization_rule_tsv:
        return spec
    if spec.precompiled_charsmap:
        raise ExclusiveError(
            "precompiled_charsmap is already defined. Give only one of precompiled_charsmap and "
            "normalization_rule_tsv. "
            "If the normalizer was made from a file of rules, give that file instead."
        )
    from spmcompat.normalization.charsmaps import compile_charsmap, load_rules

    if rules is None:
        rules = load_rules(spec.normalization_rule_tsv, release.code_points)
    complete = deepcopy(spec)
    complete.precompiled_charsmap = compile_charsmap(
        rules, change_something=release.rules_change_something
    )
    complete.name = "user_defined"
    return complete
