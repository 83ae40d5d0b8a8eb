"""Reads a version of a file from the git repository that contains it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from spmcompat.errors import MissingFileError


@contextmanager
def committed(path: str, commit: str) -> Iterator[str | None]:
    """Yield the path of a copy of a file as it was in a commit; None if it was not there.

    Raises
    ------
    MissingFileError
        If the file is not in a repository, the repository has no such commit, or git is not
        installed.
    """
    folder, name = os.path.split(os.path.abspath(path))
    _git(
        folder, path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"
    )
    if not _git(folder, path, "ls-tree", "--name-only", "--end-of-options", commit, f"./{name}"):
        yield None
        return
    with TemporaryDirectory() as copies:
        copy = os.path.join(copies, name)
        with open(copy, "wb") as file:
            file.write(_git(folder, path, "cat-file", "blob", f"{commit}:./{name}"))
        yield copy


def _git(folder: str, path: str, *arguments: str) -> bytes:
    """Return the output of a command of git that runs in a folder."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    except FileNotFoundError:
        raise MissingFileError(
            f'"{path}": its folder does not exist, or git is not installed. Check both.'
        ) from None
    except subprocess.CalledProcessError as error:
        reason = " ".join(error.stderr.decode(errors="replace").split())
        raise MissingFileError(
            f'"{path}": git cannot find this version: {reason or "no such commit"}. Check --since, '
            "and that the file is in a repository."
        ) from None
    return done.stdout
