"""Under any memory limit, a command succeeds or fails with a one-line error.

Some commands load pyarrow or NumPy. pyarrow may end the process if its own allocations fail;
docs/errors.md says where. Such an end is accepted only if the failing frame belongs to pyarrow.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from tests.parity import corpora
from tests.searches import LONG

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

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
    "parquet": ["train", "--input=text.parquet", "--model_prefix=new", "--vocab_size=500"],
    "arrow": ["train", "--input=text.arrow", "--model_prefix=new", "--vocab_size=500"],
    "dump": ["train", "--input=text.txt", "--model_prefix=new", "--vocab_size=500", "--dump=steps"],
    "dump parquet": [
        *("train", "--input=text.txt", "--model_prefix=new", "--vocab_size=500"),
        *("--dump=steps", "--dump_format=parquet"),
    ],
    "evaluate": ["evaluate", "m.model", "--text=text.txt"],
    "view": ["view", "m.model", "--text=text.txt"],
    "compare": ["compare", "--text=text.txt", "--vocab_size=500", "--configs=bpe", "-o", "report"],
    **{
        form: ["export", "m.model", f"--to={form}", "--output=new", "--verify=if_possible"]
        # A folder for Hugging Face contains a tokenizer.json.
        for form in ("gguf", "hf-folder", *(["tokenizer.json"] if LONG else []))
    },
}
# The first frame of the report that Python prints for a signal.
_FAILED_IN_PYARROW = re.compile(
    r"Current thread [^\n]*\n"
    r'(  File "<frozen importlib[^\n]*\n)*'
    r'(  <no Python frame>|  File "[^"\n]*[/\\]pyarrow[/\\])'
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a text in several formats, its counts and a model."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    folder = tmp_path_factory.mktemp("inputs")
    lines = corpora.words_text(3, lines=5_000, types=5_000).splitlines()
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    table = pa.table({"text": lines})
    parquet.write_table(table, folder / "text.parquet")
    feather.write_feather(table, folder / "text.arrow")
    spmcompat.count(sentence_iterator=lines, minloglevel=2).save(folder / "text.counts")
    spmcompat.train(
        sentence_iterator=lines[:2000], model_prefix=folder / "m", vocab_size=400, minloglevel=2
    )
    return folder


def leftovers(folder: Path) -> list[str]:
    """Return the files that a failed command must not leave.

    A comparison keeps its finished parts, so that the next run can continue. Every other command
    leaves nothing.
    """
    kept = folder / "report"
    found = (path for path in folder.rglob("*") if path != kept)
    return [str(path) for path in found if kept not in path.parents or path.suffix == ".tmp"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
@pytest.mark.parametrize("name", COMMANDS)
def test_limits_of_the_address_space(name: str, inputs: Path, tmp_path: Path) -> None:
    root = str(Path(spmcompat.__file__).parents[1])
    for number in range(LIMITS):
        mebibytes = SMALLEST + (LARGEST - SMALLEST) * number // max(LIMITS - 1, 1)
        limit = mebibytes << 20
        folder = tmp_path / str(mebibytes)
        shutil.copytree(inputs, folder, copy_function=os.link)
        temporary = tmp_path / f"temporary {mebibytes}"
        temporary.mkdir()
        before = leftovers(folder)
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", "spmcompat", *COMMANDS[name]],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": root, "TMPDIR": str(temporary)},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        told = f"{mebibytes} MiB, exit status {done.returncode}: {done.stderr}"
        if done.returncode < 0:
            # If a signal kills the command, a temporary file may remain.
            assert _FAILED_IN_PYARROW.search(done.stderr), told
        elif done.returncode > 0:
            assert done.returncode == 1, told
            assert "Memory ran out" in done.stderr.splitlines()[-1], told
            assert "Traceback" not in done.stderr, told
            assert leftovers(folder) == before, told
        if done.returncode >= 0:
            assert not list(temporary.iterdir()), told
