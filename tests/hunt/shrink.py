"""Makes a case small that shows something: fewer options, then less text.

Delta debugging: parts are left out, half of them at a time, then a quarter, down to single ones,
and what is left is kept wherever it still shows it.
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
    """The time is spent."""


def shrink(case: Case, shows: Callable[[Case], bool], seconds: float) -> Case:
    """Return a case that still shows it, as small as could be made in the time.

    Parameters
    ----------
    case
        Shows it.
    shows
        Tells whether a case shows it.
    seconds
        When to stop; what is being tried then is tried to its end.
    """
    shrinking = _Shrinking(case, shows, time.monotonic() + seconds)
    try:
        before = None
        while before != shrinking.best:
            before = shrinking.best
            shrinking.round()
    except _OutOfTimeError:
        pass
    return shrinking.best


def leave_out(items: Sequence[T], still: Callable[[Sequence[T]], bool]) -> None:
    """Ask `still` of ever fewer items; where it is true, the others are left out for good."""
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
    """The smallest case so far, and how to look for a smaller one."""

    def __init__(self, case: Case, shows: Callable[[Case], bool], end: float) -> None:
        self.best = case
        self.shows = shows
        self.end = end

    def round(self) -> None:
        """Try everything once."""
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
        """Tell whether the best case still shows it with these fields; then that is the best."""
        case = replace(self.best, **changes)  # type: ignore[arg-type]
        if case == self.best:
            return False
        if time.monotonic() > self.end:
            raise _OutOfTimeError
        found = self.shows(case)
        if found:
            self.best = case
        return found

    def one_file(self) -> None:
        """Hand the text over as one file."""
        given = self.best.options.get("input", "")
        names = given if isinstance(given, list) else str(given).split(",")
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
        """Leave out parts of a file: lines, words or characters."""
        text = self.best.files[name].decode("utf-8", "surrogateescape")

        def still(parts: Sequence[str]) -> bool:
            data = separator.join(parts).encode("utf-8", "surrogateescape")
            return self.tries(files={**self.best.files, name: data})

        leave_out(text.split(separator) if separator else text, still)
