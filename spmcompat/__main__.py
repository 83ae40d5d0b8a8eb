"""The command ``spmcompat``, and ``python -m spmcompat``."""

from __future__ import annotations

import sys

from spmcompat.cli import start  # imported first, so that signals are handled early

TYPE_CHECKING = False  # importing typing would take long
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import SimpleNamespace
    from typing import NoReturn, TextIO

    from spmcompat.cli.flags import Command

# The module that describes each command. If the function to call is not `command`, its name follows
# a colon.
COMMANDS = {
    "train": "cli.train",
    "train_tokenizer": "cli.train_tokenizer",
    "count": "tools.counts.count",
    "counts merge": "tools.counts.command:merging",
    "counts show": "tools.counts.command:showing",
    "evaluate": "tools.evaluate.command",
    "compare": "tools.compare.command",
    "edit": "tools.edit.edit_command",
    "extend": "tools.edit.size_commands:extending",
    "trim": "tools.edit.size_commands:trimming",
    "merge": "tools.edit.merge_command",
    "export": "tools.export.export_command",
    "import": "tools.export.import_command",
    "show": "tools.show.command",
    "view": "tools.view.command",
    "diff": "tools.diff.command",
    "parity": "tools.parity.command",
    "completion": "__main__:completion",
}


def main(
    arguments: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None
) -> int:
    """Run one command and return its exit status."""
    from spmcompat.cli.process import run_command

    out = sys.stdout if stdout is None else stdout
    err = sys.stderr if stderr is None else stderr
    return run_command("spmcompat", lambda: _run(arguments, out, err), err)


def find(name: str) -> Command:
    """Return the description of a command."""
    from importlib import import_module

    module, _, function = COMMANDS[name].partition(":")
    command: Command = getattr(import_module(f"spmcompat.{module}"), function or "command")()
    return command


def _run(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int | None:
    from spmcompat.cli.process import perform, run_command

    if [*arguments[:1]] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    has_second = [*arguments[:1]] == ["counts"] and not "".join(arguments[1:2]).startswith("-")
    words = 2 if has_second else 1
    name, rest = " ".join(arguments[:words]), arguments[words:]
    if name == "train":
        from spmcompat.cli import train

        return train.main(rest, stdout, stderr)
    if name == "counts":
        return perform(_overview(name), rest, stdout, stderr)
    if name not in COMMANDS:
        return perform(_overview(), [name] if name else [], stdout, stderr)
    command = find(name)
    return run_command(
        command.name,
        lambda: perform(command, rest, stdout, stderr),
        stderr,
        failure=command.error,
        interrupted=command.interrupted,
    )


def completion() -> Command:
    """Return the description of ``spmcompat completion``."""
    from spmcompat.cli.flags import Command

    return Command(
        "spmcompat completion",
        "Prints a script with which a shell completes commands, flags and their values.",
        "bash|zsh",
        _complete,
        positionals=("one shell is", 1, 1),
    )


def _complete(given: SimpleNamespace, stdout: TextIO, _: TextIO) -> None:
    from spmcompat.cli.completion import SHELLS, script
    from spmcompat.errors import UsageError

    (shell,) = given.arguments
    if shell not in SHELLS:
        raise UsageError(f"the shell must be bash or zsh, not {shell!r}.")
    stdout.write(script(shell, {name: find(name) for name in COMMANDS}))


def _overview(group: str = "") -> Command:
    """Return the description of the program itself, for command lines without a command.

    If `group` is the first word of several commands, they alone are described.
    """
    from spmcompat.cli.flags import Command
    from spmcompat.cli.help import rows

    shown = {name: find(name).purpose for name in COMMANDS if name.startswith(group)}
    sentences = ((name, text.partition(". ")[0].rstrip(".")) for name, text in shown.items())
    commands = rows(((name, f"{sentence}.") for name, sentence in sentences), 16)
    purpose = (
        "Trains SentencePiece models with the same bytes as sentencepiece, and tokenizer.json "
        "files with the same vocabularies as Hugging Face's tokenizers. Evaluates, compares, "
        "changes and converts models."
    )
    return Command(
        f"spmcompat {group}".rstrip(),
        "Merges and shows counts of texts." if group else purpose,
        "\n".join(
            ["COMMAND [flags]", "", "Commands; spmcompat help COMMAND describes one:", *commands]
        ),
        lambda given, *_: _refuse(group or "".join(given.arguments)),
        positionals=("one command is", 0, 1),
    )


def _refuse(name: str) -> NoReturn:
    """Raise the error for a missing or unknown command."""
    from spmcompat.errors import UsageError
    from spmcompat.options.near_names import did_you_mean

    problem = f"unknown command {name!r}." if name else "no command."
    longer = [one for one in COMMANDS if one.startswith(f"{name.partition(' ')[0]} ")]
    hint = f" Give {' or '.join(longer)}." if longer else did_you_mean(name, COMMANDS)
    if name in ("encode", "decode"):
        hint = f" Use the sentencepiece package to {name}."
    raise UsageError(f"{problem}{hint or ' See spmcompat --help.'}")


def entry_point() -> None:
    """Run the console command."""
    start.run("spmcompat", main)


if __name__ == "__main__":
    entry_point()
