"""The target ``hf-folder``: a folder that ``AutoTokenizer`` of ``transformers`` loads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spmcompat.model.meta_pieces import reserved_ids
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import require
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import VERIFYING, Loaded

_PIECE = ModelProto.SentencePiece
_CONFIG = "tokenizer_config.json"


def limits(model: ModelProto) -> list[Limit]:
    """Return the limits of the folder. By default, one is that control symbols are plain text."""
    others = _special_pieces(model).get("additional_special_tokens")
    found = tokenizer_json.limits(model)
    if others:
        found.append(
            Limit(
                f"The text of a control symbol such as {others[0]!r} in a line is plain text, as "
                "it is for sentencepiece; a chat template needs the symbol.",
                "For chat templates, give --find_control_symbols.",
                on_symbols=True,
            )
        )
    return found


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the files. They include the model itself, because some programs read it."""
    special = _special_pieces(model)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **special,
        "clean_up_tokenization_spaces": False,
        # If the text of a control piece occurs in a line, it is plain text, as in sentencepiece.
        "split_special_tokens": True,
    }
    return {
        "tokenizer.json": tokenizer_json.files(model)[""],
        _CONFIG: _as_json(config),
        "special_tokens_map.json": _as_json(special),
        "tokenizer.model": model.SerializeToString(),
    }


def with_control_symbols(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder that finds the texts of control symbols in a line."""
    config = {**json.loads(files[_CONFIG]), "split_special_tokens": False}
    return {**files, _CONFIG: _as_json(config)}


def without_control_symbols(model: ModelProto, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines in which `with_control_symbols` finds no symbol."""
    special = _special_pieces(model)
    others = special.pop("additional_special_tokens", [])
    texts = [*map(str, special.values()), *others]
    return (line for line in lines if not any(text in line for text in texts))


def load(path: str) -> Loaded:
    """Load the folder with ``AutoTokenizer``."""
    require("transformers", VERIFYING, "formats")
    from transformers import AutoTokenizer  # noqa: PLC0415

    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    normalizer = tokenizer.backend_tokenizer.normalizer

    def encode(lines: Sequence[str]) -> list[list[int]]:
        if not lines:
            return []
        ids: list[list[int]] = tokenizer(list(lines), add_special_tokens=False)["input_ids"]
        return ids

    def normalize(line: str) -> str:
        return line if normalizer is None else normalizer.normalize_str(line)

    def decode(ids: Sequence[int]) -> str:
        return str(tokenizer.decode(list(ids)))

    return Loaded(encode, normalize, decode)


def _special_pieces(model: ModelProto) -> dict[str, str | list[str]]:
    """Return the pieces with a special meaning, by their names in ``transformers``."""
    ids = reserved_ids(model.trainer_spec, ((piece.piece, piece.type) for piece in model.pieces))
    special: dict[str, str | list[str]] = {
        f"{kind}_token": model.pieces[index].piece for kind, index in ids.items()
    }
    others = [
        piece.piece
        for piece in model.pieces
        if piece.type == _PIECE.CONTROL and piece.piece not in special.values()
    ]
    if others:
        special["additional_special_tokens"] = others
    return special


def _as_json(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()
