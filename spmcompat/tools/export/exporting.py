"""Exports models (checks limits, verifies the export, writes the files), and imports models."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from spmcompat.engine import check_text, open_text
from spmcompat.errors import (
    BadValueError,
    ConflictError,
    NotUtf8Error,
    UnwritableError,
    refuse_impossible,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime import outputs
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.hf_folder import (
    FolderOptions,
    refuse_old_template,
    with_options,
    without_control_pieces,
)
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import NEVER_VERIFIED, target_of
from spmcompat.tools.export.verifying import IF_POSSIBLE, NO, REQUIRED, Verification, verify

if TYPE_CHECKING:
    from spmcompat.engine import StrPath


class CannotExportError(BadValueError):
    """The target cannot express the model."""

    kind = "cannot-export"


class UnverifiedError(BadValueError):
    """The export encodes a text differently, or could not be verified."""

    kind = "not-verified"


class InexactImportError(BadValueError):
    """No model encodes exactly as the file does."""

    kind = "inexact-import"


_OPTION = "--output"
_DEFAULTS = FolderOptions()


def export(
    model: ModelProto,
    to: str,
    output: str,
    text: StrPath | Iterable[str] | None,
    warn: Callable[[str], None],
    inputs: Sequence[StrPath] = (),
    *,
    verifying: str | None = None,
    folder: FolderOptions = _DEFAULTS,
) -> Verification:
    """Export a model.

    Parameters
    ----------
    model : ModelProto
        The model to export.
    to : str
        The name of the target.
    output : str
        The file to write, or the folder if the target has several files.
    text : path or iterable of str, optional
        The text to verify the export with, or its lines; by default, the built-in lines that the
        target can express.
    warn : callable
        Called with one line for each part of the model that the target cannot express exactly. All
        calls precede the writing of files.
    inputs : sequence of path
        The files of the model. The export must not replace them, the text or the chat template.
    verifying : str, optional
        One of `MODES`. The default is `REQUIRED`, or `IF_POSSIBLE` for a list of pieces.
    folder : FolderOptions
        The options of an ``hf-folder``. They may let the exported tokenizer find control pieces in
        a text, which ``sentencepiece`` never does. If so, lines that contain the text of a control
        piece are not verified.

    Returns
    -------
    Verification
        The number of lines that differ, by cause.

    Raises
    ------
    BadValueError
        If the target cannot express the model, the target is unknown, the output is an input, or
        the export must be verified but cannot.
    MissingFileError
        If one of the files cannot be written. In this case, none of them is written.
    """
    target = target_of(to)
    given = [name for name, value in folder._asdict().items() if value is not None]
    if given and to != "hf-folder":
        raise ConflictError(f"--{given[0]} is for hf-folder, not for {to}: leave it out.")
    if text is not None and verifying == NO:
        raise ConflictError("--text needs verification. Leave one of --text and --verify=no out.")
    lines = lines_of(text)
    others = [text if isinstance(text, str | os.PathLike) else None, folder.chat_template]
    inputs = [*inputs, *(one for one in others if one is not None)]
    refuse_impossible(output, "Check --output")
    _refuse_pieces(model)
    finds = folder.finds_control_pieces
    limits = [limit for limit in target.limits(model) if not (limit.on_symbols and finds)]
    refuse(limits, to)
    files = target.files(model)
    if given:
        files = with_options(files, model, folder)
    if to == "hf-folder":
        refuse_old_template(output, files)
    paths = _paths(files, output)
    outputs.refuse_inputs(paths.values(), inputs, _OPTION)
    if "" in files:
        outputs.check_output(output, _OPTION)
    elif not output or (os.path.exists(output) and not os.path.isdir(output)):
        raise UnwritableError(f'"{output}": Not a directory. Choose another --output.')
    for limit in limits:
        warn(f"{to}: {limit.line}")
    verifying = verifying or (IF_POSSIBLE if to == NEVER_VERIFIED else REQUIRED)
    if lines is None:
        lines = _expressible(hard_lines(model), limits)
    if finds:
        lines = without_control_pieces(files, lines)
    found = verify(model, target, files, None if verifying == NO else lines)
    if found.problem and verifying == REQUIRED:
        raise UnverifiedError(
            f"{to}: {found.problem} Nothing is written. To write the export nevertheless, give "
            "--verify=if_possible."
        )
    write_export(files, output)
    return found


def _expressible(lines: Iterable[str], limits: Iterable[Limit]) -> list[str]:
    patterns = [limit.inexpressible for limit in limits if limit.inexpressible]
    return [line for line in lines if not any(re.search(one, line) for one in patterns)]


def _paths(names: Iterable[str], output: str) -> dict[str, str]:
    """Return the path of each file of a target. A single file has an empty name."""
    return {name: os.path.join(output, name) if name else output for name in names}


def import_file(
    path: str, output: str, warn: Callable[[str], None], *, approximate: bool = False
) -> None:
    """Convert a ``tokenizer.json`` to a model, and write it.

    Parameters
    ----------
    path : str
        The ``tokenizer.json``, or a folder that contains it.
    output : str
        The model to write.
    warn : callable
        Called with one line for each difference and for each part of the file that the model
        leaves out. All calls precede the writing of the model.
    approximate : bool
        Whether to write a model that encodes some texts differently.

    Raises
    ------
    MissingFileError
        If a file cannot be read or written.
    BadValueError
        If no model can encode text as the file does.
    """
    from spmcompat.tools.export.document import document_path, read_content
    from spmcompat.tools.export.importing import import_tokenizer

    refuse_impossible(path, "Check the path")
    path = document_path(path)
    outputs.check_output(output, _OPTION)
    outputs.refuse_inputs([output], [path], _OPTION)
    content = read_content(path)
    try:
        model, limits = import_tokenizer(content)
    except BadValueError as error:
        raise type(error)(f'"{path}": {error}') from None
    differences = [limit.line for limit in limits if limit.refuses]
    if differences and not approximate:
        more = f" (and {len(differences) - 1} more)" if len(differences) > 1 else ""
        raise InexactImportError(
            f'"{path}": a model cannot encode exactly as the file does: {differences[0]}{more} To '
            "import it nevertheless, give --approximate, which lists all differences."
        )
    for limit in limits:
        warn(limit.line)
    outputs.write_files({output: [model.SerializeToString()]}, _OPTION)


def lines_of(text: StrPath | Iterable[str] | None) -> Iterable[str] | None:
    """Return the lines of a text in UTF-8, whose path is given, or the given lines.

    Raises
    ------
    TrainingError
        If the text cannot be read, or is not plain text in UTF-8.
    """
    if not isinstance(text, str | os.PathLike):
        return text
    check_text(text)  # before all other errors
    return _lines_of_file(os.fspath(text))


def _lines_of_file(path: str) -> Iterator[str]:
    with open_text(path) as file:
        try:
            for line in file:
                yield line.decode().removesuffix("\n")
        except UnicodeDecodeError as error:
            raise NotUtf8Error(f'"{path}": not a text in UTF-8. Check --text.') from error


def _refuse_pieces(model: ModelProto) -> None:
    """Raise if a piece has a text or a score that no target can express.

    Raises
    ------
    BadValueError
        If two pieces have the same text, or a score is infinite or not a number.
    """
    ids = dict[str, int]()
    for index, piece in enumerate(model.pieces):
        if not isfinite(piece.score):
            raise CannotExportError(
                f"the piece {piece.piece!r} has the score {piece.score}, which no target can "
                "express: train the model again, or set the score with spmcompat edit."
            )
        first = ids.setdefault(piece.piece, index)
        if first != index:
            raise CannotExportError(
                f"two pieces, {first} and {index}, have the text {piece.piece!r}, which no target "
                "can express: give one of them another text."
            )


def refuse(limits: Iterable[Limit], to: str) -> None:
    """Raise if a limit makes the export impossible. The message lists all such limits.

    Raises
    ------
    BadValueError
        If there is such a limit.
    """
    refusals = [limit.line for limit in limits if limit.refuses]
    if refusals:
        raise CannotExportError(f"{to} cannot express this model. {' '.join(refusals)}")


def write_export(files: Mapping[str, bytes], output: str) -> None:
    """Write all files of a target, or none.

    Parameters
    ----------
    files : mapping of str to bytes
        The result of `Target.files`.
    output : str
        The file, or the folder, which is created if it does not exist.

    Raises
    ------
    MissingFileError
        If a file cannot be written.
    """
    contents = {path: [files[name]] for name, path in _paths(files, output).items()}
    outputs.write_files(contents, _OPTION, "" if "" in files else output)
