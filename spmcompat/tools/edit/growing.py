"""Extends and trims model files: reads them, changes the models and writes the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import NamedTuple

from spmcompat.cli.plain import plain_fields
from spmcompat.engine import GivenText, prepare_thread
from spmcompat.errors import BadValueError, naming_stage
from spmcompat.model.pieces import NORMAL, model_type_of, texts_of_type
from spmcompat.model.reading import read_model
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.outputs import check_output, refuse_inputs, refuse_same
from spmcompat.runtime.progress import Report
from spmcompat.tools.edit.id_map import id_map, lines_of
from spmcompat.tools.edit.read_file import ReadFile
from spmcompat.tools.edit.vocabulary import (
    check_model_output,
    paths_of,
    write_model,
)


class WrongModelTypeError(BadValueError):
    """The vocabulary of a model of this type cannot be changed in this way."""

    kind = "wrong-model-type"


_SHOWN = 10  # the number of new or dropped pieces to log


class SizeResult(NamedTuple):
    """The result of extending or trimming a model.

    Attributes
    ----------
    model : bytes
        The new model.
    old_size, size : int
        The number of pieces before and after the change.
    pieces : list of str
        The pieces that were added or dropped, in the order of their ids.
    ids : list of tuple of int
        For each new id, the old id of the piece, or the old ids of the tokens into which the old
        model encodes the text of a new piece: see `id_map`.
    """

    model: bytes
    old_size: int
    size: int
    pieces: list[str]
    ids: list[tuple[int, ...]]

    def to_dict(self) -> dict[str, object]:
        """Return everything except the model as data that JSON can represent."""
        return plain_fields(self)

    def __repr__(self) -> str:
        """Return the sizes, without the bytes of the model."""
        return f"<SizeResult: {self.old_size:,} pieces became {self.size:,}>"


Change = Callable[[ModelProto, GivenText, Report], ModelProto]


def change_size(
    source: str | PathLike[str] | bytes,
    text: GivenText,
    change: Change,
    output: str | PathLike[str] | None,
    report: Report,
    map_file: str | None = None,
) -> SizeResult:
    """Extend or trim a model, and write the new model if an output is given.

    Parameters
    ----------
    source : path or bytes
        The model.
    text : GivenText
        The text.
    change : callable
        Returns the new model.
    output : path, optional
        Where to write the new model.
    report : Report
        Receives log lines and progress.
    map_file : str, optional
        Where to write how the ids change. The file is written together with the model.

    Raises
    ------
    TrainingError
        If the change fails. In this case nothing is written.
    """
    return naming_stage(
        lambda: _change_size(source, text, change, output, report, map_file),
        lambda: report.current,
    )


def _change_size(
    source: str | PathLike[str] | bytes,
    text: GivenText,
    change: Change,
    output: str | PathLike[str] | None,
    report: Report,
    map_file: str | None,
) -> SizeResult:
    prepare_thread()
    path = None if isinstance(source, bytes) else source
    read = [] if path is None else [ReadFile(path)]
    model = read_model(source)
    inputs = text.files
    if output is not None:
        check_model_output(output, path, inputs)
    if map_file is not None:
        check_output(map_file, "--map")
        refuse_inputs([map_file], [*inputs, *([] if path is None else [path])], "--map")
        refuse_same(map_file, [] if output is None else paths_of(output), "--map")
    text.check()  # not the options of the model: training need not be possible with them
    changed = change(model, text, report)
    report.step("Writing")
    ids = id_map(model, changed)
    before, after = (dict.fromkeys(texts_of_type(one, NORMAL)) for one in (model, changed))
    added = [text for text in after if text not in before]
    dropped = [text for text in before if text not in after]
    if output is not None:
        others = {} if map_file is None else {map_file: lines_of(ids)}
        write_model(changed, output, read, others)
        sizes = f"{len(changed.pieces):,} pieces, {len(model.pieces):,} before"
        report.info(f"Saved {fspath(output)}: {sizes}")
    _log_pieces("New", added, report)
    _log_pieces("Dropped", dropped, report)
    new = changed.SerializeToString()
    return SizeResult(new, len(model.pieces), len(changed.pieces), added + dropped, ids)


def check_model(model: ModelProto, what: str) -> None:
    """Raise if training code cannot extend or trim the model.

    Raises
    ------
    BadValueError
        If it is a word or char model, or if it does not replace spaces with U+2581.
    """
    kind = model.trainer_spec.model_type
    if kind not in (TrainerSpec.UNIGRAM, TrainerSpec.BPE):
        name = model_type_of(model.trainer_spec)
        raise WrongModelTypeError(
            f"{what} is for unigram and bpe models, but this is a {name} model. Its pieces are the "
            "most frequent ones of a text: train it again."
        )
    if not model.normalizer_spec.escape_whitespaces:
        raise WrongModelTypeError(
            f"{what} cuts texts at U+2581, but in this model spaces stay spaces: its "
            "escape_whitespaces is false. Add or remove pieces with spmcompat edit."
        )


def _log_pieces(what: str, texts: Sequence[str], report: Report) -> None:
    if texts:
        more = " ..." if len(texts) > _SHOWN else ""
        report.info(f"{what} pieces: {' '.join(texts[:_SHOWN])}{more}")
