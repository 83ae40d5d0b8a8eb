"""Makes a model of a ``tokenizer.json``, if that is exact.

A model is guessed from the file and exported again. Only if the result is the file, part for part,
the model encodes as the file does. So nothing that this module misses can make a wrong model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from spmcompat.errors import BadValueError
from spmcompat.exporting import tokenizer_json
from spmcompat.exporting.charsmap_steps import Step, rules_of
from spmcompat.exporting.limits import Limit
from spmcompat.exporting.normalizer_json import normalizer
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.normalization.charsmap import compile_charsmap, precompiled

_PIECE = ModelProto.SentencePiece
_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
_CODE = re.compile(r"\\x\{([0-9A-F]+)\}")


def import_tokenizer(content: bytes) -> tuple[ModelProto, list[Limit]]:
    """Make a model of the content of a ``tokenizer.json``.

    Parameters
    ----------
    content : bytes
        The content of the file.

    Returns
    -------
    model : ModelProto
        A model that encodes as the file does.
    limits : list of Limit
        What the model does not do though the file says so; it concerns no ordinary line.

    Raises
    ------
    BadValueError
        If the file is no ``tokenizer.json``, or a model cannot express it exactly. The message
        names the part of the file.
    """
    given = _parsed(content)
    model = _guess(given)
    again = json.loads(tokenizer_json.files(model)[""])
    for part in ("model", "pre_tokenizer", "normalizer"):
        if not _equal(part, given, again):
            raise _refusal(part, given)
    return model, list(_limits(given, again))


def _parsed(content: bytes) -> Step:
    try:
        given = json.loads(content)
    except ValueError:
        raise BadValueError("not a tokenizer.json: it is no JSON.") from None
    if not isinstance(given, dict) or not isinstance(given.get("model"), dict):
        raise BadValueError('not a tokenizer.json: it has no "model".')
    return given


def _refusal(part: str, given: Step, reason: str = "") -> BadValueError:
    """Return the error that names the part that cannot be exact."""
    value = given.get(part)
    kind = f" ({value['type']})" if isinstance(value, dict) and "type" in value else ""
    reason = reason or "no model of sentencepiece does exactly the same."
    return BadValueError(
        f'the part "{part}"{kind} cannot be imported: {reason} Import a file that spmcompat export '
        "has written, or one that works alike."
    )


# ---------------------------------------------------------------- the guess


def _guess(given: Step) -> ModelProto:
    """Return the model that could have been exported to this file."""
    described = given["model"]
    assert isinstance(described, dict)
    try:
        if described.get("type") == "Unigram":
            model = _unigram(given, described)
        elif described.get("type", "BPE") == "BPE" and "merges" in described:
            model = _bpe(given, described)
        else:
            raise _refusal("model", given, "only Unigram and BPE can be.")
        _set_specs(model, given, described)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, re.error) as error:
        if isinstance(error, BadValueError):
            raise
        raise BadValueError(
            f"not a tokenizer.json, or a damaged one: {type(error).__name__}: {error}."
        ) from None
    if not model.pieces:
        raise _refusal("model", given, "it has no pieces.")
    return model


def _unigram(given: Step, described: Step) -> ModelProto:
    vocabulary = [(str(text), float(score)) for text, score in described["vocab"]]  # type: ignore[attr-defined]
    unknown = described.get("unk_id")
    silent, special = _silent(given), _special(given)
    reserved = [score for text, score in vocabulary if text in _BYTES or _matches(silent, text)]
    low = min(reserved, default=None)
    if isinstance(unknown, int):
        low = vocabulary[unknown][1]
    model = ModelProto()
    for index, (text, score) in enumerate(vocabulary):
        kind = _PIECE.NORMAL
        if described.get("byte_fallback") and text in _BYTES:
            kind = _PIECE.BYTE
        elif index == unknown:
            kind = _PIECE.UNKNOWN
        elif _matches(silent, text) or text in special:
            kind = _PIECE.CONTROL
        elif low is not None and score == low - 1:
            kind = _PIECE.UNUSED
        elif score == float(np.float32(0.1 * (len(text.encode()) - 1))):
            kind = _PIECE.USER_DEFINED
        model.pieces.add(
            piece=text, score=np.float32(score) if kind == _PIECE.NORMAL else 0.0, type=kind
        )
    model.trainer_spec.model_type = TrainerSpec.UNIGRAM
    return model


def _bpe(given: Step, described: Step) -> ModelProto:
    vocabulary: dict[str, int] = described["vocab"]  # type: ignore[assignment]
    texts = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[text] for text in texts] != list(range(len(texts))):
        raise _refusal("model", given, "its ids have gaps.")
    merges = _merges(described)
    silent, special, symbols = _silent(given), _special(given), _symbols(given)
    types = {}
    for text in texts:
        types[text] = _PIECE.NORMAL
        if described.get("byte_fallback") and text in _BYTES:
            types[text] = _PIECE.BYTE
        elif text == described.get("unk_token"):
            types[text] = _PIECE.UNKNOWN
        elif _matches(silent, text) or text in special:
            types[text] = _PIECE.CONTROL
        elif _matches(symbols, text):
            types[text] = _PIECE.USER_DEFINED
    # The scores that the trainer of sentencepiece gives: pieces in the order of their merges, then
    # what no merge makes.
    made = dict.fromkeys(left + right for left, right in merges)
    normal = [text for text in made if types.get(text) == _PIECE.NORMAL]
    normal += [text for text in texts if types[text] == _PIECE.NORMAL and text not in made]
    scores = {text: -float(rank) for rank, text in enumerate(normal)}
    model = ModelProto()
    for text in texts:
        model.pieces.add(piece=text, score=scores.get(text, 0.0), type=types[text])
    model.trainer_spec.model_type = TrainerSpec.BPE if merges else TrainerSpec.CHAR
    return model


def _merges(described: Step) -> list[tuple[str, str]]:
    """Return the merges; older files join the two parts with a space."""
    merges = []
    for merge in described["merges"]:  # type: ignore[attr-defined]
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        merges.append((str(left), str(right)))
    return merges


def _set_specs(model: ModelProto, given: Step, described: Step) -> None:
    spec = model.trainer_spec
    spec.vocab_size = len(model.pieces)
    spec.byte_fallback = bool(described.get("byte_fallback"))
    spec.unk_surface = _surface(given)
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
    _set_normalizer(model, given)


def _set_normalizer(model: ModelProto, given: Step) -> None:
    """Set the normalizer to one whose steps are those of the file."""
    described = given.get("normalizer")
    steps: Sequence[Step] = []
    if isinstance(described, dict):
        steps = described.get("normalizers", [described])
    spec = model.normalizer_spec
    for name, charsmap in _charsmaps(steps):
        spec.name, spec.precompiled_charsmap = name, charsmap
        for prefix, remove, escape, suffix in product((True, False), repeat=4):
            spec.add_dummy_prefix = prefix
            spec.remove_extra_whitespaces = remove
            spec.escape_whitespaces = escape
            model.trainer_spec.treat_whitespace_as_suffix = not suffix
            if _steps(normalizer(model)) == list(steps):
                return
    raise _refusal(
        "normalizer",
        given,
        "its Precompiled works by grapheme cluster, which sentencepiece does not."
        if any(step.get("type") == "Precompiled" for step in steps)
        else "",
    )


def _charsmaps(steps: Sequence[Step]) -> Iterator[tuple[str, bytes]]:
    """Yield names and charsmaps that the steps may come from."""
    rules = rules_of(steps)
    if any(step.get("type") == "NFC" for step in steps):
        # Only predefined rules have so many of several characters that NFC is worth a step. Those
        # of nmt make a TAB a space, those of cf make capitals small.
        start = "nmt_nfkc" if (0x09,) in rules else "nfkc"
        name = f"{start}_cf" if (0x41,) in rules else start
        yield name, precompiled(name, "")
        return
    yield ("user_defined", compile_charsmap(rules)) if rules else ("identity", b"")


def _steps(normalizer: Step | None) -> list[Step]:
    return [] if normalizer is None else list(normalizer["normalizers"])  # type: ignore[call-overload]


# ---------------------------------------------------------------- patterns of the file


def _as_python(pattern: str) -> re.Pattern[str]:
    """Return a pattern of the file in the syntax of Python."""
    text = pattern.removeprefix("\\A").removesuffix("\\z")
    return re.compile(_CODE.sub(lambda code: f"\\U{int(code[1], 16):08X}", text))


def _matches(pattern: re.Pattern[str] | None, text: str) -> bool:
    return pattern is not None and pattern.fullmatch(text) is not None


def _silent(given: Step) -> re.Pattern[str] | None:
    """Return the pattern of the pieces that the decoder drops: control pieces."""
    for step in _decoders(given):
        if _is_whole(step) and step["content"] == "":
            return _as_python(step["pattern"]["Regex"])  # type: ignore[index]
    return None


def _surface(given: Step) -> str:
    """Return the text that the decoder writes for the unknown piece."""
    for step in _decoders(given):
        if _is_whole(step) and step["content"]:
            return str(step["content"])
    return TrainerSpec().unk_surface


def _is_whole(step: Step) -> bool:
    pattern = step.get("pattern")
    regex = pattern.get("Regex", "") if isinstance(pattern, dict) else ""
    return str(regex).startswith("\\A(?:") and str(regex).endswith("\\z")


def _decoders(given: Step) -> Iterable[Step]:
    decoder = given.get("decoder")
    return decoder.get("decoders", [decoder]) if isinstance(decoder, dict) else []


def _symbols(given: Step) -> re.Pattern[str] | None:
    """Return the pattern of the user-defined symbols of BPE."""
    described = given.get("pre_tokenizer")
    if not isinstance(described, dict) or described.get("type") != "Split":
        return None
    pattern = described.get("pattern")
    regex = pattern.get("Regex") if isinstance(pattern, dict) else None
    return _as_python(regex) if isinstance(regex, str) else None


def _special(given: Step) -> set[str]:
    """Return the texts of special added tokens; they become control pieces.

    Raises
    ------
    BadValueError
        If an added token is not special: it would cut each line into parts.
    """
    added = given.get("added_tokens") or []
    for token in added:  # type: ignore[attr-defined]
        if not token["special"]:
            raise _refusal(
                "added_tokens",
                given,
                f"{token['content']!r} is not special, so each part of the line around it is "
                "normalized apart.",
            )
    vocabulary = given["model"]["vocab"]  # type: ignore[index]
    texts = [one[0] for one in vocabulary] if isinstance(vocabulary, list) else vocabulary
    special = {token["content"] for token in added}  # type: ignore[attr-defined]
    missing = sorted(special.difference(texts))
    if missing:
        raise _refusal("added_tokens", given, f"{missing[0]!r} is not in the vocabulary.")
    return special


# ---------------------------------------------------------------- the comparison


def _equal(part: str, given: Step, again: Step) -> bool:
    """Tell whether a part of the file does the same as that of the new export."""
    if part == "normalizer":
        return True  # `_set_normalizer` has compared it
    if part == "pre_tokenizer":
        return given.get(part) == again.get(part)
    ours, theirs = dict(again["model"]), dict(given["model"])  # type: ignore[call-overload]
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
    """Tell whether merges are the same, and those of each piece come together.

    The order of the merges of one piece does not matter: they have one score.
    """
    if set(ours) != set(theirs) or len(ours) != len(theirs):
        return False
    return [a + b for a, b in ours] == [a + b for a, b in theirs]


def _limits(given: Step, again: Mapping[str, object]) -> Iterator[Limit]:
    """Yield what the model leaves out."""
    added = given.get("added_tokens") or []
    if added:
        texts = [token["content"] for token in added]  # type: ignore[attr-defined]
        yield Limit(
            f"Special tokens such as {texts[0]!r} become control pieces: sentencepiece never finds "
            "their texts in a line."
        )
    if given.get("post_processor") is not None:
        yield Limit(
            "The post-processor is left out: sentencepiece adds no pieces such as bos and eos "
            "unless it is asked to."
        )
    if given.get("decoder") != again.get("decoder"):
        yield Limit("The decoder is left out: ids can be decoded to a text with other spaces.")
