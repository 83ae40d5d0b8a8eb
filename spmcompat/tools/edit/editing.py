"""Edits and merges model files: reads them, changes the models and writes the results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from spmcompat.engine import check_text
from spmcompat.model.loading import Fault
from spmcompat.model.reading import read_for_editing, read_model
from spmcompat.tools.edit.edits import BadEditError, EditResult, Edits, edit_model
from spmcompat.tools.edit.read_file import ReadFile
from spmcompat.tools.edit.vocabulary import check_model_output, write_model

if TYPE_CHECKING:
    from spmcompat.model.sentencepiece_model_pb2 import ModelProto
    from spmcompat.tools.edit.merging_models import MergeResult


def edit(
    path: str | PathLike[str],
    edits: Edits,
    output: str | PathLike[str] | None,
    text: str | PathLike[str] | None,
) -> EditResult:
    """Edit a model file. Nothing is written unless all edits are possible.

    A piece whose text is wrong, for example because it is empty or occurs twice, has the name that
    `read_for_editing` gives it.

    Parameters
    ----------
    path : path
        A ``.model`` file.
    edits : Edits
        The edits.
    output : path, optional
        Where to write the new model.
    text : path, optional
        A text on which the old and the new model are compared.

    Raises
    ------
    TrainingError
        If an edit is not possible, or a file cannot be read or written.
    """
    if text is not None:
        check_text(text)
    read = ReadFile(path)
    model, faults = read_for_editing(path)
    _check_repaired(model, faults, edits)
    if output is not None:
        check_model_output(output, path, [] if text is None else [text])
    changed, result = edit_model(model, edits)
    if text is not None:
        from spmcompat.tools.edit.report import compare_cuts

        result = result._replace(changes=compare_cuts(model, changed, text))
    if output is not None:
        write_model(changed, output, [read])
    return result


def _check_repaired(model: ModelProto, faults: Sequence[Fault], edits: Edits) -> None:
    """Raise if an edit leaves a piece of the model as it is, although it cannot be loaded."""
    for fault in faults:
        name = model.pieces[fault.piece_id].piece
        repairs = [*edits.remove, *(edits.rename if fault.of_text else edits.set_score)]
        if name not in repairs:
            raise BadEditError(f"the edit keeps a piece that cannot be loaded: {fault.message}")


def merge(
    paths: Sequence[str | PathLike[str]],
    output: str | PathLike[str] | None,
    weights: Sequence[float] | None,
    vocab_size: int | None,
) -> MergeResult:
    """Merge model files.

    Parameters
    ----------
    paths : sequence of paths
        ``.model`` files.
    output : path, optional
        Where to write the new model.
    weights, vocab_size
        See `merge_models`.

    Raises
    ------
    TrainingError
        If the models cannot be merged, or a file cannot be read or written.
    """
    from spmcompat.tools.edit.merging_models import merge_models

    read = [ReadFile(path) for path in paths]
    models = [read_model(path) for path in paths]
    if output is not None and paths:
        check_model_output(output, paths[0], paths[1:])
    merged, result = merge_models(models, [os.fspath(path) for path in paths], weights, vocab_size)
    if output is not None:
        write_model(merged, output, read)
    return result
