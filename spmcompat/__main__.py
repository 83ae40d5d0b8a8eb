"""The command ``spmcompat``, and ``python -m spmcompat``."""

import sys

from spmcompat.cli import start  # all else is imported after it handles signals

# What each command does, and its module.
COMMANDS = {
    "train": ("train a model, as spm_train does", "cli.train"),
    "count": ("count a text, to train from its counts later", "tools.counts.count"),
    "counts": ("merge counts of texts, or show them", "tools.counts.command"),
    "evaluate": ("evaluate models on a text", "tools.evaluate.command"),
    "compare": ("train on one text in several ways, and write a report", "tools.compare.command"),
    "edit": ("add, remove and rename single pieces of a model", "tools.edit.edit_command"),
    "extend": ("add pieces to a model, learned from a new text", "tools.edit.extend_command"),
    "trim": ("drop the pieces of a model that a text needs least", "tools.edit.trim_command"),
    "merge": ("merge models, keeping the ids of the first one", "tools.edit.merge_command"),
    "export": ("write a model in the format of another library", "tools.export.export_command"),
    "import": ("convert a tokenizer.json to a model", "tools.export.import_command"),
    "diff": ("list the differences between two models", "tools.diff.command"),
    "parity": ("train with sentencepiece and with spmcompat, and compare", "tools.parity.command"),
}


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    from spmcompat.cli.process import run_command  # noqa: PLC0415

    return run_command("spmcompat", lambda: _run(arguments), sys.stderr)


def _run(arguments: list[str]) -> int:
    from importlib import import_module  # noqa: PLC0415

    from spmcompat.cli.flags import UsageError  # noqa: PLC0415
    from spmcompat.cli.process import OK  # noqa: PLC0415

    name, rest = "".join(arguments[:1]), arguments[1:]
    if name in COMMANDS:
        _, module = COMMANDS[name]
        status: int = import_module(f"spmcompat.{module}").main(rest)
        return status
    if name == "--version":
        from spmcompat.version import __version__  # noqa: PLC0415

        print(f"spmcompat {__version__}")
        return OK
    if name in ("--help", "-h"):
        print("usage: spmcompat COMMAND [arguments]\n")
        for command, (purpose, _) in COMMANDS.items():
            print(f"  {command:<10}{purpose}; see spmcompat {command} --help")
        return OK
    problem = f"unknown command {name!r}" if name else "no command"
    raise UsageError(f"{problem}. Give one of {', '.join(COMMANDS)}.")


def entry_point() -> None:
    """Run the console command."""
    start.run("spmcompat", main)


if __name__ == "__main__":
    entry_point()
