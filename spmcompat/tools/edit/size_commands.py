"""The commands ``spmcompat extend`` and ``spmcompat trim``."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag, switch
from spmcompat.engine import INT32
from spmcompat.tools.edit.edit_command import MODEL_OUTPUT, USE_UNUSED

if TYPE_CHECKING:
    from spmcompat.engine import Option
    from spmcompat.tools.edit.growing import Change


_MAP = Flag(
    "map",
    "Where to write how the ids change: for each new id, the old id of the piece; for a new piece, "
    "the old ids of the tokens into which the old model cuts it.",
    metavar="FILE",
)


def extending() -> Command:
    """Return the description of ``spmcompat extend``."""
    return Command(
        "spmcompat extend",
        "Adds pieces to a unigram or bpe model, learned from a new text. Existing pieces keep "
        "their ids and scores. The text is normalized and cut by the options that the model "
        "stores.\n\n"
        "  spmcompat extend m.model --input=new.txt --add=5000 --output=new.model",
        "MODEL --input=FILE,FILE --add=N --output=FILE [flags]",
        _extend,
        [
            MODEL_OUTPUT,
            _MAP,
            Flag(
                "add",
                "Number of new pieces, including the characters that the model lacks and that the "
                "coverage of the new text requires.",
                INT32,
                least=1,
                elsewhere="vocab_size",
            ),
            USE_UNUSED,
        ],
        _text_options(),
        required=[("input", "counts"), ("add",), ("output",)],
        exclusive=[("input", "counts")],
        positionals=("one model is", 1, 1),
    )


def trimming() -> Command:
    """Return the description of ``spmcompat trim``."""
    return Command(
        "spmcompat trim",
        "Drops the pieces of a unigram or bpe model that a text needs least, until a given number "
        "of pieces is left. Meta pieces and single characters stay. The text is normalized and "
        "cut by the options that the model stores.\n\n"
        "  spmcompat trim m.model --input=text.txt --keep=16000 --output=small.model",
        "MODEL --input=FILE,FILE --keep=N --output=FILE [flags]",
        _trim,
        [
            MODEL_OUTPUT,
            _MAP,
            Flag(
                "keep",
                "Number of pieces to keep, including meta pieces.",
                INT32,
                least=1,
                elsewhere="vocab_size",
            ),
            switch(
                "keep_ids",
                "Keep all ids: dropped pieces become unused. Otherwise, the remaining pieces are "
                "renumbered without gaps, in their order.",
            ),
            switch(
                "drop_characters",
                "Drop characters, too, unless the coverage of the text requires them.",
            ),
        ],
        _text_options(),
        required=[("input", "counts"), ("keep",), ("output",)],
        exclusive=[("input", "counts")],
        positionals=("one model is", 1, 1),
    )


def _text_options() -> dict[str, list[Option]]:
    from spmcompat.engine import OPTIONS, TEXT_OPTIONS

    names = (*TEXT_OPTIONS, "character_coverage", "quiet")
    return {"Flags of spm_train for the text": [OPTIONS[name] for name in names]}


def _extend(given: SimpleNamespace, _: TextIO, stderr: TextIO) -> None:
    from spmcompat.tools.edit.extending import extend

    _write(given, partial(extend, add=given.add, use_unused=given.use_unused), stderr)


def _trim(given: SimpleNamespace, _: TextIO, stderr: TextIO) -> None:
    from spmcompat.tools.edit.trimming import trim

    names = ("keep", "keep_ids", "drop_characters")
    _write(given, partial(trim, **{name: getattr(given, name) for name in names}), stderr)


def _write(given: SimpleNamespace, change: Change, stderr: TextIO) -> None:
    """Change the size of the model, and write the result."""
    from spmcompat.engine import text_of_flags
    from spmcompat.tools.edit.growing import change_size

    text = text_of_flags(given.options)
    report = text.report(stderr)
    change_size(given.arguments[0], text, change, given.output, report, given.map)
