"""What ``spmcompat extend`` and ``spmcompat trim`` have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from spmcompat.cli.flags import UsageError, read_flags
from spmcompat.cli.process import OK, run_command
from spmcompat.errors import BadValueError, UnknownOptionError

if TYPE_CHECKING:
    from spmcompat.tools.edit.growing import Change


class Command(NamedTuple):
    """A command that reads a model and a text, and writes another model.

    Attributes
    ----------
    name : str
        Its name.
    usage : str
        The beginning of its help text.
    size : str
        The flag with a number of pieces.
    switches : sequence of str
        Its flags that need no value.
    text_flags : sequence of str
        The training flags that it takes, in addition to `TEXT_OPTIONS`.
    change : callable
        Returns the change of the model, from the number and the switches.
    """

    name: str
    usage: str
    size: str
    switches: Sequence[str]
    text_flags: Sequence[str]
    change: Callable[..., Change]


def main(
    command: Command,
    argv: Sequence[str],
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Run a command and return its exit status."""
    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command(f"spmcompat {command.name}", lambda: _run(command, argv, out, err), err)


def _run(command: Command, argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    from spmcompat.options.from_flags import from_flags  # noqa: PLC0415
    from spmcompat.options.help import help_of  # noqa: PLC0415
    from spmcompat.options.option import BOOL  # noqa: PLC0415
    from spmcompat.options.table import OPTIONS  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415
    from spmcompat.tools.edit.growing import Sources, change_size  # noqa: PLC0415
    from spmcompat.tools.edit.text import TEXT_OPTIONS  # noqa: PLC0415

    names = [name for name in (*TEXT_OPTIONS, *command.text_flags) if OPTIONS[name].flag]
    switches = {name for name in names if OPTIONS[name].kind == BOOL}
    flags, rest = read_flags(
        argv, {*switches, "help", "quiet", *command.switches}, {*names, "output", command.size}
    )
    if flags.pop("help", "false") != "false":
        stdout.write(command.usage + help_of([OPTIONS[name] for name in names]))
        return OK
    _check_complete(command, flags, rest)
    output, size = flags.pop("output"), _number(command.size, flags.pop(command.size))
    chosen = [_truth(name, flags.pop(name, "false")) for name in command.switches]
    try:
        settings = from_flags(flags)
    except (BadValueError, UnknownOptionError) as error:
        raise UsageError(str(error)) from error
    report = Report(settings.min_log_level, stderr)
    change_size(Sources(rest[0], settings, flags), command.change(size, *chosen), output, report)
    return OK


def _check_complete(command: Command, flags: Mapping[str, str], rest: Sequence[str]) -> None:
    """Raise if an argument is missing or unexpected."""
    if not rest:
        raise UsageError("the model is missing. See --help.")
    if len(rest) > 1:
        raise UsageError(f"unexpected {rest[1]!r}. Flags begin with two dashes.")
    if not flags.get("input") and not flags.get("counts"):
        raise UsageError("--input is missing. See --help.")
    for name in (command.size, "output"):
        if not flags.get(name):
            raise UsageError(f"--{name} is missing. See --help.")


def _number(name: str, text: str) -> int:
    from spmcompat.options.values import INT32, parse_int  # noqa: PLC0415

    try:
        return parse_int(text, INT32)
    except BadValueError as error:
        raise UsageError(f"{error} It was given for {name}.") from None


def _truth(name: str, text: str) -> bool:
    from spmcompat.options.values import parse_bool  # noqa: PLC0415

    try:
        return parse_bool(text)
    except BadValueError as error:
        raise UsageError(f"{error} It was given for {name}.") from None
