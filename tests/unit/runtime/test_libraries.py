"""Missing libraries, and too little memory for one: one line names the library and the remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime import libraries
from spmcompat.runtime.libraries import MissingLibraryError, is_installed, require
from tests.kinds import raises_kind


def test_what_is_installed() -> None:
    assert is_installed("numpy")
    assert is_installed("xml.dom")
    assert not is_installed("nothing_of_that_name")
    assert not is_installed("nothing_of_that_name.module")
    assert not is_installed("xml.nothing_of_that_name")
    require("numpy", "The test", "counts")


def test_nothing_is_imported() -> None:
    assert "this" not in sys.modules
    require("this", "The test", "")
    assert "this" not in sys.modules


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (
            {"extra": "counts"},
            "missing-library test none_such 'spmcompat[counts]'",
        ),
        (
            {"extra": "", "package": "such-as"},
            "missing-library test such-as",
        ),
        (
            {"extra": "", "otherwise": "Or do without."},
            "missing-library test none_such Or do without.",
        ),
    ],
    ids=str,
)
def test_the_message_says_what_to_install(options: dict[str, str], remedy: str) -> None:
    with raises_kind(remedy, MissingLibraryError):
        require("none_such", "The test", **options)


@pytest.mark.parametrize("library", ["numpy", "pyarrow", "matplotlib"])
def test_too_little_memory_for_a_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_installed(library):
        pytest.skip(f"needs {library}")
    monkeypatch.setitem(libraries._MIB_OF_IMPORT, library, 1 << 40)
    monkeypatch.setitem(sys.modules, library, sys)
    require(library, "The test", "")  # it is loaded, so it needs no more memory
    monkeypatch.delitem(sys.modules, library)
    with raises_kind(f"out-of-memory {library}") as caught:
        require(library, "The test", "")
    assert "--input_sentence_size" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "spmcompat.train(input='t.txt', model_prefix='n', vocab_size=30, minloglevel=2, dump='d')",
        "spmcompat.export('m.model', to='gguf', output='m.gguf', verify='no')",
        "spmcompat.export('m.model', to='tokenizer.json', output='m.json', verify='no')",
    ],
)
def test_only_the_evaluation_needs_numpy(call: str, tmp_path: Path) -> None:
    lines = [f"the cat sat on the mat number {i}" for i in range(100)]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    spmcompat.train(
        sentence_iterator=lines, model_prefix=tmp_path / "m", vocab_size=30, minloglevel=2
    )
    root = str(Path(spmcompat.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, spmcompat; {call}; print('numpy' in sys.modules)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "False"
