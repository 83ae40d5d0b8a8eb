"""Edits and merges model files: reads them, changes the models and writes the results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.model.reading import read_model
from spmcompat.runtime.plain import plain_fields
from spmcompat.text.plain_texts import check_text
from spmcompat.tools.edit.edits import Edits, edit_model
from spmcompat.tools.edit.vocabulary import check_model_output, write_model

if TYPE_CHECKING:
    from spmcompat.tools.edit.report import Changes


class EditResult(NamedTuple):
    """The result of an edit.

    Attributes
    ----------
    model : bytes
        The new model.
    old_size, size : int
        The number of pieces before and after the edit.
    ids : dict of str to int
        The ids of the pieces that were added, were renamed or got a new score.
    unreachable : list of str
        Normal pieces that can no longer be used because they contain a new user-defined symbol.
    covering : list of str
        Normal pieces that contain a new user-defined symbol and can still be used.
    dropped_samples : int
        The number of self-test samples that were dropped because they may no longer be valid.
    changes : Changes or None
        How the encoding of the text changes; None if no text is given.
    """

    model: bytes
    old_size: int
    size: int
    ids: dict[str, int]
    unreachable: list[str]
    covering: list[str]
    dropped_samples: int
    changes: Changes | None

    @property
    def ok(self) -> bool:
        """Always True: a change that fails raises an exception instead of giving a result."""
        return True

    def to_dict(self) -> dict[str, object]:
        """Return all attributes except `model`, as data that JSON can represent."""
        return plain_fields(self)

    def __repr__(self) -> str:
        """Return a summary: the number of pieces before and after the edit."""
        return f"<EditResult: {self.old_size:,} pieces became {self.size:,}>"

    def _repr_html_(self) -> str:
        """Return the summary and the words whose encoding changes, as HTML for a notebook."""
        words = "" if self.changes is None else self.changes._repr_html_()
        return f"<p>{escape(repr(self))}</p>{words}"


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
    edited = edit_model(model, edits)
    changes = None
    if text is not None:
        from spmcompat.tools.edit.report import compare_cuts  # noqa: PLC0415

        changes = compare_cuts(model, edited.model, text)
    if output is not None:
        write_model(edited.model, output)
    return EditResult(
        edited.model.SerializeToString(),
        len(model.pieces),
        len(edited.model.pieces),
        edited.ids,
        edited.unreachable,
        edited.covering,
        edited.dropped_samples,
        changes,
    )


class MergeResult(NamedTuple):
    """The result of a merge.

    Attributes
    ----------
    model : bytes
        The new model.
    size : int
        The number of pieces of the new model.
    added : int
        The number of pieces that the first model does not have.
    left_out : list of str
        Pieces of the other models that were left out because they would never be used.
    unreachable : list of str
        Pieces of the first model that can no longer be used. They keep their ids.
    beyond_size : int
        The number of pieces that did not fit into `vocab_size`.
    dropped_samples : int
        The number of self-test samples that were dropped because they may no longer be valid.
    """

    model: bytes
    size: int
    added: int
    left_out: list[str]
    unreachable: list[str]
    beyond_size: int
    dropped_samples: int

    @property
    def ok(self) -> bool:
        """Always True: a change that fails raises an exception instead of giving a result."""
        return True

    def to_dict(self) -> dict[str, object]:
        """Return all attributes except `model`, as data that JSON can represent."""
        return plain_fields(self)

    def __repr__(self) -> str:
        """Return a summary: the number of pieces, and how many of them are new."""
        return f"<MergeResult: {self.size:,} pieces, {self.added:,} of them new>"


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
    merged = merge_models(models, [os.fspath(path) for path in paths], weights, vocab_size)
    if output is not None:
        write_model(merged.model, output)
    return MergeResult(
        merged.model.SerializeToString(),
        len(merged.model.pieces),
        merged.added,
        merged.left_out,
        merged.unreachable,
        merged.beyond_size,
        len(models[0].self_test_data.samples) if models else 0,
    )
