"""The checks of ``.ci/run`` by name: ``nox -s lint``. ``nox --list`` describes them.

They run in the environment of nox itself, which has the package and its extra ``dev``.
"""

import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import nox

ROOT = Path(__file__).parent

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "stubs", "quick"]


def run_pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest, also with the arguments after ``--``."""
    session.run("python", "-m", "pytest", "-q", *arguments, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style and types of all sources."""
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("cython-lint", "spmcompat")
    files = str(session.run("git", "ls-files", "*.hpp", "*.cpp", silent=True)).splitlines()
    session.run("clang-format", "--dry-run", "--Werror", *files)
    session.run("mypy")
    session.run("mypy", "--platform", "win32")


@nox.session
def stubs(session: nox.Session) -> None:
    """Compare the compiled modules with their types."""
    sources = sorted((ROOT / "spmcompat").rglob("*.pyx"))
    modules = [".".join(source.relative_to(ROOT).with_suffix("").parts) for source in sources]
    # From a folder without the sources, so that the installed modules are looked at.
    with TemporaryDirectory() as folder, session.chdir(folder):
        session.run("python", "-m", "mypy.stubtest", "--ignore-missing-stub", *modules)


@nox.session
def quick(session: nox.Session) -> None:
    """Run the tests that are not slow, in about a minute."""
    run_pytest(session, "-m", "not slow")


@nox.session
def searches(session: nox.Session) -> None:
    """Run the searches among the tests, longer than ``python -m pytest`` does."""
    session.env["SPMCOMPAT_LONG"] = "1"
    imports = "^from tests.searches import"
    files = str(session.run("git", "grep", "-l", imports, "--", "tests", silent=True)).split()
    run_pytest(session, *files)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz each target for three seconds; needs Atheris."""
    session.run("python", "-m", "tests.fuzz", "--seconds", "3", "--found", "build/fuzz")


@nox.session
def sdist(session: nox.Session) -> None:
    """Build the source distribution, and check that no file is missing."""
    with TemporaryDirectory() as folder:
        session.run("python", "-m", "build", "--sdist", "--outdir", folder, silent=True)
        (archive,) = Path(folder).iterdir()
        with tarfile.open(archive) as packed:
            found = {name.partition("/")[2] for name in packed.getnames()}
    folders = ("spmcompat", "tests", "benchmarks", "derive", "docs", "proto", "setup.py")
    files = str(session.run("git", "ls-files", *folders, silent=True)).splitlines()
    if missing := set(files) - found:
        session.error(f"not in it: {', '.join(sorted(missing))}")


@nox.session
def spark(session: nox.Session) -> None:
    """Run the tests of Spark, Dask and Ray; without Java 17 or later, they are skipped."""
    # Spark's Python workers look for modules in the working folder first, so it must not be ROOT.
    with TemporaryDirectory() as folder, session.chdir(folder):
        run_pytest(session, "-n0", str(ROOT / "tests" / "spark"))
