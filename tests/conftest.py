"""Import paths, markers and fixtures for all tests."""

import functools
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

ROOT = str(Path(__file__).resolve().parent.parent)

# If spmcompat is installed, the tests must use the installed package, not the source folder, which
# may lack compiled modules. Import the package now, because pytest puts the source folder first on
# the import path again for every test module. The pytest plugin of spmcompat may already have
# imported modules from the source folder, so unload those modules first.
if ROOT in sys.path:
    sys.path.remove(ROOT)
    sys.path.append(ROOT)
    for name in [name for name in sys.modules if name.partition(".")[0] == "spmcompat"]:
        del sys.modules[name]

import spmcompat  # noqa: E402, F401
from spmcompat.releases import RELEASES  # noqa: E402
from tests.parity import corpora, environments, harness  # noqa: E402

SLOW_FOLDERS = tuple(
    f"tests/{name}/" for name in ("fuzz", "hostile", "oracle", "parity", "property", "spark")
)
REFERENCE_FIXTURES = {"trainers", "old_release", "reference"}


def pytest_configure(config: pytest.Config) -> None:
    """Let libraries keep what they want to find again in pytest's cache folder."""
    cache = getattr(config, "cache", None)  # missing with `-p no:cacheprovider`
    if cache is not None:
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            os.environ.setdefault(name, str(cache.mkdir("libraries")))
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache.mkdir("hypothesis")))


@pytest.fixture(scope="session", autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Put all temporary files into pytest's folder, even those of processes that a test kills."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    short = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with short as folder_of_sockets, pytest.MonkeyPatch.context() as patch:
        # The paths of Ray's sockets must be short, so they cannot be in pytest's folder.
        patch.setenv("RAY_TMPDIR", folder_of_sockets)
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)
        # Java ignores TMPDIR.
        patch.setenv("JDK_JAVA_OPTIONS", f"-Djava.io.tmpdir={folder} -XX:-UsePerfData")
        yield


@pytest.fixture(scope="session", autouse=True)
def _unflushed_files() -> Iterator[None]:
    """Do not wait until files are on the disk: this takes longer than training on a small text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Set the markers that a test does not set itself, before pytest reads ``-m``."""
    for item in items:
        if item.nodeid.startswith(SLOW_FOLDERS):
            item.add_marker(pytest.mark.slow)
        if (
            item.nodeid.startswith("tests/parity/")
            or REFERENCE_FIXTURES & set(item.fixturenames)
            or imports_the_reference(item.module)
        ):
            item.add_marker(pytest.mark.reference)


@functools.cache
def imports_the_reference(module: ModuleType) -> bool:
    """Return whether a module uses the real library, directly or through tests.parity."""
    origins = {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in vars(module).values()
    }
    return any(
        str(origin).split(".")[0] == "sentencepiece"
        or str(origin).startswith("tests.parity.reference")
        for origin in origins
    )


@pytest.fixture(scope="session", autouse=True)
def _wide_terminal() -> Iterator[None]:
    """Keep tables as they are; on a narrow terminal, wide ones would be transposed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        yield


@pytest.fixture(scope="session")
def trainers() -> Iterator[harness.Trainers]:
    with harness.Trainers() as pair:
        yield pair


@pytest.fixture(scope="session")
def large_corpora() -> dict[str, Path]:
    found = corpora.large()
    if not found:
        pytest.skip(f"no large corpora: set {corpora.FOLDER_VARIABLE} to a folder of .txt files")
    return found


@pytest.fixture(params=["0.2.0", "0.2.1", "0.2.2"])
def old_release(request: pytest.FixtureRequest) -> str:
    """Return a release before 0.2.3."""
    release: str = request.param
    return release


@pytest.fixture(params=RELEASES)
def any_release(request: pytest.FixtureRequest) -> str:
    """Return a release."""
    release: str = request.param
    return release


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that needs a release of ``sentencepiece`` that cannot be installed."""
    try:
        yield
    except environments.MissingEnvironmentError as error:
        pytest.skip(str(error))


# If pytest runs as a background job, it ignores SIGINT, and so would its child processes. Tests
# must be able to interrupt the processes that they start, so SIGINT gets its default handler.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hypothesis has no time limit for an example, because an example may take many times longer under a
# sanitizer or next to other jobs.
settings.register_profile("spmcompat", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spmcompat")
