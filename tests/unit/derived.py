"""Compares derived files with what their script writes now."""

from types import ModuleType

import pytest

from derive.files import MissingSourceError, write_or_check


def assert_current(script: ModuleType) -> None:
    """Run the script with ``--check``; skip the test if its sources are not installed."""
    try:
        contents = script.files()
    except MissingSourceError as error:
        pytest.skip(str(error))
    status = write_or_check(lambda: contents, arguments=["--check"])
    assert status == 0, f"run python -m {script.__name__}"
