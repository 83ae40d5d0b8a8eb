"""Describes commands and their flags, and parses all command lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from types import SimpleNamespace
from typing import Any, NamedTuple, TextIO

from spmcompat.errors import BadValueError, UsageError
from spmcompat.options.option import BOOL, CHOICE, FLOAT, INT32, TEXT, UINT64, Option
from spmcompat.options.values import (
    TRUTH_VALUES,
    parse_bool,
    parse_float,
    parse_int,
    split_csv,
)

SHORT = {"h": "help", "o": "output"}
"""The flags that have a short name."""


class Flag(NamedTuple):
    """A flag of one command; the flags of ``spm_train`` are in the table of options.

    Attributes
    ----------
    name : str
        Its name with underscores.
    help : str
        What it does.
    kind : str
        The type of the value: `BOOL`, `INT32`, `UINT64`, `FLOAT`, `TEXT` or `CHOICE`.
    default : object
        The value if the flag is not given.
    metavar : str
        The word that represents the value in the help, such as ``FILE``. For numbers, it is N by
        default.
    choices : sequence of str
        The allowed values of a `CHOICE`.
    least, most : float, optional
        The smallest and the largest allowed number.
    many : bool
        Whether the value is a list, separated by commas.
    repeated : bool
        Whether each use of the flag adds an item to a list. Otherwise, only the last use counts.
    elsewhere : str
        The name of the corresponding flag of other commands. If it is given, the error suggests
        this flag.
    needs : sequence of str
        The names of the flags without which this flag has no effect.
    """

    name: str
    help: str
    kind: str = TEXT
    default: Any = None
    metavar: str = ""
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    many: bool = False
    repeated: bool = False
    elsewhere: str = ""
    needs: Sequence[str] = ()


class Command(NamedTuple):
    """A command.

    Attributes
    ----------
    name : str
        Its name; messages begin with it.
    purpose : str
        Paragraphs for the help. The first sentence says what the command does.
    usage : str
        Its arguments, for the help.
    run : callable
        Takes the parsed command line and the streams of output and messages, and returns the exit
        status; None means success.
    flags : sequence of Flag
        Its own flags.
    options : mapping of str to sequence of Option
        The flags of ``spm_train`` that the command also accepts. The keys are the titles in the
        help.
    required : sequence of tuple of str
        At least one flag of each tuple must be given.
    exclusive : sequence of tuple of str
        Pairs of flags that cannot be given together.
    positionals : (str, int, int or None)
        How many arguments without a flag are needed: a phrase such as "one model is", which begins
        the error message "one model is needed, not 3"; the smallest number; and the largest number,
        or None if there is no limit.
    success, failure, wrong : str
        The meanings of the exit statuses 0, 1 and 2.
    error : int
        The exit status after an error, except after an error in the command line.
    interrupted : str
        What to say after Ctrl-C. By default, the message says whether files were written.
    """

    name: str
    purpose: str
    usage: str
    run: Callable[[SimpleNamespace, TextIO, TextIO], int | None]
    flags: Sequence[Flag] = ()
    options: Mapping[str, Sequence[Option]] = {}
    required: Sequence[tuple[str, ...]] = ()
    exclusive: Sequence[tuple[str, str]] = ()
    positionals: tuple[str, int, int | None] = ("", 0, 0)
    success: str = "success"
    failure: str = "failure; one line says why and what to do"
    wrong: str = "the command line is wrong; one line says why"
    error: int = 1
    interrupted: str = ""

    def known(self) -> dict[str, Flag | Option]:
        """Return all flags by name."""
        options = {
            option.name: option
            for group in self.options.values()
            for option in group
            if option.flag
        }
        return {**options, **{flag.name: flag for flag in (*self.flags, *COMMON)}}


def switch(name: str, help: str, needs: Sequence[str] = ()) -> Flag:
    """Return a boolean flag that is false by default."""
    return Flag(name, help, BOOL, default=False, needs=needs)


QUIET = switch("quiet", "Print only errors.")
PROGRESS = Flag("progress", "How to show the progress.", CHOICE, "bar", choices=("bar", "json"))
COMMON = (switch("help", "Show this text."), switch("version", "Show the version."))
"""The flags of every command."""


def parse(command: Command, arguments: Sequence[str]) -> SimpleNamespace:
    """Read a command line the way Abseil does, except for ``--flag true`` and stray arguments.

    A flag is ``--flag=value`` or ``--flag value``, with one dash or two, and with dashes or
    underscores in its name. For a boolean flag, ``--flag`` means true and ``--noflag`` means false.
    ``spm_train`` ignores a truth value after such a flag, as it ignores all arguments without a
    flag; here they are errors, unless the command takes arguments without a flag. If a flag is
    given twice, the last value counts, unless the values are added to a list. After ``--``, there
    are no more flags.

    Returns
    -------
    namespace
        The values of the command's own flags; `options`, the texts of the flags of ``spm_train``
        that were given, by name; and `arguments`, the list of all arguments without a flag.

    Raises
    ------
    UsageError
        If a flag is unknown, or a value is missing or not allowed, or if a truth value follows a
        flag that does not take the next argument.
    """
    known = command.known()
    own = {flag.name: flag for flag in (*command.flags, *COMMON)}
    given = SimpleNamespace(
        **{
            name: [*(flag.default or ())] if flag.many else flag.default
            for name, flag in own.items()
        },
        options={},
        arguments=[],
    )
    for name, text in _split(arguments, known):
        if name is None:
            given.arguments.append(text)
        elif name not in own:
            # If an option is repeated, its last use determines its position in `options`.
            given.options.pop(name, None)
            given.options[name] = text
        elif own[name].many:
            values = [_read(own[name], item) for item in split_csv(text)]
            if not values:
                raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=VALUE.")
            setattr(given, name, getattr(given, name) + values if own[name].repeated else values)
        else:
            setattr(given, name, _read(own[name], text))
    if not given.help and not given.version:
        _check_complete(command, given)
    return given


def from_python(
    command: Command, arguments: Iterable[str | PathLike[str]], values: Mapping[str, object]
) -> SimpleNamespace:
    """Return arguments and values from Python as `parse` returns those of a command line.

    Parameters
    ----------
    command : Command
        The command.
    arguments : iterable of path
        The arguments without a flag.
    values : mapping
        Values by the names of flags. A flag whose value is None keeps its default.

    Raises
    ------
    UsageError
        If a value is missing or not allowed.
    """
    given = parse(command._replace(required=(), exclusive=(), positionals=("", 0, None)), [])
    given.arguments = [fspath(one) for one in arguments]
    own = {flag.name: flag for flag in command.flags}
    for name, value in values.items():
        if value is None:
            continue
        flag = own[name]
        is_one = isinstance(value, str) or hasattr(value, "read")  # a file yields its lines
        if flag.many and isinstance(value, Iterable) and not is_one:
            setattr(given, name, [_from_python(flag, one) for one in value])
        else:
            one = _from_python(flag, value)
            setattr(given, name, [one] if flag.many else one)
    _check_complete(command, given, hint="")
    return given


def _from_python(flag: Flag, value: object) -> object:
    """Convert one Python value of a flag as if it were given on the command line."""
    if isinstance(value, str | PathLike):
        fits, text = flag.kind in (TEXT, CHOICE), fspath(value)
    else:
        fits, text = flag.kind not in (TEXT, CHOICE), str(value)
    if fits and isinstance(value, bool) == (flag.kind == BOOL):
        return _read(flag, text)
    raise UsageError(f"--{flag.name} takes {allowed(flag)}, not {value!r:.300}.")


def _split(
    arguments: Sequence[str], known: Mapping[str, Flag | Option]
) -> Iterator[tuple[str | None, str]]:
    """Yield the name and the value of each flag. For other arguments, the name is None."""
    switch = None  # the previous argument and its name, if it was a boolean flag without a value
    remaining = iter(arguments)
    for argument in remaining:
        previous, switch = switch, None
        if argument == "--":
            yield from ((None, rest) for rest in remaining)
        elif previous and argument.lower() in TRUTH_VALUES:
            raise UsageError(
                f"{previous[0]} {argument}: the value of this flag needs an equals sign. Write "
                f"--{previous[1]}={argument.lower()}."
            )
        elif len(argument) < 2 or not argument.startswith("-"):
            yield None, argument
        else:
            name, value = _read_flag(argument, known)
            if value is None:
                value = next(remaining, None)
            elif "=" not in argument:
                switch = argument, name
            if value is None:
                raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=VALUE.")
            yield name, value


def _read_flag(argument: str, known: Mapping[str, Flag | Option]) -> tuple[str, str | None]:
    """Return the name and the value of a flag. The value is None if it is the next argument."""
    given, has_value, value = argument.removeprefix("-").removeprefix("-").partition("=")
    name = given.replace("-", "_")
    name = SHORT.get(name, name)
    negated = name.removeprefix("no")
    if name not in known and name != negated and _is_switch(known.get(negated)):
        if has_value:
            raise UsageError(f"--{given} takes no value. Write --{negated}=false.")
        return negated, "false"
    if name not in known:
        from spmcompat.options.near_names import did_you_mean

        own = [flag for flag in known.values() if isinstance(flag, Flag)]
        meant = [flag.name for flag in own if flag.elsewhere == name]
        hint = did_you_mean("".join(meant) or name, meant or known, "--") or " See --help."
        raise UsageError(f"Unknown command line flag '{given}'.{hint}")
    if has_value:
        if _is_switch(known[name]) and not value:
            raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=true.")
        return name, value
    return name, "true" if _is_switch(known[name]) else None


def _is_switch(flag: Flag | Option | None) -> bool:
    return flag is not None and flag.kind == BOOL


def _read(flag: Flag, text: str) -> object:
    """Convert the text of a flag's value to the type of the flag."""
    least = flag.least or 0
    most = flag.most or (2**31 - 1 if flag.kind == INT32 else 2**64 - 1)
    try:
        if flag.kind == BOOL:
            return parse_bool(text)
        if flag.kind in (INT32, UINT64):
            return parse_int(text, range(int(least), int(most) + 1))
        if flag.kind == FLOAT and least <= (number := parse_float(text)) <= most:
            return number
        if flag.kind == TEXT or text in flag.choices:
            return text
    except BadValueError:
        pass
    from spmcompat.options.near_names import did_you_mean

    hint = did_you_mean(text, flag.choices)
    raise UsageError(f"--{flag.name} takes {allowed(flag)}, not {text!r}.{hint}")


def allowed(flag: Flag) -> str:
    """Return the allowed values in words."""
    if flag.kind == BOOL:
        return "true or false"
    if flag.kind == TEXT:
        return "a text or a path"
    if flag.kind == CHOICE:
        return f"one of {', '.join(flag.choices)}"
    what, form = ("a number", "g") if flag.kind == FLOAT else ("a whole number", "")
    end = "" if flag.most is None else f" to {flag.most:{form}}"
    return f"{what} from {flag.least or 0}{end}"


def _check_complete(command: Command, given: SimpleNamespace, hint: str = " See --help.") -> None:
    """Raise if a flag or an argument is missing, or if there are too many arguments or flags."""
    what, least, most = command.positionals
    rest = given.arguments
    if len(rest) < least or (what and most is not None and len(rest) > most):
        raise UsageError(f"{what} needed, not {len(rest)}.{hint}")
    values = vars(given) | given.options
    # A flag with the value 0 is present, although 0 is false.
    present = {name for name, value in values.items() if value or type(value) in (int, float)}
    for names in command.required:
        if present.isdisjoint(names):
            if rest and not what:
                value = rest[0].removeprefix(f"{names[0]}=")
                raise UsageError(
                    f"--{names[0]} is missing, and {rest[0]!r} is not a flag. Write "
                    f"--{names[0]}={value}."
                )
            choice = " or ".join(f"--{name}" for name in names)
            raise UsageError(f"{choice} is missing.{hint}")
    if rest and not what:
        raise UsageError(
            f"unexpected {rest[0]!r}. Flags begin with two dashes; separate the values of a flag "
            "with commas, and put patterns in quotation marks."
        )
    for pair in command.exclusive:
        if present.issuperset(pair):
            raise UsageError(f"Give either --{pair[0]} or --{pair[1]}.")
    own = {flag.name: flag for flag in command.flags}
    for flag in command.flags:
        for name in flag.needs:
            if flag.name in present and name not in present:
                value = "" if _is_switch(own[name]) else f"={own[name].metavar or 'N'}"
                raise UsageError(f"--{flag.name} needs --{name}{value}.")
