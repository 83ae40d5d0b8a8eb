"""Checks of arguments that several functions share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from itertools import islice

from spmcompat.errors import BadValueError, TrainingError, UsageError, WrongTypeError

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeGuard


@contextmanager
def naming_keywords() -> Iterator[None]:
    """Return a context, or a decorator, for Python functions: their errors name no flags.

    Nearly all errors come from code that commands share. A flag in their messages becomes the
    keyword of the same name, except in a command such as ``spmcompat count --help``.
    """
    try:
        yield
    except TrainingError as error:
        import re

        text = re.sub(r"(spmcompat (?:\w+ )+--)|(?<![\w'-])--(?=[a-z])", r"\1", str(error))
        if isinstance(error, BadValueError):  # a `UsageError` is for command lines
            usual = BadValueError if isinstance(error, UsageError) else type(error)
            raise usual(text).with_traceback(error.__traceback__) from error.__cause__
        error.args = (text,)
        raise


def notes_of_spaces(name: str, symbols: Iterable[str]) -> list[str]:
    """Return a warning if a symbol has white space at an end, such as one that follows a comma."""
    for symbol in symbols:
        if symbol.strip() not in ("", symbol):
            return [
                f"{name} contains {symbol!r}, with white space at an end, which a text must "
                f"contain, too. Give {symbol.strip()!r}, without a space next to the comma."
            ]
    return []


def check_sentences(sentences: object) -> None:
    """Raise if sentences are neither an iterable of texts nor Arrow data."""
    # A mapping is iterable, too, but it yields names of columns instead of sentences.
    if isinstance(sentences, Mapping):
        from spmcompat.text.arrow_producers import is_arrow_data

        if not is_arrow_data(sentences):
            raise _columns_instead_of_rows(sentences)
    # A single str is iterable, too, but it yields characters instead of sentences.
    if sentences is None or (_is_iterable(sentences) and not isinstance(sentences, str | bytes)):
        return
    if not isinstance(sentences, str | bytes):
        from spmcompat.text.arrow_producers import is_arrow_data

        if is_arrow_data(sentences):
            return
    is_path = isinstance(sentences, str | os.PathLike)
    remedy = " To train on a file, give input." if is_path else ""
    raise WrongTypeError(
        f"sentence_iterator must be an iterable of str or bytes, or Arrow data.{remedy}"
    )


def _columns_instead_of_rows(sentences: Mapping[object, object]) -> BadValueError:
    keys = list(islice(sentences, 1))
    column = keys[0] if keys and isinstance(keys[0], str) else "text"
    return WrongTypeError(
        f"sentence_iterator is a {type(sentences).__name__}, and iterating over it would give its "
        f"keys, not its texts. Pass one of its columns, such as data[{column!r}]. A slice of a "
        f"data set is such a mapping: pass data[:50][{column!r}], or data.select(range(50)) with "
        f"column={column!r}."
    )


def as_list(name: str, value: object) -> list[str]:
    """Convert one path or symbol, or several, to a list. Errors call the argument `name`."""
    items = [value] if isinstance(value, str | os.PathLike) else value
    if hasattr(items, "read") or hasattr(items, "columns"):
        what = "an open file" if hasattr(items, "read") else type(value).__name__
        raise WrongTypeError(
            f"{name} takes a path or a list, not {what}. To read its lines or rows as sentences, "
            "give it as sentence_iterator."
        )
    if not _is_iterable(items) or isinstance(items, bytes):
        items = [items]
    found: list[Any] = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in items]
    for one in found:
        if not isinstance(one, str):
            raise WrongTypeError(
                f"{name} takes a text or a path, or a list of these, not {one!r:.300}."
            )
    return found


def make_lists(options: dict[str, Any]) -> None:
    """Convert the options that can have several paths or symbols to lists.

    If the value of such an option were a str, it would be split at its commas. The items of a list
    are not split.
    """
    for name in ("input", "control_symbols", "user_defined_symbols"):
        if name in options:
            options[name] = as_list(name, options[name])


def as_texts(name: str, value: object) -> list[str]:
    """Convert one str, or several, to a list."""
    one = isinstance(value, str) or not _is_iterable(value)
    texts: list[Any] = [value] if one else list(value)  # type: ignore[call-overload]
    if not all(isinstance(text, str) for text in texts):
        raise WrongTypeError(f"{name} must be a list of texts, not {value!r}.")
    return texts


def as_mapping(name: str, value: object, kind: type | tuple[type, ...]) -> dict[str, Any]:
    """Return a mapping as a dictionary of strings to values of the type `kind`."""
    try:
        items: dict[Any, Any] = dict(value or {})  # type: ignore[call-overload]
    except (TypeError, ValueError):
        items = {None: None}
    if not all(isinstance(one, str) and isinstance(other, kind) for one, other in items.items()):
        wanted = "texts" if kind is str else "numbers"
        raise WrongTypeError(f"{name} must be a dictionary from pieces to {wanted}, not {value!r}.")
    return items


def as_numbers(name: str, value: object) -> list[float]:
    """Convert several numbers to a list of floats."""
    numbers: list[Any] = list(value) if _is_iterable(value) else [None]
    if not all(isinstance(one, int | float) for one in numbers):
        raise WrongTypeError(f"{name} must be a list of numbers, not {value!r}.")
    return [as_float(one) for one in numbers]


def as_float(number: float) -> float:
    """Convert a number to a float. Whole numbers that are too large for a float become infinite."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def whole(name: str, value: object) -> int:
    """Return the value of an argument that must be a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongTypeError(f"{name} must be a whole number, not {value!r}.")
    return value


def _is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return hasattr(type(value), "__iter__")
