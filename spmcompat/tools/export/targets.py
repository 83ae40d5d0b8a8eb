"""The table of targets. Each target is a module with the functions of `Target`."""

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
        Converts lines to lists of ids, without bos and eos.
    normalize : callable or None
        Converts a line to its normalized text; None if the library does not provide it.
    """

    encode: Callable[[Sequence[str]], list[list[int]]]
    normalize: Callable[[str], str] | None = None


class Target(Protocol):
    """The functions of a target's module."""

    def limits(self, model: ModelProto) -> list[Limit]:
        """Return the parts of the model that the target cannot express exactly."""

    def files(self, model: ModelProto) -> Mapping[str, bytes]:
        """Return the contents of the files, by their names in the output folder.

        If the target is a single file, there is one entry with an empty name.
        """

    def load(self, path: str) -> Loaded:
        """Load the file or folder with the target's own library.

        Raises
        ------
        MissingLibraryError
            If the library is not installed.
        NotVerifiableError
            If no library can encode with this target.
        """


class NotVerifiableError(TrainingError):
    """Raised if an export cannot be verified. The message says why."""

    kind = "not-verified"


NEVER_VERIFIED = "vocab.txt"
"""The target with which no library can encode."""

VERIFYING = "the check"
"""What a target's library is needed for, in messages."""

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
        If the name is unknown.
    """
    if name not in TARGETS:
        raise BadValueError(f"no target is named {name!r}. Give one of {', '.join(TARGETS)}.")
    return cast(Target, import_module(f"spmcompat.tools.export.{TARGETS[name]}"))
