"""The rules that a normalizer names, compiled into the charsmap that a model stores."""

from __future__ import annotations

from spmcompat.errors import TrainingError
from spmcompat.releases import Release

TYPE_CHECKING = False  # importing typing takes longer than importing this module
if TYPE_CHECKING:
    from spmcompat.model.specs import NormalizerSpec

DEFAULT_RULES = "nmt_nfkc"
"""The predefined rules to use where none are named."""


def with_named_rules(spec: NormalizerSpec, release: Release) -> NormalizerSpec:
    """Return the spec with the rules that it names: those of its file, or predefined ones.

    Raises
    ------
    TrainingError
        If the name is unknown or the rules cannot be read.
    """
    if spec.normalization_rule_tsv:
        return with_rules_of_file(spec, release)
    complete = spec.copy()
    complete.name = spec.name or DEFAULT_RULES
    if not spec.precompiled_charsmap:
        from spmcompat.normalization.charsmap import precompiled  # noqa: PLC0415

        # For "identity" this stores an empty charsmap.
        complete.precompiled_charsmap = precompiled(complete.name, release.characters_without_rules)
    return complete


def with_rules_of_file(spec: NormalizerSpec, release: Release) -> NormalizerSpec:
    """Return the spec with the rules of the file that it names; without a file, the spec itself.

    Raises
    ------
    TrainingError
        If the rules cannot be read, or the spec has rules already.
    """
    if not spec.normalization_rule_tsv:
        return spec
    if spec.precompiled_charsmap:
        raise TrainingError(
            "precompiled_charsmap is already defined. Give either it or normalization_rule_tsv. "
            "If the normalizer was made from a file of rules, give that file instead."
        )
    from spmcompat.normalization.charsmap import compile_charsmap, load_rules  # noqa: PLC0415

    rules = load_rules(spec.normalization_rule_tsv, release.code_points)
    complete = spec.copy()
    complete.precompiled_charsmap = compile_charsmap(
        rules, change_something=release.rules_change_something
    )
    complete.name = "user_defined"
    return complete
