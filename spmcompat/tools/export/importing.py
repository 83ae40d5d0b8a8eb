"""Converts a ``tokenizer.json`` to a model, if the conversion is exact.

This module guesses a model from the file and exports it. The model is accepted only if each part of
the export equals the same part of the file. So if this module overlooks something in the file, the
import fails instead of writing a wrong model.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.encoding import symbol_score
from spmcompat.model.pieces import BYTE_PIECES
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.normalization.charsmaps import compile_charsmap, precompiled
from spmcompat.normalization.rules import MARK_CASE
from spmcompat.options.named_rules import case_restorer
from spmcompat.releases import DEFAULT
from spmcompat.runtime.rounding import LARGEST_FLOAT32, to_float32
from spmcompat.tools.export import tokenizer_json
from spmcompat.tools.export.charsmap_steps import Step, rules_of
from spmcompat.tools.export.document import read_document
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.normalizer_json import normalizer
from spmcompat.tools.export.patterns import texts_of

_PIECE = ModelProto.SentencePiece
_BYTES = frozenset(BYTE_PIECES)
# Limits the work for a pattern: it may produce this many times as many characters as the pieces
# have. An exported pattern needs fewer, although it repeats the beginnings of symbols.
_WORK = 100


def import_tokenizer(content: bytes) -> tuple[ModelProto, list[Limit]]:
    """Convert the content of a ``tokenizer.json`` to a model.

    Parameters
    ----------
    content : bytes
        The content of the file.

    Returns
    -------
    model : ModelProto
        A model that encodes as the file does.
    limits : list of Limit
        The differences between the file and the model. They do not affect ordinary lines.

    Raises
    ------
    BadValueError
        If the file is not a ``tokenizer.json``, or a model cannot express it exactly. The message
        names the part of the file.
    """
    document = read_document(content)
    model = _guess(document)
    exported = json.loads(tokenizer_json.files(model)[""])
    for part in ("model", "pre_tokenizer", "normalizer"):
        if not _equal(part, document, exported):
            raise _refusal(part, document)
    return model, list(_limits(document, exported))


def _refusal(part: str, document: Step, reason: str = "") -> BadValueError:
    """Return the error for a part of the file that cannot be imported exactly."""
    value = document.get(part)
    named = isinstance(value, dict) and "type" in value
    kind = f" ({_printable(str(value['type']))})" if named else ""  # type: ignore[index]
    reason = reason or "a sentencepiece model cannot do exactly the same."
    return BadValueError(
        f'the part "{part}"{kind} cannot be imported: {reason} Import a file that spmcompat export '
        "has written, or one that works alike."
    )


def _printable(name: str) -> str:
    return name if name.isidentifier() and len(name) < 40 else ascii(name[:40])


# ---------------------------------------------------------------- the guess


def _guess(document: Step) -> ModelProto:
    """Return the model that could have been exported to this file."""
    described = document["model"]
    assert isinstance(described, dict)
    kind = described.get("type", "BPE")
    if kind not in ("Unigram", "BPE"):
        raise _refusal("model", document, "only Unigram and BPE can be.")
    model = _unigram(document, described) if kind == "Unigram" else _bpe(document, described)
    if not model.pieces:
        raise _refusal("model", document, "it has no pieces.")
    _set_specs(model, document, described)
    return model


def _unigram(document: Step, described: Step) -> ModelProto:
    vocabulary: list[tuple[str, float]] = described["vocab"]  # type: ignore[assignment]
    unknown: int | None = described.get("unk_id")  # type: ignore[assignment]
    ids = {text: index for index, (text, _) in enumerate(vocabulary)}
    if len(ids) != len(vocabulary):
        raise _refusal("model", document, "a piece occurs twice.")
    if unknown is not None and unknown >= len(vocabulary):
        raise _refusal("model", document, f"its unk_id {unknown} is not in the vocabulary.")
    silent = _silent(document, ids) | _special(document, ids)
    reserved = [score for text, score in vocabulary if text in _BYTES or text in silent]
    low = min(reserved, default=None)
    if unknown is not None:
        low = vocabulary[unknown][1]
    model = ModelProto()
    for index, (text, score) in enumerate(vocabulary):
        kind = _PIECE.NORMAL
        if described.get("byte_fallback") and text in _BYTES:
            kind = _PIECE.BYTE
        elif index == unknown:
            kind = _PIECE.UNKNOWN
        elif text in silent:
            kind = _PIECE.CONTROL
        elif low is not None and score == low - 1:
            kind = _PIECE.UNUSED
        elif score == symbol_score(text):
            kind = _PIECE.USER_DEFINED
        if kind == _PIECE.NORMAL and abs(score) > LARGEST_FLOAT32:
            raise _refusal("model", document, f"the score {score!r} is not a float32.")
        _add(model, text, score if kind == _PIECE.NORMAL else 0.0, kind)
    model.trainer_spec.model_type = TrainerSpec.UNIGRAM
    return model


def _bpe(document: Step, described: Step) -> ModelProto:
    vocabulary: dict[str, int] = described["vocab"]  # type: ignore[assignment]
    texts = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[text] for text in texts] != list(range(len(texts))):
        raise _refusal("model", document, "its ids have gaps, or two pieces have the same id.")
    merges = _merges(described)
    for merge in merges:
        for part in (*merge, "".join(merge)):
            if part not in vocabulary:
                raise _refusal("model", document, f"a merge names {part!r}, which is not a piece.")
    silent = _silent(document, vocabulary) | _special(document, vocabulary)
    symbols = _symbols(document, vocabulary)
    types = {}
    for text in texts:
        types[text] = _PIECE.NORMAL
        if described.get("byte_fallback") and text in _BYTES:
            types[text] = _PIECE.BYTE
        elif text == described.get("unk_token"):
            types[text] = _PIECE.UNKNOWN
        elif text in silent:
            types[text] = _PIECE.CONTROL
        elif text in symbols:
            types[text] = _PIECE.USER_DEFINED
    # Scores as in sentencepiece: merged pieces have the highest scores, in the order of their
    # merges. Pieces that are not merged come after them.
    made = dict.fromkeys(left + right for left, right in merges)
    normal = [text for text in made if types.get(text) == _PIECE.NORMAL]
    normal += [text for text in texts if types[text] == _PIECE.NORMAL and text not in made]
    scores = {text: -float(rank) for rank, text in enumerate(normal)}
    model = ModelProto()
    for text in texts:
        _add(model, text, scores.get(text, 0.0), types[text])
    model.trainer_spec.model_type = TrainerSpec.BPE if merges else TrainerSpec.CHAR
    return model


def _add(model: ModelProto, text: str, score: float, kind: int) -> None:
    piece = model.pieces.add(piece=text, score=to_float32(score))
    if kind != _PIECE.NORMAL:
        piece.MergeFrom(_PIECE(type=kind))  # type: ignore[arg-type]


def _merges(described: Step) -> list[tuple[str, str]]:
    """Return the merges as pairs. In older files, a merge is a text with a space inside."""
    merges = []
    for merge in described["merges"]:  # type: ignore[attr-defined]
        left, _, right = (
            merge.partition(" ") if isinstance(merge, str) else (merge[0], "", merge[1])
        )
        merges.append((left, right))
    return merges


def _set_specs(model: ModelProto, document: Step, described: Step) -> None:
    spec = model.trainer_spec
    spec.vocab_size = len(model.pieces)
    spec.byte_fallback = bool(described.get("byte_fallback"))
    spec.unk_surface = _surface(document)
    texts = {piece.piece: index for index, piece in enumerate(model.pieces)}
    spec.unk_id = -1
    for index, piece in enumerate(model.pieces):
        if piece.type == _PIECE.UNKNOWN:
            spec.unk_id, spec.unk_piece = index, piece.piece
        if piece.type == _PIECE.USER_DEFINED:
            spec.user_defined_symbols.append(piece.piece)
    for kind, text in (("bos", "<s>"), ("eos", "</s>"), ("pad", "<pad>")):
        index = texts.get(text, -1)
        is_control = index >= 0 and model.pieces[index].type == _PIECE.CONTROL
        setattr(spec, f"{kind}_id", index if is_control else -1)
    _set_normalizer(model, document)


def _set_normalizer(model: ModelProto, document: Step) -> None:
    """Set the normalizer whose export has the same steps as the file."""
    described = document.get("normalizer")
    steps: Sequence[Step] = []
    if isinstance(described, dict):
        steps = described.get("normalizers", [described])
    spec = model.normalizer_spec
    try:
        charsmaps = list(_charsmaps(steps))
    except TrainingError as error:
        raise _refusal(
            "normalizer", document, f"its precompiled_charsmap is damaged: {error}"
        ) from None
    for name, charsmap in charsmaps:
        spec.name, spec.precompiled_charsmap = name, charsmap
        for prefix, remove, escape, suffix in product((True, False), repeat=4):
            spec.add_dummy_prefix = prefix
            spec.remove_extra_whitespaces = remove
            spec.escape_whitespaces = escape
            model.trainer_spec.treat_whitespace_as_suffix = not suffix
            if _steps(normalizer(model)) == list(steps):
                if name == MARK_CASE:
                    model.denormalizer_spec.CopyFrom(case_restorer(DEFAULT))
                return
    raise _refusal(
        "normalizer",
        document,
        "its Precompiled works by grapheme cluster, which sentencepiece does not."
        if any(step["type"] == "Precompiled" for step in steps)
        else "",
    )


def _charsmaps(steps: Sequence[Step]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and charsmaps of rules whose export may have these steps."""
    rules = rules_of(steps)
    if any(step.get("type") == "NFC" for step in steps):
        # There is a step NFC, so the rules are named ones: no other rules compose so many
        # characters. Of these, the nmt rules turn a TAB into a space, the cf rules turn capitals
        # into small letters, and the last ones delete accents.
        start = "nmt_nfkc" if (0x09,) in rules else "nfkc"
        name = f"{start}_cf" if len(rules.get((0x41,), ())) == 1 else start
        if len(rules.get((0x41,), ())) == 2:
            name = MARK_CASE
        elif (0x300,) in rules:
            name = f"{name}_strip_accents"
        yield name, precompiled(name, "")
        return
    yield ("user_defined", compile_charsmap(rules)) if rules else ("identity", b"")


def _steps(normalizer: Step | None) -> list[Step]:
    return [] if normalizer is None else list(normalizer["normalizers"])  # type: ignore[call-overload]


# ---------------------------------------------------------------- patterns of the file


def _texts(part: str, document: Step, pattern: str, pieces: Collection[str]) -> set[str]:
    """Return the texts that a pattern of the file matches, if it is a list of texts.

    A pattern from a file is never run, because matching can take any amount of time.

    Raises
    ------
    BadValueError
        If the pattern is not a list of texts.
    """
    texts = texts_of(pattern, _WORK * (sum(map(len, pieces)) + len(pieces)))
    if texts is None:
        shown = ascii(pattern if len(pattern) <= 60 else pattern[:60] + "…")
        raise _refusal(part, document, f"its regular expression {shown} is not a list of pieces.")
    return set(texts)


def _silent(document: Step, pieces: Collection[str]) -> set[str]:
    """Return the pieces that the decoder drops. These are the control pieces."""
    for step in _decoders(document):
        pattern = _whole(step)
        if pattern and step.get("content") == "":
            return _texts("decoder", document, pattern, pieces)
    return set()


def _surface(document: Step) -> str:
    """Return the text that the decoder writes for the unknown piece."""
    for step in _decoders(document):
        if _whole(step) and step.get("content"):
            return str(step["content"])
    return TrainerSpec().unk_surface


def _whole(step: Step) -> str:
    """Return the pattern if a step replaces whole pieces; otherwise, an empty string."""
    pattern = step.get("pattern")
    regex = str(pattern.get("Regex", "")) if isinstance(pattern, dict) else ""
    is_whole = regex.startswith("\\A(?:") and regex.endswith("\\z")
    return regex.removeprefix("\\A").removesuffix("\\z") if is_whole else ""


def _decoders(document: Step) -> Iterable[Step]:
    decoder = document.get("decoder")
    return decoder.get("decoders", [decoder]) if isinstance(decoder, dict) else []


def _symbols(document: Step, pieces: Collection[str]) -> set[str]:
    """Return the user-defined symbols of BPE."""
    described = document.get("pre_tokenizer")
    if not isinstance(described, dict) or described.get("type") != "Split":
        return set()
    pattern = described.get("pattern")
    regex = pattern.get("Regex") if isinstance(pattern, dict) else None
    return set() if regex is None else _texts("pre_tokenizer", document, regex, pieces)


def _special(document: Step, ids: Mapping[str, int]) -> set[str]:
    """Return the texts of special added tokens, which become control pieces.

    Raises
    ------
    BadValueError
        If an added token is not special, so that it would cut each line into parts, or if it is
        missing from the vocabulary or has a different id there.
    """
    added = document.get("added_tokens") or []
    for token in added:  # type: ignore[attr-defined]
        if not token["special"]:
            raise _refusal(
                "added_tokens",
                document,
                f"{token['content']!r} is not special, so the parts of the line around it are "
                "normalized separately.",
            )
        if ids.get(token["content"]) != token["id"]:
            reason = f"{token['content']!r} does not have the id {token['id']} in the vocabulary."
            raise _refusal("added_tokens", document, reason)
    return {token["content"] for token in added}  # type: ignore[attr-defined]


# ---------------------------------------------------------------- the comparison


def _equal(part: str, document: Step, exported: Step) -> bool:
    """Return whether a part of the file is equivalent to the same part of the export."""
    if part == "normalizer":
        return True  # compared in `_set_normalizer`
    if part == "pre_tokenizer":
        return document.get(part) == exported.get(part)
    ours, theirs = dict(exported["model"]), dict(document["model"])  # type: ignore[call-overload]
    theirs.setdefault("type", ours["type"])
    if ours["type"] == "BPE":
        theirs.setdefault("ignore_merges", False)
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            theirs[name] = theirs.get(name) or None
        theirs["dropout"] = theirs.get("dropout") or None
        if not _same_order(_merges(ours), _merges(theirs)):
            return False
        del ours["merges"], theirs["merges"]
    theirs.setdefault("byte_fallback", False)
    return bool(ours == theirs)


def _same_order(ours: Sequence[tuple[str, str]], theirs: Sequence[tuple[str, str]]) -> bool:
    """Return whether the merges are the same, and the merges that produce one piece are adjacent.

    The order of the merges of one piece does not matter, because they have the same score.
    """
    if set(ours) != set(theirs) or len(ours) != len(theirs):
        return False
    return [a + b for a, b in ours] == [a + b for a, b in theirs]


def _limits(document: Step, exported: Mapping[str, object]) -> Iterator[Limit]:
    """Yield the parts of the file that the model leaves out."""
    added = document.get("added_tokens") or []
    if added:
        texts = [token["content"] for token in added]  # type: ignore[attr-defined]
        yield Limit(
            f"Special tokens such as {texts[0]!r} become control pieces: sentencepiece never finds "
            "their texts in a line."
        )
    if document.get("post_processor") is not None:
        yield Limit(
            "The post-processor is left out: sentencepiece adds no pieces such as bos and eos "
            "unless it is asked to."
        )
    if document.get("decoder") != exported.get("decoder"):
        yield Limit("The decoder is left out: ids can be decoded to a text with other spaces.")
