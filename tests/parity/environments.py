"""Virtual environments, each with one version of one package, such as a release of the reference.

``venv`` and ``pip`` create an environment when a test first needs it. It stays in the user's cache
folder, ``$XDG_CACHE_HOME/spmcompat/environments``. If you already have an environment for each
release, set the variable `FOLDER_VARIABLE` to the folder that contains them. The environment for
release 0.2.1 must be the subfolder ``v0.2.1``.
"""

from __future__ import annotations

import fcntl
import functools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

FOLDER_VARIABLE = "SPMCOMPAT_RELEASES"

NOTHING_ELSE = {"PYTHONPATH": ""}
"""Environment variables with which Python does not find packages outside an environment."""


class MissingEnvironmentError(Exception):
    """An environment cannot be created."""


def python_of_release(release: str) -> Path:
    """Return the interpreter that imports a release of ``sentencepiece``.

    Raises
    ------
    MissingEnvironmentError
        If there is no such interpreter. Later calls do not search again.
    """
    found = _python_or_reason(release)
    if isinstance(found, str):
        raise MissingEnvironmentError(found)
    return found


@functools.cache
def _python_or_reason(release: str) -> Path | str:
    """Return the interpreter, or the reason why it is missing.

    The reason is returned, not raised, because `functools.cache` does not store exceptions.
    """
    try:
        return _find_python(release)
    except MissingEnvironmentError as error:
        return str(error)


def _find_python(release: str) -> Path:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return python_with(f"sentencepiece=={release}")
    python = Path(folder) / f"v{release}" / "bin" / "python"
    found = version_of(python, "sentencepiece", NOTHING_ELSE)
    if found != release:
        raise MissingEnvironmentError(
            f"{python}: sentencepiece has the version {found or '(none)'}, not {release}"
        )
    return python


def python_with(requirement: str) -> Path:
    """Return the interpreter of an environment with one package. Create it if it is missing."""
    package, _, version = requirement.partition("==")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    running = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache / "spmcompat" / "environments" / f"{package}-{version}-{running}"
    with _alone(folder):
        return _create(folder, package, version)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock an environment, so that other processes wait until it is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _create(folder: Path, package: str, version: str) -> Path:
    """Create an environment unless it exists. Return its interpreter."""
    requirement = f"{package}=={version}"
    python = folder / "bin" / "python"
    if version_of(python, package, NOTHING_ELSE) == version:
        return python
    print(f"creating an environment for {requirement} in {folder}", file=sys.stderr, flush=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--retries=1", "--timeout=10"]
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [*install, "--only-binary=:all:", requirement],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"{command[2]} failed"])[-1]
            raise MissingEnvironmentError(f"{requirement} cannot be installed in {folder}: {last}")
    return python


def version_of(
    python: str | Path,
    package: str,
    environment: Mapping[str, str] = MappingProxyType({}),
    module: str = "",
) -> str:
    """Return the version of the package that an interpreter imports, or an empty string."""
    code = f"import {module or package}, {package}; print({package}.__version__)"
    with tempfile.TemporaryDirectory() as elsewhere:
        try:
            done = subprocess.run(
                [python, "-c", code],
                cwd=elsewhere,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError:
            return ""
    return done.stdout.strip() if done.returncode == 0 else ""
