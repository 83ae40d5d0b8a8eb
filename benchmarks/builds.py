"""Builds of spmcompat from its git history, each in a separate folder in the user's cache.

The code of the checkout, including changed and new files, is copied and built like an old commit.
So all builds have the same compiler flags, and edits or builds in the checkout do not disturb a
measurement.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import ROOT

# The files that determine what is compiled, and how.
_SOURCES = ("spmcompat", "setup.py", "pyproject.toml")
_COMPILER_VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ARCHFLAGS")
# Environment variables with which developers change the compiler flags in setup.py.
_DROPPED = ("SPMCOMPAT_DEBUG", "SPMCOMPAT_WERROR")


class BuildError(Exception):
    """A build cannot be made; the message says why."""


@dataclass(frozen=True)
class Build:
    """A folder with a compiled package, and the name that tables show for it."""

    name: str
    folder: Path


def of_commit(commit: str) -> Build:
    """Build the code of a commit, a tag or a branch, unless the cache has it."""
    try:
        found = _git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    except BuildError:
        raise BuildError(f"{ROOT} has no commit {commit}.") from None
    short = _git("rev-parse", "--short", found)
    return Build(short, _built(_git("rev-parse", f"{found}^{{tree}}"), short))


def of_checkout() -> Build:
    """Build the code of the checkout as it is now, unless the cache has it."""
    with tempfile.TemporaryDirectory() as folder:
        # Use a separate index, so that the user's staged changes stay as they are.
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _git("read-tree", "HEAD", variables=index)
        _git("add", "--all", "--", *_SOURCES, variables=index)
        tree = _git("write-tree", variables=index)
    changed = _sources(tree) != _sources("HEAD")
    name = _git("rev-parse", "--short", "HEAD") + ("-changed" if changed else "")
    return Build(name, _built(tree, name))


def _built(tree: str, name: str) -> Path:
    """Return the folder of a build. If the cache does not have the build, make it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    builds = cache / "spmcompat" / "builds"
    folder = builds / _key(tree)
    if folder.is_dir():
        return folder
    print(f"building {name} in {folder}", file=sys.stderr, flush=True)
    builds.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=builds) as scratch:
        source = Path(scratch) / "source"
        source.mkdir()
        _git("archive", f"--output={scratch}/source.tar", tree)
        _run(["tar", "--extract", f"--file={scratch}/source.tar"], source)
        _compile(source)
        source.rename(folder)
    return folder


def _compile(source: Path) -> None:
    if not _cython():
        raise BuildError("A build needs Cython: pip install 'Cython>=3.1' 'setuptools>=77'")
    jobs = f"-j{len(os.sched_getaffinity(0))}"
    _run([sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", jobs], source)
    # Compile the Python files now. Otherwise, the first run that is measured would compile them.
    _run([sys.executable, "-m", "compileall", "-q", "spmcompat"], source)


def _key(tree: str) -> str:
    """Return a name for the build: the same name for the same sources and compiler settings."""
    variables = [f"{name}={os.environ.get(name, '')}" for name in _COMPILER_VARIABLES]
    parts = [_sources(tree), _cython(), str(sysconfig.get_config_var("SOABI")), *variables]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _cython() -> str:
    try:
        return version("Cython")
    except PackageNotFoundError:
        return ""


def _sources(tree: str) -> str:
    return _git("ls-tree", tree, "--", *_SOURCES)


def _git(*arguments: str, variables: Mapping[str, str] | None = None) -> str:
    return _run(["git", *arguments], ROOT, variables or {})


def _run(command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**kept, **(variables or {})},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise BuildError(f"{command[0]} cannot be started: {error}") from None
    if done.returncode != 0:
        last = "\n".join((done.stderr or done.stdout).strip().splitlines()[-10:])
        raise BuildError(f"{' '.join(command)} failed in {folder}:\n{last}")
    return done.stdout.strip()
