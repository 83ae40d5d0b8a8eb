"""The files of tiktoken: ranks of byte strings, and the pattern that splits texts.

tiktoken merges bytes, and always the pair with the lowest rank; the rank is the id. The BPE model
merges characters, and always the pair with the highest score. The export keeps the ids of the
model. Merging gives the same result if two conditions are met: the ids of merged pieces are in the
order of their scores, and merged pieces contain no multi-byte characters. (tiktoken would also need
ids for the parts of such a character.) The pattern splits off multi-byte characters that are
separate pieces, and tiktoken looks up each whole match of the pattern before merging. The pattern
splits off user-defined symbols in the same way.

Characters of two bytes are an exception, because their parts are single bytes, which have ids. A
merged piece may contain such a character if the character has a lower id than the piece: then
tiktoken merges the two bytes first.
"""

import json
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from spmcompat.engine import SPACE_MARK
from spmcompat.model.pieces import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    model_type_of,
    texts_of_type,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.runtime.libraries import require
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.merges_of_pieces import encoder_without_symbols
from spmcompat.tools.export.patterns import ranges
from spmcompat.tools.export.targets import VERIFYING, Loaded

RANKS, SETTINGS = "ranks.tiktoken", "encoding.json"

_ASCII = frozenset(map(chr, range(128)))


def limits(model: ModelProto) -> list[Limit]:
    """Return the differences between tiktoken and ``sentencepiece``."""
    refusals = [Limit(text, remedy, refuses=True) for text, remedy in _refusals(model)]
    return refusals or [
        Limit(
            "tiktoken treats the character U+2581 in a text as itself, sentencepiece as a space.",
            inexpressible=SPACE_MARK,
        )
    ]


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the ranks, and the other arguments of ``tiktoken.Encoding`` as JSON."""
    ranks = _ranks(model)
    lines = [
        b64encode(token) + b" %d\n" % rank
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    ]
    names = {
        piece.piece: number
        for number, piece in enumerate(model.pieces)
        if piece.type in (CONTROL, UNKNOWN) or not _is_found(piece)
    }
    settings = {"name": "sentencepiece", "pat_str": _pattern(model), "special_tokens": names}
    return {
        RANKS: b"".join(lines),
        SETTINGS: json.dumps(settings, ensure_ascii=False, indent=1).encode() + b"\n",
    }


def load(path: str) -> Loaded:
    """Load the folder with tiktoken."""
    require("tiktoken", VERIFYING, "formats")
    from tiktoken import Encoding

    # `tiktoken.load` caches the file by its path, so it would ignore a later export to this path.
    with open(os.path.join(path, RANKS), encoding="ascii") as file:
        ranks = {b64decode(token): int(rank) for token, rank in map(str.split, file)}
    with open(os.path.join(path, SETTINGS), encoding="utf-8") as file:
        encoding = Encoding(mergeable_ranks=ranks, **json.load(file))

    def encode(lines: Sequence[str]) -> list[list[int]]:
        return [encoding.encode_ordinary(line) for line in lines]

    return Loaded(encode)


def _refusals(model: ModelProto) -> Iterator[tuple[str, str]]:
    kind = model.trainer_spec.model_type
    if kind != TrainerSpec.BPE:
        name = model_type_of(model.trainer_spec)
        yield (
            f"tiktoken only merges, and a {name} model has no merges.",
            "Train with --model_type=bpe.",
        )
        return
    spec = model.normalizer_spec
    if spec.precompiled_charsmap:
        yield "tiktoken does not normalize.", "Train with --normalization_rule_name=identity."
    if spec.remove_extra_whitespaces:
        yield "tiktoken keeps extra spaces.", "Train with --remove_extra_whitespaces=false."
    if spec.add_dummy_prefix:
        yield "tiktoken adds no space to a text.", "Train with --add_dummy_prefix=false."
    if not model.trainer_spec.byte_fallback:
        yield "tiktoken needs a piece for each byte.", "Train with --byte_fallback=true."
    else:
        yield from _refused_pieces(model)


def _refused_pieces(model: ModelProto) -> Iterator[tuple[str, str]]:
    unused = texts_of_type(model, UNUSED)
    if unused:
        yield (
            f"tiktoken does not support unused pieces such as {unused[0]!r}.",
            "Drop them with spmcompat edit --reorder_ids.",
        )
    used = [piece for piece in model.pieces if piece.type in (NORMAL, USER_DEFINED)]
    if " " not in map(_text, used):
        yield "The model does not have a piece for a space.", "Train with text that has spaces."
    scores = [piece.score for piece in model.pieces if _is_merged(piece)]
    if any(score <= following for score, following in pairwise(scores)):
        yield (
            "tiktoken merges in the order of ids, but the scores of this model have another order.",
            "Order the ids with spmcompat edit --reorder_ids.",
        )
        return
    characters = _merged_characters(model) - _ASCII - _early_characters(model)
    if characters:
        yield (
            "tiktoken merges bytes, so it needs ids for the parts of the characters of several "
            f"bytes in longer pieces. This model has {len(characters)} such characters.",
            _remedy_of_characters(model, characters),
        )
        return
    broken = _first_broken(model)
    if broken:
        yield (
            f"tiktoken looks up {broken!r} before it merges, but sentencepiece merges other pieces "
            "there.",
            "Train on other text or with another --vocab_size.",
        )


def _remedy_of_characters(model: ModelProto, characters: Set[str]) -> str:
    pieces = "".join(_text(piece) for piece in model.pieces if piece.type == NORMAL)
    symbols = sorted(set(pieces) - _ASCII)
    remedy = "Train with a lower --character_coverage, so that they become bytes"
    if len(symbols) <= 50:
        remedy += f", or with --user_defined_symbols={','.join(symbols)} for separate pieces"
    if all(len(character.encode()) == 2 for character in characters):
        remedy += ". Or give them lower ids than longer pieces have; docs/exporting.md shows how"
    return f"{remedy}."


def _text(piece: ModelProto.SentencePiece) -> str:
    """Return the text of a piece with spaces instead of space marks, as in a line."""
    text: str = piece.piece
    return text.replace(SPACE_MARK, " ")


def _is_found(piece: ModelProto.SentencePiece) -> bool:
    """Return whether the piece can occur in a text in which space marks replace the spaces."""
    return " " not in piece.piece


def _is_merged(piece: ModelProto.SentencePiece) -> bool:
    return piece.type == NORMAL and len(piece.piece) > 1 and _is_found(piece)


def _ranks(model: ModelProto) -> dict[bytes, int]:
    """Return the id of each token.

    The id of a byte is the id of its byte piece, unless the byte is a character that has a normal
    or user-defined piece.
    """
    ranks = {
        bytes([int(piece.piece[3:5], 16)]): number
        for number, piece in enumerate(model.pieces)
        if piece.type == BYTE
    }
    for number, piece in enumerate(model.pieces):
        if piece.type in (NORMAL, USER_DEFINED) and _is_found(piece):
            ranks[_text(piece).encode()] = number
    return ranks


def _merged_characters(model: ModelProto) -> Set[str]:
    """Return the characters of merged pieces."""
    return set("".join(_text(piece) for piece in model.pieces if _is_merged(piece)))


def _early_characters(model: ModelProto) -> Set[str]:
    """Return the two-byte characters whose ids are below the ids of all merged pieces."""
    early = set()
    for piece in model.pieces:
        if _is_merged(piece):
            break
        if piece.type == NORMAL and len(piece.piece.encode()) == 2:
            early.add(piece.piece)
    return early


def _first_broken(model: ModelProto) -> str | None:
    """Return a piece that merging its own characters does not produce, if there is one."""
    encoder = encoder_without_symbols(model)
    broken = (one for one in model.pieces if _is_merged(one) and encoder.parts(one.piece) is None)
    return next(map(_text, broken), None)


def _pattern(model: ModelProto) -> str:
    """Return the pattern that splits a text at boundaries that pieces never cross.

    It matches user-defined symbols, the longest first; characters that are never merged; and the
    slices of other characters between them. If spaces occur only at the beginning of pieces, or
    only at their end, these slices are words. So tiktoken has less to merge.
    """
    symbols = [
        _text(piece) for piece in model.pieces if piece.type == USER_DEFINED and _is_found(piece)
    ]
    longer = sorted((one for one in symbols if len(one) > 1), key=len, reverse=True)
    joined = (_ASCII | (_early_characters(model) & _merged_characters(model))) - {
        symbol for symbol in symbols if len(symbol) == 1
    }
    merged = [_text(piece) for piece in model.pieces if _is_merged(piece)]
    words, text = _slices(joined - {" "}, longer), _slices(joined, longer)
    if " " in joined and not any(" " in symbol for symbol in longer):
        if not any(re.search("[^ ] ", one) for one in merged):
            text = f"(?> *){words}| +" if longer else f" *{words}| +"
        elif not any(re.search(" [^ ]", one) for one in merged):
            text = f"{words} *| +"
    return "|".join([*map(_escaped, longer), f"[^{_class(joined)}]", text])


def _slices(characters: Set[str], symbols: Sequence[str]) -> str:
    """Return a pattern that matches runs of the given characters, and stops before a symbol.

    tiktoken's engine stores each step of a repetition, and fails after a million steps. So a step
    takes many characters at once, except where a symbol may begin: there it takes one.
    """
    starts = characters & {symbol[0] for symbol in symbols}
    if not starts:
        return f"[{_class(characters)}]+"
    no_symbol = f"(?!{'|'.join(map(_escaped, symbols))})"
    return f"(?:(?>[{_class(characters - starts)}]+)|{no_symbol}[{_class(starts)}])+"


def _escaped(text: str) -> str:
    return "".join(rf"\x{{{ord(character):X}}}" for character in text)


def _class(characters: Set[str]) -> str:
    """Return the content of a character class, as ranges of code points."""
    spans = ranges(map(ord, characters))
    return "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in spans)
