"""The examples of a Markdown page: how they are found, run, and compared with what the page shows.

The language of a fence determines its meaning:

``sh``
    Commands. They must end with status 0.
``console``
    Commands after ``$``, each with the output that it shows.
``python``
    A program. All programs and ``pycon`` blocks of a page share one namespace.
``pycon``
    An interactive session with its output, as for doctest.
``toml``
    A file; its first line names it.
``text``, ``mermaid``, ``packages``
    Not run.

A fence whose first line is a comment with a file name is written to that file, not run.

In output, ``...`` matches any text. HTML comments, which readers do not see, specify the rest.
Before a fence: ``<!-- needs NAME ... -->`` with modules and programs without which it is not run;
an example that needs ``time`` is run in a long search only (see ``tests/searches.py``).
After a fence: ``<!-- exit status N -->``. A page is run in an empty folder, and creates its texts
and models itself. Commands that begin with ``pip install`` are not run, but their requirements must
exist.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {"sh", "console", "python", "pycon", "toml"}
SILENT = {"text", "mermaid", "packages"}
"""The languages of fences that are not run."""
COMMANDS = {
    "spm_train": "from spmcompat.cli.train import entry_point\nsys.exit(entry_point())",
    "spmcompat": "from spmcompat.__main__ import entry_point\nsys.exit(entry_point())",
}
"""The commands of the package; an environment of developers has no scripts for them."""

_PART = re.compile(
    r"^(?P<fence>`{3,})(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=fence)[ ]*$"
    r"|^<!-- (?P<comment>needs|exit status)(?P<rest>.*?)-->",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(r"# ([\w-]+\.\w+)\n")
_PROMPT = "$ "
_ELLIPSIS = "..."


class Different(AssertionError):
    """An example does not do what the page shows."""


@dataclass
class Example:
    """A code block that is run."""

    line: int
    language: str
    code: str
    needs: list[str] = field(default_factory=list)
    status: int = 0


def fences(page: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the language of every fence."""
    for part in _PART.finditer(page):
        if part["fence"]:
            yield _line(page, part), part["language"].strip()


def examples(page: str) -> list[Example]:
    """Return the examples of a page in the order of the page."""
    found: list[Example] = []
    needs: list[str] = []
    for part in _PART.finditer(page):
        if part["comment"] == "needs":
            needs = part["rest"].split()
        elif part["comment"] == "exit status":
            found[-1].status = int(part["rest"])
        elif part["language"].strip() in LANGUAGES:
            language = part["language"].strip()
            line = _line(page, part)
            found.append(Example(line, language, part["code"], needs))
            needs = []
    return found


def _line(page: str, part: re.Match[str]) -> int:
    return page.count("\n", 0, part.start()) + 1


class Page:
    """The folder where the examples of a page are run, and the names that the examples define."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.commands = folder / ".commands"
        self.commands.mkdir()
        for name, entry in COMMANDS.items():
            script = self.commands / name
            script.write_text(f"#!{sys.executable}\nimport sys\n{entry}\n", encoding="utf-8")
            script.chmod(0o755)

    def run(self, example: Example) -> None:
        """Run an example.

        Raises
        ------
        Different
            If the example fails, or its output is not what the page shows.
        """
        if name := _FILE.match(example.code):
            (self.folder / name[1]).write_text(example.code, encoding="utf-8")
            return
        {"sh": self._sh, "console": self._console, "python": self._python, "pycon": self._pycon}[
            example.language
        ](example)

    def _sh(self, example: Example) -> None:
        commands = "".join(
            line for line in example.code.splitlines(keepends=True) if not _is_pip(line)
        )
        if commands.strip():
            self._check_status(commands, *self._shell(commands), wanted=example.status)

    def _console(self, example: Example) -> None:
        session: list[tuple[str, list[str]]] = []
        for line in example.code.splitlines():
            if line.startswith(_PROMPT):
                session.append((line.removeprefix(_PROMPT), []))
            else:
                session[-1][1].append(line)
        for index, (command, shown) in enumerate(session):
            status, output = self._shell(command)
            wanted = example.status if index == len(session) - 1 else 0
            self._check_status(command, status, output, wanted)
            check_output(command, output, "\n".join(shown))

    def _python(self, example: Example) -> None:
        self._execute(example.code, example.line)

    def _execute(self, program: str, line: int) -> None:
        with self._here(), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, f"<line {line}>", "exec"), self.names)

    def _pycon(self, example: Example) -> None:
        test = doctest.DocTestParser().get_doctest(example.code, {}, "example", None, example.line)
        test.globs = self.names
        report = io.StringIO()
        with self._here():
            runner = doctest.DocTestRunner(
                optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            )
            runner.run(test, out=report.write, clear_globs=False)
        if report.getvalue():
            raise Different(report.getvalue())

    @contextlib.contextmanager
    def _here(self) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            yield
        finally:
            os.chdir(before)

    def _shell(self, commands: str) -> tuple[int, str]:
        path = [str(self.commands), str(Path(sys.executable).parent), os.environ["PATH"]]
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env={**os.environ, "PATH": os.pathsep.join(path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout

    @staticmethod
    def _check_status(command: str, status: int, output: str, wanted: int) -> None:
        if status != wanted:
            raise Different(f"{command}\nended with status {status}, not {wanted}:\n{output}")


def check_output(command: str, output: str, shown: str) -> None:
    """Compare an output with the output that a page shows.

    Raises
    ------
    Different
        If they differ.
    """
    pattern = ".*".join(re.escape(part) for part in shown.strip().split(_ELLIPSIS))
    if not re.fullmatch(pattern, output.strip(), re.DOTALL):
        raise Different(f"{command}\nprinted\n{output}\nnot\n{shown}")


def _is_pip(line: str) -> bool:
    return line.startswith("pip install ")


def pip_targets(page: str) -> Iterator[str]:
    """Yield the requirements that the pip commands of a page install."""
    for line in page.splitlines():
        for command in re.findall(r"\bpip install ((?:'[^']*'|[^`&|,;)])+)", line):
            yield from (word for word in shlex.split(command) if not word.startswith("-"))
