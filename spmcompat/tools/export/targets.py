"""The table of targets. Each one is a module with the functions of `Target`."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.export.limits import Limit


class Loaded(NamedTuple):
    """An export, loaded by the target's own library.

    Attributes
    ----------
    encode : callable
        From lines to the ids of each line, without bos and eos.
    normalize : callable or None
        From a line to its normalized text; None if the library does not tell it.
    decode : callable or None
        From ids to text; None if the library has no such function.
    """

    encode: Callable[[Sequence[str]], list[list[int]]]
    normalize: Callable[[str], str] | None = None
    decode: Callable[[Sequence[int]], str] | None = None


class Target(Protocol):
    """What the module of a target holds."""

    def limits(self, model: ModelProto) -> list[Limit]:
        """Return what the target cannot express exactly."""

    def files(self, model: ModelProto) -> Mapping[str, bytes]:
        """Return the content of each file by its name in the output folder.

        A target that is a single file has one entry, whose name is empty.
        """

    def load(self, path: str) -> Loaded:
        """Load the file or folder with the target's own library.

        Raises
        ------
        MissingLibraryError
            If the library is not installed.
        NotVerifiableError
            If no library encodes with this target.
        """


class NotVerifiableError(TrainingError):
    """An export cannot be checked. The message says why."""


VERIFYING = "the check"
"""What needs the library of a target, in messages."""

# The module of each target in this package.
TARGETS: dict[str, str] = {
    "tokenizer.json": "tokenizer_json",
    "hf-folder": "hf_folder",
    "gguf": "gguf",
    "tiktoken": "tiktoken",
    "vocab.txt": "vocab_txt",
}


def target_of(name: str) -> Target:
    """Return the module of a target.

    Raises
    ------
    BadValueError
        If there is no such target.
    """
    if name not in TARGETS:
        raise BadValueError(f"no target is named {name!r}. Give one of {', '.join(TARGETS)}.")
    return cast(Target, import_module(f"spmcompat.tools.export.{TARGETS[name]}"))
