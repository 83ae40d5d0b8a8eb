"""Edits and merges model files: reads them, changes the models and writes the results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from spmcompat.model.reading import read_model
from spmcompat.text.plain_texts import check_text
from spmcompat.tools.edit.edits import EditResult, Edits, edit_model
from spmcompat.tools.edit.vocabulary import check_model_output, write_model

if TYPE_CHECKING:
    from spmcompat.tools.edit.merging import MergeResult


def edit(
    path: str | PathLike[str],
    edits: Edits,
    output: str | PathLike[str] | None,
    text: str | PathLike[str] | None,
) -> EditResult:
    """Edit a model file. Nothing is written unless all edits are possible.

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
    model = read_model(path)
    if output is not None:
        check_model_output(output, path, [] if text is None else [text])
    changed, result = edit_model(model, edits)
    if text is not None:
        from spmcompat.tools.edit.report import compare_cuts  # noqa: PLC0415

        result = result._replace(changes=compare_cuts(model, changed, text))
    if output is not None:
        write_model(changed, output)
    return result


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
    from spmcompat.tools.edit.merging import merge_models  # noqa: PLC0415

    models = [read_model(path) for path in paths]
    if output is not None and paths:
        check_model_output(output, paths[0], paths[1:])
    merged, result = merge_models(models, [os.fspath(path) for path in paths], weights, vocab_size)
    if output is not None:
        write_model(merged, output)
    return result
