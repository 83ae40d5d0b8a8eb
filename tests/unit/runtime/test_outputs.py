"""Either all files are written, or all old files stay."""

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime import outputs as module
from spmcompat.runtime.outputs import (
    check_output,
    outputs,
    refuse_inputs,
    refuse_same,
    write_files,
)
from tests.kinds import raises_kind


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an old model and its vocabulary."""
    monkeypatch.chdir(tmp_path)
    Path("m.model").write_bytes(b"old model")
    Path("m.vocab").write_bytes(b"old vocab")
    return tmp_path


OLD = {"m.model": b"old model", "m.vocab": b"old vocab"}
NEW = {"m.model": b"new model", "m.vocab": b"new vocab"}


def _write_new() -> None:
    write_files({name: [content[:3], content[3:]] for name, content in NEW.items()}, "option")


def test_all_files_are_replaced(old: Path) -> None:
    _write_new()
    assert _contents(old) == NEW


def test_the_mode_of_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_files({str(tmp_path / "m.model"): []}, "option")
    finally:
        os.umask(before)
    assert (tmp_path / "m.model").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode(old: Path, mode: int) -> None:
    (old / "m.model").chmod(mode)
    _write_new()
    assert (old / "m.model").stat().st_mode & 0o777 == mode
    assert _contents(old) == NEW


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_replaced_file_keeps_its_owner(old: Path) -> None:
    os.chown("m.model", 12345, 54321)
    _write_new()
    status = Path("m.model").stat()
    assert (status.st_uid, status.st_gid) == (12345, 54321)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "m.model").symlink_to(tmp_path / "real" / "x")
    write_files({str(tmp_path / "m.model"): [b"new"]}, "option")
    assert (tmp_path / "m.model").is_symlink()
    assert (tmp_path / "real" / "x").read_bytes() == b"new"
    assert _names(tmp_path / "real") == ["x"]


def test_two_links_to_one_file_are_refused(old: Path) -> None:
    (old / "m.vocab").unlink()
    (old / "m.vocab").symlink_to("m.model")
    with raises_kind("would-overwrite m.model"):
        _write_new()
    assert _contents(old) == {"m.model": b"old model", "m.vocab": b"old model"}


def test_a_folder_in_the_place_of_the_second_file(old: Path) -> None:
    (old / "m.vocab").unlink()
    (old / "m.vocab").mkdir()
    with raises_kind("cannot-write m.vocab Is a directory"):
        _write_new()
    assert (old / "m.model").read_bytes() == b"old model"
    assert _names(old) == ["m.model", "m.vocab"]


def test_a_full_device_changes_no_file(old: Path) -> None:
    (old / "m.vocab").unlink()
    (old / "m.vocab").symlink_to("/dev/full")
    with raises_kind("cannot-write m.vocab No space left on device"):
        _write_new()
    assert (old / "m.model").read_bytes() == b"old model"
    assert _names(old) == ["m.model", "m.vocab"]


def test_a_device_and_a_pipe_are_written(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_files({str(tmp_path / name): [b"x"] for name in ("null", "pipe", "file")}, "option")
    reader.join()
    assert read == [b"x"]
    assert _names(tmp_path) == ["file", "null", "pipe"]


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_in_a_file_is_written_where_it_stands(old: Path, path: str) -> None:
    """The output goes into the file that the shell opened. The earlier text of the file stays."""
    (old / "link").symlink_to("/dev/stdout")
    log = old / "log"
    log.write_bytes(b"before ")
    program = "import sys; from spmcompat.runtime.outputs import write_files\n"
    program += "write_files({sys.argv[1]: [b'new']}, 'option')"
    with open(log, "ab") as stdout:
        _run_python(program, path, stdout=stdout)
    assert log.read_bytes() == b"before new"


def _run_python(
    program: str, *arguments: str, stdout: object = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        stdout=stdout,  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
    )


def test_a_file_size_limit_changes_no_file(old: Path) -> None:
    program = """
import resource, signal, sys
sys.dont_write_bytecode = True  # the limit would truncate it
from spmcompat.runtime.outputs import write_files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
write_files({"m.model": [b"m" * 900], "m.vocab": [b"v" * 2000]}, "option")
"""
    run = _run_python(program)
    assert "UnwritableError" in run.stderr
    assert 'm.vocab": File too large' in run.stderr
    assert _contents(old) == OLD


Calls = Callable[[str], int]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make some calls of an `os` function fail, for example the second and the fifth call."""

    def install(name: str, *numbers: int, error: BaseException | None = None) -> None:
        real = getattr(os, name)
        calls: list[object] = []

        def call(*arguments: object) -> object:
            calls.append(arguments)
            if len(calls) in numbers:
                raise error or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments)

        monkeypatch.setattr(os, name, call)

    return install


@pytest.mark.parametrize("number", [1, 2])
def test_a_failed_replacement_brings_the_old_files_back(
    old: Path, failing: Callable[..., None], number: int
) -> None:
    failing("replace", number)
    with raises_kind("cannot-write No space left on device"):
        _write_new()
    assert _contents(old) == OLD


def test_the_old_files_come_back_where_there_are_no_hard_links(
    old: Path, failing: Callable[..., None]
) -> None:
    failing("link", 1, 2)
    failing("replace", 2)
    with raises_kind("cannot-write No space left on device"):
        _write_new()
    assert _contents(old) == OLD


def test_new_files_are_removed_if_there_were_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: Callable[..., None]
) -> None:
    monkeypatch.chdir(tmp_path)
    failing("replace", 2)
    with raises_kind("cannot-write No space left on device"):
        _write_new()
    assert _names(tmp_path) == []


def test_the_old_file_is_linked_back_if_no_file_can_be_renamed_any_more(
    old: Path, failing: Callable[..., None]
) -> None:
    failing("replace", *range(2, 10))
    with raises_kind("cannot-write No space left on device"):
        _write_new()
    assert _contents(old) == OLD


def test_an_old_file_that_cannot_come_back_is_kept_and_named(
    old: Path, failing: Callable[..., None]
) -> None:
    failing("replace", *range(2, 10))
    failing("link", *range(3, 10))
    with raises_kind("cannot-write m.model") as caught:
        _write_new()
    (kept,) = set(_names(old)) - {"m.model", "m.vocab"}
    assert (old / kept).read_bytes() == b"old vocab"
    assert kept in str(caught.value)
    assert (old / "m.model").read_bytes() == b"old model"


@pytest.mark.parametrize("name", ["link", "replace"])
@pytest.mark.parametrize("number", [1, 2])
def test_another_error_brings_the_old_files_back(
    old: Path, failing: Callable[..., None], name: str, number: int
) -> None:
    failing(name, number, error=MemoryError())
    with pytest.raises(MemoryError):
        _write_new()
    assert _contents(old) == OLD


def test_models_are_replaced_last(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the process is killed between two replacements, a model is never newer than its files."""
    real, replaced = os.replace, []

    def replace(source: str, target: str) -> None:
        replaced.append(os.path.basename(target))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    names = ["m.model", "m.vocab", "n.model", "n.vocab", "map.tsv"]
    write_files({name: [b"new"] for name in names}, "option")
    assert sorted(replaced[-2:]) == ["m.model", "n.model"]
    assert sorted(replaced) == sorted(names)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", ["link", "replace", "unlink"])
def test_a_signal_waits_until_all_files_are_replaced(
    old: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: signal.Signals
) -> None:
    """The signal takes effect after the last replacement, even if a C++ thread receives it."""
    real = getattr(os, name)
    asked = threading.Event()

    def send() -> None:
        asked.wait()
        signal.pthread_kill(threading.get_ident(), number)

    sender = threading.Thread(target=send)
    sender.start()

    def call(*arguments: object) -> object:
        asked.set()
        sender.join()
        return real(*arguments)

    class Came(BaseException):
        pass

    def handle(*_: object) -> None:
        raise Came

    before = signal.signal(number, handle)
    try:
        monkeypatch.setattr(os, name, call)
        with pytest.raises(Came):
            _write_new()
        assert signal.getsignal(number) is handle
    finally:
        signal.signal(number, before)
    assert _contents(old) == NEW


def test_a_signal_while_the_contents_are_written_changes_no_file(old: Path) -> None:
    def contents() -> Iterator[bytes]:
        yield b"new"
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        write_files({"m.model": [b"new"], "m.vocab": contents()}, "option")
    assert _contents(old) == OLD


def test_ignored_signals_stay_ignored(old: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        _write_new()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert _contents(old) == NEW


def test_files_are_written_in_another_thread(old: Path) -> None:
    thread = threading.Thread(target=_write_new)
    thread.start()
    thread.join()
    assert _contents(old) == NEW


def test_an_exit_during_the_cleanup_leaves_no_temporary_file(old: Path) -> None:
    """A second Ctrl-C can interrupt the cleanup before it has begun."""
    program = """
from spmcompat.runtime import outputs
real, calls = outputs.Outputs.discard, []
def discard(self):
    calls.append(self)
    if len(calls) == 1:
        raise KeyboardInterrupt
    real(self)
outputs.Outputs.discard = discard
with outputs.outputs("option") as files:
    files.write({"m.model": [b"new"]})
    raise KeyboardInterrupt
"""
    assert "KeyboardInterrupt" in _run_python(program).stderr
    assert _contents(old) == OLD


def _write_with_folder() -> None:
    with outputs("option") as files:
        folder = Path(files.new_folder("tables", "tables", "Remedy."))
        (folder / "one").write_text("1")
        files.write({name: [content] for name, content in NEW.items()})


@pytest.mark.parametrize("exists", [True, False])
def test_a_new_folder_gets_its_name_with_the_files(old: Path, exists: bool) -> None:
    if exists:
        (old / "tables").mkdir(0o700)
    _write_with_folder()
    assert _names(old) == ["m.model", "m.vocab", "tables"]
    assert _names(old / "tables") == ["one"]
    assert (old / "m.vocab").read_bytes() == b"new vocab"
    if exists:
        assert (old / "tables").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_empty_folder_comes_back_with_the_files(
    old: Path, failing: Callable[..., None], exists: bool, number: int
) -> None:
    if exists:
        (old / "tables").mkdir()
    failing("replace", number)
    with raises_kind("cannot-write No space left on device"):
        _write_with_folder()
    assert _names(old) == ["m.model", "m.vocab", *(["tables"] if exists else [])]
    if exists:
        assert _names(old / "tables") == []
    assert (old / "m.model").read_bytes() == b"old model"


def _write_while_another_run_fills_the_folder() -> None:
    with outputs("option") as files:
        Path(files.new_folder("tables", "tables", "Remedy."), "own").write_text("own")
        files.write({name: [content] for name, content in NEW.items()})
        Path("tables").mkdir()
        Path("tables/other").write_text("other")


def test_a_folder_that_another_run_has_filled_is_kept(old: Path) -> None:
    with raises_kind("cannot-write"):
        _write_while_another_run_fills_the_folder()
    assert _names(old) == ["m.model", "m.vocab", "tables"]
    assert _contents(old / "tables") == {"other": b"other"}
    assert (old / "m.model").read_bytes() == b"old model"


def test_folders_that_were_made_are_removed_after_an_error(tmp_path: Path) -> None:
    out = tmp_path / "a" / "b"
    with raises_kind("cannot-write File name too long"):
        write_files({str(out / "x"): [b"1"], str(out / ("y" * 300)): [b"2"]}, "option", str(out))
    assert _names(tmp_path) == []
    write_files({str(out / "x"): [b"1"]}, "option", str(out))
    assert _names(out) == ["x"]


def test_a_missing_folder(tmp_path: Path) -> None:
    with raises_kind("cannot-write No such file or directory") as caught:
        write_files({str(tmp_path / "nowhere" / "m.model"): [b"m"]}, "option")
    assert isinstance(caught.value, OSError)


def test_a_target_with_the_longest_possible_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of the temporary file is truncated, possibly within a character."""
    monkeypatch.chdir(tmp_path)
    for name in ("x" * 255, "x" + "あ" * 84 + "yy"):
        assert len(name.encode()) == 255
        write_files({name: [b"abc"]}, "option")
        assert Path(name).read_bytes() == b"abc"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_written_is_refused(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test replaces `os.access`, because root may write everywhere."""
    for denied, message in ((old, "option"), (old / "m.model", "option")):
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, _, denied=denied: path != str(denied))
            with raises_kind(f"cannot-write m.model {message}"):
                check_output("m.model", "option")
            with raises_kind("cannot-write m.model Permission denied"):
                _write_new()
        assert _contents(old) == OLD


@pytest.mark.parametrize("name", ["m.model", "soft", "hard", "folder/../m.model"])
def test_an_output_that_is_an_input_is_refused(old: Path, name: str) -> None:
    (old / "folder").mkdir()
    (old / "soft").symlink_to("m.model")
    os.link("m.model", "hard")
    with raises_kind("would-overwrite m.model"):
        refuse_inputs(["new", name], ["m.vocab", "nowhere", str(old / "m.model")], "option")
    refuse_inputs(["m.vocab", "new"], [name], "option")


def test_an_output_that_is_standard_input_is_refused(old: Path) -> None:
    program = "from spmcompat.runtime.outputs import refuse_inputs\n"
    program += "refuse_inputs(['m.model'], [''], 'option')"
    with open("m.model", "rb") as stdin:
        run = subprocess.run(
            [sys.executable, "-c", program],
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(spmcompat.__file__).parents[1])},
        )
    assert 'the same file as the input "standard input"' in run.stderr
    assert _contents(old) == OLD


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="the system has no /dev/fd")
@pytest.mark.parametrize("mode", ["r+b", "ab", "wb"])
@pytest.mark.parametrize("form", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_an_output_that_is_a_descriptor_of_an_input_is_refused(
    old: Path, form: str, mode: str
) -> None:
    with open("new", mode.replace("r+", "w+")) as new, open("m.model", mode) as file:
        path = form.format(file.fileno())
        (old / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        with raises_kind("would-overwrite m.model"):
            refuse_inputs([path], ["m.vocab", "m.model"], "option")
        with raises_kind("would-overwrite m.model"):
            refuse_same(path, ["m.vocab", "m.model"], "option")
        refuse_inputs([f"/dev/fd/{new.fileno()}", path], ["m.vocab"], "option")
        refuse_same(path, ["m.vocab", "missing"], "option")


def test_a_device_may_be_input_and_output() -> None:
    refuse_inputs(["/dev/null"], ["/dev/null"], "option")
    refuse_same("/dev/null", ["/dev/null"], "option")


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("loop", errno.ELOOP),
        ("loop/m.model", errno.ELOOP),
        ("m.model/m.model", errno.ENOTDIR),
        ("missing/m.model", errno.ENOENT),
        ("x" * 300, errno.ENAMETOOLONG),
        (f"{'x' * 300}/m.model", errno.ENAMETOOLONG),
        (".", errno.EISDIR),
    ],
)
def test_the_cause_why_a_file_cannot_be_written(old: Path, path: str, number: int) -> None:
    (old / "loop").symlink_to("loop")
    with raises_kind(f"cannot-write {os.strerror(number)}") as caught:
        check_output(path, "option")
    assert ("Make the folder" in str(caught.value)) == (number == errno.ENOENT)


def test_no_temporary_name_is_used_twice(tmp_path: Path) -> None:
    target = str(tmp_path / "x")
    assert module._temporary_name(target) != module._temporary_name(target)
