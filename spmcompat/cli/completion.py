"""Scripts that complete command lines in a shell, made from the descriptions of the commands."""

from collections.abc import Iterator, Mapping
from shlex import join

from spmcompat.cli.flags import Command, Flag
from spmcompat.options.help import default_text
from spmcompat.options.option import BOOL, Option

_BASH = r"""
_spmcompat() {
    local command=train current=${COMP_WORDS[COMP_CWORD]} prefix=
    if [[ ${COMP_WORDS[0]##*/} == spmcompat ]]; then
        command=
        ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
        [[ $command == counts ]] && ((COMP_CWORD > 2)) && command="counts ${COMP_WORDS[2]}"
    fi
    # Bash splits --flag=value into three words: the equals sign is a word of its own.
    if [[ $current == = ]]; then
        prefix=${COMP_WORDS[COMP_CWORD - 1]}= current=
    elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
        prefix=${COMP_WORDS[COMP_CWORD - 2]}=
    fi
    COMPREPLY=()
    # If COMPREPLY stays empty, the shell completes file names.
    [[ -z $prefix$current && -n $command && $command != counts ]] && return
    COMPREPLY=($(compgen -W "$(_spmcompat_words "$command")" -X "$prefix" -- "$prefix$current"))
    COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
    [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace
}
complete -o default -F _spmcompat spmcompat spm_train
"""

_ZSH = r"""
_spmcompat() {
    local command=train
    if [[ ${words[1]:t} == spmcompat ]]; then
        command=
        ((CURRENT > 2)) && command=$words[2]
        [[ $command == counts ]] && ((CURRENT > 3)) && command="counts $words[3]"
    fi
    local -a known=(${=$(_spmcompat_words "$command")})
    if [[ -z $command || $command == counts ]]; then
        compadd -- $known
        return
    fi
    if [[ $words[CURRENT] == -* ]]; then
        compadd -S '' -- ${(M)known:#*=}
        compadd -- ${known:#*=}
    fi
    if [[ $words[CURRENT] != -* || $words[CURRENT] == *=* ]]; then
        compset -P '*='
        _files
    fi
}
compdef _spmcompat spmcompat spm_train
"""

SHELLS = {"bash": _BASH, "zsh": _ZSH}


def script(shell: str, commands: Mapping[str, Command]) -> str:
    """Return the script for a shell.

    Parameters
    ----------
    shell : str
        One of `SHELLS`.
    commands : mapping of str to Command
        All commands by name.
    """
    groups: dict[str, list[str]] = {"": []}
    for name in commands:
        first, *second = name.split()
        groups[""] += [] if first in groups[""] else [first]
        if second:
            groups.setdefault(first, []).extend(second)
    groups[""] += ["--help", "--version"]
    words = groups | {name: [*_words(command)] for name, command in commands.items()}
    cases = [f"    {join([name])}) echo {join(some)} ;;\n" for name, some in words.items()]
    return f"_spmcompat_words() {{\n    case $1 in\n{''.join(cases)}    esac\n}}\n{SHELLS[shell]}"


def _words(command: Command) -> Iterator[str]:
    """Yield the flags of a command. A flag with a list of choices is followed by each choice."""
    for flag in command.known().values():
        name = f"--{flag.name}"
        if flag.kind == BOOL:
            yield f"--no{flag.name}" if _is_true(flag) else name
        elif flag.choices:
            yield from (f"{name}={value}" for value in flag.choices if not value.endswith(":N"))
        else:
            yield f"{name}="


def _is_true(flag: Flag | Option) -> bool:
    """Return whether a boolean flag is true by default."""
    return default_text(flag) == "true" if isinstance(flag, Option) else bool(flag.default)
