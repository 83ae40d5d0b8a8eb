"""The target ``gguf``: llama.cpp's file format, with only the vocabulary and no tensors.

llama.cpp has two tokenizers for SentencePiece models. ``llama`` merges by scores, like the BPE
model, but does not normalize. ``t5`` finds the best path, like the Unigram model, and applies the
charsmap.
"""

from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO

from spmcompat.engine import SPACE_MARK
from spmcompat.model.encoding import symbol_score
from spmcompat.model.pieces import NORMAL, UNUSED, USER_DEFINED
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.libraries import require
from spmcompat.tools.export import gguf_file
from spmcompat.tools.export.gguf_limits import changed_symbols, cut_symbols, limits, special_ids
from spmcompat.tools.export.targets import VERIFYING, Loaded

__all__ = ["files", "limits", "load"]


_NAMES = {TrainerSpec.UNIGRAM: "t5", TrainerSpec.BPE: "llama"}

# GGUF numbers the types of tokens as sentencepiece does, and has one more.
_UNDEFINED = 0


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the file."""
    spec = model.normalizer_spec
    kind = _NAMES[model.trainer_spec.model_type]
    tokens = _unigram_tokens(model) if kind == "t5" else _bpe_tokens(model)
    values: dict[str, gguf_file.Value] = {
        # llama.cpp loads the vocabulary without the hyperparameters of the architecture, but it
        # must know the name of the architecture.
        "general.architecture": kind,
        # All files have this name, because llama.cpp applies other rules to names that contain the
        # name of certain models.
        "general.name": "vocabulary",
        "tokenizer.ggml.model": kind,
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": [text for text, _, _ in tokens],
        "tokenizer.ggml.scores": [score for _, score, _ in tokens],
        "tokenizer.ggml.token_type": [kind for _, _, kind in tokens],
        "tokenizer.ggml.add_space_prefix": spec.add_dummy_prefix,
        "tokenizer.ggml.remove_extra_whitespaces": spec.remove_extra_whitespaces,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
    }
    if spec.precompiled_charsmap:
        values["tokenizer.ggml.precompiled_charsmap"] = spec.precompiled_charsmap
    for name, found in special_ids(model).items():
        values[f"tokenizer.ggml.{name}_token_id"] = found
    return {"": gguf_file.serialize(values)}


def load(path: str) -> Loaded:
    """Load the vocabulary of the file with llama.cpp."""
    require("llama_cpp", VERIFYING, "", package="llama-cpp-python")
    from llama_cpp import Llama

    # Hide a warning that llama.cpp prints even with `verbose=False`: the file does not contain the
    # context length.
    with redirect_stderr(StringIO()):
        llama = Llama(model_path=path, vocab_only=True, verbose=False)

    def encode(lines: Sequence[str]) -> list[list[int]]:
        return [llama.tokenize(line.encode(), add_bos=False, special=False) for line in lines]

    if llama.metadata["tokenizer.ggml.model"] != "llama":
        return Loaded(encode)
    prefix = SPACE_MARK if llama.metadata["tokenizer.ggml.add_space_prefix"] == "true" else ""
    # As normalization, the tokenizer ``llama`` only adds the prefix and replaces the spaces.
    return Loaded(encode, lambda line: line and prefix + line.replace(" ", SPACE_MARK))


def _unigram_tokens(model: ModelProto) -> list[tuple[str, float, int]]:
    """Return the text, the score and the type of each token for the tokenizer ``t5``.

    llama.cpp cuts the text at user-defined tokens and puts a space before each part. To avoid this,
    symbols become normal tokens, with the score that ``sentencepiece`` gives them. The exceptions
    are ASCII symbols that the normalizer always changes: they stay user-defined, because llama.cpp
    does not normalize bytes that match the beginning of a user-defined token. Symbols with other
    characters cannot stay user-defined: if the matching bytes end inside a character, llama.cpp
    breaks this character.

    Unused pieces get the type "undefined", because llama.cpp would also match tokens of the type
    "unused".
    """
    kept = [symbol for symbol, is_always in changed_symbols(model).items() if is_always]
    tokens = []
    for piece in model.pieces:
        score, kind = piece.score, int(piece.type)
        if kind == UNUSED:
            kind = _UNDEFINED
        elif kind == USER_DEFINED and not (piece.piece in kept and piece.piece.isascii()):
            score, kind = symbol_score(piece.piece), NORMAL
        tokens.append((piece.piece, score, kind))
    return tokens


def _bpe_tokens(model: ModelProto) -> list[tuple[str, float, int]]:
    """Return the text, the score and the type of each token for the tokenizer ``llama``.

    llama.cpp looks for user-defined tokens before it replaces spaces with space marks, whereas
    ``sentencepiece`` looks for them afterwards. So the space marks in a symbol become spaces,
    unless another piece has this text: llama.cpp ends the program if two tokens have the same text.
    """
    cut = set(cut_symbols(model))
    pieces = {piece.piece for piece in model.pieces}
    tokens = []
    for piece in model.pieces:
        text, kind = piece.piece, int(piece.type)
        if text in cut and kind == USER_DEFINED:
            with_spaces = text.replace(SPACE_MARK, " ")
            text = text if with_spaces in pieces else with_spaces
        elif kind == USER_DEFINED:
            kind = NORMAL
        tokens.append((text, piece.score, kind))
    return tokens
