"""A child that is forked while another thread trains for the first time can train, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from tests.waiting import LIMIT

# The thread stops in the middle of an import, and goes on when the main thread has had the time to
# fork. (It cannot wait for the end of the fork, because the fork waits for the import.) The program
# imports logging, because Python reports an error if a library imports it first during a fork.
PROGRAM = """
import faulthandler, logging, os, sys, threading, time
import spmcompat

module, model_type = sys.argv[1:]
main, importing = threading.get_ident(), threading.Event()

def stop(event, arguments):
    if event == "import" and arguments[0] == module and threading.get_ident() != main:
        importing.set()
        time.sleep(1)

def train(prefix):
    text = {"sentence_iterator": [f"the cat sat on the mat number {i}" for i in range(100)]}
    if module.startswith("pyarrow"):
        text = {"counts": spmcompat.count(**text, minloglevel=2)}
    spmcompat.train(
        **text, model_prefix=prefix, vocab_size=28, model_type=model_type,
        hard_vocab_limit=False, minloglevel=2,
    )

sys.addaudithook(stop)
thread = threading.Thread(target=train, args=("parent",))
thread.start()
assert importing.wait(60), "the module was not imported"
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(60, exit=True)
    train("child")
    os._exit(0)
_, status = os.waitpid(child, 0)
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("module", "model_type"),
    [
        ("spmcompat.options.arguments", "unigram"),
        ("spmcompat.model.sentencepiece_model_pb2", "unigram"),
        ("spmcompat.text.sources", "word"),
        ("spmcompat.unigram.loop", "unigram"),
        ("spmcompat.bpe.merges", "bpe"),
        ("pyarrow.lib", "bpe"),
    ],
)
def test_a_fork_waits_for_imports(module: str, model_type: str, tmp_path: Path) -> None:
    pytest.importorskip(module.partition(".")[0])
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, module, model_type],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "child.vocab").read_bytes() == (tmp_path / "parent.vocab").read_bytes()
