"""The command ``spmcompat trim``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TextIO

from spmcompat.tools.edit import size_command

if TYPE_CHECKING:
    from spmcompat.tools.edit.growing import Change

_USAGE = """\
usage: spmcompat trim MODEL --input=FILE,FILE --keep=N --output=FILE [flags]

Drops the pieces of a unigram or bpe model that a text needs least, until N pieces are left. Meta
pieces and single characters stay. The text is normalized and cut by the options that the model
stores.

  spmcompat trim m.model --input=text.txt --keep=16000 --output=small.model

  --output=FILE         Where to write the model. If the name ends in .model, a .vocab is written
                        beside it.
  --keep=N              Number of pieces to keep, including meta pieces.
  --keep-ids            Keep all ids: dropped pieces become unused. Otherwise, the remaining
                        pieces are renumbered without gaps, in their order.
  --drop-characters     Drop characters, too, unless the coverage of the text requires them.
  --quiet               Show only the error that ends the run.

The flags of spm_train for the text:

"""


def main(argv: Sequence[str], stdout: TextIO | None = None, stderr: TextIO | None = None) -> int:
    """Run ``spmcompat trim`` and return its exit status."""
    switches = ["keep-ids", "drop-characters"]
    one = size_command.Command("trim", _USAGE, "keep", switches, ["character_coverage"], _change)
    return size_command.main(one, argv, stdout, stderr)


def _change(keep: int, keep_ids: bool, drop_characters: bool) -> Change:
    from spmcompat.tools.edit.trimming import Cut, trim  # noqa: PLC0415

    return partial(trim, Cut(keep, keep_ids, drop_characters))
