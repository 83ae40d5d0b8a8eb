"""Serializes a test case's normalizer with the library of its release, for spmcompat to read."""

from __future__ import annotations

from . import reference
from .case import SERIALIZED, Case


def train(case: Case) -> dict[str, bytes]:
    """Return the serialized normalizer, without training."""
    assert case.normalizer is not None
    return {SERIALIZED: reference.normalizer(case.normalizer).serialized_normalizer_spec()}
