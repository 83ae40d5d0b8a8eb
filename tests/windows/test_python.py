"""The commands run without the functions that Python lacks on Windows.

The tests replace these functions. They do not show that the package runs on Windows. CI also runs
`mypy --platform win32`, which finds all names that Windows lacks.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.parity import corpora

# The libraries are imported before Python pretends to be on Windows.
AS_ON_WINDOWS = """
import enum, errno, multiprocessing, os, shutil, signal, subprocess, sys, threading
import google.protobuf.descriptor_pool, google.protobuf.internal.builder, numpy, tqdm

for name in ("chown", "fork", "killpg", "posix_spawn", "pread", "sched_getaffinity", "wait4"):
    delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "alarm", "pthread_kill", "pthread_sigmask", "setitimer"):
    delattr(signal, name)
signal.Signals = enum.IntEnum(
    "Signals", {"CTRL_C_EVENT": 0, "CTRL_BREAK_EVENT": 1, "SIGINT": 2, "SIGTERM": 15})
shutil._use_fd_functions = False
os_open, os_fsync = os.open, os.fsync

def open_file(path, flags, *mode):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return os_open(path, flags, *mode)

def fsync(descriptor):
    import fcntl
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    os_fsync(descriptor)

os.open, os.fsync = open_file, fsync
sys.platform = "win32"
"""
COMMAND = "from spmcompat.__main__ import entry_point; entry_point()"


def run(program: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(corpora.mixed_text(1) + corpora.topics_text(), encoding="utf-8")
    return path


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_trained_files_are_equal(model_type: str, text: Path, tmp_path: Path) -> None:
    flags = ("--model_prefix=m", "--vocab_size=600", f"--model_type={model_type}")
    command = ("train", f"--input={text}", *flags)
    for name, program in (("here", COMMAND), ("windows", AS_ON_WINDOWS + COMMAND)):
        # The second run replaces the files of the first one.
        for _ in range(2):
            done = run(program, tmp_path / name, *command)
            assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in (tmp_path / name).iterdir()) == ["m.model", "m.vocab"]
    for name in ("m.model", "m.vocab"):
        here, windows = ((tmp_path / side / name).read_bytes() for side in ("here", "windows"))
        assert here == windows


def test_a_folder_is_written(text: Path, tmp_path: Path) -> None:
    flags = ("--model_prefix=m", "--vocab_size=600")
    assert run(COMMAND, tmp_path, "train", f"--input={text}", *flags).returncode == 0
    export = ("export", "m.model", "--to=hf-folder", "--output=folder", "--verify=no")
    done = run(AS_ON_WINDOWS + COMMAND, tmp_path, *export)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "folder" / "tokenizer.json").exists()


def test_a_command_that_measures_processes_is_refused(text: Path, tmp_path: Path) -> None:
    done = run(AS_ON_WINDOWS + COMMAND, tmp_path, "parity", f"--input={text}", "--vocab_size=600")
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].endswith(
        "Windows cannot measure processes as this command does. Use WSL."
    )
    assert "Traceback" not in done.stderr
