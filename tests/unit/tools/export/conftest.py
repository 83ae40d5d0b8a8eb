"""Analyses each charsmap once for several tests: for a predefined one, this takes a second."""

from collections.abc import Iterator
from functools import lru_cache

import pytest

from spmcompat.tools.export import charsmap_steps, normalizer_json

_analysed = lru_cache(maxsize=4)(charsmap_steps.analysed.__wrapped__)


@pytest.fixture(scope="module", autouse=True)
def _analysed_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (charsmap_steps, normalizer_json):
            patch.setattr(module, "analysed", _analysed)
        yield
