"""Subclasses of str and bytes, whose methods do not tell their contents, and of Exception."""

from __future__ import annotations

from typing import Any


class OwnStr(str):
    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __str__(self) -> str:
        return "x"

    def __getitem__(self, _: Any) -> str:
        return "y"

    def encode(self, *_: Any) -> bytes:
        return b"z"

    def rstrip(self, _: Any = None) -> str:
        return "z"


class OwnBytes(bytes):
    __slots__ = ()

    def __len__(self) -> int:
        return 1

    def __bytes__(self) -> bytes:
        return b"x"

    def __getitem__(self, _: Any) -> Any:
        return b"y"


class OwnError(Exception):
    pass
