"""Minimizes a failing case: first removes options, then text.

This is delta debugging. Parts of the case are removed: first half of them at a time, then a
quarter, and finally single parts. A part stays removed if the smaller case still fails in the same
way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tests.parity.case import Case, Option

T = TypeVar("T")

_NEEDED = frozenset({"input", "model_prefix"})
_PLAIN: tuple[Mapping[str, object], ...] = (
    {"workers": 1},
    {"spelling": 0},
    {"handing": "iterator"},
    {"form": "python"},
    {"pretokenizer": None},
    {"normalizer": None},
)


class _OutOfTimeError(Exception):
    """Raised when the time for shrinking is up."""


def shrink(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """Return the smallest case found within the time limit that still fails in the same way.

    Parameters
    ----------
    case
        The case to minimize.
    fails
        Whether a case fails in the same way.
    seconds
        The time limit. A case that is running when the time is up is finished.
    """
    shrinking = _Shrinking(case, fails, time.monotonic() + seconds)
    try:
        before = None
        while before != shrinking.best:
            before = shrinking.best
            shrinking.round()
    except _OutOfTimeError:
        pass
    return shrinking.best


def leave_out(items: Sequence[T], still: Callable[[Sequence[T]], bool]) -> None:
    """Remove groups of items, half of them at first. Keep a removal if `still(rest)` is true."""
    step = max(1, len(items) // 2)
    while items:
        at = 0
        while at < len(items):
            rest = [*items[:at], *items[at + step :]]
            if still(rest):
                items = rest
            else:
                at += step
        if step == 1:
            return
        step //= 2


class _Shrinking:
    """Stores the smallest case so far, and tries to make it smaller."""

    def __init__(self, case: Case, fails: Callable[[Case], bool], end: float) -> None:
        self.best = case
        self.fails = fails
        self.end = end

    def round(self) -> None:
        """Try each way of making the case smaller once."""
        for plain in _PLAIN:
            self.tries(**plain)
        self.one_file()
        leave_out(sorted(self.best.options.keys() - _NEEDED), self.with_options)
        for name, value in self.best.options.items():
            if isinstance(value, list) and name not in _NEEDED:
                leave_out(value, lambda kept, name=name: self.with_option(name, kept))
        leave_out(list(self.best.files), self.with_files)
        if self.best.sentences is not None:
            leave_out(self.best.sentences, lambda kept: self.tries(sentences=kept))
        for name in self.best.files:
            for separator in ("\n", " ", ""):
                self.file(name, separator)

    def tries(self, **changes: object) -> bool:
        """Change fields of the best case. If the result still fails, it is the new best case."""
        case = replace(self.best, **changes)  # type: ignore[arg-type]
        if case == self.best:
            return False
        if time.monotonic() > self.end:
            raise _OutOfTimeError
        found = self.fails(case)
        if found:
            self.best = case
        return found

    def one_file(self) -> None:
        """Try the whole text as one file."""
        files = self.best.options.get("input", "")
        names = files if isinstance(files, list) else str(files).split(",")
        lines = self.best.sentences
        if lines is not None:
            text = b"\n".join(one if isinstance(one, bytes) else one.encode() for one in lines)
        else:
            text = b"".join(self.best.files.get(name, b"") for name in names)
        options = {**self.best.options, "input": "t.txt", "model_prefix": "m"}
        files = {name: data for name, data in self.best.files.items() if name not in names}
        self.tries(options=options, files={**files, "t.txt": text}, sentences=None, writer=False)

    def with_options(self, names: Sequence[str]) -> bool:
        kept = {*names, *_NEEDED}
        return self.tries(options={k: v for k, v in self.best.options.items() if k in kept})

    def with_option(self, name: str, value: Option) -> bool:
        return self.tries(options={**self.best.options, name: value})

    def with_files(self, names: Sequence[str]) -> bool:
        return self.tries(files={k: v for k, v in self.best.files.items() if k in names})

    def file(self, name: str, separator: str) -> None:
        """Remove parts of a file: lines, words or characters."""
        text = self.best.files[name].decode("utf-8", "surrogateescape")

        def still(parts: Sequence[str]) -> bool:
            data = separator.join(parts).encode("utf-8", "surrogateescape")
            return self.tries(files={**self.best.files, name: data})

        leave_out(text.split(separator) if separator else text, still)
