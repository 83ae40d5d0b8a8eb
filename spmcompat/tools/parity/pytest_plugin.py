"""The fixture ``spmcompat_parity``, which pytest finds if spmcompat is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from spmcompat.engine import SentencePieceOptions
    from spmcompat.tools.parity.check import Parity


@pytest.fixture(scope="session")
def spmcompat_parity() -> Callable[..., Parity]:
    """Return a function that trains with spmcompat and with ``sentencepiece``.

    The function fails the test if the two models are not equal byte for byte. It takes the keywords
    of ``SentencePieceTrainer.train``, except those that choose the output. It returns the results
    of both trainers.
    """
    return _check


def _check(**keywords: Unpack[SentencePieceOptions]) -> Parity:
    """Train with the installed ``sentencepiece`` and with spmcompat, and require equal bytes."""
    __tracebackhide__ = True
    from spmcompat.errors import TrainingError
    from spmcompat.tools.parity.check import parity

    try:
        found = parity(**keywords)
    except TrainingError as error:
        raise pytest.fail.Exception(str(error)) from None
    if not found.equal:
        pytest.fail(f"{_headline(found)}\n{found}")
    return found


def _headline(found: Parity) -> str:
    failed = [side.name for side in (found.ours, found.reference) if side.failure]
    if failed:
        return f"{' and '.join(failed)} failed to train:"
    return "spmcompat and sentencepiece wrote different files:"
