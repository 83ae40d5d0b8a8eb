"""The kinds of hostile input; a kind is a module of this folder, named after what it damages.

Each module has

``prepare(folder)``
    imports the modules that its commands need, writes valid inputs into the folder, and checks that
    the commands succeed on them.
``command(chance, valid, folder)``
    damages an input from the folder `valid`, writes the result into the (empty) folder, and returns
    the command that reads it. All random choices come from `chance`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import Protocol, cast

KINDS = sorted(module.name for module in iter_modules(__path__))


class Kind(Protocol):
    """The functions that each module in this folder defines."""

    def prepare(self, folder: Path) -> None:
        """Write valid inputs."""

    def command(self, chance: Random, valid: Path, folder: Path) -> Callable[[], int]:
        """Write a damaged input, and return the command that reads it."""


def kind_of(name: str) -> Kind:
    """Return the module of a kind."""
    return cast(Kind, import_module(f"tests.hostile.kinds.{name}"))
