"""Writes the files of a command: all of them, or none.

Each new file is written under a temporary name in the folder of its target and flushed to the disk.
When all files are complete, they replace the old files. The old files are kept under other names
until all new files are in place. If a replacement fails, all old files are restored. Signals that
would end the program are delayed until all files are replaced. Devices, pipes and descriptors such
as ``/dev/stdout`` are written directly, before any file is replaced.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import signal
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import BinaryIO

from spmcompat.errors import (
    MissingFileError,
    OverwriteError,
    TrainingError,
    UnwritableError,
    refuse_impossible,
)

written: list[str] = []
"""The files that this process has created or replaced, in order."""

_SIGNALS = [one for one in signal.Signals if one.name in ("SIGINT", "SIGTERM", "SIGHUP")]
# The errors of fsync on file systems that cannot flush a file or a folder. EBADF is the error of
# Windows for a file that is open only for reading.
_NO_FSYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)
_MOST_LINKS = 40


def check_output(path: str | os.PathLike[str], option: str) -> None:
    """Raise if a file cannot be written. The check does not change anything.

    Parameters
    ----------
    path : path
        The file.
    option : str
        The option that names the file, for the message.

    Raises
    ------
    MissingFileError
        If the path is a folder, a read-only file, or in a folder that is missing or read-only. A
        writable file in a read-only folder is also refused, because it cannot be replaced safely.
    """
    refuse_impossible(path, f"Choose another {option}")
    if _descriptor_of(path) is not None:
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    mode = None
    try:
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, folder)
        with suppress(FileNotFoundError):
            mode = os.stat(target).st_mode
    except FileNotFoundError as error:
        raise _refusal(path, error.errno, f"Make the folder {folder} first.") from error
    except OSError as error:  # such as a name that is too long, or a loop of links
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
    """Raise if an output would overwrite an input.

    Parameters
    ----------
    paths : iterable of paths
        The outputs. Devices and pipes are never refused, but open descriptors of files are.
    inputs : iterable of paths
        The inputs. An empty path is standard input. Missing files are ignored.
    option : str
        The option that names the outputs, for the message.

    Raises
    ------
    BadValueError
        If an output is the same file as an input. The message names both.
    """
    statuses = [(_status(one), os.fspath(one)) for one in inputs]
    for path in paths:
        target = _status(path)
        if target is None or not stat.S_ISREG(target.st_mode):
            continue
        for found, name in statuses:
            if found is not None and os.path.samestat(target, found):
                raise OverwriteError(
                    f'"{os.fspath(path)}" is the same file as the input '
                    f'"{name or "standard input"}", which would be lost. Choose another {option}.'
                )


def refuse_same(path: str, others: Iterable[str], option: str) -> None:
    """Raise if an output is the same file as another output.

    Parameters
    ----------
    path : str
        The output. Devices and pipes are never refused, but open descriptors of files are.
    others : iterable of str
        The other outputs.
    option : str
        The option that names the output, for the message.

    Raises
    ------
    BadValueError
        If two outputs are the same file. The message names both.
    """
    target = _status(path)
    for other in others:
        found = _status(other)
        if target is None or found is None:
            is_same = os.path.realpath(path) == os.path.realpath(other)
        else:
            is_same = stat.S_ISREG(target.st_mode) and os.path.samestat(target, found)
        if is_same:
            raise OverwriteError(
                f'"{path}" is the same file as the output "{other}". Choose another {option}.'
            )


def write_files(files: Mapping[str, Iterable[bytes]], option: str, folder: str = "") -> None:
    """Write all of the files, or none.

    Parameters
    ----------
    files : mapping of str to iterable of bytes
        The content of each path, in parts.
    option : str
        The option that names the files, for messages.
    folder : str
        A folder that is created first if it does not exist.

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
    """Collect new files in a ``with`` statement, and replace the old files when it ends.

    After an exception, no file is replaced, and the new files are removed.

    Parameters
    ----------
    option : str
        The option that names the files, for messages.

    Raises
    ------
    MissingFileError
        If a file cannot be replaced. In this case, no file is replaced.
    """
    pending = Outputs(option)
    # The files are also removed at exit, because a second Ctrl-C can interrupt the ``finally``
    # below before it removes them.
    atexit.register(pending.discard)
    try:
        yield pending
        pending.commit()
    finally:
        pending.discard()
        atexit.unregister(pending.discard)


class Outputs:
    """New files and folders that have temporary names until `commit`; see `outputs`.

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
        """Write several files: first the regular files, then devices, pipes and descriptors.

        Raises
        ------
        MissingFileError
            If a file cannot be written.
        """
        for path in files:
            check_output(path, self._option)
        for path in sorted(files, key=is_special):
            with self.open(path) as file:
                file.writelines(files[path])

    @contextmanager
    def open(self, path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
        """Open a file for a ``with`` statement. The file must be complete when the statement ends.

        Raises
        ------
        MissingFileError
            If the file cannot be created or written.
        """
        check_output(path, self._option)
        name = f'"{os.fspath(path)}"'
        remedy = f"Choose another {self._option}, in a folder that is writable and has free space."
        if is_special(path):
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
        """Create a folder under a temporary name. `commit` renames it together with the files.

        Parameters
        ----------
        path : str
            A folder that does not exist yet, or is empty.
        name, remedy : str
            The name of the folder in messages, and what to do if it cannot be created.

        Returns
        -------
        str
            The temporary path of the folder.

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
        """Create a folder and its parents. The new folders are removed if writing fails.

        Raises
        ------
        MissingFileError
            If the folder cannot be created.
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
        """Replace the old files with the new ones, models last.

        If the process is killed in between, an old model may stand beside new files, but never a
        new model beside old files.

        Raises
        ------
        MissingFileError
            If a file cannot be replaced. In this case, all old files are restored.
        """
        for one in self._pending:
            one.flush_folder()
        with _delayed_signals():
            try:
                for one in self._pending:
                    one.keep_old()
                for one in sorted(self._pending, key=_Pending.is_model):
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
        """Remove the temporary files, the kept old files, and folders that are no longer needed."""
        with _delayed_signals():
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
                raise OverwriteError(
                    f"{other.name} and {name} are the same file. Remove the link, or choose "
                    f"another {self._option}."
                )
        pending = _Pending(name, remedy, target)
        self._pending.append(pending)
        return pending

    def _undo(self, error: BaseException) -> None:
        """Restore the old files. If this also fails, raise an error that says where they are."""
        kept = []
        for one in reversed(self._pending):
            try:
                one.undo()
            except OSError:
                kept.append(f"{one.name} is now {one.aside}")
                one.aside = ""
        if kept:
            raise UnwritableError(f"{error} The old {', '.join(kept)}.") from error


class _Pending:
    """A new file or folder with a temporary name.

    Attributes
    ----------
    name, remedy : str
        The name of the file in messages, and what to do if it cannot be written.
    target : str
        The final path, without links.
    temporary : str
        The temporary path.
    aside : str
        The path that keeps the old file during the replacement; empty if there is no old file.
    is_folder : bool
        Whether the output is a folder.
    """

    def __init__(self, name: str, remedy: str, target: str) -> None:
        self.name = name
        self.remedy = remedy
        self.target = target
        self.temporary = _temporary_name(target)
        self.aside = ""
        self.is_folder = False
        self._is_replaced = False

    def is_model(self) -> bool:
        """Return whether the output is a model, which other files describe."""
        return self.target.endswith(".model")

    def named(self) -> AbstractContextManager[None]:
        """Return a context that names the file in errors of the operating system."""
        return _named(self.name, self.remedy)

    def flush_folder(self) -> None:
        """Flush the files of a folder to the disk."""
        if self.is_folder:
            with self.named():
                for entry in os.scandir(self.temporary):
                    _flush_path(entry.path)

    def keep_old(self) -> None:
        """Keep the old file under a second name: link it, or rename it if it cannot be linked.

        Raises
        ------
        MissingFileError
            If the old output cannot be kept, or is a folder that is not empty.
        """
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
            if self.is_folder and os.listdir(aside):  # another run has filled it in the meantime
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))

    def replace(self) -> None:
        """Give the new file its final name."""
        with self.named():
            os.replace(self.temporary, self.target)
            self._is_replaced = True

    def undo(self) -> None:
        """Restore the old file.

        Raises
        ------
        OSError
            If the old file cannot be restored.
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
        """Remove the temporary output, and the old output that was moved aside."""
        _remove(self.temporary, self.is_folder)
        if self.aside:
            _remove(self.aside, self.is_folder)


@contextmanager
def _named(name: str, remedy: str) -> Iterator[None]:
    """Convert errors of the operating system to one-line errors that name the file and a remedy."""
    try:
        yield
    except OSError as error:
        if isinstance(error, TrainingError):
            raise
        reason = error.strerror or str(error).split("\n", maxsplit=1)[0]
        raise UnwritableError(f"{name}: {reason}. {remedy}") from error


def _refusal(path: str | os.PathLike[str], number: int | None, remedy: str) -> MissingFileError:
    return UnwritableError(f'"{os.fspath(path)}": {os.strerror(number or 0)}. {remedy}')


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a file, or of standard input if the path is empty.

    The result is None if there is no such file.
    """
    try:
        return os.stat(path) if os.fspath(path) else os.fstat(0)
    except (OSError, ValueError):
        return None


def is_special(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is written directly: a device, a pipe or an open descriptor."""
    if _descriptor_of(path) is not None:
        return True
    status = _status(path)
    return status is not None and not stat.S_ISREG(status.st_mode)


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Return whether a path such as ``/dev/stdout`` leads to the standard output."""
    return _descriptor_of(path) == 1


def _descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """Return the open descriptor to which a path such as ``/dev/stdout`` leads, or None.

    The shell may have redirected the descriptor to a regular file. Such a file must be written at
    the position of the descriptor, and must not be replaced.
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
    """Return a path, in the folder of the target, that no other run uses."""
    folder, name = os.path.split(target)
    start = os.fsencode(name)[:200].decode(errors="ignore")  # file systems allow 255 bytes
    return os.path.join(folder, f".{start}.{os.getpid()}.{os.urandom(4).hex()}.tmp")


def _copy_permissions(target: str, new: str | int) -> None:
    """Give a new file the mode of the old file and, if this is allowed, its owner."""
    old, status = _status(target), os.stat(new)
    if old is None:
        return
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    if status.st_mode != old.st_mode:  # on some file systems, modes cannot be changed
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
    """Flush the names in a folder to the disk. Ignore errors: the files are already replaced."""
    with suppress(OSError):
        _flush_path(folder)


def _remove(path: str, is_folder: bool) -> None:
    if is_folder:
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):
        os.unlink(path)


@contextmanager
def _delayed_signals() -> Iterator[None]:
    """Delay signals until the end of a ``with`` statement.

    Blocking them with `signal.pthread_sigmask` would not suffice: another thread would receive the
    signal, and Python would still run the handler in the main thread. If the statement runs in
    another thread or in a subinterpreter, there is nothing to delay, because Python never runs a
    handler there.
    """
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    changed = [number for number in _SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    try:
        for number in changed:
            signal.signal(number, before[number])
    except ValueError:  # only the main thread of the main interpreter can set handlers
        changed = []
    try:
        for number in changed:
            signal.signal(number, lambda caught, _: received.append(caught))
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])
        for caught in received:
            signal.raise_signal(caught)
