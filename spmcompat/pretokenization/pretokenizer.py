"""Pre-tokenization: a function or a pattern decides which positions no piece may cross.

Pre-tokenization by script does not need a function: ``script_runs.hpp`` implements it.

Source: ``_TrainFromMap`` of ``sentencepiece_pybind.cc`` and ``TrainerInterface::LoadSentences`` of
``sentencepiece`` 0.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from spmcompat.errors import BadValueError, TrainingError, WrongTypeError
from spmcompat.releases import DEFAULT
from spmcompat.runtime.libraries import require
from spmcompat.unicode.marks import SPACE_MARK


class PretokenizerError(TrainingError):
    """The user's pretokenizer raised an exception or returned a space."""

    kind = "pretokenizer-failed"


class PretokenizerMismatchError(BadValueError):
    """The chunks of the user's pretokenizer do not join to the sentence."""

    kind = "pretokenizer-failed"


Cut: TypeAlias = Callable[[str], Sequence[str | bytes]]

_SCRIPT = "script"
_PATTERN = "regex:"
# The boundary mark is that of the newest release, because older releases cannot pre-tokenize.
_BOUNDARY = bytes([DEFAULT.boundary])
_SHOWN = 40  # the maximum number of characters of a sentence that a message shows


def find_cut(pretokenizer: Cut | str | None) -> Cut | None:
    """Return the function that pre-tokenizes, or None if no function is needed.

    Parameters
    ----------
    pretokenizer : callable or str, optional
        A function, ``script``, or ``regex:`` and a pattern.

    Raises
    ------
    BadValueError
        If `pretokenizer` is anything else, or the pattern is not valid.
    """
    if pretokenizer is None or pretokenizer == _SCRIPT:
        return None
    if isinstance(pretokenizer, str) and pretokenizer.startswith(_PATTERN):
        return cut_by_pattern(pretokenizer.removeprefix(_PATTERN))
    if not callable(pretokenizer):
        raise WrongTypeError(
            "Pretokenizer failed: pretokenizer must be a function from a sentence (str) to its "
            f"chunks (a list of str), 'script' or 'regex:PATTERN', not {pretokenizer!r}."
        )
    return pretokenizer


def cut_by_pattern(pattern: str) -> Cut:
    """Return a function that cuts a sentence where a match of the pattern begins or ends.

    For matching, U+2581 is replaced with U+0020 in both the sentence and the pattern.

    Raises
    ------
    BadValueError
        If the pattern is not valid.
    MissingLibraryError
        If the ``regex`` package is not installed.
    """
    require("regex", "pretokenizer=regex", "regex")
    import regex  # noqa: PLC0415

    try:
        matcher = regex.compile(pattern.replace(SPACE_MARK, "\\x20"))
    except (regex.error, RecursionError) as error:
        raise BadValueError(
            f"{pattern!r} is not a valid pattern of the regex package: {error}. It was given for "
            "pretokenizer."
        ) from None

    def cut(sentence: str) -> list[str]:
        cuts = {0, len(sentence)}
        for match in matcher.finditer(sentence.replace(SPACE_MARK, " ")):
            cuts.update(match.span())
        return [sentence[begin:end] for begin, end in pairwise(sorted(cuts))]

    return cut


class _CancelFlag(Protocol):
    def is_set(self) -> bool: ...


class Pretokenizer:
    """Inserts U+001F into sentences where a function cuts them.

    The function may be called from several threads, in any order, and more than once for the same
    sentence.

    Parameters
    ----------
    cut : callable
        Takes a normalized sentence (str), and returns its chunks: a sequence of str or bytes.
    consistent : bool
        Whether the joined chunks must be equal to the sentence.
    cancel : CancelFlag
        After this flag is set, sentences are returned unchanged.
    """

    def __init__(self, cut: Cut, consistent: bool, cancel: _CancelFlag) -> None:
        self._cut = cut
        self._consistent = consistent
        self._cancel = cancel

    def __call__(self, sentence: bytes) -> bytes:
        """Return the sentence, in UTF-8, with U+001F between its chunks.

        Raises
        ------
        BadValueError
            If the joined chunks are not equal to the sentence.
        TrainingError
            If the function raises, or does not return chunks that can be trained on.
        """
        if self._cancel.is_set():
            return sentence
        try:
            chunks = _encoded(self._cut(sentence.decode()))
        except MemoryError:
            raise
        except Exception as error:
            raise PretokenizerError(
                f"Pretokenizer failed: {type(error).__name__}: {error}"
            ) from error
        if self._consistent and (joined := b"".join(chunks)) != sentence:
            raise _mismatch(joined.decode(errors="replace"), sentence.decode())
        marked = _BOUNDARY.join(chunks)
        if b" " in marked:
            raise PretokenizerError(
                "Normalized string must not include spaces: the pretokenizer returned "
                f"{marked.decode(errors='replace')[:_SHOWN]!r}. Write U+2581 for a space."
            )
        return marked


def _encoded(chunks: object) -> list[bytes | bytearray]:
    """Return the chunks in UTF-8. The argument may be any object with items and a length.

    A chunk may be of a subclass of str or bytes. The methods of the subclass are not called.
    """
    kind = type(chunks)
    if isinstance(chunks, dict) or not (hasattr(kind, "__getitem__") and hasattr(kind, "__len__")):
        raise TypeError(f"it must return a list of str or bytes, not {kind.__name__}")
    return [
        str.encode(chunk) if isinstance(chunk, str) else _bytes(chunk)
        for chunk in chunks  # type: ignore[attr-defined]
    ]


def _bytes(chunk: object) -> bytes | bytearray:
    if isinstance(chunk, bytes | bytearray):
        return chunk
    raise TypeError(f"each chunk must be str or bytes, not {type(chunk).__name__}")


def _mismatch(joined: str, sentence: str) -> BadValueError:
    """Return an error that shows where the joined chunks differ from the sentence."""
    pairs = enumerate(zip(joined, sentence, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(joined), len(sentence)))
    return PretokenizerMismatchError(
        f"Pretokenized output mismatch at character {at} of "
        f"{sentence[:_SHOWN]!r}: joined={joined[at : at + _SHOWN]!r}, "
        f"original={sentence[at : at + _SHOWN]!r}. Return chunks whose concatenation is the "
        "sentence, or set allow_inconsistent_pretokenization=True."
    )
