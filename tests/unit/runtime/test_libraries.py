"""Missing libraries: one line names the library, its use, and how to install it."""

import sys

import pytest

from spmcompat.errors import TrainingError
from spmcompat.runtime.libraries import MissingLibraryError, is_installed, require


def test_what_is_installed() -> None:
    assert is_installed("numpy")
    assert is_installed("xml.dom")
    assert not is_installed("nothing_of_that_name")
    assert not is_installed("nothing_of_that_name.module")
    assert not is_installed("xml.nothing_of_that_name")
    require("numpy", "The test", "counts")


def test_nothing_is_imported() -> None:
    assert "this" not in sys.modules
    require("this", "The test", "")
    assert "this" not in sys.modules


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (
            {"extra": "counts"},
            "none_such, which is not installed: pip install 'spmcompat[counts]'.",
        ),
        (
            {"extra": "", "package": "such-as"},
            "such-as, which is not installed: pip install such-as.",
        ),
        (
            {"extra": "", "otherwise": "Or do without."},
            "none_such, which is not installed: pip install none_such. Or do without.",
        ),
    ],
    ids=str,
)
def test_the_message_says_what_to_install(options: dict[str, str], remedy: str) -> None:
    with pytest.raises(MissingLibraryError) as caught:
        require("none_such", "The test", **options)
    assert str(caught.value) == f"The test needs {remedy}"
    assert isinstance(caught.value, TrainingError)
