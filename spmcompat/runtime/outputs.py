"""Writes the files of a command: all of them, or none.

Each new file is written under a temporary name in the folder of its target and flushed to the disk.
When all files are complete, they replace the old ones, which are kept under other names until then
and come back if a replacement fails. Signals that would end the program wait until all files are
replaced. Devices, pipes and descriptors such as ``/dev/stdout`` are opened and written instead,
before any file is replaced.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO

from spmcompat.errors import BadValueError, MissingFileError, TrainingError, refuse_impossible

written: list[str] = []
"""The files that this process has created or replaced, in order."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What fsync returns on file systems that cannot flush a file or a folder.
_NO_FSYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)
_MOST_LINKS = 40


def check_output(path: str | os.PathLike[str], option: str) -> None:
    """Raise if a file cannot be written, without changing anything.

    Parameters
    ----------
    path : path
        The file.
    option : str
        The option that names it, for the message.

    Raises
    ------
    MissingFileError
        If the path is a folder, a read-only file or in a folder that is missing or read-only. A
        writable file in a read-only folder is refused too, since it could not be replaced safely.
    """
    refuse_impossible(path, f"Choose another {option}")
    if _descriptor_of(path) is not None:
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise _refusal(path, errno.ENOENT, f"Make the folder {folder} first.")
    try:
        mode = os.lstat(target).st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:  # such as a name that is too long
        raise _refusal(path, error.errno, f"Choose another {option}.") from error
    if mode is not None and stat.S_ISDIR(mode):
        raise _refusal(path, errno.EISDIR, f"Choose another {option}.")
    if mode is not None and not os.access(target, os.W_OK):
        raise _refusal(path, errno.EACCES, f"Make the file writable, or choose another {option}.")
    if (mode is None or stat.S_ISREG(mode)) and not os.access(folder, os.W_OK | os.X_OK):
        remedy = f"Choose a {option} in a folder that can be written."
        raise _refusal(path, errno.EACCES, remedy)


def refuse_inputs(
    paths: Iterable[str | os.PathLike[str]],
    inputs: Iterable[str | os.PathLike[str]],
    option: str,
) -> None:
    """Raise if an output is the same file as an input, which it would destroy.

    Parameters
    ----------
    paths : iterable of paths
        The outputs. Devices and pipes are never refused.
    inputs : iterable of paths
        The inputs; an empty one is standard input. Those that do not exist are skipped.
    option : str
        The option that names the outputs, for the message.

    Raises
    ------
    BadValueError
        It names both files.
    """
    given = [(_status(one), os.fspath(one)) for one in inputs]
    for path in paths:
        target = _status(path)
        if target is None or not stat.S_ISREG(target.st_mode) or _descriptor_of(path) is not None:
            continue
        for found, name in given:
            if found is not None and os.path.samestat(target, found):
                raise BadValueError(
                    f'"{os.fspath(path)}" is the same file as the input '
                    f'"{name or "standard input"}", which would be lost. Choose another {option}.'
                )


def write_files(files: Mapping[str, Iterable[bytes]], option: str, folder: str = "") -> None:
    """Write all of the files, or none.

    Parameters
    ----------
    files : mapping of str to iterable of bytes
        The parts of the content of each path.
    option : str
        The option that names the files, for messages.
    folder : str
        A folder to make first if it does not exist.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    """
    with outputs(option) as pending:
        if folder:
            pending.make_folder(folder)
        pending.write(files)


@contextmanager
def outputs(option: str) -> Iterator[Outputs]:
    """Collect new files in a ``with`` statement; they replace the old ones together at its end.

    After an exception, no file is replaced and the new ones are removed.

    Parameters
    ----------
    option : str
        The option that names the files, for messages.

    Raises
    ------
    MissingFileError
        If a file cannot be replaced. Then none is.
    """
    pending = Outputs(option)
    # A second Ctrl-C can end the ``finally`` below before it has removed anything.
    atexit.register(pending.discard)
    try:
        yield pending
        pending.commit()
    finally:
        pending.discard()
        atexit.unregister(pending.discard)


class Outputs:
    """New files and folders that wait for their names. `outputs` makes one and commits it.

    Parameters
    ----------
    option : str
        The option that names the files, for messages.
    """

    def __init__(self, option: str) -> None:
        self._option = option
        self._pending: list[_Pending] = []
        self._made: list[str] = []

    def write(self, files: Mapping[str, Iterable[bytes]]) -> None:
        """Write files whose contents are known: the regular files first, then the others.

        Raises
        ------
        MissingFileError
            If a file cannot be written.
        """
        for path in files:
            check_output(path, self._option)
        for path in sorted(files, key=_is_special):
            with self.open(path) as file:
                file.writelines(files[path])

    @contextmanager
    def open(self, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
        """Open a file for a ``with`` statement, at whose end the file is complete.

        Raises
        ------
        MissingFileError
            If the file cannot be created or written.
        """
        check_output(path, self._option)
        name = f'"{os.fspath(path)}"'
        remedy = f"Choose another {self._option}, in a folder that is writable and has free space."
        if _is_special(path):
            with _named(name, remedy), _open_special(path) as file:
                yield file
            return
        pending = self._add(path, name, remedy)
        with pending.named(), open(pending.temporary, "xb") as file:
            _copy_permissions(pending.target, file.fileno())
            yield file
            file.flush()
            _flush_to_disk(file.fileno())

    def new_folder(self, path: str, name: str, remedy: str) -> str:
        """Create a folder to be filled, which gets its name together with the files.

        Parameters
        ----------
        path : str
            A folder that does not exist yet, or is empty.
        name, remedy : str
            What messages call the folder, and what to do if it cannot be made.

        Returns
        -------
        str
            The path of the folder until then.

        Raises
        ------
        MissingFileError
            If the folder cannot be created.
        """
        pending = self._add(path, name, remedy)
        pending.is_folder = True
        with pending.named():
            os.mkdir(pending.temporary)
            _copy_permissions(pending.target, pending.temporary)
        return pending.temporary

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents, which stay only if the files are written.

        Raises
        ------
        MissingFileError
            If the folder cannot be made.
        """
        refuse_impossible(path, f"Choose another {self._option}")
        folder = os.path.realpath(path)
        missing: list[str] = []
        while not os.path.lexists(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        with _named(f'"{path}"', f"Choose another {self._option}."):
            for one in reversed(missing):
                self._made.append(one)
                os.mkdir(one)
            if not os.path.isdir(path):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))

    def commit(self) -> None:
        """Replace the old files by the new ones.

        Raises
        ------
        MissingFileError
            If that fails. Then the old files are back.
        """
        for one in self._pending:
            one.flush_folder()
        with _signals_put_off():
            try:
                for one in self._pending:
                    one.keep_old()
                for one in self._pending:
                    one.replace()
                for folder in {os.path.dirname(one.target) for one in self._pending}:
                    _flush_folder(folder)
            except BaseException as error:
                self._undo(error)
                raise
            written.extend(one.target for one in self._pending)
            self._made.clear()
            self.discard()

    def discard(self) -> None:
        """Remove what is left under temporary names."""
        with _signals_put_off():
            for one in self._pending:
                one.discard()
            self._pending.clear()
            while self._made:
                with suppress(OSError):
                    os.rmdir(self._made.pop())

    def _add(self, path: str | os.PathLike[str], name: str, remedy: str) -> _Pending:
        target = os.path.realpath(path)
        for other in self._pending:
            if other.target == target:
                raise BadValueError(
                    f"{other.name} and {name} are the same file. Remove the link, or choose "
                    f"another {self._option}."
                )
        pending = _Pending(name, remedy, target)
        self._pending.append(pending)
        return pending

    def _undo(self, error: BaseException) -> None:
        """Bring the old files back. If that fails too, say where they are."""
        kept = []
        for one in reversed(self._pending):
            try:
                one.undo()
            except OSError:
                kept.append(f"{one.name} is now {one.aside}")
                one.aside = ""
        if kept:
            raise MissingFileError(f"{error} The old {', '.join(kept)}.") from error


class _Pending:
    """A new file or folder that waits for its name.

    Attributes
    ----------
    name, remedy : str
        What messages call it, and what to do if it cannot be written.
    target : str
        The path that it gets, without links.
    temporary : str
        Its path until then.
    aside : str
        Where the old file is kept during the replacement; empty if there is none.
    is_folder : bool
        Whether it is a folder.
    """

    def __init__(self, name: str, remedy: str, target: str) -> None:
        self.name = name
        self.remedy = remedy
        self.target = target
        self.temporary = _temporary_name(target)
        self.aside = ""
        self.is_folder = False
        self._is_replaced = False

    def named(self) -> AbstractContextManager[None]:
        """Return a context that names the file in errors of the system."""
        return _named(self.name, self.remedy)

    def flush_folder(self) -> None:
        """Flush the files of a folder to the disk."""
        if self.is_folder:
            with self.named():
                for entry in os.scandir(self.temporary):
                    _flush_path(entry.path)

    def keep_old(self) -> None:
        """Give the old file a second name, or the only one where links are not possible."""
        if not os.path.lexists(self.target):
            return
        aside = _temporary_name(self.target)
        with self.named():
            if not self.is_folder:
                with suppress(OSError):
                    os.link(self.target, aside)
                    self.aside = aside
                    return
            os.rename(self.target, aside)
            self.aside = aside

    def replace(self) -> None:
        """Let the new file take the name."""
        with self.named():
            os.replace(self.temporary, self.target)
            self._is_replaced = True

    def undo(self) -> None:
        """Bring the old file back.

        Raises
        ------
        OSError
            If that fails.
        """
        if self.aside and (self._is_replaced or not os.path.lexists(self.target)):
            try:
                if self.is_folder and self._is_replaced:
                    os.rename(self.target, self.temporary)
                os.replace(self.aside, self.target)
            except OSError:
                if self.is_folder:
                    raise
                with suppress(FileNotFoundError):
                    os.unlink(self.target)
                os.link(self.aside, self.target)
        elif self._is_replaced:
            _remove(self.target, self.is_folder)

    def discard(self) -> None:
        """Remove the temporary file and the old one."""
        _remove(self.temporary, self.is_folder)
        if self.aside:
            _remove(self.aside, self.is_folder)


@contextmanager
def _named(name: str, remedy: str) -> Iterator[None]:
    """Turn the errors of the system into one line that names a file and says what to do."""
    try:
        yield
    except OSError as error:
        if isinstance(error, TrainingError):
            raise
        reason = error.strerror or str(error).split("\n", maxsplit=1)[0]
        raise MissingFileError(f"{name}: {reason}. {remedy}") from error


def _refusal(path: str | os.PathLike[str], number: int | None, remedy: str) -> MissingFileError:
    return MissingFileError(f'"{os.fspath(path)}": {os.strerror(number or 0)}. {remedy}')


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return what the system says about a file, or about standard input if the path is empty."""
    try:
        return os.stat(path) if os.fspath(path) else os.fstat(0)
    except (OSError, ValueError):
        return None


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is opened and written: a device, a pipe or an open descriptor."""
    if _descriptor_of(path) is not None:
        return True
    status = _status(path)
    return status is not None and not stat.S_ISREG(status.st_mode)


def _descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the open descriptor that a path such as ``/dev/stdout`` leads to.

    Its file may be a regular one, to which the shell has redirected the output. That file must be
    written at the position of the descriptor, and not be replaced.
    """
    name = os.path.abspath(path)
    for _ in range(_MOST_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(last)
        try:
            name = os.path.join(folder, os.readlink(name))
        except (OSError, ValueError):
            break
    return None


def _open_special(path: str | os.PathLike[str]) -> BinaryIO:
    descriptor = _descriptor_of(path)
    return open(path if descriptor is None else os.dup(descriptor), "wb")


def _temporary_name(target: str) -> str:
    """Return a name in the folder of the target that no other run uses."""
    folder, name = os.path.split(target)
    start = os.fsdecode(os.fsencode(name)[:200])  # file systems take 255 bytes
    return os.path.join(folder, f".{start}.{os.getpid()}.{os.urandom(4).hex()}.tmp")


def _copy_permissions(target: str, new: str | int) -> None:
    """Give a new file the mode of the old one, and its owner where that is allowed."""
    old, status = _status(target), os.stat(new)
    if old is None:
        return
    if (status.st_uid, status.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    if status.st_mode != old.st_mode:  # not all file systems have modes that can be changed
        os.chmod(new, stat.S_IMODE(old.st_mode))


def _flush_to_disk(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FSYNC:
            raise


def _flush_path(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _flush_to_disk(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: str) -> None:
    """Flush the names in a folder to the disk. The files are replaced already: no error counts."""
    with suppress(OSError):
        _flush_path(folder)


def _remove(path: str, is_folder: bool) -> None:
    if is_folder:
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):
        os.unlink(path)


@contextmanager
def _signals_put_off() -> Iterator[None]:
    """Let signals wait until the end of a ``with`` statement.

    Blocking them with `signal.pthread_sigmask` would not do: another thread would receive the
    signal, and Python runs the handler in the main thread nevertheless. In other threads, Python
    runs no handler, and there is nothing to put off.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    changed = [number for number in _SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    try:
        for number in changed:
            signal.signal(number, lambda caught, _: came.append(caught))
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])
        for caught in came:
            signal.raise_signal(caught)
