"""Assertions on the kind of an error and on what its message names, instead of on its wording.

An expectation is one text: a kind of docs/errors.md, and then the names that the message must
contain, such as ``broken-record a.csv:3``. ``cli/test_messages.py`` has the wording of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from spmcompat.cli.process import PAGE
from spmcompat.errors import TrainingError

_POINTER = re.compile(rf" \[{re.escape(PAGE)}#([a-z0-9-]+)\]$")


@contextmanager
def raises_kind(
    expected: str, error: type[TrainingError] = TrainingError
) -> Iterator[pytest.ExceptionInfo[TrainingError]]:
    """Return a context that must raise an error of a kind whose message contains some names.

    Parameters
    ----------
    expected : str
        The kind and the names, separated by spaces.
    error : type
        The type of the error, for kinds that several types have.
    """
    with pytest.raises(error) as caught:
        yield caught
    assert_message(caught.value.kind, str(caught.value), expected)


def assert_error(err: str, expected: str) -> None:
    """Assert that the last line of standard error reports an error of a kind.

    The kind is ``usage`` if the line points to no kind.
    """
    line = err.splitlines()[-1]
    pointer = _POINTER.search(line)
    assert_message(pointer[1] if pointer else "usage", _POINTER.sub("", line), expected)


def message_of(err: str) -> str:
    """Return the message in the last line of standard error, without the command and the kind."""
    return _POINTER.sub("", err.splitlines()[-1]).partition(": ")[2]


def assert_message(kind: str, message: str, expected: str) -> None:
    """Assert that a message of a kind is one line and contains the names."""
    wanted, *names = expected.split()
    missing = [name for name in names if name not in message]
    assert (kind, missing) == (wanted, []), message
    assert len(message.splitlines()) <= 1, message
