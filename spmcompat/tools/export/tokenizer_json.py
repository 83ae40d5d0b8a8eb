"""The target ``tokenizer.json``: a file that the ``tokenizers`` library loads."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spmcompat.engine import SPACE_MARK
from spmcompat.model.encoding import UNKNOWN_PENALTY, symbol_score
from spmcompat.model.pieces import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    texts_of_type,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.libraries import require
from spmcompat.tools.export.charsmap_steps import JsonObject, replace, replace_pattern
from spmcompat.tools.export.limits import DECODING_RULES, TIES, Limit, some
from spmcompat.tools.export.merges_of_pieces import (
    encoder_without_symbols,
    mergeable,
    merges_of,
    ordered_merges,
)
from spmcompat.tools.export.normalizer_json import (
    hidden_characters,
    normalizer,
    normalizer_limits,
    reserved_texts,
)
from spmcompat.tools.export.patterns import escaped, longest_of
from spmcompat.tools.export.targets import VERIFYING, Loaded

_NOT_SYMBOL = 2.0**-40  # less than the rounding errors of scores
_FIRST_SPACE = "\ufdeb"  # a noncharacter, which texts should not contain


def limits(model: ModelProto) -> list[Limit]:
    """Return the parts of the model that a ``tokenizer.json`` cannot express exactly."""
    kind = model.trainer_spec.model_type
    if kind == TrainerSpec.WORD:
        return [
            Limit(
                "It is a word model: unknown words in a row are one piece, and no model of the "
                "library does that.",
                "Train with --model_type=unigram or bpe.",
                refuses=True,
            )
        ]
    return [
        *normalizer_limits(model),
        *_reserved_limits(model),
        *([TIES] if kind == TrainerSpec.UNIGRAM else []),
        *(_unigram_limits(model) if _is_unigram(model) else _bpe_limits(model)),
        *([DECODING_RULES] if model.denormalizer_spec.precompiled_charsmap else []),
    ]


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the file."""
    text = json.dumps(content(model), ensure_ascii=False, indent=1, allow_nan=False)
    return {"": (text + "\n").encode()}


def load(path: str) -> Loaded:
    """Load the file with ``tokenizers``."""
    require("tokenizers", VERIFYING, "formats")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)

    def encode(lines: Sequence[str]) -> list[list[int]]:
        found = tokenizer.encode_batch_fast(list(lines), add_special_tokens=False)
        return [one.ids for one in found]

    return Loaded(encode, normalize_with(tokenizer.normalizer))


def normalize_with(normalizer: Any) -> Callable[[str], str]:
    """Return the function that normalizes a line with a normalizer of ``tokenizers``, or None."""
    return str if normalizer is None else normalizer.normalize_str


def content(model: ModelProto) -> JsonObject:
    """Return the content of a ``tokenizer.json`` as a JSON object."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer(model),
        "pre_tokenizer": _pre_tokenizer(model),
        "post_processor": None,
        "decoder": decoder(model),
        "model": _unigram(model) if _is_unigram(model) else _bpe(model),
    }


def _is_unigram(model: ModelProto) -> bool:
    """Return whether the model is exported as a Unigram model.

    A char model is, because a BPE model would lose its scores. (There is only one way to cut a text
    into characters.) A piece of several characters, which has been added to a char model, is an
    exception: char models never use it.
    """
    kind = model.trainer_spec.model_type
    if kind == TrainerSpec.CHAR:
        normal = (piece.piece for piece in model.pieces if piece.type == NORMAL)
        return all(len(text) == 1 for text in normal)
    return bool(kind == TrainerSpec.UNIGRAM)


def _reserved_limits(model: ModelProto) -> Iterator[Limit]:
    """Yield a limit if the library finds reserved texts in a line.

    A Unigram model can find all of them, but their scores are so low that it cuts the text into
    characters if possible. BPE and char models only find single characters.
    """
    hidden = set(hidden_characters(model))
    texts = [text for text in reserved_texts(model) if hidden.isdisjoint(text)]
    if not _is_unigram(model) or _is_cut_into_characters(model):
        found = [text for text in texts if len(text) == 1]
    else:
        characters = _characters(model)
        found = [text for text in texts if not characters.issuperset(text)]
    if found:
        yield Limit(
            f"{some(found)} in a line becomes that piece, which sentencepiece never finds in a "
            "line.",
            "Train with the characters of that text in --required_chars.",
        )


def _characters(model: ModelProto) -> set[str]:
    """Return the characters that are pieces."""
    types = (NORMAL, USER_DEFINED)
    return {piece.piece for piece in model.pieces if piece.type in types and len(piece.piece) == 1}


# ---------------------------------------------------------------- Unigram


def _unigram(model: ModelProto) -> JsonObject:
    low = _low_score(model)
    return {
        "type": "Unigram",
        "unk_id": _unknown_id(model),
        "vocab": [[piece.piece, _unigram_score(model, piece, low)] for piece in model.pieces],
        "byte_fallback": model.trainer_spec.byte_fallback,
    }


def _unknown_id(model: ModelProto) -> int | None:
    """Return the id of the unknown piece.

    If there is no unknown piece, the result is the id of a byte piece. The library only checks that
    an id is set, and then uses the byte pieces.
    """
    for wanted in (UNKNOWN, BYTE):
        for index, piece in enumerate(model.pieces):
            if piece.type == wanted:
                return index
    return None


def _unigram_score(model: ModelProto, piece: ModelProto.SentencePiece, low: float) -> float:
    """Return the score of a piece.

    ``tokenizers`` searches for the texts of all pieces, whereas ``sentencepiece`` ignores reserved
    and unused pieces. These pieces get a very low score, so that they are not chosen if there is
    another segmentation. A user-defined symbol has the score that ``sentencepiece`` gives it when
    encoding.
    """
    if piece.type == NORMAL:
        return normal_score(piece.score, piece.piece)
    if piece.type == USER_DEFINED:
        return symbol_score(piece.piece)
    return low - 1 if piece.type == UNUSED else low


def normal_score(score: float, text: str) -> float:
    """Return the score in the file of a normal piece.

    If the piece has the score of a user-defined symbol, the score is changed a little, so that the
    piece does not become a symbol when the file is imported.
    """
    return score - _NOT_SYMBOL if score == symbol_score(text) else score


def _low_score(model: ModelProto) -> float:
    """Return a score so low that cutting a piece into characters always has a higher score."""
    lowest = min((piece.score for piece in model.pieces if piece.type == NORMAL), default=0)
    longest = max(len(piece.piece) for piece in model.pieces)
    return float(math.floor((longest + 2) * (min(lowest, 0.0) - UNKNOWN_PENALTY)))


def _unigram_limits(model: ModelProto) -> Iterator[Limit]:
    single = _characters(model)
    partial = [text for text in texts_of_type(model, NORMAL) if not single.issuperset(text)]
    if partial:
        yield Limit(
            f"{some(partial)} contains a character that is not a piece, which costs more in the "
            "library than in sentencepiece, so lines with it can be cut differently.",
            "Train with these characters in --required_chars.",
        )


# ---------------------------------------------------------------- BPE and char


def _bpe(model: ModelProto) -> JsonObject:
    unknown = texts_of_type(model, UNKNOWN)
    is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown[0] if unknown else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": model.trainer_spec.byte_fallback,
        "ignore_merges": _has_long_symbols(model),
        "vocab": {piece.piece: index for index, piece in enumerate(model.pieces)},
        "merges": merges_of(model) if is_bpe else [],
    }


def _has_long_symbols(model: ModelProto) -> bool:
    return any(len(symbol) > 1 for symbol in texts_of_type(model, USER_DEFINED))


def _pre_tokenizer(model: ModelProto) -> JsonObject | None:
    """Return the step that cuts out user-defined symbols, so that no merge crosses their borders.

    With ``ignore_merges``, a part of the text that is itself a piece becomes one token without
    merges. So a symbol of several characters becomes one token.

    Unigram models need no such step, because ``sentencepiece`` searches for their symbols in the
    same way as for other pieces. The step of a char model that is exported as a Unigram model is
    always a ``Sequence``, so that an import can recognize it.
    """
    kind = model.trainer_spec.model_type
    symbols = texts_of_type(model, USER_DEFINED) if kind != TrainerSpec.UNIGRAM else ()
    patterns = [longest_of([tuple(map(ord, symbol)) for symbol in symbols])] if symbols else []
    if _is_cut_into_characters(model):
        patterns.append("(?m:.)")
    split = {
        "type": "Split",
        "pattern": {"Regex": "|".join(patterns)},
        "behavior": "Isolated",
        "invert": False,
    }
    if kind == TrainerSpec.CHAR and _is_unigram(model):
        return {"type": "Sequence", "pretokenizers": [split] if patterns else []}
    return split if patterns else None


def _is_cut_into_characters(model: ModelProto) -> bool:
    """Return whether the pre-tokenizer isolates each character, so that no reserved text is found.

    This is correct only with byte fallback: otherwise, consecutive unknown characters are one
    piece.
    """
    is_char = model.trainer_spec.model_type == TrainerSpec.CHAR
    return is_char and model.trainer_spec.byte_fallback and _is_unigram(model)


def _bpe_limits(model: ModelProto) -> Iterator[Limit]:
    is_bpe = model.trainer_spec.model_type == TrainerSpec.BPE
    pieces = mergeable(model)
    encoder = encoder_without_symbols(model)
    if is_bpe:
        _, misplaced = ordered_merges(model)
        if misplaced:
            yield Limit(
                f"{some(misplaced)} has the score of another piece. If neighbouring merges have "
                "the same score, sentencepiece applies the left one first, the library the one "
                "that comes first in the file. There may be no order that suits all texts.",
                "Models written by spm_train have distinct scores.",
            )
        partial = [text for text in pieces if len(text) > 1 and not set(text) <= pieces.keys()]
        if partial:
            yield Limit(
                f"{some(partial)} contains a character that is not a piece, so no merge makes it.",
                "Train with these characters in --required_chars.",
            )
        unused = [text for text in texts_of_type(model, UNUSED) if encoder.parts(text) is not None]
        if unused:
            yield Limit(
                f"The unused piece {some(unused)} is used; sentencepiece cuts it into its parts."
            )
    if not _has_long_symbols(model):
        return
    hidden = set(hidden_characters(model))
    reserved = [text for text in reserved_texts(model) if len(text) > 1 and hidden.isdisjoint(text)]
    if reserved:
        yield Limit(
            f"{some(reserved)} becomes that piece if it is the whole line, or the only text "
            "between two user-defined symbols.",
            "Train without --user_defined_symbols.",
        )
    unmade = [
        text for text in pieces if len(text) > 1 and (not is_bpe or encoder.parts(text) is None)
    ]
    if unmade:
        yield Limit(
            f"Merges do not produce {some(unmade)}; it becomes that piece if it is the only "
            "text between two user-defined symbols.",
            "Train without --user_defined_symbols.",
        )


# ---------------------------------------------------------------- decoding


def decoder(model: ModelProto) -> JsonObject:
    """Return the steps that turn pieces into text as ``sentencepiece`` does."""
    spec = model.normalizer_spec
    unknown = texts_of_type(model, UNKNOWN)
    silent = texts_of_type(model, CONTROL)
    steps = [_whole(unknown, model.trainer_spec.unk_surface)] if unknown else []
    steps += [_whole(silent, "")] if silent else []
    strips = spec.add_dummy_prefix or spec.remove_extra_whitespaces
    # The first piece of a text loses its leading space. This space is replaced by a special
    # character, because later steps do not know where a piece begins.
    if strips:
        steps.append(replace_pattern(f"\\A{SPACE_MARK}", _FIRST_SPACE))
    if model.trainer_spec.byte_fallback:
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if strips:
        several = "+" if spec.remove_extra_whitespaces else ""
        steps.append(replace_pattern(f"\\A{_FIRST_SPACE}{several}", ""))
        steps.append(replace(_FIRST_SPACE, " "))
    return {"type": "Sequence", "decoders": [*steps, replace(SPACE_MARK, " ")]}


def _whole(texts: Sequence[str], content: str) -> JsonObject:
    """Return the step that replaces a piece with `content` if its whole text is in `texts`."""
    return replace_pattern(f"\\A(?:{'|'.join(map(escaped, texts))})\\z", content)
