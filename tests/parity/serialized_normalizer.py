"""Serializes the normalizer of a case with its release's library. Our side gets the bytes."""

from __future__ import annotations

from . import reference
from .case import SERIALIZED, Case


def train(case: Case) -> dict[str, bytes]:
    """Return the serialized normalizer, without training."""
    assert case.normalizer is not None
    return {SERIALIZED: reference.normalizer(case.normalizer).serialized_normalizer_spec()}
