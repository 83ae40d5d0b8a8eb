"""The command ``spmcompat import``."""

from types import SimpleNamespace
from typing import TextIO

from spmcompat.cli.flags import Command, Flag, switch
from spmcompat.engine import fitted
from spmcompat.errors import printable


def command() -> Command:
    """Return the description of the command."""
    return Command(
        "spmcompat import",
        "Converts a tokenizer.json, or the one in a folder, to a model that encodes exactly as the "
        "file does. If no model can, nothing is written, and the error names the part of the file "
        "that a model cannot express, or the first difference.",
        "tokenizer.json --output=m.model",
        _run,
        [
            Flag("output", "The model to write.", metavar="FILE"),
            switch(
                "approximate",
                "Write the model even if it encodes some texts differently. The differences are "
                "listed, each with an example.",
            ),
        ],
        required=[("output",)],
        positionals=("one tokenizer.json is", 1, 1),
        success="the model was written",
    )


def _run(given: SimpleNamespace, stdout: TextIO, stderr: TextIO) -> None:
    from spmcompat.tools.export.exporting import import_file

    (path,) = given.arguments
    import_file(
        path,
        given.output,
        lambda line: print(fitted(f"note: {printable(line)}", stderr), file=stderr),
        approximate=given.approximate,
    )
    stdout.write(f"written: {given.output}\n")
