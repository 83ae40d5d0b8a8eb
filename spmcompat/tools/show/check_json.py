"""Finds what is wrong with a ``tokenizer.json``."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING, Any

from spmcompat.engine import SPACE_MARK, byte_texts, plain_patterns, steps
from spmcompat.model.pieces import BYTE_PIECES, Piece
from spmcompat.runtime.libraries import require
from spmcompat.tools.export.document import (
    MOST_BYTES,
    TokenizerJsonError,
    errors_of_tokenizers,
    read_document,
    refusal,
)
from spmcompat.tools.show.check_model import PLACEHOLDER, Found, beaten, size_note

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Json = dict[str, Any]

_AROUND = ("", "a", " ", "A", "1", "111", ".", "\n", "あ")
# What may precede and follow a piece. Some letters complete contractions, such as 's.
_CONTEXTS = (
    *((one, after) for one in _AROUND for after in {"", one}),
    *(("", one) for one in (*_AROUND, "s", "l", "e")),
)
_BYTES = {text: byte for byte, text in byte_texts().items()}
_NEVER_IN_UTF8 = (0xC0, 0xC1, *range(0xF5, 0x100))


def json_findings(content: bytes, lines: Iterable[str]) -> Iterator[Found]:
    """Yield the name of each finding, and what it concerns. The list may be empty.

    Raises
    ------
    BadValueError
        If the content is not a tokenizer.json of a known kind.
    MissingLibraryError
        If ``tokenizers`` is not installed.
    """
    document, twice = _read(content)
    yield "duplicate-pieces", twice
    require("tokenizers", "Checking a tokenizer.json", "tokenizers")
    with errors_of_tokenizers(""):
        yield from _findings(document, lines)


def _findings(document: Json, lines: Iterable[str]) -> Iterator[Found]:
    from tokenizers import Tokenizer

    model, added = document["model"], document["added_tokens"]
    # Padding and dropout would change what a piece is cut into.
    plain = {**document, "padding": None, "model": {**model, "dropout": None}}
    tokenizer = Tokenizer.from_str(json.dumps(plain))
    is_unigram = model["type"] == "Unigram"
    texts = _texts(model)
    ids = [*range(len(texts))] if is_unigram else [*model["vocab"].values()]
    yield "duplicate-pieces", [f"id {number}" for number in _repeated(ids)]
    gaps = pairwise(sorted({-1, *ids, *(token["id"] for token in added)}))
    yield "id-gaps", [f"{one + 1} to {other - 1}" for one, other in gaps if other > one + 1]
    yield "size", size_note(len({*texts, *(token["content"] for token in added)}))
    if model["type"] == "BPE":
        merges = _merges(model)
        special = {token["content"] for token in added if token["special"]}
        yield "special-tokens-in-merges", sorted(special.intersection(chain(*merges)))
        yield "merge-order", [one for one in _early(merges) if one.strip(SPACE_MARK)]
    reserved = {model.get("unk_token"), *(token["content"] for token in added)}
    learned = [one for one in texts if one not in reserved and not PLACEHOLDER.fullmatch(one)]
    yield "broken-pieces", [one for one in learned if not one]
    learned = list(filter(None, learned))
    yield "unreachable-pieces", _unreachable(model, learned, tokenizer)
    yield from _step_findings(model, {*texts}, learned, tokenizer)
    yield "missing-characters", _missing(model, tokenizer, lines)


def _read(content: bytes) -> tuple[Json, list[str]]:
    """Return the document, and the pieces that occur twice in its vocabulary."""
    if len(content) > MOST_BYTES:
        raise TokenizerJsonError("not a tokenizer.json: it is too large. Check the path.")
    twice: list[str] = []

    def with_last(pairs: list[tuple[str, object]]) -> Json:
        if len(found := dict(pairs)) != len(pairs):
            twice.extend(_repeated(name for name, _ in pairs))
        return found

    document: Json = read_document(content, with_last)
    if document["model"]["type"] not in ("Unigram", "BPE", "WordPiece"):
        raise refusal("model", document, "its type must be Unigram, BPE or WordPiece.")
    if not {*twice} <= {*_texts(document["model"])}:
        read_document(content)  # says which name occurs twice
    document["added_tokens"] = document.get("added_tokens") or []
    return document, twice or _repeated(_texts(document["model"]))


def _texts(model: Json) -> list[str]:
    """Return the texts of the vocabulary."""
    return [text if isinstance(text, str) else text[0] for text in model["vocab"]]


def _repeated(values: Iterable[Any]) -> list[Any]:
    return [value for value, count in Counter(values).items() if count > 1]


def _merges(model: Json) -> list[tuple[str, str, str]]:
    """Return the merges, each as its two parts and its result."""
    prefix = model.get("continuing_subword_prefix") or ""
    # In older files, a merge is a text: two parts and a space between.
    pairs = (one.partition(" ")[::2] if isinstance(one, str) else one for one in model["merges"])
    return [(left, right, left + right.removeprefix(prefix)) for left, right in pairs]


def _early(merges: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the pieces of which each merge precedes the first merge of one of its parts."""
    first: dict[str, int] = {}
    for rank, (_, _, text) in enumerate(merges):
        first.setdefault(text, rank)
    # Files that transformers has converted have several merges that make the same piece.
    in_order = {
        text
        for rank, (*parts, text) in enumerate(merges)
        if all(first.get(part, -1) < rank for part in parts)
    }
    return [text for text in first if text not in in_order]


def _unreachable(model: Json, texts: Iterable[str], tokenizer: Tokenizer) -> list[str]:
    """Return the pieces into which the model does not cut their own text.

    No text is cut into them; see `spmcompat.tools.edit.reach`.
    """
    if model["type"] == "Unigram":
        return beaten((Piece(text, score) for text, score in model["vocab"]), texts)
    if model["type"] == "BPE" and (_prefix(model) or model.get("end_of_word_suffix")):
        # The library adds affixes to the words that it gets, so words are no pieces.
        made = {text for _, _, text in _merges(model)}
        return [one for one in texts if one not in made and len(_decoded(one, model, False)) > 1]
    return [one for one in texts if [part.value for part in tokenizer.model.tokenize(one)] != [one]]


def _prefix(model: Json) -> str:
    default = "##" if model["type"] == "WordPiece" else ""
    return model.get("continuing_subword_prefix") or default


def _decoded(piece: str, model: Json, has_bytes: bool) -> str:
    """Return the text that a piece stands for; empty if it is a part of a character."""
    text = piece.removeprefix(_prefix(model)).removesuffix(model.get("end_of_word_suffix") or "")
    if not has_bytes:
        return text
    try:
        return bytes(_BYTES[one] for one in text).decode()
    except (KeyError, UnicodeDecodeError):
        return ""


def _step_findings(
    model: Json, texts: set[str], learned: list[str], tokenizer: Tokenizer
) -> Iterator[Found]:
    """Yield what follows from the normalizer and the pre-tokenizer."""
    normalizer, pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
    changes, cuts = (
        steps(json.loads(one.__getstate__())) if one else [] for one in (normalizer, pre_tokenizer)
    )
    yield "plain-patterns", [text for step in cuts for text in plain_patterns(step)]
    changing, cutting = {step["type"] for step in changes}, {step["type"] for step in cuts}
    needed = dict(enumerate(BYTE_PIECES)) if model.get("byte_fallback") else {}
    if "ByteLevel" in changing | cutting:
        needed = byte_texts()
        yield "broken-pieces", [one for one in learned if not _BYTES.keys() >= {*one}]
    missing = {text for byte, text in needed.items() if byte not in _NEVER_IN_UTF8} - texts
    yield "missing-bytes", sorted(missing)
    decoded = {one: _decoded(one, model, "ByteLevel" in cutting) for one in learned}
    if normalizer and "ByteLevel" not in changing:
        # Metaspace makes the space marks after normalization.
        mark = " " if "Metaspace" in cutting else SPACE_MARK
        marked = ((one, text.replace(SPACE_MARK, mark)) for one, text in decoded.items())
        yield "changed-pieces", [one for one, text in marked if _is_changed(text, normalizer)]
    for one, text in decoded.items() if pre_tokenizer else ():
        # BERT's own vocabulary has "...", which its pre-tokenizer divides.
        if model["type"] != "WordPiece" or any(map(str.isalnum, text)):
            yield from ((name, [one]) for name in _division(text, pre_tokenizer))


def _is_changed(text: str, normalizer: Any) -> bool:
    """Return whether normalized text never contains a text, as far as trying shows."""
    if text in normalizer.normalize_str(text):
        return False
    forms = (text, *(unicodedata.normalize(form, text) for form in ("NFD", "NFKD")), text.upper())
    sources = dict.fromkeys([*forms, *(one.replace(SPACE_MARK, " ") for one in forms)])
    tried = product(sources, _AROUND[:3])
    return not any(text in normalizer.normalize_str(x + one + x) for one, x in tried)


def _division(text: str, pre_tokenizer: Any) -> list[str]:
    """Return the name of the finding if a text is divided, whatever is around it."""

    def ends(before: str, after: str) -> set[int]:
        """Return the places at which the text is divided."""
        spans = [span for _, span in pre_tokenizer.pre_tokenize_str(before + text + after)]
        inside = {place - len(before) for span in spans for place in span}
        return inside & {*range(1, len(text))}

    if len(text) < 2 or not ends("", "") or not all(ends(*one) for one in _CONTEXTS):
        return []
    cut = min(ends("", ""))
    around = text[cut - 1 : cut + 1]
    if around.isnumeric():
        return ["split-digits"]
    has_space = any(one.isspace() or one == SPACE_MARK for one in around)
    return ["split-spaces" if has_space else "divided-pieces"]


def _missing(model: Json, tokenizer: Tokenizer, lines: Iterable[str]) -> list[str]:
    """Return the characters of a text that are dropped or unknown."""
    unknown = model.get("unk_id")
    if unknown is None and model.get("unk_token") is not None:
        unknown = tokenizer.token_to_id(model["unk_token"])
    normalizer = tokenizer.normalizer

    def is_missing(one: str) -> bool:
        ids = tokenizer.encode(one, add_special_tokens=False).ids
        kept = normalizer.normalize_str(one) if normalizer else one
        return bool(kept.strip()) and (not ids or unknown in ids)

    return sorted(filter(is_missing, {one for line in lines for one in line}))
