"""Reads command lines of ``--name=value``, for all commands."""

from collections.abc import Collection, Sequence


class UsageError(Exception):
    """The command line cannot be understood; the message is one line."""


def read_training_flags(
    arguments: Sequence[str], switches: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Read a command line with the flags of ``spm_train``.

    Parameters
    ----------
    arguments : sequence of str
        The command line after the name of the program.
    switches : collection of str
        Additional flags that need no value.

    Returns
    -------
    flags : dict of str to str
        Names and values.
    rest : list of str
        The arguments that are not flags.

    Raises
    ------
    UsageError
        If a flag is unknown or its value is missing, or if ``true`` or ``false`` follows a flag
        that does not take the next argument.
    """
    flags = training_flags()
    bools = {name for name, needs_value in flags.items() if not needs_value}
    return read_flags(arguments, bools | {*switches}, flags)


def training_flags() -> dict[str, bool]:
    """Return the names of the flags of ``spm_train``, and whether each needs a value."""
    # Imported here, because some commands have no training flags.
    from spmcompat.options.option import BOOL  # noqa: PLC0415
    from spmcompat.options.table import OPTIONS  # noqa: PLC0415

    return {option.name: option.kind != BOOL for option in OPTIONS.values() if option.flag}


def read_flags(
    arguments: Sequence[str], bools: Collection[str], with_value: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Read a command line the way Abseil does, except for ``--flag true``.

    A flag is ``--flag=value`` or ``--flag value``, with one dash or two. For a boolean flag,
    ``--flag`` means true and ``--noflag`` means false. Abseil ignores the word ``true`` or
    ``false`` after such a flag; here it is an error. If a flag is given twice, the last value
    counts. Flags end at ``--``.

    Parameters
    ----------
    arguments : sequence of str
        The command line after the name of the program.
    bools : collection of str
        Boolean flags, whose value may be omitted.
    with_value : collection of str
        Flags that need a value.

    Returns
    -------
    flags : dict of str to str
        Names and values.
    rest : list of str
        The arguments that are not flags.

    Raises
    ------
    UsageError
        If a flag is unknown or its value is missing, or if ``true`` or ``false`` follows a flag
        that does not take the next argument.
    """
    known = {*bools, *with_value}
    flags: dict[str, str] = {}
    rest: list[str] = []
    switch = None  # the previous argument and its flag, if it is boolean and without a value
    remaining = iter(arguments)
    for argument in remaining:
        previous, switch = switch, None
        if argument == "--":
            rest.extend(remaining)
        elif previous and argument.lower() in ("true", "false"):
            raise UsageError(
                f"{previous[0]} {argument}: the value of this flag needs an equals sign. Write "
                f"--{previous[1]}={argument.lower()}."
            )
        elif len(argument) < 2 or not argument.startswith("-"):
            rest.append(argument)
        else:
            name, value = _read_flag(argument, known, bools)
            if value is None:
                value = next(remaining, None)
            elif "=" not in argument:
                switch = argument, name
            if value is None:
                raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=VALUE.")
            flags.pop(name, None)  # the flags stay in the order of their last values
            flags[name] = value
    return flags, rest


def _read_flag(
    argument: str, known: Collection[str], bools: Collection[str]
) -> tuple[str, str | None]:
    """Return the name and value of one argument; None if the value is the next argument."""
    name, has_value, value = argument.removeprefix("-").removeprefix("-").partition("=")
    negated = name.removeprefix("no")
    if name not in known and negated in bools and name != negated:
        if has_value:
            raise UsageError(f"--{name} takes no value. Write --{negated}=false.")
        return negated, "false"
    if name not in known:
        from spmcompat.options.near_names import did_you_mean  # noqa: PLC0415

        hint = did_you_mean(name, known, "--") or " See --help."
        raise UsageError(f"Unknown command line flag '{name}'.{hint}")
    if has_value:
        if name in bools and not value:
            raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=true.")
        return name, value
    return name, "true" if name in bools else None
