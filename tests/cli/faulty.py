"""Runs ``spmcompat`` in a process in which something fails: ``python faulty.py FAULT ARGUMENTS``.

FAULT is a JSON object with one of these fields:

``limit``
    No file can grow beyond this number of bytes. This is the kernel's own limit (`RLIMIT_FSIZE`),
    and needs neither root nor another file system.
``call``
    The name of a function of `os` and a number N: the Nth call of the function fails.
``signal``
    The number of a signal, a kind of event and a number N: the process gets the signal at the Nth
    event of this kind. Events are those of `sys.audit`, such as imports and every way to change a
    file. So an event is the same step of the program in each run, however fast the machine is. The
    kinds are `EVENT`, for all events, and `TEMPORARY`, for those that concern a temporary file.
``deny``
    `os.access` says that this folder cannot be written. (Real permissions do not stop root.)
``record``
    The file to which the number of events of each kind and the number of calls of each function
    are written.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
from typing import Any

CALLS = ("fsync", "link", "mkdir", "rename", "replace")
EVENT, TEMPORARY = "event", "temporary"


def is_temporary(event: str, arguments: tuple[object, ...]) -> bool:
    return event != "import" and any(str(one).endswith((".tmp", ".tmp'")) for one in arguments)


def fail_at(name: str, number: int) -> None:
    """Make call number `number` of an `os` function fail."""
    real, calls = getattr(os, name), 0

    def call(*arguments: Any, **keywords: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments, **keywords)

    setattr(os, name, call)


def deny(folder: str) -> None:
    """Make `os.access` report that a folder cannot be written."""
    real = os.access

    def access(path: Any, mode: int, **keywords: Any) -> bool:
        is_denied = mode & os.W_OK and os.path.realpath(path) == os.path.realpath(folder)
        return not is_denied and real(path, mode, **keywords)

    os.access = access


def send(signal: int, kind: str, number: int) -> None:
    """Send a signal to this process when event number `number` of the given kind occurs."""
    events = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal events
        if kind == EVENT or is_temporary(event, arguments):
            events += 1
            if events == number:
                os.kill(os.getpid(), signal)

    sys.addaudithook(count)


def record(path: str) -> None:
    """Record the events and calls of a process in which nothing fails."""
    import atexit

    events = {EVENT: 0, TEMPORARY: 0}
    calls = dict.fromkeys(CALLS, 0)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        events[EVENT] += 1
        events[TEMPORARY] += is_temporary(event, arguments)

    def counting(name: str) -> Any:
        real = getattr(os, name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            calls[name] += 1
            return real(*arguments, **keywords)

        return call

    for name in CALLS:
        setattr(os, name, counting(name))

    def write() -> None:
        found = {"events": events, "calls": calls}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file)

    atexit.register(write)
    sys.addaudithook(note)


def main(fault: dict[str, Any]) -> None:
    if "limit" in fault:
        sys.dont_write_bytecode = True  # the limit would truncate it
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault["limit"], resource.RLIM_INFINITY))
    if "call" in fault:
        fail_at(*fault["call"])
    if "deny" in fault:
        deny(fault["deny"])
    if "record" in fault:
        record(fault["record"])
    if "signal" in fault:
        send(*fault["signal"])
    from spmcompat.__main__ import entry_point

    entry_point()


if __name__ == "__main__":
    main(json.loads(sys.argv.pop(1)))
