"""The target ``hf-folder``: a folder that the ``AutoTokenizer`` class of ``transformers`` loads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from spmcompat.errors import BadValueError, MissingFileError, OverwriteError, refuse_impossible
from spmcompat.model.meta_pieces import reserved_ids
from spmcompat.model.pieces import CONTROL, UNKNOWN
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import require
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import VERIFYING, Loaded

_CONFIG, _TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
_MOST_BYTES = 16 << 20  # the maximum size of a chat template; published templates have a few KB


class FolderOptions(NamedTuple):
    """The options of the folder.

    Attributes
    ----------
    bos_token, eos_token, pad_token : str, optional
        The pieces to use as these tokens; by default, those that the model uses.
    model_max_length : int, optional
        The number of tokens to which ``transformers`` truncates a text if truncation is
        requested.
    split_special_tokens : bool, optional
        Whether a line that contains the text of a control piece is encoded as plain text, as
        ``sentencepiece`` does. The default is true without a chat template, and false with one.
    chat_template : str, optional
        The path of a chat template.
    """

    bos_token: str | None = None
    eos_token: str | None = None
    pad_token: str | None = None
    model_max_length: int | None = None
    split_special_tokens: bool | None = None
    chat_template: str | None = None

    @property
    def finds_control_pieces(self) -> bool:
        """Whether the tokenizer of the folder finds the texts of control pieces in a line."""
        if self.split_special_tokens is None:
            return self.chat_template is not None
        return not self.split_special_tokens


def limits(model: ModelProto) -> list[Limit]:
    """Return the limits of the folder, including one for control symbols that are plain text."""
    others = _special_pieces(model).get("additional_special_tokens")
    found = tokenizer_json.limits(model)
    if others:
        found.append(
            Limit(
                f"The text of a control symbol such as {others[0]!r} in a line is plain text, as "
                "it is for sentencepiece; a chat template needs the symbol.",
                "For chat templates, give --split_special_tokens=false.",
                on_symbols=True,
            )
        )
    return found


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the files of the folder. They include the model, because some programs read it."""
    special = _special_pieces(model)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **special,
        "clean_up_tokenization_spaces": False,
        # Encode the text of a control piece as plain text, as sentencepiece does.
        "split_special_tokens": True,
    }
    return {
        "tokenizer.json": tokenizer_json.files(model)[""],
        _CONFIG: _as_json(config),
        "special_tokens_map.json": _as_json(special),
        "tokenizer.model": model.SerializeToString(),
    }


def with_options(
    files: Mapping[str, bytes], model: ModelProto, options: FolderOptions
) -> dict[str, bytes]:
    """Apply the options to the files of a folder. Return all files, changed or not.

    Raises
    ------
    BadValueError
        If a special token is neither a control piece nor the unknown piece, `model_max_length` is
        below 1 or too large, or the chat template is empty, too large or not in UTF-8.
    MissingFileError
        If the chat template cannot be read.
    """
    types = {piece.piece: piece.type for piece in model.pieces}
    special: dict[str, object] = dict(_special_pieces(model))
    for name in ("bos_token", "eos_token", "pad_token"):
        text = getattr(options, name)
        if text is None:
            continue
        if not isinstance(text, str) or types.get(text) not in (CONTROL, UNKNOWN):
            raise BadValueError(
                f"{name}: {text!r} is not a control piece of the model. Name a control piece, or "
                "add one with spmcompat edit --add_control."
            )
        special[name] = text
    special.pop("additional_special_tokens", None)
    others = [
        text for text, kind in types.items() if kind == CONTROL and text not in special.values()
    ]
    if others:
        special["additional_special_tokens"] = others
    config = {
        name: value
        for name, value in json.loads(files[_CONFIG]).items()
        if name != "additional_special_tokens"
    }
    config |= {**special, "split_special_tokens": not options.finds_control_pieces}
    if options.model_max_length is not None:
        if not 1 <= options.model_max_length < 1 << 64:
            raise BadValueError("model_max_length must be at least 1, and below 2**64.")
        config["model_max_length"] = options.model_max_length
    changed = {_CONFIG: _as_json(config), "special_tokens_map.json": _as_json(special)}
    if options.chat_template is not None:
        changed[_TEMPLATE] = _template(options.chat_template)
    return {**files, **changed}


def refuse_old_template(folder: str, files: Mapping[str, bytes]) -> None:
    """Raise if the folder has a chat template that transformers would use with the new files."""
    path = os.path.join(folder, _TEMPLATE)
    if _TEMPLATE not in files and os.path.lexists(path):
        raise OverwriteError(
            f'"{path}" exists, and transformers would use it. Remove it, or give --chat_template.'
        )


def _template(path: str) -> bytes:
    """Return the content of a chat template.

    Raises
    ------
    MissingFileError
        If the file cannot be read.
    BadValueError
        If the template is too large, empty, or not in UTF-8.
    """
    refuse_impossible(path, "Check --chat_template")
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise MissingFileError(f'"{path}": {error.strerror}. Check --chat_template.') from error
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or len(content) > _MOST_BYTES:
        raise BadValueError(
            f'"{path}": not a chat template: it is empty, larger than {_MOST_BYTES >> 20} MiB or '
            "not in UTF-8. Check --chat_template."
        )
    return content


def without_control_pieces(files: Mapping[str, bytes], lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that do not contain the text of a special token.

    A tokenizer that finds special tokens in a line encodes the line differently than the model.
    """
    special = json.loads(files["special_tokens_map.json"])
    others = special.pop("additional_special_tokens", [])
    texts = [*special.values(), *others]
    return (line for line in lines if not any(text in line for text in texts))


def load(path: str) -> Loaded:
    """Load the folder with ``AutoTokenizer``."""
    require("transformers", VERIFYING, "formats")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)

    def encode(lines: Sequence[str]) -> list[list[int]]:
        if not lines:
            return []
        ids: list[list[int]] = tokenizer(list(lines), add_special_tokens=False)["input_ids"]
        return ids

    return Loaded(encode, tokenizer_json.normalize_with(tokenizer.backend_tokenizer.normalizer))


def _special_pieces(model: ModelProto) -> dict[str, str | list[str]]:
    """Return the special tokens of the model, keyed by their names in ``transformers``."""
    ids = reserved_ids(model.trainer_spec, ((piece.piece, piece.type) for piece in model.pieces))
    special: dict[str, str | list[str]] = {
        f"{kind}_token": model.pieces[index].piece for kind, index in ids.items()
    }
    others = [
        piece.piece
        for piece in model.pieces
        if piece.type == CONTROL and piece.piece not in special.values()
    ]
    if others:
        special["additional_special_tokens"] = others
    return special


def _as_json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()
