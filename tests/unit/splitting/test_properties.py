"""The table of classes is that of the engine of tokenizers."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from derive import properties
from tests.unit.derived import assert_current


def installed() -> str | None:
    try:
        return version("tokenizers")
    except PackageNotFoundError:
        return None


@pytest.mark.slow
def test_the_derived_table_is_current() -> None:
    assert_current(properties)
