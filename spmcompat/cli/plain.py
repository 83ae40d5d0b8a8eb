"""Converts the results of functions to data that JSON can represent."""

from __future__ import annotations

import math
from collections.abc import Mapping


def plain(value: object) -> object:
    """Return a value as dicts, lists, strings and numbers.

    Named tuples become dicts, without the fields that contain bytes, such as a model. NaN and
    infinite numbers become strings.
    """
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain_fields(value)
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def plain_fields(result: tuple[object, ...]) -> dict[str, object]:
    """Return the fields of a named tuple as a dict, converted by `plain`."""
    fields: dict[str, object] = result._asdict()  # type: ignore[attr-defined]
    return {name: plain(item) for name, item in fields.items() if not isinstance(item, bytes)}
