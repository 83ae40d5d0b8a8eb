"""The scripts that complete command lines."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import COMMANDS, find, main

_BASH = """
source ./script
compopt() { :; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_spmcompat
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str) -> str:
    out = io.StringIO()
    assert main(["completion", shell], out, io.StringIO()) == 0
    return out.getvalue()


@pytest.fixture
def in_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    monkeypatch.chdir(tmp_path)
    Path("script").write_text(script("bash"), encoding="utf-8")


@pytest.mark.usefixtures("in_bash")
@pytest.mark.parametrize(
    ("words", "replies"),
    [
        ("spmcompat ev", ["evaluate"]),
        ("spmcompat coun", ["count", "counts"]),
        ("/bin/spmcompat counts _", ["merge", "show"]),
        ("spmcompat counts merge --we", ["--weights="]),
        ("spmcompat counts show --", ["--help", "--version"]),
        (
            "spmcompat diff --",
            ["--affixes=", "--text=", "--since=", "--json", "--all", "--help", "--version"],
        ),
        ("spmcompat diff _", []),
        ("spmcompat diff a.mod", []),
        (
            "spmcompat export m.model --ver",
            ["--verify=if_possible", "--verify=no", "--verify=required", "--version"],
        ),
        ("spmcompat export m.model --verify = i", ["if_possible"]),
        ("spmcompat export m.model --to = g", ["gguf"]),
        ("spmcompat export m.model --text = t", []),
        ("spmcompat export m.model --text =", []),
        ("spmcompat completion _", []),
        ("spm_train --model_type =", ["unigram", "bpe", "word", "char"]),
        ("spm_train --model_p", ["--model_prefix="]),
        ("spmcompat train --model_p", ["--model_prefix="]),
        ("spmcompat unknown --a", []),
    ],
)
def test_bash(words: str, replies: list[str]) -> None:
    arguments = ["" if word == "_" else word for word in words.split()]
    done = subprocess.run(
        ["bash", "-c", _BASH, "bash", *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert sorted(done.stdout.split()) == sorted(replies)


def test_zsh_knows_all_commands_and_flags() -> None:
    text = script("zsh")
    assert text.endswith("compdef _spmcompat spmcompat spm_train\n")
    table, _, _ = text.partition("\n}\n")
    assert table == script("bash").partition("\n}\n")[0]
    for name in COMMANDS:
        (line,) = [
            line
            for line in table.splitlines()
            if line.startswith((f"    {name}) echo ", f"    '{name}') echo "))
        ]
        for flag in find(name).known():
            assert f"--{flag}" in line or f"--no{flag}" in line
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=text, text=True, check=True)


def test_the_shell_reads_what_the_program_prints(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spmcompat", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
    )
    assert done.stdout == script("bash")


def test_an_unknown_shell() -> None:
    err = io.StringIO()
    assert main(["completion", "fish"], io.StringIO(), err) == 2
    assert err.getvalue() == ("spmcompat completion: the shell must be bash or zsh, not 'fish'.\n")
