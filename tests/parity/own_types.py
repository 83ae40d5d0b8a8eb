"""Classes of users: texts whose methods do not tell their contents, an exception, writers."""

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


class ShortWriter:
    """Writes at most `most` bytes of what it gets to a file, and returns their number."""

    def __init__(self, most: int) -> None:
        self.most = most

    def write(self, data: bytes) -> int:
        with open("short.model", "ab") as file:
            return file.write(data[: self.most])
