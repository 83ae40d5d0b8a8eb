"""Under any memory limit, a command on counts succeeds or fails with a one-line error.

pyarrow may end the process if its own allocations fail; docs/errors.md says where. Such an end is
accepted only if the failing frame belongs to pyarrow.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from tests.parity import corpora

pytest.importorskip("pyarrow")

LIMITS = int(os.environ.get("SPMCOMPAT_MEMORY_LIMITS", "3"))
SMALLEST, LARGEST = 90, 620
COMMANDS = {
    "count": ["count", "--input=text.txt", "--output=new.counts"],
    "merge": ["counts", "merge", *["text.counts"] * 2, "--weights=2,1.5", "--output=new.counts"],
    "rare": ["counts", "merge", *["text.counts"] * 2, "--min_count=2", "--output=new.counts"],
    "show": ["counts", "show", "text.counts"],
    "train": [
        *("train", "--counts=text.counts", "--model_prefix=new", "--vocab_size=500"),
        *("--model_type=bpe", "--workers=2"),
    ],
}
# The first frame of the report that Python prints for a signal.
_FAILED_IN_PYARROW = re.compile(
    r"Current thread [^\n]*\n"
    r'(  File "<frozen importlib[^\n]*\n)*'
    r'(  <no Python frame>|  File "[^"\n]*[/\\]pyarrow[/\\])'
)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
@pytest.mark.parametrize("name", COMMANDS)
def test_limits_of_the_address_space(name: str, tmp_path: Path) -> None:
    lines = corpora.words_text(3, lines=20_000, types=5_000).splitlines()
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    spmcompat.count(sentence_iterator=lines, minloglevel=2).save(tmp_path / "text.counts")
    env = {**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])}
    before = {path.name for path in tmp_path.iterdir()}
    for number in range(LIMITS):
        mebibytes = SMALLEST + (LARGEST - SMALLEST) * number // max(LIMITS - 1, 1)
        limit = mebibytes << 20
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", "spmcompat", *COMMANDS[name]],
            cwd=tmp_path,
            env=env,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        told = f"{mebibytes} MiB, exit status {done.returncode}: {done.stderr}"
        if done.returncode < 0:
            assert _FAILED_IN_PYARROW.search(done.stderr), told
        elif done.returncode > 0:
            assert done.returncode == 1, told
            assert "Memory ran out" in done.stderr.splitlines()[-1], told
            assert "Traceback" not in done.stderr, told
        for path in tmp_path.iterdir():
            if path.name not in before:
                # A command that reports an error leaves no file. If a signal kills the command, a
                # temporary file may remain.
                assert done.returncode <= 0, told
                path.unlink()
