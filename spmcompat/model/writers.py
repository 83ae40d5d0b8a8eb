"""Where the models of a training go: to files or to the caller's writers."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.vocabulary import vocabulary_lines
from spmcompat.runtime.outputs import Outputs


class Writer(Protocol):
    """Any object with a ``write`` method."""

    def write(self, data: bytes, /) -> object:
        """Write the bytes."""


Writers: TypeAlias = Writer | Sequence[Writer] | Callable[[int], Writer]
"""What takes the models: one writer; or for several sizes one for each, or a function of a size."""


class Trained(NamedTuple):
    """A serialized model, its pieces in the order of their ids, and its spec."""

    model: bytes
    vocabulary: list[tuple[bytes, float]]
    trainer: TrainerSpec


def check_writers(writers: object, sizes: Sequence[int]) -> None:
    """Raise if the writers are not one for each model, before these are trained.

    Parameters
    ----------
    writers : object
        The writers, or None if the models are written to files.
    sizes : sequence of int
        The sizes of several models; empty for one model.
    """
    if not sizes and isinstance(writers, list | tuple):
        raise BadValueError(
            "model_writer is a list of writers, and vocab_size is a single size. Give one writer, "
            "or a list as vocab_size too."
        )
    if writers is None or not sizes or (callable(writers) and not hasattr(writers, "write")):
        return
    if not isinstance(writers, list | tuple):
        raise BadValueError(
            "with a list as vocab_size, model_writer must be a list with a writer for each size, "
            f"or a function from a size to its writer, not {type(writers).__name__}."
        )
    if len(writers) != len(sizes):
        raise BadValueError(
            f"model_writer has {len(writers)} writers for the {len(sizes)} sizes of vocab_size. "
            "Give one for each size."
        )
    for writer in writers:
        _check_writer(writer)


def writers_of(writers: Writers, sizes: Sequence[int]) -> Sequence[Writer]:
    """Return the writer of each size; one writer if there are no sizes.

    Raises
    ------
    BadValueError
        If a function returns what cannot write.
    """
    if not sizes:
        return [writers]  # type: ignore[list-item]
    if isinstance(writers, list | tuple):
        return writers
    found = [writers(size) for size in sizes]  # type: ignore[operator]
    for writer in found:
        _check_writer(writer)
    return found


def _check_writer(writer: object) -> None:
    if not callable(getattr(writer, "write", None)):
        raise BadValueError(
            f"a writer of model_writer has no method write: {type(writer).__name__}. Give objects "
            "such as io.BytesIO()."
        )


def save(models: Iterable[Trained], files: Outputs) -> None:
    """Write ``<model_prefix>.model`` and ``<model_prefix>.vocab`` of each model.

    Raises
    ------
    MissingFileError
        If one of them cannot be written.
    """
    contents: dict[str, Sequence[bytes]] = {}
    for model, vocabulary, spec in models:
        contents[f"{spec.model_prefix}.model"] = [model]
        lines = vocabulary_lines(vocabulary, spec.vocabulary_output_piece_score)
        contents[f"{spec.model_prefix}.vocab"] = [lines]
    files.write(contents)
