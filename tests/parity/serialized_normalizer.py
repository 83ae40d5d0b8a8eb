"""The normalizer of a case as the library of its release serializes it, for ours to be given."""

from __future__ import annotations

from . import reference
from .case import SERIALIZED, Case


def train(case: Case) -> dict[str, bytes]:
    """Return the serialized normalizer; nothing is trained."""
    assert case.normalizer is not None
    return {SERIALIZED: reference.normalizer(case.normalizer).serialized_normalizer_spec()}
