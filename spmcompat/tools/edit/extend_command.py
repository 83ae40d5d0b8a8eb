"""The command ``spmcompat extend``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from spmcompat.tools.edit import size_command

if TYPE_CHECKING:
    from spmcompat.tools.edit.growing import Change

_USAGE = """\
usage: spmcompat extend MODEL --input=FILE,FILE --add=N --output=FILE [flags]

Adds N pieces to a unigram or bpe model, learned from a new text. Existing pieces keep their
ids and scores. The text is normalized and cut by the options that the model stores.

  spmcompat extend m.model --input=new.txt --add=5000 --output=new.model

  --output=FILE         Where to write the model. If the name ends in .model, a .vocab is written
                        beside it.
  --add=N               Number of new pieces, including the characters that the model lacks
                        and that the coverage of the new text requires.
  --use-unused          Give new pieces the ids of unused pieces and of placeholders such as
                        <unused0> first.
  --quiet               Show only the error that ends the run.

The flags of spm_train for the text:

"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat extend`` and return its exit status."""
    one = size_command.Command(
        "extend", _USAGE, "add", ["use-unused"], ["character_coverage"], _change
    )
    return size_command.main(one, argv, stdout, stderr)


def _change(add: int, use_unused: bool) -> Change:
    from spmcompat.tools.edit.extending import Growth, extend  # noqa: PLC0415

    return partial(extend, Growth(add, use_unused))
